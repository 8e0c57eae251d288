// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/measure_command.h"
#include "cli/options/command.h"
#include "cli/options/words.h"
#include "measure/matmul/matmul.h"

// What measuring needs once the device is known: its ceilings.
struct request {
	struct tare_matmul_options options;
	const char *peaks;
};

static int measure(struct tare_run *run, const void *context, struct tare_error *error)
{
	const struct request *request = context;
	struct tare_matmul_options options = request->options;
	int status =
	    tare_peaks_load(&run->result->devices[0], request->peaks, &options.peaks, error);

	if (status < 0) {
		tare_error_prefix(error, "--peaks");
		return status;
	}
	return tare_measure_matmul(run, &options, error);
}

int tare_command_matmul(const struct tare_settings *settings, struct tare_error *error)
{
	struct request request = { .peaks = settings->peaks };

	if (settings->n && tare_parse_matmul_sizes(settings->n, &request.options, error) < 0) {
		tare_error_prefix(error, "--n");
		return TARE_EXIT_USAGE;
	}
	if (settings->rungs && tare_parse_rungs(settings->rungs, &request.options.rungs, error) < 0)
		return tare_words_refuse("rungs", settings->rungs, error);
	return tare_measure_command(settings, TARE_NEED_KERNELS, measure, &request, error);
}
