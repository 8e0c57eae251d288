// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/measure_command.h"
#include "cli/options/commands.h"
#include "cli/options/groups.h"
#include "measure/core/peaks.h"
#include "measure/peak/peak.h"

#include <errno.h>

static int measure(struct tare_run *run, const void *context, struct tare_error *error)
{
	struct tare_error why = { 0 };
	int status = tare_measure_peak(run, error);

	(void)context;
	// Other commands take the ceilings from there.
	if (status == 0 && tare_peaks_keep(run->result, &why) < 0 &&
	    tare_result_warn(run->result, "not-kept",
	                     "give this result's JSON to other commands with --peaks FILE",
	                     "the result could not be kept for other commands: %s",
	                     why.message) < 0)
		status = tare_fail(error, ENOMEM, "out of memory");
	return status;
}

static int run(const struct tare_settings *settings, struct tare_error *error)
{
	return tare_measure_command(settings, TARE_NEED_KERNELS, measure, NULL, error);
}

const struct tare_command tare_peak_command = {
	.name = "peak",
	.operands = "",
	.summary = "what the device can really reach: FLOP/s, memory, caches",
	.description = "Measures ceilings: multiply-add and integer rates by type and vector "
	               "width, device memory "
	               "read, written, copied and strided, working sets that show the caches, "
	               "local memory. The "
	               "result is kept, so that other commands can say how far they are from it.",
	.run = run,
	.budget_ns = TARE_PEAK_BUDGET_NS,
	.options = { &tare_device_options, &tare_ze_cpu_options, &tare_measuring_options,
	             &tare_writing_options, &tare_quiet_options, &tare_verbose_options,
	             &tare_help_options },
};
