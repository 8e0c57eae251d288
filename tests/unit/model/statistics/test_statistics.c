// SPDX-License-Identifier: Apache-2.0
#include "model/statistics/autocorrelation.h"
#include "model/statistics/order.h"
#include "model/statistics/statistics.h"
#include "noise.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 4096 };
static int64_t samples[MOST];

// Lognormal noise around `median`, autocorrelated, that rises by `trend` (a share of the median)
// over the series.
static void fill(size_t n, double median, double noise, double correlation, double trend,
                 struct tare_random *random)
{
	double state = normal(random);
	for (size_t i = 0; i < n; i++) {
		double level = median * (1 + trend * ((double)i / (double)n - 0.5));
		samples[i] = llround(level * exp(noise * state));
		state = autoregress(random, state, correlation);
	}
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a;
	int64_t y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static void selecting_finds_what_sorting_finds(void **state)
{
	struct tare_random random = { 1 };
	(void)state;
	for (size_t n = 1; n < 200; n++) {
		int64_t sorted[200], scratch[200];
		for (size_t i = 0; i < n; i++) // few distinct values: ties
			samples[i] = (int64_t)tare_random_below(&random, n % 3 ? 1000 : 5) - 3;
		memcpy(sorted, samples, sizeof sorted);
		qsort(sorted, n, sizeof *sorted, compare);
		for (size_t k = 0; k < n; k += 1 + n / 7) {
			memcpy(scratch, samples, sizeof scratch);
			assert_int_equal(tare_select(scratch, n, k), sorted[k]);
			for (size_t i = 0; i < n; i++)
				assert_true(i < k ? scratch[i] <= scratch[k]
				                  : scratch[i] >= scratch[k]);
		}
		memcpy(scratch, samples, sizeof scratch);
		assert_true(tare_select_median(scratch, n) ==
		            (double)(sorted[n / 2] + sorted[(n - 1) / 2]) / 2);
	}
}

static void the_median_of_doubles_lies_in_the_middle(void **state)
{
	double odd[] = { 5.5, -1, 3, 100, 2.25 }, even[] = { 4, -8, 1.5, 7 }, one[] = { 6 };
	(void)state;
	assert_true(tare_median(odd, 5) == 3);
	assert_true(odd[0] == -1 && odd[4] == 100);
	assert_true(tare_median(even, 4) == 2.75);
	assert_true(tare_median(one, 1) == 6);
}

static void quantiles_lie_between_neighbours(void **state)
{
	static const struct {
		double p, quantile;
	} rows[] = {
		{ 0, 10 }, { 0.25, 20 }, { 0.5, 30 }, { 0.95, 48 }, { 1, 50 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int64_t values[] = { 50, 10, 40, 20, 30 };
		assert_true(fabs(tare_select_quantile(values, 5, rows[i].p) - rows[i].quantile) <
		            1e-9);
	}
}

static void nothing_measured_is_not_zero(void **state)
{
	struct tare_summary summary;
	(void)state;
	assert_int_equal(tare_summarise(NULL, 0, 0, &summary), 0);
	assert_int_equal(summary.n, 0);
	assert_true(isnan(summary.median) && isnan(summary.p95) && isnan(summary.ci_low) &&
	            isnan(summary.ci_high));
}

static void few_samples_have_a_median_but_no_interval(void **state)
{
	struct tare_random random = { 2 };
	(void)state;
	for (size_t n = 1; n < 15; n++) {
		struct tare_summary summary;
		fill(n, 1000, 0.05, 0, 0, &random);
		assert_int_equal(tare_summarise(samples, n, 0, &summary), 0);
		assert_true(summary.median >= (double)summary.min &&
		            summary.median <= (double)summary.max);
		assert_true(isnan(summary.ci_low) && isnan(summary.ci_high));
	}
}

static void the_interval_encloses_the_median_and_shrinks_with_n(void **state)
{
	struct tare_random random = { 3 };
	double width = INFINITY;
	(void)state;
	for (size_t n = 64; n <= 4096; n *= 4) {
		struct tare_summary summary;
		fill(n, 1e6, 0.05, 0, 0, &random);
		assert_int_equal(tare_summarise(samples, n, 0, &summary), 0);
		assert_true(summary.ci_low <= summary.median && summary.median <= summary.ci_high);
		assert_true(summary.ci_high - summary.ci_low < 0.75 * width);
		width = summary.ci_high - summary.ci_low;
	}
	assert_true(width > 0);
}

static void the_interval_is_never_narrower_than_the_timer(void **state)
{
	struct tare_summary summary;
	(void)state;
	for (size_t i = 0; i < 100; i++)
		samples[i] = 5000;
	assert_int_equal(tare_summarise(samples, 100, 0, &summary), 0);
	assert_false(summary.quantised);
	assert_true(summary.ci_low == 5000 && summary.ci_high == 5000);
	assert_int_equal(tare_summarise(samples, 100, 80, &summary), 0);
	assert_true(summary.quantised);
	assert_true(summary.ci_low == 4920 && summary.ci_high == 5080);
	// Samples that scatter by much more than the step are not the timer's doing.
	for (size_t i = 0; i < 100; i++)
		samples[i] = 5000 + (int64_t)(i * 37 % 100) * 10;
	assert_int_equal(tare_summarise(samples, 100, 1, &summary), 0);
	assert_true(summary.ci_high - summary.ci_low > 4);
	assert_false(summary.quantised);
}

static void effective_n_follows_the_autocorrelation(void **state)
{
	// The signs of a normal series of correlation r^k have 2/pi asin(r^k); summed over k that
	// is a time of 1, 2.2 and 13.5 samples.
	static const struct {
		double correlation, time, lag1;
	} rows[] = {
		{ 0, 1, 0 },
		{ 0.5, 2.2, 0.333 },
		{ 0.9, 13.5, 0.713 },
	};
	struct tare_random random = { 4 };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_summary summary;
		double time;
		fill(MOST, 1e6, 0.05, rows[i].correlation, 0, &random);
		assert_int_equal(tare_summarise(samples, MOST, 0, &summary), 0);
		time = MOST / summary.effective_n;
		assert_true(time >= rows[i].time * 0.9 && time <= rows[i].time * 1.9);
		assert_true(fabs(summary.autocorrelation - rows[i].lag1) < 0.08);
	}
}

static void samples_that_alternate_are_worth_no_more_than_n(void **state)
{
	struct tare_summary summary;
	(void)state;
	for (size_t i = 0; i < 1000; i++)
		samples[i] = i % 2 ? 100 : 200;
	assert_int_equal(tare_summarise(samples, 1000, 0, &summary), 0);
	assert_true(summary.effective_n <= 1000);
	assert_true(summary.autocorrelation < -0.99);
}

static void two_levels_in_turn_are_worth_two_samples_a_turn_at_most(void **state)
{
	struct tare_summary summary;
	(void)state;
	for (size_t i = 0; i < 1000; i++)
		samples[i] = i / 100 % 2 ? 100 : 200;
	assert_int_equal(tare_summarise(samples, 1000, 0, &summary), 0);
	assert_true(summary.effective_n < 30);
}

static void outliers_are_classed_by_tukeys_fences(void **state)
{
	struct tare_summary summary;
	(void)state;
	// 1 to 99: quartiles 25.5 and 74.5 before the strangers are put in.
	for (size_t i = 0; i < 99; i++)
		samples[i] = (int64_t)(i + 1);
	samples[10] = 170; // beyond 1.5 ranges
	samples[15] = 215;
	samples[20] = 400; // beyond 3
	samples[30] = -400;
	assert_int_equal(tare_summarise(samples, 99, 0, &summary), 0);
	assert_int_equal(summary.outliers_mild, 2);
	assert_int_equal(summary.outliers_severe, 2);
	assert_int_equal(summary.min, -400);
	assert_int_equal(summary.max, 400);
	assert_int_equal(summary.n, 99);
}

static void ties_with_the_median_count_for_neither_side(void **state)
{
	static const int64_t values[] = { 5, 7, 6, 6, 9, 1 };
	static const int16_t expected[] = { -1, 1, 0, 0, 1, -1 };
	int16_t signs[6];
	(void)state;
	tare_signs(values, 6, 6, signs);
	assert_memory_equal(signs, expected, sizeof signs);
}

// Where samples depend on each other, a short series cannot show by how much, so its interval has
// to hold more than it promises.
static void short_series_of_dependent_samples_get_wide_intervals(void **state)
{
	enum { RUNS = 10000, N = 200 };
	struct tare_random random = { 10 };
	size_t bounded = 0, covered = 0;
	(void)state;
	for (size_t i = 0; i < RUNS; i++) {
		struct tare_summary summary;
		fill(N, 1e6, 0.05, 0.9, 0, &random);
		assert_int_equal(tare_summarise(samples, N, 0, &summary), 0);
		bounded += !isnan(summary.ci_low);
		covered += summary.ci_low <= 1e6 && 1e6 <= summary.ci_high;
	}
	assert_true(bounded > RUNS / 3);
	assert_true((double)covered > 0.975 * (double)bounded);
}

// Narrow is not enough: two slow steps say nothing of where a third would be.
static void few_independent_samples_never_converge(void **state)
{
	struct tare_series series = { .rule = tare_stopping_default() };
	(void)state;
	for (size_t i = 0; i < 160; i++) {
		assert_int_equal(tare_series_add(&series, 1000000 + (i / 10 % 2 ? 3 : -3)), 0);
		assert_int_equal(tare_series_decide(&series, 1000000000), TARE_CONTINUE);
	}
	tare_series_clear(&series);
}

static void identical_samples_converge_at_the_first_look(void **state)
{
	struct tare_series series = { .rule = tare_stopping_default() };
	enum tare_verdict verdict = TARE_CONTINUE;
	(void)state;
	while (verdict == TARE_CONTINUE) {
		assert_int_equal(tare_series_add(&series, 12345), 0);
		verdict = tare_series_decide(&series, 1000000000);
	}
	assert_int_equal(verdict, TARE_CONVERGED);
	assert_int_equal(series.n, 32);
	assert_true(series.summary.ci_low == 12345 && series.summary.ci_high == 12345);
	tare_series_clear(&series);
	assert_null(series.samples);
	assert_int_equal(series.n, 0);
	assert_true(series.rule.relative_half_width == 0.01);
}

static void nothing_converges_before_the_minimum_time(void **state)
{
	struct tare_series series = { .rule = tare_stopping_default() };
	(void)state;
	for (size_t i = 0; i < 1000; i++) {
		assert_int_equal(tare_series_add(&series, 7), 0);
		assert_int_equal(tare_series_decide(&series, series.rule.minimum_ns - 1),
		                 TARE_CONTINUE);
	}
	tare_series_clear(&series);
}

static void the_rule_looks_at_growing_n_only(void **state)
{
	struct tare_series series = { .rule = tare_stopping_default() };
	struct tare_random random = { 5 };
	size_t looks = 0, last = 0;
	(void)state;
	fill(MOST, 1e6, 0.5, 0, 0, &random);
	for (size_t i = 0; i < MOST; i++) {
		assert_int_equal(tare_series_add(&series, samples[i]), 0);
		assert_int_equal(tare_series_decide(&series, 1000000000), TARE_CONTINUE);
		if (series.summary.n == last)
			continue;
		assert_int_equal(series.summary.n, series.n);
		assert_true(2 * series.n >= 3 * last);
		last = series.summary.n;
		looks++;
	}
	assert_true(looks >= 10 && looks <= 13);
	assert_int_equal(tare_series_summarise(&series), 0);
	assert_int_equal(series.summary.n, MOST);
	tare_series_clear(&series);
}

static void the_maximum_ends_it_either_way(void **state)
{
	static const struct {
		double noise;
		enum tare_verdict verdict;
	} rows[] = {
		{ 0.5, TARE_NOT_CONVERGED },
		{ 0.001, TARE_CONVERGED },
	};
	struct tare_random random = { 6 };
	(void)state;
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
		struct tare_series series = { .rule = tare_stopping_default() };
		enum tare_verdict verdict = TARE_CONTINUE;
		series.rule.minimum_n = series.rule.maximum_n = 100;
		fill(100, 1e6, rows[k].noise, 0, 0, &random);
		for (size_t i = 0; i < 100; i++) {
			assert_int_equal(verdict, TARE_CONTINUE);
			assert_int_equal(tare_series_add(&series, samples[i]), 0);
			verdict = tare_series_decide(&series, 0);
		}
		assert_int_equal(verdict, rows[k].verdict);
		tare_series_clear(&series);
	}
}

