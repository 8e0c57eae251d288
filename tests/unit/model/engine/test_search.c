// SPDX-License-Identifier: Apache-2.0
// The search for the best schedule on random devices, against trying every schedule; and the space
// that it searches. The seed is printed; TARE_TEST_SEED takes other devices.
#include "random_pipeline.h"
#include "tests/unit/quick.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { DEVICES = 21, LIKELY = 12, CONTROLS = 4, ALL_BITS = 7 };

static const struct tare_search_space space = {
	.chunks = { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128 },
	.chunk_count = 14,
	.queues = { 1, 2, 3, 4, 8 },
	.queue_count = 5,
	.orders = ALL_BITS,
	.mechanisms = ALL_BITS,
	.sizes = 3,
};

static uint64_t test_seed(void)
{
	const char *given = getenv("TARE_TEST_SEED");
	return given ? strtoull(given, NULL, 0) : 1;
}

// ---- random devices

// Runs with many chunks that show gap, switch and both kinds of events.
static void fit_runs(const struct random_pipeline *pipeline, struct tare_calibration *calibration)
{
	static const struct tare_schedule schedules[] = {
		{ 32, 1, TARE_ORDER_DEPTH_FIRST, TARE_MECHANISM_CHUNK_QUEUES, TARE_CHUNKS_EQUAL },
		{ 32, 3, TARE_ORDER_DEPTH_FIRST, TARE_MECHANISM_CHUNK_QUEUES, TARE_CHUNKS_EQUAL },
		{ 32, 3, TARE_ORDER_DEPTH_FIRST, TARE_MECHANISM_STAGE_QUEUES, TARE_CHUNKS_EQUAL },
		{ 32, 1, TARE_ORDER_DEPTH_FIRST, TARE_MECHANISM_OUT_OF_ORDER, TARE_CHUNKS_EQUAL },
	};
	struct tare_timed_schedule runs[4];
	struct tare_error error = { 0 };

	for (size_t i = 0; i < 4; i++)
		runs[i] =
		    (struct tare_timed_schedule){ schedules[i],
			                          random_pipeline_run_ns(pipeline, &schedules[i]) };
	if (tare_calibration_fit(calibration, &pipeline->work, runs, 4, &error) < 0)
		fail_msg("%s", error.message);
}

struct outcome {
	double exhaustive_ns, found_ns, serial_ns, mean_error, worst_error;
	double bound_ns, fastest_ns;
	char best[96], found[96];
};

static void try_everything(const struct random_pipeline *pipeline,
                           const struct tare_calibration *calibration, struct outcome *outcome)
{
	struct tare_schedule *all = calloc(TARE_SCHEDULES_MAX, sizeof *all);
	size_t count = tare_search_all(&space, &pipeline->work, all, TARE_SCHEDULES_MAX);

	outcome->exhaustive_ns = INFINITY;
	outcome->mean_error = outcome->worst_error = 0;
	for (size_t i = 0; i < count; i++) {
		double ns = random_pipeline_run_ns(pipeline, &all[i]);
		if (i % 5 == 0) {
			double predicted, error;
			assert_int_equal(
			    tare_predict(calibration, &pipeline->work, &all[i], &predicted, NULL),
			    0);
			error = fabs(predicted / ns - 1);
			outcome->mean_error += error / (double)((count + 4) / 5);
			outcome->worst_error = fmax(outcome->worst_error, error);
		}
		if (ns < outcome->exhaustive_ns) {
			outcome->exhaustive_ns = ns;
			tare_schedule_text(&all[i], outcome->best, sizeof outcome->best);
		}
		if (all[i].chunks == 1)
			outcome->serial_ns = ns;
	}
	free(all);
}

