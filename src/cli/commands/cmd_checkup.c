// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/measure_command.h"
#include "cli/options/commands.h"
#include "cli/options/groups.h"
#include "measure/checkup/checkup.h"

static int measure(struct tare_run *run, const void *context, struct tare_error *error)
{
	(void)context;
	return tare_measure_checkup(run, error);
}

static int run(const struct tare_settings *settings, struct tare_error *error)
{
	return tare_measure_command(settings, TARE_NEED_KERNELS, measure, NULL, error);
}

const struct tare_command tare_checkup_command = {
	.name = "checkup",
	.operands = "",
	.one_device = true,
	.summary = "all of these in one go, as one page",
	.description = "Runs devices, latency, bandwidth, peak, matmul and overlap within one "
	               "budget and writes "
	               "one text, one page, one JSON.",
	.run = run,
	.budget_ns = TARE_CHECKUP_BUDGET_NS,
	.options = { &tare_device_options, &tare_ze_cpu_options, &tare_measuring_options,
	             &tare_writing_options, &tare_quiet_options, &tare_verbose_options,
	             &tare_help_options },
};
