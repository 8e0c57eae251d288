// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/measure_command.h"
#include "cli/options/command.h"
#include "measure/latency/latency.h"

static int measure(struct tare_run *run, const void *context, struct tare_error *error)
{
	return tare_measure_latency(run, context, error);
}

int tare_command_latency(const struct tare_settings *settings, struct tare_error *error)
{
	struct tare_latency_options options = { 0 };

	return tare_measure_command(settings, TARE_NEED_LATENCY, measure, &options, error);
}