static void try_candidates(const struct random_pipeline *pipeline,
                           const struct tare_calibration *calibration, struct outcome *outcome)
{
	struct tare_candidate candidates[LIKELY + CONTROLS];
	struct tare_error error = { 0 };
	int count = tare_search_candidates(calibration, &pipeline->work, &space, 1, LIKELY,
	                                   CONTROLS, candidates, LIKELY + CONTROLS, &error);

	assert_int_equal(count, LIKELY + CONTROLS);
	outcome->found_ns = INFINITY;
	for (int i = 0; i < count; i++) {
		double ns = random_pipeline_run_ns(pipeline, &candidates[i].schedule);
		assert_int_equal(candidates[i].control, i >= LIKELY);
		if (ns < outcome->found_ns) {
			outcome->found_ns = ns;
			tare_schedule_text(&candidates[i].schedule, outcome->found,
			                   sizeof outcome->found);
		}
	}
}

static void the_best_schedule_is_found_on_random_devices(void **state)
{
	uint64_t seed = test_seed();
	(void)state;
	print_message("# TARE_TEST_SEED=%llu\n", (unsigned long long)seed);
	uint32_t devices = test_is_quick() ? DEVICES / 3 : DEVICES, behind = 0, unlike = 0;
	for (uint32_t i = 0; i < devices; i++) {
		struct random_pipeline pipeline;
		struct tare_calibration calibration;
		struct tare_overlap_bound bound;
		struct tare_engines_revealed revealed;
		struct outcome outcome;
		random_pipeline_make(seed, i, false, &pipeline);
		random_pipeline_calibrate(&pipeline, &calibration);
		fit_runs(&pipeline, &calibration);
		try_everything(&pipeline, &calibration, &outcome);
		try_candidates(&pipeline, &calibration, &outcome);
		assert_int_equal(tare_overlap_bound(&calibration.modes, &bound, NULL), 0);
		tare_engines_reveal(&calibration.modes, &revealed);
		print_message(
		    "# layout %d: %u engines, serial %.0f us, best %.1f us (%s), found +%.2f %% "
		    "(%s), bound %.1f us, prediction off by %.2f %%, at worst %.2f %%\n",
		    (int)pipeline.layout, revealed.count, outcome.serial_ns / 1e3,
		    outcome.exhaustive_ns / 1e3, outcome.best,
		    100 * (outcome.found_ns / outcome.exhaustive_ns - 1), outcome.found,
		    bound.ns / 1e3, 100 * outcome.mean_error, 100 * outcome.worst_error);
		behind += outcome.found_ns > 1.01 * outcome.exhaustive_ns;
		unlike += outcome.mean_error > 0.05;
		if (outcome.found_ns > 1.05 * outcome.exhaustive_ns || outcome.mean_error > 0.15)
			fail_msg(
			    "the best candidate is far behind, or the prediction far off, on\n%s",
			    pipeline.text);
		assert_int_equal(revealed.count, pipeline.engines);
		assert_int_equal(revealed.apart_count, pipeline.apart_count);
		for (size_t j = 0; j < revealed.apart_count; j++)
			assert_int_equal(revealed.apart[j], pipeline.apart[j]);
		// Speeds were counted over a window; a per mille of it may be the edge.
		assert_true(bound.ns <= outcome.exhaustive_ns * 1.003);
		assert_int_equal(outcome.serial_ns > 1.05 * outcome.found_ns, pipeline.pays);
	}
	// Each is so of 2 in 2,513 devices.
	assert_in_range(behind, 0, 1);
	assert_in_range(unlike, 0, 1);
}

// ---- the space

static bool same(const struct tare_schedule *a, const struct tare_schedule *b)
{
	return a->chunks == b->chunks && a->queues == b->queues && a->order == b->order &&
	       a->mechanism == b->mechanism && a->sizes == b->sizes;
}

