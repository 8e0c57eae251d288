// SPDX-License-Identifier: Apache-2.0
#include "base/time.h"

#include <errno.h>
#include <time.h>

struct tare_host_time tare_host_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (struct tare_host_time){ (int64_t)now.tv_sec * 1000000000 + now.tv_nsec };
}

void tare_host_pause(int64_t ns)
{
	struct timespec left = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	while (ns > 0 && nanosleep(&left, &left) < 0 && errno == EINTR)
		continue;
}
