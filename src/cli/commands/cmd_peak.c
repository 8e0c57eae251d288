// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/measure_command.h"
#include "cli/options/commands.h"
#include "cli/options/groups.h"
#include "measure/core/peaks.h"
#include "measure/peak/peak.h"

#include <errno.h>

enum { MOST_SAMPLES = 10000 };

struct own {
	uint64_t samples;
};

static int measure(struct tare_run *run, const void *context, struct tare_error *error)
{
	const struct own *own = context;
	struct tare_error why = { 0 };
	int status;

	run->samples = own->samples;
	status = tare_measure_peak(run, error);
	// Other commands take the ceilings from there.
	if (status == 0 && !own->samples && tare_peaks_keep(run->result, &why) < 0 &&
	    tare_result_warn(run->result, "not-kept",
	                     "give this result's JSON to other commands with --peaks FILE",
	                     "the result could not be kept for other commands: %s",
	                     why.message) < 0)
		status = tare_fail(error, ENOMEM, "out of memory");
	return status;
}

static int run(const struct tare_settings *settings, struct tare_error *error)
{
	const struct own *own = (const void *)settings->own;

	if (own->samples > MOST_SAMPLES)
		return tare_usage(error, "--samples takes at most %d", MOST_SAMPLES);
	return tare_measure_command(settings, TARE_NEED_KERNELS, measure, own, error);
}

static const struct tare_option own_options_rows[] = {
	{ .name = "samples",
	  .value = TARE_VALUE_COUNT,
	  .value_name = "N",
	  .summary = "take N samples of each figure, however long that takes",
	  .detail = "So the same kernels are launched in the same way under a profiler that slows "
	            "them, such as tare hotspots: the first launch shape is taken, not the "
	            "fastest. --budget still says which figures there are and how long a launch "
	            "lasts. The result is not kept for other commands.",
	  .offset = TARE_OWN_SETTING(struct own, samples) },
};
static const struct tare_option_group own_options = TARE_OPTION_GROUP(own_options_rows);

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
	.options = { &tare_device_options, &tare_ze_cpu_options, &own_options,
	             &tare_measuring_options, &tare_writing_options, &tare_quiet_options,
	             &tare_verbose_options, &tare_help_options },
};
