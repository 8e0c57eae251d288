// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"
#include "cli/measure_command.h"
#include "measure/matmul.h"

static int measure(struct tare_run *run, const void *context, struct tare_error *error)
{
	return tare_measure_matmul(run, context, error);
}

int tare_command_matmul(const struct tare_settings *settings, struct tare_error *error)
{
	struct tare_matmul_options options = { 0 };

	return tare_measure_command(settings, TARE_NEED_KERNELS, measure, &options, error);
}
