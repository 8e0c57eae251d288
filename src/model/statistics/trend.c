// SPDX-License-Identifier: Apache-2.0
#include "model/statistics/trend.h"

#include "model/statistics/autocorrelation.h"
#include "model/statistics/interval.h"
#include "model/statistics/order.h"
#include "model/statistics/statistics.h"

#include "base/cleanup.h"

#include <errno.h>
#include <math.h>
#include <string.h>

// Blocks whose order is tested, and the fewest samples to make blocks of.
enum { BLOCKS = 16, PAIRS = BLOCKS * (BLOCKS - 1) / 2, FEWEST = 3 * BLOCKS };
// The sum over all pairs of blocks of the sign of their difference has, without a trend, a variance
// of b (b - 1) (2 b + 5) / 18 = 493 (Kendall, "Rank Correlation Methods"); one in a thousand is
// beyond 3.29 deviations of 22.2.
static const int kendall_limit = 73;

static size_t block_start(size_t n, size_t block)
{
	return n / BLOCKS * block + n % BLOCKS * block / BLOCKS;
}

// Mann-Kendall over the blocks' sums of signs: O(n) and almost always the end of it.
static bool trend_is_chance(const int16_t *signs, size_t n)
{
	int sum[BLOCKS] = { 0 };
	int score = 0;
	for (size_t block = 0; block < BLOCKS; block++)
		for (size_t i = block_start(n, block); i < block_start(n, block + 1); i++)
			sum[block] += signs[i];
	for (size_t a = 0; a < BLOCKS; a++)
		for (size_t b = a + 1; b < BLOCKS; b++)
			score += (sum[b] > sum[a]) - (sum[b] < sum[a]);
	return abs(score) < kendall_limit;
}

// Theil-Sen slope of the blocks' medians, a sample (Sen, JASA 63, 1968). Rearranges `scratch`.
static double slope(int64_t *scratch, size_t n)
{
	double median[BLOCKS];
	double slopes[PAIRS];
	size_t count = 0;
	for (size_t block = 0; block < BLOCKS; block++) {
		size_t start = block_start(n, block);
		median[block] =
		    tare_select_median(scratch + start, block_start(n, block + 1) - start);
	}
	for (size_t a = 0; a < BLOCKS; a++)
		for (size_t b = a + 1; b < BLOCKS; b++)
			slopes[count++] = (median[b] - median[a]) / (double)(b - a);
	return tare_median(slopes, PAIRS) * (double)BLOCKS / (double)n;
}

int tare_drifting(const int64_t *samples, const int16_t *signs, size_t n, double quantum,
                  bool *drifting)
{
	TARE_FREE int64_t *level = NULL;
	TARE_FREE int64_t *ordered = NULL;
	TARE_FREE int16_t *level_signs = NULL;
	struct tare_location at;
	double a_sample;
	*drifting = false;
	if (n < FEWEST || trend_is_chance(signs, n))
		return 0;
	level = malloc(n * sizeof *level);
	ordered = malloc(n * sizeof *ordered);
	level_signs = malloc(n * sizeof *level_signs);
	if (!level || !ordered || !level_signs)
		return -ENOMEM;
	memcpy(ordered, samples, n * sizeof *ordered);
	a_sample = slope(ordered, n);
	// The trend itself looks like dependence, so that is judged without it. Blocks that are
	// too short to be independent pass the test above by chance; then this interval is wide,
	// or there is none.
	for (size_t i = 0; i < n; i++)
		level[i] = samples[i] - llround(a_sample * ((double)i - (double)n / 2));
	at = tare_locate_median(level, n, quantum, ordered, level_signs);
	*drifting = fabs(a_sample) * (double)n > at.high - at.low;
	return 0;
}
