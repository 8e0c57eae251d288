// SPDX-License-Identifier: Apache-2.0
// The sampling loop on a device that is nothing but a clock.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "sampling_rig.h"

static void cells_keep_their_order_and_are_measured_in_another(void **state)
{
	size_t orders[3][20];
	(void)state;
	for (int round = 0; round < 3; round++) {
		struct thing things[20] = { 0 };
		struct bench bench;
		bool sorted = true;
		for (size_t i = 0; i < 20; i++)
			things[i] = (struct thing){ .takes_ns = MS, .value = 1000 };
		open_bench(&bench, things, 20, 100 * S, round < 2 ? 5 : 6);
		assert_int_equal(measure(&bench, NULL), 0);
		for (size_t i = 0; i < 20; i++) {
			assert_int_equal(bench.run.result->cells[i].labels.at[0].number, i);
			orders[round][i] = things[i].order;
			sorted = sorted && things[i].order == i + 1;
		}
		assert_false(sorted);
		close_bench(&bench);
	}
	assert_memory_equal(orders[0], orders[1], sizeof orders[0]);
	assert_memory_not_equal(orders[0], orders[2], sizeof orders[0]);
}

static void a_steady_thing_converges_and_stops(void **state)
{
	struct thing thing = { .takes_ns = 5 * MS, .value = 1000 };
	struct bench bench;
	const struct tare_cell *cell;
	(void)state;
	open_bench(&bench, &thing, 1, 100 * S, 1);
	assert_int_equal(measure(&bench, NULL), 0);
	cell = bench.run.result->cells;
	assert_true(cell->converged);
	assert_int_equal(cell->summary.median, 1000);
	assert_int_equal(cell->verified, TARE_VERIFIED);
	assert_null(cell->absent);
	assert_true(thing.spent_ns < S);
	assert_int_equal(thing.calls, cell->summary.n + 1); // and the warm-up
	assert_int_equal(thing.ends, 1);
	close_bench(&bench);
}

static void a_short_budget_still_lets_a_steady_thing_converge(void **state)
{
	struct thing things[10] = { 0 };
	struct bench bench;
	(void)state;
	for (size_t i = 0; i < 10; i++)
		things[i] = (struct thing){ .takes_ns = MS / 10, .value = 1000 };
	open_bench(&bench, things, 10, 100 * MS, 1);
	assert_int_equal(measure(&bench, NULL), 0);
	for (size_t i = 0; i < 10; i++)
		assert_true(bench.run.result->cells[i].converged);
	close_bench(&bench);
}

// 20 noisy things that never converge share what the 20 steady ones leave.
static void budget_is_shared_and_leftover_flows_on(void **state)
{
	struct thing things[20] = { 0 };
	struct bench bench;
	int64_t least = INT64_MAX, noisy = 0;
	(void)state;
	for (size_t i = 0; i < 20; i++)
		things[i] =
		    (struct thing){ .takes_ns = MS, .value = 1000, .noise = i % 2 ? 1.9 : 0 };
	open_bench(&bench, things, 20, 20 * S, 3);
	assert_int_equal(measure(&bench, NULL), 0);
	for (size_t i = 1; i < 20; i += 2) {
		noisy += things[i].spent_ns;
		if (things[i].spent_ns < least)
			least = things[i].spent_ns;
		assert_false(bench.run.result->cells[i].converged);
		assert_true(bench.run.result->cells[i - 1].converged);
	}
	assert_true(least > 800 * MS); // a twentieth each
	assert_true(noisy > 12 * S);   // and more: what the steady ones left
	assert_true(clock_ns < 21 * S);
	close_bench(&bench);
}

// Noise that never settles: each uses its share to the end, whatever the order.
static void a_weight_is_a_larger_share(void **state)
{
	static const double weights[] = { 0, 1, 4, 10 }; // 0 counts as 1
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct thing things[4] = { 0 };
		struct bench bench;
		for (size_t i = 0; i < 4; i++)
			things[i] =
			    (struct thing){ .takes_ns = 10 * MS, .value = 100000, .noise = 1 };
		open_bench(&bench, things, 4, 16 * S, seed);
		for (size_t i = 0; i < 4; i++)
			bench.measurements[i].weight = weights[i];
		assert_int_equal(measure(&bench, NULL), 0);
		for (size_t i = 0; i < 4; i++) {
			int64_t share_ns = (int64_t)((weights[i] > 1 ? weights[i] : 1) * (double)S);
			// A tenth is left to verification; what one leaves goes to the rest.
			assert_in_range(things[i].spent_ns, share_ns * 85 / 100,
			                share_ns * 160 / 100);
		}
		close_bench(&bench);
	}
}

