// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/measure_command.h"
#include "cli/options/commands.h"
#include "cli/options/groups.h"
#include "measure/latency/latency.h"

static int measure(struct tare_run *run, const void *context, struct tare_error *error)
{
	return tare_measure_latency(run, context, error);
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