static void the_space_has_every_schedule_once(void **state)
{
	static const struct {
		struct tare_search_space space;
		uint64_t items, align;
		size_t expected;
	} table[] = {
		// One chunk is one schedule, whatever it is called.
		{ { { 1 }, 1, { 1, 2, 3 }, 3, 7, 7, 3 }, 100, 1, 1 },
		{ { { 1, 1, 0 }, 3, { 4 }, 1, 7, 7, 3 }, 100, 1, 1 },
		// Two chunks: three orders by 1 or 2 queues, by stage queues, out of order; not
		// tapered.
		{ { { 2 }, 1, { 1, 2, 3, 8 }, 4, 7, 7, 3 }, 100, 1, 3 * (2 + 1 + 1) },
		{ { { 8 }, 1, { 1, 2, 3, 8 }, 4, 7, 7, 3 }, 100, 1, 3 * 2 * (4 + 1 + 1) },
		{ { { 8 }, 1, { 1, 2, 3, 8 }, 4, 1, 1, 2 }, 100, 1, 4 },
		{ { { 8 }, 1, { 9 }, 1, 1, 1, 1 }, 100, 1, 1 },
		{ { { 8 }, 1, { 1 }, 1, 7, 2, 1 }, 100, 1, 3 },
		// What cannot be aligned is left out.
		{ { { 2, 4, 8 }, 3, { 1 }, 1, 1, 1, 1 }, 100, 25, 2 },
		{ { { 2, 4, 8 }, 3, { 1 }, 1, 1, 1, 1 }, 100, 26, 2 },
		{ { { 2, 4, 8 }, 3, { 1 }, 1, 1, 1, 1 }, 0, 1, 0 },
		{ { { 2 }, 1, { 1 }, 1, 0, 1, 1 }, 100, 1, 0 },
	};
	struct tare_schedule *all = calloc(TARE_SCHEDULES_MAX, sizeof *all);
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct tare_pipeline_work work = { table[i].items, 4, 4, table[i].align };
		size_t count = tare_search_all(&table[i].space, &work, all, TARE_SCHEDULES_MAX);
		if (count != table[i].expected)
			fail_msg("row %zu has %zu schedules, not %zu", i, count, table[i].expected);
		for (size_t a = 0; a < count; a++) {
			assert_true(all[a].queues >= 1 &&
			            (all[a].queues <= all[a].chunks ||
			             all[a].mechanism != TARE_MECHANISM_CHUNK_QUEUES));
			for (size_t b = 0; b < a; b++)
				assert_false(same(&all[a], &all[b]));
		}
		assert_int_equal(tare_search_all(&table[i].space, &work, all, 2),
		                 count < 2 ? count : 2);
	}
	free(all);
}

static struct tare_calibration three_engines(void)
{
	struct tare_calibration calibration = { .issue_ns = 500,
		                                .finish_ns = 3000,
		                                .gap_ns = 2000,
		                                .switch_ns = 1000,
		                                .event_gap_ns = 1000 };

	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		for (uint64_t amount = 4096; amount <= 16 << 20; amount *= 16)
			calibration.points[stage][calibration.point_count[stage]++] =
			    (struct tare_stage_point){ amount, 0, 2000 + 0.05 * (double)amount };
	}
	for (uint32_t mode = 1; mode < TARE_MODE_COUNT; mode++) {
		calibration.modes.known[mode] = calibration.modes.together[mode] = true;
		for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
			calibration.modes.speed[mode][stage] = mode >> stage & 1;
	}
	return calibration;
}

