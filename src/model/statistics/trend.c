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

// How many samples from the first on, without a gap, lie beyond Tukey's outer fences of the second
// half and beyond all of its samples.
static size_t leading_outliers(const int64_t *samples, size_t n, int64_t *scratch)
{
	size_t half = n / 2;
	size_t rest = n - half;
	double lower, upper, range;
	int64_t min, max;
	size_t count = 0;
	memcpy(scratch, samples + half, rest * sizeof *scratch);
	min = tare_select(scratch, rest, 0);
	max = tare_select(scratch, rest, rest - 1);
	lower = tare_select_quantile(scratch, rest, 0.25);
	upper = tare_select_quantile(scratch, rest, 0.75);
	range = upper - lower;
	while (count < half && (samples[count] < min || samples[count] > max) &&
	       ((double)samples[count] < lower - 3 * range ||
	        (double)samples[count] > upper + 3 * range))
		count++;
	return count;
}

struct ranked {
	int64_t value;
	size_t place;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a;
	const struct ranked *y = b;
	return (x->value > y->value) - (x->value < y->value);
}

// Writes the rank of each sample, equals sharing the mean of theirs; returns the sum of t^3 - t
// over groups of t equals, which the variance of a rank sum loses. Rearranges `sorted`.
static double rank_samples(struct ranked *sorted, size_t n, double *rank)
{
	double ties = 0;
	qsort(sorted, n, sizeof *sorted, compare_ranked);
	for (size_t i = 0, j; i < n; i = j) {
		double equals;
		for (j = i + 1; j < n && sorted[j].value == sorted[i].value; j++)
			;
		equals = (double)(j - i);
		ties += equals * equals * equals - equals;
		for (size_t k = i; k < j; k++)
			rank[sorted[k].place] = (double)(i + j + 1) / 2;
	}
	return ties;
}

// The first part, of at most half of the series, that differs most from what follows it; 0 when
// the difference may be chance. Each split is a Mann-Whitney test ("On a Test of Whether one of Two
// Random Variables is Stochastically Larger", Ann. Math. Stat. 18, 1947); the limit of 4
// deviations leaves room for trying all splits. `time` scales the variance.
static size_t most_different_part(const double *rank, size_t n, double ties, double time)
{
	static const double limit = 4;
	double total = (double)n;
	double spread = (total + 1 - ties / (total * (total - 1))) / 12 * time;
	double sum = 0;
	double greatest = limit;
	size_t part = 0;
	for (size_t k = 1; k <= n / 2; k++) {
		double first = (double)k;
		double z;
		sum += rank[k - 1];
		z = fabs(sum - first * (total + 1) / 2) / sqrt(first * (total - first) * spread);
		if (z > greatest) {
			greatest = z;
			part = k;
		}
	}
	return part;
}

size_t tare_warmup_length(const int64_t *samples, size_t n)
{
	enum { FEWEST_RANKED = 8 };
	TARE_FREE struct ranked *sorted = malloc((n + 1) * sizeof *sorted);
	TARE_FREE double *rank = malloc((n + 1) * sizeof *rank);
	TARE_FREE int64_t *scratch = malloc((n + 1) * sizeof *scratch);
	TARE_FREE int16_t *signs = malloc((n + 1) * sizeof *signs);
	struct tare_location at;
	double ties;
	size_t outliers, part;
	if (n < FEWEST_RANKED || !sorted || !rank || !scratch || !signs)
		return 0;
	outliers = leading_outliers(samples, n, scratch);
	for (size_t i = 0; i < n; i++)
		sorted[i] = (struct ranked){ samples[i], i };
	ties = rank_samples(sorted, n, rank);
	// The second half is taken as warm, so its dependence is that of the noise.
	at = tare_locate_median(samples + n / 2, n - n / 2, 0, scratch, signs);
	part = most_different_part(rank, n, ties, at.dependence.time);
	return part > outliers ? part : outliers;
}
