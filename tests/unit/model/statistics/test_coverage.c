// SPDX-License-Identifier: Apache-2.0
// Does the interval of the median hold what it promises? 10,000 runs of each kind of noise under
// the stopping rule, seeds not chosen; docs/statistics.md has the table that this prints.
//   TARE_TEST_SEED=N   repeats a run
//   TARE_TEST_RUNS=N   more or fewer runs of each kind
//   TARE_TEST_LONG=1   also the kinds that take minutes
#include "model/statistics/statistics.h"
#include "noise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

// What a timer does to a duration.
enum timer { EXACT, CUTS, ROUNDS, LIFTS, DITHERS };

struct kind {
	const char *name;
	double noise;       // standard deviation of the logarithm
	double correlation; // of neighbours
	double quantum;     // of the median
	enum timer timer;
	bool is_long;
};

static const struct kind kinds[] = {
	{ "0.5 %, independent", 0.005, 0, 0, EXACT, false },
	{ "5 %, independent", 0.05, 0, 0, EXACT, false },
	{ "10 %, independent", 0.10, 0, 0, EXACT, false },
	{ "5 %, autocorrelation 0.5", 0.05, 0.5, 0, EXACT, false },
	{ "10 %, autocorrelation 0.5", 0.10, 0.5, 0, EXACT, false },
	{ "1 %, autocorrelation 0.9", 0.01, 0.9, 0, EXACT, false },
	{ "2 %, autocorrelation 0.9", 0.02, 0.9, 0, EXACT, true },
	{ "5 %, autocorrelation 0.9", 0.05, 0.9, 0, EXACT, false },
	{ "10 %, autocorrelation 0.9", 0.10, 0.9, 0, EXACT, true },
	{ "3 %, autocorrelation 0.97", 0.03, 0.97, 0, EXACT, true },
	{ "5 %, timer 0.2 % cuts", 0.05, 0, 0.002, CUTS, false },
	{ "5 %, timer 0.2 % rounds", 0.05, 0, 0.002, ROUNDS, false },
	{ "5 %, timer 0.2 % lifts", 0.05, 0, 0.002, LIFTS, false },
	{ "5 %, timer 0.2 % dithers", 0.05, 0, 0.002, DITHERS, false },
	{ "0.1 %, timer 0.8 % cuts", 0.001, 0, 0.008, CUTS, false },
	{ "0.1 %, timer 0.8 % lifts", 0.001, 0, 0.008, LIFTS, true },
	{ "2 %, 0.5, timer 0.3 % rounds", 0.02, 0.5, 0.003, ROUNDS, false },
	{ "1 %, 0.9, timer 0.3 % cuts", 0.01, 0.9, 0.003, CUTS, false },
	{ "5 %, 0.9, timer 0.5 % cuts", 0.05, 0.9, 0.005, CUTS, true },
	{ "10 %, 0.5, timer 0.5 % lifts", 0.10, 0.5, 0.005, LIFTS, true },
};

// Where the median is and how it was found, run after run.
struct tally {
	size_t runs, converged, covered;
	double samples;
};

static double through_timer(double value, double quantum, enum timer timer, double phase)
{
	double ticks = value / quantum;
	switch (timer) {
	case EXACT:
		return value;
	case CUTS:
		return floor(ticks) * quantum;
	case ROUNDS:
		return rint(ticks) * quantum;
	case LIFTS:
		return ceil(ticks) * quantum;
	case DITHERS: // start and end are both cut, at any phase of the tick
		return (floor(ticks + phase)) * quantum;
	}
	return value;
}

// One run: samples until the rule is content. Writes the series' state at its end.
static enum tare_verdict run(const struct kind *kind, double median, size_t limit,
                             struct tare_random *random, struct tare_series *series)
{
	// Off the round figure, or the truth would always lie on a tick.
	double quantum = median * kind->quantum * (0.9 + 0.2 * uniform(random));
	double state = normal(random);
	enum tare_verdict verdict;
	*series = (struct tare_series){ .rule = tare_stopping_default() };
	series->rule.maximum_n = limit;
	series->rule.quantum = quantum;
	do {
		double value = median * exp(kind->noise * state);
		value = through_timer(value, quantum, kind->timer, uniform(random));
		assert_int_equal(tare_series_add(series, llround(value)), 0);
		state = autoregress(random, state, kind->correlation);
		verdict = tare_series_decide(series, series->rule.minimum_ns);
	} while (verdict == TARE_CONTINUE);
	return verdict;
}

static size_t runs_wanted(void)
{
	const char *text = getenv("TARE_TEST_RUNS");
	if (text)
		return strtoul(text, NULL, 10);
#if defined(__SANITIZE_ADDRESS__)
	return 2000;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
	return 2000;
#endif
#endif
	return 10000;
}

