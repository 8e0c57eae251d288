// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <errno.h>

int tare_command_export(const struct tare_settings *settings, struct tare_error *error)
{
	(void)settings;
	tare_fail(error, ENOSYS, "not written yet");
	return TARE_EXIT_FAILED;
}
