// SPDX-License-Identifier: Apache-2.0
// Host time and device time are different types, so that the compiler refuses to mix them.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// A point on the host's one clock (CLOCK_MONOTONIC_RAW; simulated on the simulated backend).
struct tare_host_time {
	int64_t ns;
};

// A raw reading of a device counter. Only the low valid_bits of its clock mean anything.
struct tare_ticks {
	uint64_t ticks;
};

// What a device counter counts. hz_numerator / hz_denominator ticks pass each second: a
// rational, because integer nanoseconds a tick lose 0.4 % at 12 MHz.
struct tare_clock_rate {
	uint64_t hz_numerator;
	uint64_t hz_denominator;
	uint32_t valid_bits;        // 1 to 64; the counter wraps at 2^valid_bits
	uint64_t resolution_ticks;  // smallest step seen or documented, in ticks; at least 1
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

// Ticks from start to end modulo 2^valid_bits, so one wrap between them does no harm.
static inline uint64_t tare_ticks_elapsed(const struct tare_clock_rate *rate,
                                          struct tare_ticks start, struct tare_ticks end)
{
	uint64_t mask = rate->valid_bits >= 64 ? UINT64_MAX : (UINT64_C(1) << rate->valid_bits) - 1;
	return (end.ticks - start.ticks) & mask;
}

// The same difference read as signed: more than half a period means end came before start.
// That is how "end before start" (an API's mistake, or two clocks) is told from a wrap.
static inline int64_t tare_ticks_elapsed_signed(const struct tare_clock_rate *rate,
                                                struct tare_ticks start, struct tare_ticks end)
{
	uint64_t unsigned_elapsed = tare_ticks_elapsed(rate, start, end);
	if (rate->valid_bits >= 64)
		return (int64_t)unsigned_elapsed;
	if (unsigned_elapsed >> (rate->valid_bits - 1))
		return (int64_t)unsigned_elapsed - (INT64_C(1) << rate->valid_bits);
	return (int64_t)unsigned_elapsed;
}

// A count of ticks in nanoseconds, rounded to nearest, saturating at INT64_MAX.
int64_t tare_ticks_to_ns(const struct tare_clock_rate *rate, uint64_t ticks);

// The same in picoseconds; used where one operation lasts less than a few hundred ticks.
int64_t tare_ticks_to_ps(const struct tare_clock_rate *rate, uint64_t ticks);

// One tick in nanoseconds, for printing only: durations go through tare_ticks_to_ns.
double tare_tick_ns(const struct tare_clock_rate *rate);

// Reads CLOCK_MONOTONIC_RAW. Backends of real devices use it as their host clock.
struct tare_host_time tare_host_now(void);
