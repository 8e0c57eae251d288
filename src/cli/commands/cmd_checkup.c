// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/measure_command.h"
#include "cli/options/command.h"
#include "measure/checkup/checkup.h"

static int measure(struct tare_run *run, const void *context, struct tare_error *error)
{
	(void)context;
	return tare_measure_checkup(run, error);
}

int tare_command_checkup(const struct tare_settings *settings, struct tare_error *error)
{
	return tare_measure_command(settings, TARE_NEED_KERNELS, measure, NULL, error);
}
