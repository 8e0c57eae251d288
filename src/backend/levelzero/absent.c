// SPDX-License-Identifier: Apache-2.0
// Stands in for the Level Zero backend where its headers were missing at build time.
#include "backend/backend.h"

#include <errno.h>

static int driver_open(const char *option, struct tare_driver **driver, struct tare_error *error)
{
	(void)option;
	(void)driver;
	return tare_fail(error, ENOENT,
	                 "this tare was built without Level Zero (headers of libze-dev)");
}

static void driver_close(struct tare_driver *driver)
{
	(void)driver;
}

static uint32_t device_count(const struct tare_driver *driver)
{
	(void)driver;
	return 0;
}

extern const struct tare_backend tare_backend_levelzero;
const struct tare_backend tare_backend_levelzero = {
	.name = "levelzero",
	.title = "Level Zero",
	.driver_open = driver_open,
	.driver_close = driver_close,
	.device_count = device_count,
};
