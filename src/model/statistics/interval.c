// SPDX-License-Identifier: Apache-2.0
#include "model/statistics/interval.h"

#include "model/statistics/order.h"

#include <math.h>
#include <string.h>

// 98 % for one look at independent samples. The interval is sold at 95 %: the rest pays for
// choosing when to stop, and the second figure, which widens by a third at 24 samples' worth and
// fades, for all that a short series cannot show. docs/statistics.md has what was measured.
static const double level_z = 2.326;
static const double inflation_samples = 8;

struct tare_location tare_locate_median(const int64_t *samples, size_t n, double quantum,
                                        int64_t *ordered, int16_t *signs)
{
	struct tare_location at = { .low = NAN, .high = NAN };
	double z, rank;
	memcpy(ordered, samples, n * sizeof *ordered);
	at.median = tare_select_median(ordered, n);
	tare_signs(samples, n, at.median, signs);
	at.dependence = tare_autocorrelate(signs, n);
	at.effective_n = (double)n / at.dependence.time;
	z = level_z * (1 + inflation_samples / at.effective_n);
	rank = floor((double)n / 2 - z / 2 * sqrt((double)n * at.dependence.time)); // from 1
	if (rank >= 1) {
		// Finding the median has parted the halves.
		size_t below = (size_t)rank - 1;
		size_t half = n / 2;
		at.low = (double)tare_select(ordered, half, below) - quantum;
		at.high =
		    (double)tare_select(ordered + half, n - half, n - half - 1 - below) + quantum;
	}
	return at;
}
