// SPDX-License-Identifier: Apache-2.0
#include "model/statistics/interval.h"
#include "model/statistics/order.h"
#include "model/statistics/statistics.h"
#include "model/statistics/trend.h"

#include "base/cleanup.h"

#include <errno.h>
#include <math.h>

static void find_extremes(const int64_t *samples, size_t n, struct tare_summary *summary)
{
	summary->min = summary->max = samples[0];
	for (size_t i = 1; i < n; i++) {
		if (samples[i] < summary->min)
			summary->min = samples[i];
		if (samples[i] > summary->max)
			summary->max = samples[i];
	}
}

// Tukey's fences: 1.5 and 3 interquartile ranges beyond the quartiles ("Exploratory Data
// Analysis", 1977).
static void count_outliers(const int64_t *samples, size_t n, double lower_quartile,
                           double upper_quartile, struct tare_summary *summary)
{
	double range = upper_quartile - lower_quartile;
	for (size_t i = 0; i < n; i++) {
		double value = (double)samples[i];
		double beyond = fmax(lower_quartile - value, value - upper_quartile);
		if (beyond > 3 * range)
			summary->outliers_severe++;
		else if (beyond > 1.5 * range)
			summary->outliers_mild++;
	}
}

int tare_summarise(const int64_t *samples, size_t n, double quantum, struct tare_summary *summary)
{
	struct tare_location at;
	TARE_FREE int64_t *ordered = NULL;
	TARE_FREE int16_t *signs = NULL;
	*summary = (struct tare_summary){
		.median = NAN, .p95 = NAN, .ci_low = NAN, .ci_high = NAN, .autocorrelation = NAN
	};
	if (n == 0)
		return 0;
	ordered = malloc(n * sizeof *ordered);
	signs = malloc(n * sizeof *signs);
	if (!ordered || !signs)
		return -ENOMEM;
	at = tare_locate_median(samples, n, quantum, ordered, signs);
	summary->n = n;
	summary->median = at.median;
	summary->ci_low = at.low;
	summary->ci_high = at.high;
	// The interval has a quantum on each side.
	summary->quantised = quantum > 0 && 4 * quantum >= at.high - at.low;
	summary->autocorrelation = at.dependence.lag1;
	summary->effective_n = at.effective_n;
	find_extremes(samples, n, summary);
	summary->p95 = tare_select_quantile(ordered, n, 0.95);
	count_outliers(samples, n, tare_select_quantile(ordered, n, 0.25),
	               tare_select_quantile(ordered, n, 0.75), summary);
	return tare_drifting(samples, signs, n, quantum, &summary->drifting);
}
