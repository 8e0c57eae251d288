// SPDX-License-Identifier: Apache-2.0
// What the sampling loop says of figures that did not converge, and how sure the others are.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "sampling_rig.h"

static void figures_that_did_not_converge_are_counted_with_a_better_budget(void **state)
{
	struct thing things[4] = { 0 };
	struct bench bench;
	(void)state;
	for (size_t i = 0; i < 4; i++)
		things[i] =
		    (struct thing){ .takes_ns = 10 * MS, .value = 100000, .noise = i ? 0 : 0.3 };
	open_bench(&bench, things, 4, 2 * S, 1);
	assert_int_equal(measure(&bench, NULL), 0);
	tare_run_warn_convergence(&bench.run);
	assert_int_equal(bench.run.result->warning_count, 1);
	assert_string_equal(bench.run.result->warnings[0].id, "not-converged");
	assert_non_null(strstr(bench.run.result->warnings[0].message, "1 of 4 figures"));
	assert_non_null(strstr(bench.run.result->warnings[0].message, " (1 without an interval)"));
	// The budget that it names does.
	int64_t better_s = atoi(strpbrk(bench.run.result->warnings[0].action, "123456789"));
	assert_in_range(better_s, 3, 600);
	close_bench(&bench);
	for (size_t i = 0; i < 4; i++)
		things[i] =
		    (struct thing){ .takes_ns = 10 * MS, .value = 100000, .noise = i ? 0 : 0.3 };
	open_bench(&bench, things, 4, 2 * better_s * S, 2);
	assert_int_equal(measure(&bench, NULL), 0);
	assert_true(bench.run.result->cells[0].converged);
	close_bench(&bench);
}

static void the_worst_is_what_a_row_shows(void **state)
{
	struct thing thing = { .takes_ns = 5 * MS, .value = 100000, .noise = 0.6 };
	struct bench bench;
	const struct tare_summary *noisy;
	(void)state;
	open_bench(&bench, &thing, 1, 2 * S, 1);
	assert_int_equal(measure(&bench, NULL), 0);
	noisy = &bench.run.result->cells[0].summary;
	assert_int_equal(bench.run.open_figures, 1);
	assert_true(bench.run.worst > 0.01);
	assert_true(fabs(bench.run.worst * noisy->median -
	                 fmax(noisy->median - noisy->ci_low, noisy->ci_high - noisy->median)) <
	            1e-3);
	close_bench(&bench);
}

static void nobody_is_told_to_measure_for_an_hour(void **state)
{
	struct thing thing = { .takes_ns = MS, .value = 1000 };
	struct bench bench;
	(void)state;
	open_bench(&bench, &thing, 1, S, 1);
	bench.run.open_figures = 1;
	bench.run.limited_figures = 1;
	for (int minutes = 5; minutes <= 60; minutes += 55) {
		size_t said = bench.run.result->warning_count;
		bench.run.needed_ns = 60e9 * minutes;
		tare_run_warn_convergence(&bench.run);
		assert_int_equal(bench.run.result->warning_count, said + 1);
		assert_int_equal(strstr(bench.run.result->warnings[said].action, "--budget") !=
		                     NULL,
		                 minutes == 5);
		assert_non_null(strstr(bench.run.result->warnings[said].message,
		                       "; for 1 of them the clocks allow no more"));
	}
	close_bench(&bench);
}

static void when_all_converge_nothing_is_said(void **state)
{
	struct thing thing = { .takes_ns = MS, .value = 1000 };
	struct bench bench;
	(void)state;
	open_bench(&bench, &thing, 1, 2 * S, 1);
	assert_int_equal(measure(&bench, NULL), 0);
	tare_run_warn_convergence(&bench.run);
	assert_int_equal(bench.run.result->warning_count, 0);
	close_bench(&bench);
}

// A step of 20 % of the median: no number of samples helps, and it is said so.
static void a_coarse_timer_is_blamed_not_the_budget(void **state)
{
	struct thing thing = { .takes_ns = MS, .value = 100 };
	struct bench bench;
	(void)state;
	open_bench(&bench, &thing, 1, 10 * S, 1);
	bench.measurements[0].figures[0].quantum = 20;
	assert_int_equal(measure(&bench, NULL), 0);
	assert_false(bench.run.result->cells[0].converged);
	assert_true(thing.spent_ns < S);
	tare_run_warn_convergence(&bench.run);
	assert_int_equal(bench.run.result->warning_count, 1);
	assert_string_equal(bench.run.result->warnings[0].id, "clock-limited");
	close_bench(&bench);
}

static void an_error_that_repetition_cannot_remove_widens_the_interval(void **state)
{
	struct thing thing = { .takes_ns = MS, .value = 1000 };
	struct bench bench;
	const struct tare_cell *cell;
	(void)state;
	open_bench(&bench, &thing, 1, 10 * S, 1);
	bench.measurements[0].figures[0].systematic = 300;
	assert_int_equal(measure(&bench, NULL), 0);
	cell = bench.run.result->cells;
	assert_true(cell->summary.ci_low <= 700);
	assert_true(cell->summary.ci_high >= 1300);
	assert_false(cell->converged);
	close_bench(&bench);
}

// One figure settles at once; its samples go wild while the other is not settled yet.
static void a_figure_is_not_converged_whose_interval_is_wide_in_the_end(void **state)
{
	struct thing thing = {
		.takes_ns = 5 * MS, .value = 1000, .also_noise = true, .wild_from = 166
	};
	struct bench bench;
	const struct tare_cell *cell;
	(void)state;
	open_bench(&bench, &thing, 1, 1300 * MS, 1);
	assert_non_null(
	    tare_measurement_add(&bench.measurements[0], "time", "ns", "device", "how"));
	assert_int_equal(measure(&bench, NULL), 0);
	cell = bench.run.result->cells;
	assert_true(cell->summary.ci_high - cell->summary.ci_low > 0.02 * cell->summary.median);
	assert_false(cell->converged);
	close_bench(&bench);
}

static void the_worst_interval_is_in_plain_digits(void **state)
{
	static const struct {
		double worst;
		const char *text;
	} rows[] = {
		{ 0.0213, "(at worst ±2.1 %)" },
		{ 0.21, "(at worst ±21 %)" },
		{ 0.996, "(at worst ±" },
		{ 2.41, "(at worst ±240 %)" },
		{ 10.01, "(at worst more than ±1000 %)" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct thing thing = { .takes_ns = MS, .value = 1000 };
		struct bench bench;
		const char *message;
		open_bench(&bench, &thing, 1, S, 1);
		bench.run.open_figures = 1;
		bench.run.worst = rows[i].worst;
		tare_run_warn_convergence(&bench.run);
		message = bench.run.result->warnings[0].message;
		if (!strstr(message, rows[i].text) || strstr(message, "e+"))
			fail_msg("%s, not %s", message, rows[i].text);
		close_bench(&bench);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_that_did_not_converge_are_counted_with_a_better_budget),
		cmocka_unit_test(when_all_converge_nothing_is_said),
		cmocka_unit_test(nobody_is_told_to_measure_for_an_hour),
		cmocka_unit_test(the_worst_is_what_a_row_shows),
		cmocka_unit_test(a_coarse_timer_is_blamed_not_the_budget),
		cmocka_unit_test(an_error_that_repetition_cannot_remove_widens_the_interval),
		cmocka_unit_test(a_figure_is_not_converged_whose_interval_is_wide_in_the_end),
		cmocka_unit_test(the_worst_interval_is_in_plain_digits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
