// SPDX-License-Identifier: Apache-2.0
// Maps device ticks onto the host clock from bracketed readings.
#pragma once
#include "base/error.h"
#include "base/time.h"

#include <stddef.h>

// host = origin_host + (ticks - origin_ticks) * nominal period * (1 + drift).
// The nominal rate stays rational; the drift is what was measured on top (a counter that is fast
// has a negative one). A reading stands for the middle of its tick.
struct tare_clock_fit {
	struct tare_clock_rate rate;
	struct tare_host_time origin_host;
	uint64_t origin_ticks; // unwrapped
	double drift_ppm;
	double drift_error_ppm; // half-width: no drift farther off fits all pairs; NaN when the
	                        // pairs are all at one time (one pair)
	int64_t residual_ns;    // largest possible mapping error over the fitted range, when the
	                        // drift is constant; a wander that no line fits is included, one
	                        // that is hidden in the brackets is not
	int64_t tightest_bracket_ns; // after - before of the best pair
	size_t pairs;
};

// Fits `n` pairs in the order in which they were taken; wraps between neighbours, several too, are
// undone with the host times. Each pair bounds the line (the device was read between before and
// after); the middle of all lines that satisfy every pair is taken, so narrow brackets count and
// wide ones do no harm (clock_tube.h). Pairs too close together to tell the drift within 500 ppm
// give the drift nearest to zero that fits. A few dozen pairs, spread over the time that matters
// and each the narrowest of several readings, map to within half the narrowest bracket where the
// reading lies anywhere in its bracket; where it always lies near one end, it takes some hundred.
// The residual bounds the error in either case.
// Returns 0; -ENOMEM; -EINVAL with no pair, a bracket that ends before it begins, a rate that
// cannot be, when host times contradict the rate by more than 1 % (the rate is wrong: the error
// says so, and what it is), when no steady rate comes within 1 % of the span to all pairs (the
// clock was set, or a pair is false), or when two neighbours lie so far apart that with a drift of
// 500 ppm the number of wraps between them is not sure.
int tare_clock_fit(const struct tare_clock_rate *rate, const struct tare_clock_pair *pairs,
                   size_t n, struct tare_clock_fit *fit, struct tare_error *error);

// A device reading on the host clock. `near` is any host time within half a wrap period of it,
// which is how the right wrap is chosen. Good to residual_ns between the first and the last pair;
// outside, drift_error_ppm of the distance comes on top.
struct tare_host_time tare_clock_map(const struct tare_clock_fit *fit, struct tare_ticks ticks,
                                     struct tare_host_time near);