static size_t times_drifting(size_t n, double noise, double correlation, double trend,
                             struct tare_random *random)
{
	size_t found = 0;
	for (size_t run = 0; run < 200; run++) {
		struct tare_summary summary;
		fill(n, 1e6, noise, correlation, trend, random);
		assert_int_equal(tare_summarise(samples, n, 0, &summary), 0);
		found += summary.drifting;
	}
	return found;
}

static void drift_is_told_from_noise(void **state)
{
	static const struct {
		size_t n;
		double correlation, trend;
		size_t least, most; // of 200
	} rows[] = {
		{ 500, 0, 0, 0, 3 },         { 2000, 0.9, 0, 0, 3 }, // wanders, but comes back
		{ 2000, 0.99, 0, 0, 3 },     { 500, 0, 0.10, 195, 200 },
		{ 500, 0, -0.10, 195, 200 }, { 4000, 0.5, 0.05, 190, 200 },
		{ 500, 0, 0.005, 0, 20 }, // smaller than the interval
		{ 30, 0, 1, 0, 0 },       // too few to tell
	};
	struct tare_random random = { 9 };
	(void)state;
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		assert_in_range(
		    times_drifting(rows[k].n, 0.05, rows[k].correlation, rows[k].trend, &random),
		    rows[k].least, rows[k].most);
}