static void in_at_least_94_of_100_converged_runs_the_interval_covers_the_truth(void **state)
{
	struct tare_random random = unchosen_seed();
	(void)state;
	printf("# %-32s %9s %9s %8s\n", "noise", "converged", "covered", "samples");
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		struct tally tally = { .runs = runs_wanted() };
		if (kinds[k].is_long && !getenv("TARE_TEST_LONG"))
			continue;
		for (size_t i = 0; i < tally.runs; i++) {
			double median = 1e7 * (1 + uniform(&random));
			struct tare_series series;
			if (run(&kinds[k], median, 1000000, &random, &series) == TARE_CONVERGED) {
				tally.converged++;
				tally.samples += (double)series.n;
				tally.covered += series.summary.ci_low <= median &&
				                 median <= series.summary.ci_high;
			}
			tare_series_clear(&series);
		}
		printf("# %-32s %7.2f %% %7.2f %% %8.0f\n", kinds[k].name,
		       100.0 * (double)tally.converged / (double)tally.runs,
		       100.0 * (double)tally.covered / (double)tally.converged,
		       tally.samples / (double)tally.converged);
		fflush(stdout);
		assert_true((double)tally.converged >= 0.99 * (double)tally.runs);
		assert_true((double)tally.covered >= 0.94 * (double)tally.converged);
	}
}

// Few samples are allowed, so only the runs converge that look quieter than they are. No rule gives
// these all of their 95 %: some of the luck is an autocorrelation that did not show.
static void runs_that_converge_by_luck_are_covered_nearly_as_often(void **state)
{
	static const struct kind rows[] = {
		{ "5 %, at most 250", 0.05, 0, 0, EXACT, false },
		{ "2 %, 0.9, at most 600", 0.02, 0.9, 0, EXACT, false },
	};
	static const size_t limits[] = { 250, 600 };
	struct tare_random random = unchosen_seed();
	(void)state;
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
		struct tally tally = { .runs = runs_wanted() };
		for (size_t i = 0; i < tally.runs; i++) {
			struct tare_series series;
			if (run(&rows[k], 1e7, limits[k], &random, &series) == TARE_CONVERGED) {
				tally.converged++;
				tally.covered +=
				    series.summary.ci_low <= 1e7 && series.summary.ci_high >= 1e7;
			}
			tare_series_clear(&series);
		}
		printf("# %-32s %7.2f %% %7.2f %%\n", rows[k].name,
		       100.0 * (double)tally.converged / (double)tally.runs,
		       100.0 * (double)tally.covered / (double)tally.converged);
		assert_true(tally.converged > tally.runs / 100);
		assert_true((double)tally.covered >= 0.92 * (double)tally.converged);
	}
}

static void a_timer_as_coarse_as_the_target_is_never_called_converged(void **state)
{
	static const struct kind rows[] = {
		{ "0.1 %, timer 2 %", 0.001, 0, 0.02, CUTS, false },
		{ "5 %, timer 3 %", 0.05, 0.5, 0.03, ROUNDS, false },
		{ "no noise, timer 1.2 %", 0, 0, 0.012, CUTS, false },
	};
	struct tare_random random = unchosen_seed();
	(void)state;
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		for (size_t i = 0; i < 200; i++) {
			struct tare_series series;
			// No limit: the rule must see by itself that more samples are in vain.
			assert_int_equal(run(&rows[k], 1e7, 0, &random, &series),
			                 TARE_NOT_CONVERGED);
			assert_true(series.n < 10000);
			assert_true(series.summary.ci_low <= 1e7 && series.summary.ci_high >= 1e7);
			tare_series_clear(&series);
		}
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a;
	int64_t y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

// The same trial, passed by an interval that takes the samples for independent and looks after
// each one: it must fail, or the trial would pass anything.
static void a_naive_interval_fails_this_very_trial(void **state)
{
	enum { RUNS = 300, FEWEST = 11, MOST = 2000 };
	struct tare_random random = unchosen_seed();
	size_t covered = 0;
	(void)state;
	for (size_t i = 0; i < RUNS; i++) {
		double noise = normal(&random);
		int64_t samples[MOST], sorted[MOST];
		double half = 1;
		size_t n = 0, rank = 0;
		while (n < MOST && (n < FEWEST || half > 0.01)) {
			samples[n++] = llround(1e7 * exp(0.05 * noise));
			noise = autoregress(&random, noise, 0.9);
			if (n < FEWEST)
				continue;
			memcpy(sorted, samples, n * sizeof *sorted);
			qsort(sorted, n, sizeof *sorted, compare);
			rank = (size_t)floor(((double)n - 1.96 * sqrt((double)n)) / 2) - 1;
			half = (double)(sorted[n - 1 - rank] - sorted[rank]) / 2 / 1e7;
		}
		covered += sorted[rank] <= 10000000 && sorted[n - 1 - rank] >= 10000000;
	}
	printf("# naive: covered %.1f %%\n", 100.0 * (double)covered / RUNS);
	assert_true(covered < RUNS * 70 / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    in_at_least_94_of_100_converged_runs_the_interval_covers_the_truth),
		cmocka_unit_test(runs_that_converge_by_luck_are_covered_nearly_as_often),
		cmocka_unit_test(a_timer_as_coarse_as_the_target_is_never_called_converged),
		cmocka_unit_test(a_naive_interval_fails_this_very_trial),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
