// SPDX-License-Identifier: Apache-2.0
// Raw device timestamps, turned into time correctly: for use in your own program, header only, C99
// and C++. Three mistakes that are easy to make and hard to see are made here for nobody:
//  - a rate kept as whole nanoseconds a tick (83 for 12 MHz) is 0.4 % wrong;
//  - a counter of 32 bits at 12 MHz wraps every 358 s, so differences are taken modulo its width;
//  - `1 << 64` is undefined, and a counter's period is 2^bits, not 2^bits - 1.
#ifndef TARE_CLOCK_H
#define TARE_CLOCK_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A raw reading of a device counter. Only the low valid_bits of its clock mean anything.
struct tare_ticks {
	uint64_t ticks;
};

// What a device counter counts: hz_numerator / hz_denominator ticks pass each second. Both are at
// least 1, hz_denominator at most 10^7. Level Zero: ask for ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2
// and put timerResolution into hz_numerator, 1 into hz_denominator. OpenCL and CUPTI count
// nanoseconds: 1000000000 / 1.
struct tare_clock_rate {
	uint64_t hz_numerator;
	uint64_t hz_denominator;
	uint32_t valid_bits;       // 1 to 64; the counter wraps at 2^valid_bits
	uint64_t resolution_ticks; // smallest step seen or documented, in ticks; at least 1
};

// The bits of a reading that mean anything.
static inline uint64_t tare_ticks_mask(const struct tare_clock_rate *rate)
{
	return rate->valid_bits >= 64 ? UINT64_MAX : ((uint64_t)1 << rate->valid_bits) - 1;
}

// Ticks from start to end modulo 2^valid_bits, so one wrap between them does no harm.
static inline uint64_t tare_ticks_elapsed(const struct tare_clock_rate *rate,
                                          struct tare_ticks start, struct tare_ticks end)
{
	return (end.ticks - start.ticks) & tare_ticks_mask(rate);
}

// The same difference read as signed: more than half a period means end came before start.
// That is how "end before start" (an API's mistake, or two clocks) is told from a wrap.
static inline int64_t tare_ticks_elapsed_signed(const struct tare_clock_rate *rate,
                                                struct tare_ticks start, struct tare_ticks end)
{
	uint64_t elapsed = tare_ticks_elapsed(rate, start, end);
	uint64_t mask = tare_ticks_mask(rate);

	if (elapsed > mask >> 1)
		return -(int64_t)(mask - elapsed) - 1;
	return (int64_t)elapsed;
}

// A count of ticks in units of 1 / per_second seconds, rounded to nearest, at most INT64_MAX.
static inline int64_t tare_ticks_scale(const struct tare_clock_rate *rate, uint64_t ticks,
                                       uint64_t per_second)
{
	// ticks * hz_denominator * per_second may need 128 bits; divide in two steps where it does
	// not fit: the remainder of the first is below hz_numerator.
	__extension__ typedef unsigned __int128 wide;
	wide factor = (wide)rate->hz_denominator * per_second;
	if (ticks / rate->hz_numerator > (uint64_t)INT64_MAX / factor)
		return INT64_MAX;
	wide whole = (wide)(ticks / rate->hz_numerator) * factor;
	wide part = ((wide)(ticks % rate->hz_numerator) * factor + rate->hz_numerator / 2) /
	            rate->hz_numerator;
	wide sum = whole + part;

	return sum > (wide)INT64_MAX ? INT64_MAX : (int64_t)sum;
}

// A count of ticks in nanoseconds, rounded to nearest, saturating at INT64_MAX.
static inline int64_t tare_ticks_to_ns(const struct tare_clock_rate *rate, uint64_t ticks)
{
	return tare_ticks_scale(rate, ticks, UINT64_C(1000000000));
}

// The same in picoseconds; for operations that last only a few hundred ticks.
static inline int64_t tare_ticks_to_ps(const struct tare_clock_rate *rate, uint64_t ticks)
{
	return tare_ticks_scale(rate, ticks, UINT64_C(1000000000000));
}

// One tick in nanoseconds, for printing only: durations go through tare_ticks_to_ns.
static inline double tare_tick_ns(const struct tare_clock_rate *rate)
{
	return 1e9 * (double)rate->hz_denominator / (double)rate->hz_numerator;
}

// The smallest step of this clock's stamps in nanoseconds. A driver may say 0, which is none: a
// tick.
static inline double tare_step_ns(const struct tare_clock_rate *rate)
{
	return tare_tick_ns(rate) * (double)(rate->resolution_ticks ? rate->resolution_ticks : 1);
}

#ifdef __cplusplus
}
#endif
#endif
