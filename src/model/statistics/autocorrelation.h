// SPDX-License-Identifier: Apache-2.0
// How many independent samples a series is worth.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Which samples lie above (1), at (0) or below (-1) the series' median: what decides how well the
// median is known, whatever the distribution.
void tare_signs(const int64_t *samples, size_t n, double median, int16_t *signs);

struct tare_autocorrelation {
	double lag1; // of the signs, -1 to 1; 0 when they do not vary
	// integrated autocorrelation time in samples and one standard error; at least 1
	double time;
};

// Integrated autocorrelation time tau = 1 + 2 * sum(rho_k) of a series of signs, truncated where
// the sums of neighbouring pairs of rho stop being positive and falling (Geyer, "Practical Markov
// Chain Monte Carlo", Stat. Sci. 7, 1992, initial monotone sequence), no less than 1, plus its
// standard error tau * sqrt(2 (2 w + 1) / n) for a sum of w lags (Sokal, "Monte Carlo Methods in
// Statistical Mechanics", 1997, eq. 3.19): a stopping rule picks the series whose time came out too
// short. Signs that do not vary have a time of exactly 1.
struct tare_autocorrelation tare_autocorrelate(const int16_t *signs, size_t n);