static void an_interruption_keeps_what_is_there(void **state)
{
	struct thing things[6] = { 0 };
	struct bench bench;
	struct tare_error error = { 0 };
	size_t partial = 0, finished = 0, untouched = 0;
	(void)state;
	for (size_t i = 0; i < 6; i++)
		things[i] = (struct thing){ .takes_ns = MS, .value = 1000, .noise = 1.9 };
	things[2].interrupt_at = 40;
	open_bench(&bench, things, 6, 60 * S, 1);
	assert_int_equal(measure(&bench, &error), -EINTR);
	assert_true(bench.run.result->interrupted);
	for (size_t i = 0; i < 6; i++) {
		const struct tare_cell *cell = &bench.run.result->cells[i];
		assert_int_equal(things[i].ends, things[i].order ? 1 : 0);
		if (i == 2) {
			partial++;
			assert_int_equal(cell->summary.n, 39);
			assert_null(cell->absent);
			assert_false(cell->converged);
		} else if (things[i].calls) {
			finished++;
			assert_true(cell->summary.n > 1000);
		} else {
			untouched++;
			assert_non_null(strstr(cell->absent, "interrupted"));
		}
	}
	assert_int_equal(partial + finished + untouched, 6);
	assert_true(untouched > 0);
	close_bench(&bench);
}

static void what_a_device_cannot_do_is_absent_with_the_reason(void **state)
{
	static const int codes[] = { ENOSYS, ENOTSUP, ENODATA, ENOMEM, EINVAL, EIO };
	(void)state;
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		for (int in_begin = 0; in_begin < 2; in_begin++) {
			struct thing things[2] = { { .takes_ns = MS, .value = 9 },
				                   { .takes_ns = MS, .value = 9 } };
			struct bench bench;
			(in_begin ? &things[0].begin_fails : &things[0].sample_fails)[0] = codes[i];
			open_bench(&bench, things, 2, 10 * S, 1);
			assert_int_equal(measure(&bench, NULL), 0);
			assert_string_equal(bench.run.result->cells[0].absent,
			                    in_begin ? "begin says no" : "sample says no");
			assert_int_equal(things[0].ends, 1);
			assert_true(bench.run.result->cells[1].converged);
			close_bench(&bench);
		}
}

static void a_fruitless_sample_is_tried_again_but_not_for_ever(void **state)
{
	struct thing things[2] = { { .takes_ns = MS, .value = 9, .fruitless = 50 },
		                   { .takes_ns = MS, .value = 9, .fruitless = 100000 } };
	struct bench bench;
	(void)state;
	open_bench(&bench, things, 2, 10 * S, 1);
	assert_int_equal(measure(&bench, NULL), 0);
	assert_true(bench.run.result->cells[0].converged);
	assert_non_null(strstr(bench.run.result->cells[1].absent, "nothing this time"));
	assert_true(things[1].calls < 200);
	close_bench(&bench);
}

static void a_lost_device_ends_the_run(void **state)
{
	static const int codes[] = { ENODEV, ETIMEDOUT };
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct thing things[3] = { { .takes_ns = MS, .value = 9 },
			                   { .takes_ns = MS, .value = 9 },
			                   { .takes_ns = MS, .value = 9 } };
		struct tare_error error = { 0 };
		struct bench bench;
		for (size_t k = 0; k < 3; k++)
			things[k].sample_fails = codes[i];
		open_bench(&bench, things, 3, 10 * S, 1);
		assert_int_equal(measure(&bench, &error), -codes[i]);
		assert_string_equal(error.message, "sample says no");
		assert_int_equal(things[0].ends + things[1].ends + things[2].ends, 1);
		for (size_t k = 0; k < 3; k++)
			assert_non_null(bench.run.result->cells[k].absent);
		close_bench(&bench);
	}
}

static void short_samples_are_thinned_not_hoarded(void **state)
{
	struct thing thing = { .takes_ns = 500, .value = 1000, .noise = 1.9 };
	struct bench bench;
	(void)state;
	open_bench(&bench, &thing, 1, 2 * S, 1);
	assert_int_equal(measure(&bench, NULL), 0);
	assert_true(thing.calls > 1000000);
	assert_in_range(bench.run.result->cells[0].summary.n, 500, 6000);
	close_bench(&bench);
}

