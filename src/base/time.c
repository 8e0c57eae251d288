// SPDX-License-Identifier: Apache-2.0
#include "base/time.h"

#include <time.h>

static int64_t scale(const struct tare_clock_rate *rate, uint64_t ticks, uint64_t per_second)
{
	unsigned __int128 numerator =
		(unsigned __int128)ticks * rate->hz_denominator * per_second;
	unsigned __int128 value = (numerator + rate->hz_numerator / 2) / rate->hz_numerator;
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

int64_t tare_ticks_to_ns(const struct tare_clock_rate *rate, uint64_t ticks)
{
	return scale(rate, ticks, UINT64_C(1000000000));
}

int64_t tare_ticks_to_ps(const struct tare_clock_rate *rate, uint64_t ticks)
{
	return scale(rate, ticks, UINT64_C(1000000000000));
}

double tare_tick_ns(const struct tare_clock_rate *rate)
{
	return 1e9 * (double)rate->hz_denominator / (double)rate->hz_numerator;
}

struct tare_host_time tare_host_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (struct tare_host_time){ (int64_t)now.tv_sec * 1000000000 + now.tv_nsec };
}
