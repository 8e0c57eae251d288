// SPDX-License-Identifier: Apache-2.0
#include "base/time.h"

#include <time.h>

struct tare_host_time tare_host_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (struct tare_host_time){ (int64_t)now.tv_sec * 1000000000 + now.tv_nsec };
}
