// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/measure_command.h"
#include "cli/options/commands.h"
#include "cli/options/groups.h"
#include "measure/latency/cache.h"
#include "measure/latency/latency.h"

#include <errno.h>

static int measure(struct tare_run *run, const void *context, struct tare_error *error)
{
	struct tare_error why = { 0 };
	int status = tare_measure_latency(run, context, error);

	// tare report takes what launches cost from there.
	if (status == 0 && tare_latency_keep(run->result, &why) < 0 &&
	    tare_result_warn(run->result, "not-kept",
	                     "tare report will not say what a graph of launches would gain",
	                     "the figures could not be kept for other commands: %s",
	                     why.message) < 0)
		status = tare_fail(error, ENOMEM, "out of memory");
	return status;
}

static int run(const struct tare_settings *settings, struct tare_error *error)
{
	struct tare_latency_options options = { 0 };

	return tare_measure_command(settings, TARE_NEED_LATENCY, measure, &options, error);
}

const struct tare_command tare_latency_command = {
	.name = "latency",
	.operands = "",
	.summary = "what a launch, a wait, a timestamp, a 1-byte copy cost",
	.description =
	    "Measures the fixed costs of a device: the floor of its timestamps, an empty launch, "
	    "the "
	    "way from launch to start, waiting, a 1-byte copy each way, events and callbacks.",
	.run = run,
	.budget_ns = TARE_LATENCY_BUDGET_NS,
	.options = { &tare_device_options, &tare_ze_cpu_options, &tare_measuring_options,
	             &tare_writing_options, &tare_quiet_options, &tare_verbose_options,
	             &tare_help_options },
};
