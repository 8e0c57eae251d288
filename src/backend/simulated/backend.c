// SPDX-License-Identifier: Apache-2.0
#include "backend/backend.h"

#include <errno.h>

static int driver_open(const char *option, struct tare_driver **driver, struct tare_error *error)
{
	(void)option;
	(void)driver;
	return tare_fail(error, ENOENT, "not written yet");
}

extern const struct tare_backend tare_backend_simulated;
const struct tare_backend tare_backend_simulated = {
	.name = "simulated",
	.title = "Simulated",
	.driver_open = driver_open,
};
