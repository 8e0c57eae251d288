// SPDX-License-Identifier: Apache-2.0
// Host time and device time are different types, so that the compiler refuses to mix them. Device
// time (struct tare_ticks, struct tare_clock_rate and what is done with them) is public.
#pragma once
#include "tare/clock.h"

// A point on the host's one clock (CLOCK_MONOTONIC_RAW; simulated on the simulated backend).
struct tare_host_time {
	int64_t ns;
};

// Host time just before, device time, host time just after: one bracketed clock reading.
struct tare_clock_pair {
	struct tare_host_time before;
	struct tare_ticks device;
	struct tare_host_time after;
};

// Nanoseconds from a to b on the host clock; negative when b is before a.
static inline int64_t tare_host_elapsed_ns(struct tare_host_time a, struct tare_host_time b)
{
	return b.ns - a.ns;
}

// Reads CLOCK_MONOTONIC_RAW. Backends of real devices use it as their host clock.
struct tare_host_time tare_host_now(void);

// Sleeps for `ns` nanoseconds, however often a signal wakes it; not at all when ns <= 0.
void tare_host_pause(int64_t ns);