static void a_trend_within_a_tick_is_no_drift(void **state)
{
	struct tare_random random = { 12 };
	struct tare_summary summary;
	(void)state;
	fill(500, 1e6, 0.01, 0, 0.05, &random);
	assert_int_equal(tare_summarise(samples, 500, 1000, &summary), 0);
	assert_true(summary.drifting);
	assert_int_equal(tare_summarise(samples, 500, 50000, &summary), 0);
	assert_false(summary.drifting);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(selecting_finds_what_sorting_finds),
		cmocka_unit_test(the_median_of_doubles_lies_in_the_middle),
		cmocka_unit_test(quantiles_lie_between_neighbours),
		cmocka_unit_test(nothing_measured_is_not_zero),
		cmocka_unit_test(few_samples_have_a_median_but_no_interval),
		cmocka_unit_test(the_interval_encloses_the_median_and_shrinks_with_n),
		cmocka_unit_test(the_interval_is_never_narrower_than_the_timer),
		cmocka_unit_test(effective_n_follows_the_autocorrelation),
		cmocka_unit_test(samples_that_alternate_are_worth_no_more_than_n),
		cmocka_unit_test(two_levels_in_turn_are_worth_two_samples_a_turn_at_most),
		cmocka_unit_test(outliers_are_classed_by_tukeys_fences),
		cmocka_unit_test(ties_with_the_median_count_for_neither_side),
		cmocka_unit_test(short_series_of_dependent_samples_get_wide_intervals),
		cmocka_unit_test(few_independent_samples_never_converge),
		cmocka_unit_test(identical_samples_converge_at_the_first_look),
		cmocka_unit_test(nothing_converges_before_the_minimum_time),
		cmocka_unit_test(the_rule_looks_at_growing_n_only),
		cmocka_unit_test(the_maximum_ends_it_either_way),
		cmocka_unit_test(drift_is_told_from_noise),
		cmocka_unit_test(a_trend_within_a_tick_is_no_drift),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
