// SPDX-License-Identifier: Apache-2.0
// Maps device ticks onto the host clock from bracketed readings.
#pragma once
#include "base/error.h"
#include "base/time.h"

#include <stddef.h>

// host = origin_host + (ticks - origin_ticks) * nominal period * (1 + drift).
// The nominal rate stays rational; the drift is what was measured on top.
struct tare_clock_fit {
	struct tare_clock_rate rate;
	struct tare_host_time origin_host;
	uint64_t origin_ticks;       // unwrapped
	double drift_ppm;
	double drift_error_ppm;      // half-width
	int64_t residual_ns;         // largest possible mapping error over the fitted range
	int64_t tightest_bracket_ns; // after - before of the best pair
	size_t pairs;
};

// Fits `n` pairs in the order in which they were taken; wraps between neighbours are undone with
// the host times. Returns 0; -EINVAL with no pair, or when host times contradict the rate by
// more than 1 % (the rate is wrong: the error says so).
int tare_clock_fit(const struct tare_clock_rate *rate, const struct tare_clock_pair *pairs,
                   size_t n, struct tare_clock_fit *fit, struct tare_error *error);

// A device reading on the host clock. `near` is any host time within half a wrap period of it,
// which is how the right wrap is chosen.
struct tare_host_time tare_clock_map(const struct tare_clock_fit *fit, struct tare_ticks ticks,
                                     struct tare_host_time near);
