// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/measure_command.h"
#include "cli/options/commands.h"
#include "cli/options/groups.h"
#include "cli/options/words.h"
#include "measure/matmul/matmul.h"

// Of its own options.
struct matmul_settings {
	const char *n, *rungs;
};

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

static int run(const struct tare_settings *settings, struct tare_error *error)
{
	const struct matmul_settings *own = (const void *)settings->own;
	struct request request = { .peaks = settings->peaks };

	if (own->n && tare_parse_matmul_sizes(own->n, &request.options, error) < 0) {
		tare_error_prefix(error, "--n");
		return TARE_EXIT_USAGE;
	}
	if (own->rungs && tare_parse_rungs(own->rungs, &request.options.rungs, error) < 0)
		return tare_words_refuse(settings->command, "rungs", own->rungs, error);
	return tare_measure_command(settings, TARE_NEED_KERNELS, measure, &request, error);
}

static const struct tare_option own_options_rows[] = {
	{ .name = "n",
	  .letter = 'n',
	  .value = TARE_VALUE_TEXT,
	  .value_name = "LIST",
	  .summary = "sizes of the matrices, such as 256,1000 or 32..2048 (default: 32..2048)",
	  .detail = "A range stands for the powers of two in it.",
	  .offset = TARE_OWN_SETTING(struct matmul_settings, n) },
	{ .name = "rungs",
	  .letter = 'r',
	  .value = TARE_VALUE_TEXT,
	  .value_name = "A,B,...",
	  .summary = "which rungs of the ladder (default: all)",
	  .offset = TARE_OWN_SETTING(struct matmul_settings, rungs),
	  .words = TARE_WORDS_RUNGS },
};
static const struct tare_option_group own_options = TARE_OPTION_GROUP(own_options_rows);

const struct tare_command tare_matmul_command = {
	.name = "matmul",
	.operands = "",
	.summary = "a matrix product from naive to fast, how far from the limit",
	.description = "Climbs a ladder of matrix products, from one launch an element to the "
	               "vendor's library, "
	               "beside the host's own, and keeps apart what building, copying, launching "
	               "and computing "
	               "took. Every product is verified.",
	.run = run,
	.budget_ns = TARE_MATMUL_BUDGET_NS,
	.options = { &tare_device_options, &tare_ze_cpu_options, &own_options, &tare_peaks_options,
	             &tare_measuring_options, &tare_writing_options, &tare_quiet_options,
	             &tare_verbose_options, &tare_help_options },
};
