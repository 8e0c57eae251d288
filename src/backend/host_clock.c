// SPDX-License-Identifier: Apache-2.0
#include "backend/host_clock.h"

struct tare_host_time tare_backend_host_now(struct tare_device *device)
{
	(void)device;
	return tare_host_now();
}

void tare_backend_host_pause(struct tare_device *device, int64_t ns)
{
	(void)device;
	tare_host_pause(ns);
}