static void figures_that_are_refused_are_absent_with_the_reason(void **state)
{
	struct thing thing = { .takes_ns = MS, .value = 1000 };
	struct bench bench;
	(void)state;
	open_bench(&bench, &thing, 1, S, 1);
	bench.measurements[0].figures[0].refused = true;
	snprintf(bench.measurements[0].figures[0].absent, 320, "cannot be told");
	assert_int_equal(measure(&bench, NULL), 0);
	assert_string_equal(bench.run.result->cells[0].absent, "cannot be told");
	close_bench(&bench);
}

static void below_the_floor_there_is_no_figure(void **state)
{
	// A floor of 1 is "not 0": it is the step of the timer that is told.
	static const struct {
		int64_t floor;
		double quantum;
		const char *unit, *text;
	} rows[] = {
		{ 25, 0, "ns", "25.0 ns" },
		{ 1, 30517578.125, "ps", "30.5 µs" },
		{ 1, 83333, "ps", "83.3 ns" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct thing thing = { .takes_ns = MS, .value = 0 };
		struct bench bench;
		char wanted[80];
		open_bench(&bench, &thing, 1, 10 * S, 1);
		bench.measurements[0].figures[0].floor = rows[i].floor;
		bench.measurements[0].figures[0].quantum = rows[i].quantum;
		bench.measurements[0].figures[0].unit = rows[i].unit;
		assert_int_equal(measure(&bench, NULL), 0);
		snprintf(wanted, sizeof wanted, "below the timer's floor of %s", rows[i].text);
		assert_string_equal(bench.run.result->cells[0].absent, wanted);
		close_bench(&bench);
	}
}

static void a_spent_budget_is_said_not_overrun(void **state)
{
	struct thing things[8] = { 0 };
	struct bench bench;
	size_t skipped = 0;
	(void)state;
	for (size_t i = 0; i < 8; i++)
		things[i] = (struct thing){ .takes_ns = 4 * S, .value = 1000 };
	open_bench(&bench, things, 8, S, 1);
	assert_int_equal(measure(&bench, NULL), 0);
	for (size_t i = 0; i < 8; i++)
		if (things[i].calls == 0) {
			skipped++;
			assert_non_null(
			    strstr(bench.run.result->cells[i].absent, "budget ran out"));
			assert_int_equal(bench.run.result->cells[i].absence, TARE_ABSENT_NO_TURN);
		}
	assert_int_equal(skipped, 7);
	tare_run_warn_convergence(&bench.run);
	// The one asks for more time: the other does not say that it is of no use.
	bench.run.open_figures = 1;
	bench.run.needed_ns = INFINITY;
	tare_run_warn_convergence(&bench.run);
	assert_string_equal(bench.run.result->warnings[0].id, "budget-short");
	for (size_t i = 0; i < bench.run.result->warning_count; i++)
		assert_null(strstr(bench.run.result->warnings[i].action, "more time alone"));
	close_bench(&bench);
}

static void a_short_thing_is_batched_to_four_hundred_ticks(void **state)
{
	static const struct {
		double duration, step;
		uint32_t limit, batch;
	} rows[] = {
		{ 1000, 1, 512, 1 }, { 100, 1, 512, 1 },     { 99, 1, 512, 5 },
		{ 10, 1, 512, 40 },  { 1, 1, 512, 400 },     { 0.1, 1, 512, 512 },
		{ 0, 1, 512, 512 },  { 2e6, 1e6, 512, 200 }, { 5, 0, 512, 1 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(tare_batch(rows[i].duration, rows[i].step, rows[i].limit),
		                 rows[i].batch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_keep_their_order_and_are_measured_in_another),
		cmocka_unit_test(a_steady_thing_converges_and_stops),
		cmocka_unit_test(a_short_budget_still_lets_a_steady_thing_converge),
		cmocka_unit_test(budget_is_shared_and_leftover_flows_on),
		cmocka_unit_test(a_weight_is_a_larger_share),
		cmocka_unit_test(an_interruption_keeps_what_is_there),
		cmocka_unit_test(what_a_device_cannot_do_is_absent_with_the_reason),
		cmocka_unit_test(a_fruitless_sample_is_tried_again_but_not_for_ever),
		cmocka_unit_test(a_lost_device_ends_the_run),
		cmocka_unit_test(short_samples_are_thinned_not_hoarded),
		cmocka_unit_test(figures_that_are_refused_are_absent_with_the_reason),
		cmocka_unit_test(below_the_floor_there_is_no_figure),
		cmocka_unit_test(a_spent_budget_is_said_not_overrun),
		cmocka_unit_test(a_short_thing_is_batched_to_four_hundred_ticks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