static void candidates_are_likely_ones_of_every_kind_and_then_controls(void **state)
{
	struct tare_calibration calibration = three_engines();
	struct tare_pipeline_work work = { 16 << 20, 4, 4, 64 };
	struct tare_candidate first[20], again[20];
	uint32_t mechanisms = 0, orders = 0, sizes = 0, counts = 0;
	double best = INFINITY;
	(void)state;
	assert_int_equal(
	    tare_search_candidates(&calibration, &work, &space, 5, 14, 6, first, 20, NULL), 20);
	assert_int_equal(
	    tare_search_candidates(&calibration, &work, &space, 5, 14, 6, again, 20, NULL), 20);
	for (int i = 0; i < 20; i++) {
		double ns;
		assert_int_equal(first[i].control, i >= 14);
		assert_true(same(&first[i].schedule, &again[i].schedule));
		assert_int_equal(tare_predict(&calibration, &work, &first[i].schedule, &ns, NULL),
		                 0);
		assert_true(fabs(ns - first[i].predicted_ns) < 1e-3);
		for (int j = 0; j < i; j++)
			assert_false(same(&first[i].schedule, &first[j].schedule));
		if (i >= 14)
			continue;
		if (i > 0)
			assert_true(first[i].predicted_ns >= first[i - 1].predicted_ns);
		best = fmin(best, first[i].predicted_ns);
		mechanisms |= 1u << first[i].schedule.mechanism;
		orders |= 1u << first[i].schedule.order;
		sizes |= 1u << first[i].schedule.sizes;
		bool new_count = true;
		for (int j = 0; j < i; j++)
			new_count &= first[j].schedule.chunks != first[i].schedule.chunks;
		counts += new_count;
	}
	assert_int_equal(mechanisms, 7);
	assert_int_equal(orders, 7);
	assert_int_equal(sizes, 3);
	assert_true(counts >= 3);
	// The best by prediction is the best of all.
	struct tare_schedule *all = calloc(TARE_SCHEDULES_MAX, sizeof *all);
	size_t count = tare_search_all(&space, &work, all, TARE_SCHEDULES_MAX);
	for (size_t i = 0; i < count; i++) {
		double ns;
		assert_int_equal(tare_predict(&calibration, &work, &all[i], &ns, NULL), 0);
		assert_true(ns > best - 1e-3);
	}
	free(all);
	// Another seed draws other controls and the same likely ones.
	bool other = false;
	assert_int_equal(
	    tare_search_candidates(&calibration, &work, &space, 6, 14, 6, again, 20, NULL), 20);
	for (int i = 0; i < 20; i++)
		if (i < 14)
			assert_true(same(&first[i].schedule, &again[i].schedule));
		else
			other |= !same(&first[i].schedule, &again[i].schedule);
	assert_true(other);
}

static void a_small_space_is_given_whole(void **state)
{
	static const struct tare_search_space small = { { 1, 4 }, 2, { 1, 2 }, 2, 1, 1, 1 };
	struct tare_calibration calibration = three_engines();
	struct tare_pipeline_work work = { 1 << 20, 4, 4, 64 };
	struct tare_candidate candidates[8];
	struct tare_error error = { 0 };
	(void)state;
	assert_int_equal(
	    tare_search_candidates(&calibration, &work, &small, 1, 12, 4, candidates, 8, NULL), 3);
	assert_int_equal(
	    tare_search_candidates(&calibration, &work, &small, 1, 1, 4, candidates, 2, NULL), 2);
	assert_true(candidates[1].control);
	// Controls are drawn without putting back.
	for (uint64_t seed = 0; seed < 20; seed++) {
		assert_int_equal(tare_search_candidates(&calibration, &work, &small, seed, 1, 8,
		                                        candidates, 8, NULL),
		                 3);
		for (int i = 0; i < 3; i++)
			for (int j = 0; j < i; j++)
				assert_false(
				    same(&candidates[i].schedule, &candidates[j].schedule));
	}
	assert_int_equal(
	    tare_search_candidates(&calibration, &work, &small, 1, 0, 0, candidates, 2, NULL), 0);
	calibration.point_count[TARE_STAGE_KERNEL] = 0;
	assert_int_equal(
	    tare_search_candidates(&calibration, &work, &small, 1, 12, 4, candidates, 8, &error),
	    -ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_space_has_every_schedule_once),
		cmocka_unit_test(candidates_are_likely_ones_of_every_kind_and_then_controls),
		cmocka_unit_test(a_small_space_is_given_whole),
		cmocka_unit_test(the_best_schedule_is_found_on_random_devices),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
