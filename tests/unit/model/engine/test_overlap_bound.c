// SPDX-License-Identifier: Apache-2.0
// The bound of overlapping against closed forms, against its dual and against random times in
// modes; the attainable time against the engine model; the engines that modes reveal.
#include "base/random.h"
#include "model/engine/engine.h"
#include "model/engine/schedule.h"

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

enum { H = 1, K = 2, D = 4, HK = 3, HD = 5, KD = 6, HKD = 7 };

static uint64_t test_seed(void)
{
	const char *given = getenv("TARE_TEST_SEED");
	return given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
}

// ---- closed forms

// Everything known; every stage at full speed in every mode.
static struct tare_overlap_modes free_modes(double h, double k, double d)
{
	struct tare_overlap_modes modes = { .alone_ns = { h, k, d } };

	for (uint32_t mode = 1; mode < TARE_MODE_COUNT; mode++) {
		modes.known[mode] = modes.together[mode] = true;
		for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
			modes.speed[mode][stage] = mode >> stage & 1;
	}
	return modes;
}

// In the modes that contain `part`, the stages of `part` go at this speed.
static void slow_down(struct tare_overlap_modes *modes, uint32_t part, double speed)
{
	for (uint32_t mode = 1; mode < TARE_MODE_COUNT; mode++)
		for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
			if ((mode & part) == part && part >> stage & 1)
				modes->speed[mode][stage] = speed;
}

static double bound_of(const struct tare_overlap_modes *modes)
{
	struct tare_overlap_bound bound;
	struct tare_error error = { 0 };
	if (tare_overlap_bound(modes, &bound, &error) < 0)
		fail_msg("%s", error.message);
	return bound.ns;
}

static void close_to(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
		fail_msg("%.12g is not %.12g", value, expected);
}

static void stages_that_do_not_disturb_each_other_take_the_longest(void **state)
{
	static const double table[][3] = {
		{ 1, 1, 1 }, { 3, 2, 1 }, { 1e9, 1, 1e-3 }, { 0, 5, 2 }, { 5, 0, 2 }, { 7, 0, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct tare_overlap_modes modes = free_modes(table[i][0], table[i][1], table[i][2]);
		close_to(bound_of(&modes), fmax(table[i][0], fmax(table[i][1], table[i][2])));
	}
	struct tare_overlap_modes nothing = free_modes(0, 0, 0);
	assert_true(bound_of(&nothing) == 0);
}

static void two_engines_with_a_duplex_factor(void **state)
{
	static const struct {
		double h, d, speed, expected;
	} table[] = {
		{ 10, 10, 0.9, 10 / 0.9 },
		{ 10, 10, 0.5, 20 },
		{ 10, 10, 0.4, 20 },              // worse than taking turns: the bound takes turns
		{ 10, 4, 0.8, 4 / 0.8 + 10 - 4 }, // together until the shorter one is done
	};
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct tare_overlap_modes modes = free_modes(table[i].h, 0, table[i].d);
		slow_down(&modes, HD, table[i].speed);
		close_to(bound_of(&modes), table[i].expected);
		// A kernel that hides under it costs nothing.
		modes.alone_ns[TARE_STAGE_KERNEL] = 1;
		close_to(bound_of(&modes), table[i].expected);
	}
}

static void one_copy_engine_is_bound_by_both_copies_or_the_kernel(void **state)
{
	(void)state;
	for (double kernel = 0; kernel < 40; kernel += 3.5) {
		struct tare_overlap_modes modes = free_modes(10, kernel, 7);
		slow_down(&modes, HD, 0.5);
		close_to(bound_of(&modes), fmax(17, kernel));
	}
}

static void nothing_gains_where_engines_take_turns(void **state)
{
	struct tare_overlap_modes modes = free_modes(10, 20, 30);
	struct tare_overlap_bound bound;
	(void)state;
	slow_down(&modes, HK, 0.5);
	slow_down(&modes, KD, 0.5);
	slow_down(&modes, HD, 0.5);
	slow_down(&modes, HKD, 1.0 / 3);
	assert_int_equal(tare_overlap_bound(&modes, &bound, NULL), 0);
	close_to(bound.ns, 60);
	close_to(bound.serial_ns, 60);
	assert_int_equal(bound.longest, TARE_STAGE_TO_HOST);
}

static void modes_that_are_not_known_are_not_used(void **state)
{
	struct tare_overlap_modes modes = free_modes(10, 20, 30);
	(void)state;
	modes.known[HKD] = modes.known[HK] = modes.known[KD] = modes.known[HD] = false;
	// What stands in them is nobody's measurement.
	modes.speed[HKD][0] = NAN;
	modes.speed[HD][2] = -1;
	close_to(bound_of(&modes), 60);
	modes.known[KD] = true;
	close_to(bound_of(&modes), 40);
}

static void what_is_no_number_or_has_no_speed_is_refused(void **state)
{
	static const struct {
		int mode, stage;
		double value;
		const char *expected;
	} table[] = {
		{ 0, 1, NAN, "the time of kernel alone is no usable number" },
		{ 0, 2, INFINITY, "the time of to-host alone is no usable number" },
		{ 0, 0, -1, "the time of to-device alone is no usable number" },
		{ HD, 2, NAN,
		  "the speed of to-host in the mode to-device+to-host is no usable number" },
		{ HKD, 1, -0.1,
		  "the speed of kernel in the mode to-device+kernel+to-host is no usable "
		  "number" },
		{ -1, 1, 0,
		  "kernel has work to do and makes no progress in any mode that was measured" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct tare_overlap_modes modes = free_modes(1, 1, 1);
		struct tare_overlap_bound bound;
		struct tare_error error = { 0 };
		if (table[i].mode == 0)
			modes.alone_ns[table[i].stage] = table[i].value;
		for (int mode = 1; mode < (int)TARE_MODE_COUNT; mode++)
			if (mode == table[i].mode || table[i].mode < 0)
				modes.speed[mode][table[i].stage] = table[i].value;
		assert_int_equal(tare_overlap_bound(&modes, &bound, &error), -EDOM);
		assert_string_equal(error.message, table[i].expected);
	}
}

static void amdahl_is_what_the_handbook_draws(void **state)
{
	static const double table[][4] = {
		{ 1, 2, 1, 2 }, { 1, 0, 1, 1 }, { 1, 1, 1, 1.5 }, { 0, 0, 0, 1 }, { 1, 8, 1, 1.25 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct tare_overlap_modes modes = free_modes(table[i][0], table[i][1], table[i][2]);
		close_to(tare_overlap_amdahl(&modes), table[i][3]);
	}
}

// ---- the programme against others' solutions of it

static struct tare_overlap_modes random_modes(struct tare_random *random)
{
	struct tare_overlap_modes modes = { 0 };

	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		double exponent = (double)tare_random_below(random, 7);
		modes.alone_ns[stage] =
		    tare_random_below(random, 6) == 0
		        ? 0
		        : (1 + (double)tare_random_below(random, 1000)) * pow(10, exponent);
	}
	for (uint32_t mode = 1; mode < TARE_MODE_COUNT; mode++) {
		bool single = (mode & (mode - 1)) == 0;
		modes.known[mode] = single || tare_random_below(random, 4) > 0;
		for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
			if (mode >> stage & 1)
				modes.speed[mode][stage] =
				    single ? 1 : (double)tare_random_below(random, 11) / 10;
	}
	return modes;
}

// The dual: the largest sum of alone * y over y >= 0 that no mode earns more than 1 a second by.
// Its optimum is at a corner, where three of the planes meet; found by Cramer's rule.
static double dual_of(const struct tare_overlap_modes *modes)
{
	double plane[10][4], best = 0;
	int planes = 0;

	for (uint32_t mode = 1; mode < TARE_MODE_COUNT; mode++)
		if (modes->known[mode]) {
			for (int i = 0; i < 3; i++)
				plane[planes][i] = modes->speed[mode][i];
			plane[planes++][3] = 1;
		}
	for (int i = 0; i < 3; i++, planes++) {
		for (int j = 0; j < 3; j++)
			plane[planes][j] = i == j ? -1 : 0;
		plane[planes][3] = 0;
	}
	for (int a = 0; a < planes; a++)
		for (int b = a + 1; b < planes; b++)
			for (int c = b + 1; c < planes; c++) {
				const double *p = plane[a], *q = plane[b], *r = plane[c];
				double y[3], value = 0;
				bool inside = true;
				double determinant = p[0] * (q[1] * r[2] - q[2] * r[1]) -
				                     p[1] * (q[0] * r[2] - q[2] * r[0]) +
				                     p[2] * (q[0] * r[1] - q[1] * r[0]);
				if (fabs(determinant) < 1e-9)
					continue;
				y[0] = (p[3] * (q[1] * r[2] - q[2] * r[1]) -
				        p[1] * (q[3] * r[2] - q[2] * r[3]) +
				        p[2] * (q[3] * r[1] - q[1] * r[3])) /
				       determinant;
				y[1] = (p[0] * (q[3] * r[2] - q[2] * r[3]) -
				        p[3] * (q[0] * r[2] - q[2] * r[0]) +
				        p[2] * (q[0] * r[3] - q[3] * r[0])) /
				       determinant;
				y[2] = (p[0] * (q[1] * r[3] - q[3] * r[1]) -
				        p[1] * (q[0] * r[3] - q[3] * r[0]) +
				        p[3] * (q[0] * r[1] - q[1] * r[0])) /
				       determinant;
				for (int i = 0; i < planes; i++)
					inside &= plane[i][0] * y[0] + plane[i][1] * y[1] +
					              plane[i][2] * y[2] <=
					          plane[i][3] + 1e-9;
				for (int i = 0; i < 3; i++)
					value += modes->alone_ns[i] * y[i];
				if (inside && value > best)
					best = value;
			}
	return best;
}

// How many times over the times in modes do all of the work; the work that is done least counts.
static double fulfilment(const struct tare_overlap_modes *modes, const double *in_mode)
{
	double least = INFINITY;

	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		double done = 0;
		for (uint32_t mode = 1; mode < TARE_MODE_COUNT; mode++)
			done += in_mode[mode] * modes->speed[mode][stage];
		if (modes->alone_ns[stage] > 0)
			least = fmin(least, done / modes->alone_ns[stage]);
	}
	return least;
}

// The most that the times in modes leave undone of a stage.
static double undone_ns(const struct tare_overlap_modes *modes, const double *in_mode)
{
	double most = 0;

	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		double undone = modes->alone_ns[stage];
		for (uint32_t mode = 1; mode < TARE_MODE_COUNT; mode++)
			undone -= in_mode[mode] * modes->speed[mode][stage];
		most = fmax(most, undone);
	}
	return most;
}

static void no_random_schedule_beats_the_bound_and_the_dual_meets_it(void **state)
{
	uint64_t seed = test_seed();
	struct tare_random random = { seed };
	(void)state;
	print_message("# TARE_TEST_SEED=%llu\n", (unsigned long long)seed);
	for (int round = 0; round < 3000; round++) {
		struct tare_overlap_modes modes = random_modes(&random);
		struct tare_overlap_bound bound;
		struct tare_error error = { 0 };
		double sum = 0;
		if (tare_overlap_bound(&modes, &bound, &error) < 0)
			fail_msg("%s", error.message);
		if (bound.serial_ns == 0)
			continue;
		for (uint32_t mode = 0; mode < TARE_MODE_COUNT; mode++) {
			assert_true(bound.in_mode_ns[mode] >= 0);
			assert_true(modes.known[mode] || bound.in_mode_ns[mode] == 0);
			sum += bound.in_mode_ns[mode];
		}
		close_to(sum, bound.ns);
		// Stages may be of 1 ns and of 1 s: beside the long one the short one is a
		// rounding.
		assert_true(undone_ns(&modes, bound.in_mode_ns) <= bound.ns * 1e-14);
		assert_true(bound.ns <= bound.serial_ns * (1 + 1e-9));
		double dual = dual_of(&modes);
		if (fabs(dual / bound.ns - 1) > 1e-6)
			fail_msg("round %d: bound %.9g, dual %.9g", round, bound.ns, dual);
		for (int point = 0; point < 20; point++) {
			double in_mode[TARE_MODE_COUNT] = { 0 }, total = 0;
			for (uint32_t mode = 1; mode < TARE_MODE_COUNT; mode++)
				if (modes.known[mode])
					total += in_mode[mode] =
					    pow((double)tare_random_below(&random, 1000), 3);
			double times = fulfilment(&modes, in_mode);
			if (times > 0)
				assert_true(total / times >= bound.ns * (1 - 1e-9));
		}
	}
}

// ---- the engine model

#define THREE_ENGINES                                                                              \
	"engine compute runs kernel\nengine copy runs to-device\nengine copy runs to-host\n"
#define ONE_COPY_ENGINE "engine compute runs kernel\nengine copy runs to-device,to-host\n"

// Time of a schedule of equal chunks that cost `ps` each, by stage, on these engines.
static int64_t model_ps(const char *engines, const struct tare_schedule *schedule,
                        const int64_t *ps)
{
	static const enum tare_flow flows[] = { TARE_FLOW_TO_DEVICE, TARE_FLOW_KERNEL,
		                                TARE_FLOW_TO_HOST };
	struct tare_step steps[3 * 64];
	struct tare_model_operation operations[3 * 64] = { 0 }, *last[64], *waits[3 * 64];
	struct tare_model_queue *queues[64];
	struct tare_script script;
	struct tare_error error = { 0 };
	char text[512];
	int64_t end_ps = 0;

	int length = snprintf(text, sizeof text,
	                      "tare-device 1\ndevice name \"t\" memory 1 GiB\n"
	                      "timer rate 1 GHz\n%s",
	                      engines);
	if (tare_script_parse(text, (size_t)length, "test", &script, &error) < 0)
		fail_msg("%s", error.message);
	struct tare_model *model = tare_model_new(&script, NULL, NULL);
	for (uint32_t i = 0; i < tare_schedule_queues(schedule); i++)
		queues[i] = tare_model_queue_new(model,
		                                 schedule->mechanism == TARE_MECHANISM_OUT_OF_ORDER
		                                     ? TARE_MODEL_OUT_OF_ORDER
		                                     : TARE_MODEL_IN_ORDER,
		                                 -1);
	size_t count = tare_schedule_steps(schedule, HKD, steps);
	for (size_t i = 0; i < count; i++) {
		operations[i].flow = flows[steps[i].stage];
		operations[i].work_ps = ps[steps[i].stage];
		if (steps[i].waits) {
			waits[i] = last[steps[i].chunk];
			operations[i].waits = &waits[i];
			operations[i].wait_count = 1;
		}
		last[steps[i].chunk] = &operations[i];
		tare_model_append(model, queues[steps[i].queue], &operations[i]);
	}
	tare_model_run(model, TARE_PS_MAX - 1);
	for (size_t i = 0; i < count; i++)
		end_ps = operations[i].end_ps > end_ps ? operations[i].end_ps : end_ps;
	tare_model_free(model);
	return end_ps;
}

static void equal_stages_reach_the_closed_forms(void **state)
{
	const int64_t equal[] = { 1000000, 1000000, 1000000 };
	(void)state;
	for (uint32_t n = 1; n <= 32; n++) {
		int64_t serial = 3000000 * (int64_t)n;
		struct tare_overlap_modes modes = free_modes(n, n, n);
		for (int mechanism = 0; mechanism < TARE_MECHANISM_COUNT; mechanism++) {
			// 3n / (n + 2) of serial, exactly.
			struct tare_schedule schedule = { n, n, TARE_ORDER_DEPTH_FIRST,
				                          (enum tare_mechanism)mechanism,
				                          TARE_CHUNKS_EQUAL };
			assert_int_equal(model_ps(THREE_ENGINES, &schedule, equal),
			                 1000000 * (n + 2));
		}
		close_to(tare_overlap_attainable_ns(&modes, n, false), n + 2);
		close_to(3.0 * n / tare_overlap_attainable_ns(&modes, n, false), 3.0 * n / (n + 2));
		// One copy engine, breadth-first: 1.5 from two chunks on.
		struct tare_schedule breadth = { n, n, TARE_ORDER_BREADTH_FIRST };
		int64_t one = model_ps(ONE_COPY_ENGINE, &breadth, equal);
		assert_int_equal(one, n == 1 ? serial : serial * 2 / 3);
		close_to(tare_overlap_attainable_ns(&modes, n, true), (double)one / 1000000);
		// One in-order queue, depth-first: no gain at all.
		struct tare_schedule depth = { n, 1, TARE_ORDER_DEPTH_FIRST };
		assert_int_equal(model_ps(THREE_ENGINES, &depth, equal), serial);
	}
}

static void unequal_stages_take_what_is_attainable(void **state)
{
	struct tare_random random = { 11 };
	(void)state;
	for (int round = 0; round < 300; round++) {
		uint32_t n = 1 + (uint32_t)tare_random_below(&random, 24);
		int64_t ps[TARE_STAGE_COUNT];
		for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
			ps[stage] = 1 + (int64_t)tare_random_below(&random, 1000000);
		struct tare_overlap_modes modes =
		    free_modes((double)ps[0] * n, (double)ps[1] * n, (double)ps[2] * n);
		struct tare_schedule all = { n, n, TARE_ORDER_DEPTH_FIRST };
		struct tare_schedule breadth = { n, n, TARE_ORDER_BREADTH_FIRST };
		close_to((double)model_ps(THREE_ENGINES, &all, ps),
		         tare_overlap_attainable_ns(&modes, n, false));
		close_to((double)model_ps(ONE_COPY_ENGINE, &breadth, ps),
		         tare_overlap_attainable_ns(&modes, n, true));
		assert_true(tare_overlap_attainable_ns(&modes, n, false) >=
		            bound_of(&modes) * (1 - 1e-12));
	}
}

// ---- engines

static void engines_are_counted_by_what_was_seen_together(void **state)
{
	static const struct {
		const char *what;
		uint32_t together[4], count, largest, apart[3];
	} table[] = {
		{ "{H} {K} {D}", { HK, HD, KD, HKD }, 3, HKD, { 0 } },
		{ "{HD} {K}", { HK, KD }, 2, HK, { HD } },
		{ "{HK} {D}", { HD, KD }, 2, HD, { HK } },
		{ "{KD} {H}", { HK, HD }, 2, HK, { KD } },
		{ "one for all", { 0 }, 1, H, { HK, HD, KD } },
		{ "any two of three", { HK, HD, KD }, 2, HK, { 0 } },
		{ "only copies", { HD }, 2, HD, { HK, KD } },
		{ "three, pairs missed", { HKD }, 3, HKD, { 0 } },
	};
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct tare_overlap_modes modes = free_modes(1, 1, 1);
		struct tare_engines_revealed revealed;
		size_t apart = 0;
		memset(modes.together, 0, sizeof modes.together);
		for (size_t j = 0; j < 4; j++)
			modes.together[table[i].together[j]] = true;
		tare_engines_reveal(&modes, &revealed);
		while (apart < 3 && table[i].apart[apart])
			apart++;
		if (revealed.count != table[i].count || revealed.largest_mode != table[i].largest ||
		    revealed.apart_count != apart)
			fail_msg("%s: %u engines by %s, %zu pairs apart", table[i].what,
			         revealed.count, tare_mode_name(revealed.largest_mode),
			         revealed.apart_count);
		for (size_t j = 0; j < apart; j++)
			assert_int_equal(revealed.apart[j], table[i].apart[j]);
	}
}

static void modes_that_were_not_measured_reveal_nothing(void **state)
{
	struct tare_overlap_modes modes = free_modes(1, 1, 1);
	struct tare_engines_revealed revealed;
	(void)state;
	modes.known[HKD] = modes.known[HD] = false;
	tare_engines_reveal(&modes, &revealed);
	assert_int_equal(revealed.count, 2);
	assert_int_equal(revealed.apart_count, 0);
	assert_string_equal(tare_mode_name(HKD), "to-device+kernel+to-host");
	assert_string_equal(tare_mode_name(KD), "kernel+to-host");
	assert_string_equal(tare_mode_name(0), "");
}

// ---- kernels side by side

// Runs n chunks in turn over queues on a device with an engine for each stage; each kernel holds
// its engine for a `beside`th of its time, the rest it takes beside others.
static double run_beside(double h, double k, double d, double beside, uint32_t chunks,
                         uint32_t queues)
{
	struct tare_script script = { .engine_count = 3 };
	static const enum tare_flow flows[] = { TARE_FLOW_TO_DEVICE, TARE_FLOW_KERNEL,
		                                TARE_FLOW_TO_HOST };
	const double ns[] = { h, k, d };
	struct tare_model_operation operations[3 * 64];
	struct tare_model_queue *queue[8];
	struct tare_model *model;
	int64_t end = 0;

	for (int i = 0; i < 3; i++)
		script.engines[i] = (struct tare_script_engine){ .compute = i == 1,
			                                         .flows = UINT64_C(1) << flows[i] };
	model = tare_model_new(&script, NULL, NULL);
	assert_non_null(model);
	for (uint32_t q = 0; q < queues; q++)
		queue[q] = tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1);
	for (uint32_t i = 0; i < 3 * chunks; i++) {
		double ps = 1000 * ns[i % 3] / chunks, held = i % 3 == 1 ? ps / beside : ps;
		operations[i] = (struct tare_model_operation){ .flow = flows[i % 3],
			                                       .work_ps = (int64_t)held,
			                                       .tail_ps = (int64_t)(ps - held) };
		tare_model_append(model, queue[i / 3 % queues], &operations[i]);
	}
	tare_model_run(model, TARE_PS_MAX - 1);
	for (uint32_t i = 0; i < 3 * chunks; i++)
		end = operations[i].end_ps > end ? operations[i].end_ps : end;
	tare_model_free(model);
	return (double)end / 1000;
}

static void no_schedule_with_kernels_side_by_side_beats_the_bound(void **state)
{
	static const double table[][4] = {
		// ns, and how many kernels run beside each other
		{ 64e3, 192e3, 64e3, 8 }, { 64e3, 192e3, 64e3, 2 }, { 1e3, 256e3, 1e3, 4 },
		{ 64e3, 64e3, 32e3, 8 },  { 64e3, 192e3, 64e3, 1 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		double h = table[i][0], k = table[i][1], d = table[i][2], beside = table[i][3];
		struct tare_overlap_modes modes = free_modes(h, k, d);
		double bound, best = INFINITY;

		modes.side_by_side = beside;
		bound = bound_of(&modes);
		close_to(bound, fmax(h, fmax(k / beside, d)));
		for (uint32_t chunks = 1; chunks <= 64; chunks *= 2)
			for (uint32_t queues = 1; queues <= 8; queues++) {
				double ns = run_beside(h, k, d, beside, chunks, queues);
				if (ns < bound * (1 - 1e-6) ||
				    ns < tare_overlap_attainable_ns(&modes, chunks, false) *
				             (1 - 1e-6))
					fail_msg("%zu: %u chunks, %u queues: %.0f ns, bound %.0f, "
					         "attainable %.0f",
					         i, chunks, queues, ns, bound,
					         tare_overlap_attainable_ns(&modes, chunks, false));
				best = fmin(best, ns);
			}
		// And it is not idly low.
		if (best > 1.1 * bound)
			fail_msg("%zu: the best takes %.0f ns, the bound is %.0f", i, best, bound);
	}
	struct tare_overlap_modes modes = free_modes(1, 12, 2);
	struct tare_overlap_bound bound;
	modes.side_by_side = 8;
	assert_int_equal(tare_overlap_bound(&modes, &bound, NULL), 0);
	assert_int_equal(bound.longest, TARE_STAGE_TO_HOST);
	close_to(bound.serial_ns, 15);
	modes.side_by_side = 0.9; // noise: not slower than alone
	close_to(bound_of(&modes), 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stages_that_do_not_disturb_each_other_take_the_longest),
		cmocka_unit_test(two_engines_with_a_duplex_factor),
		cmocka_unit_test(one_copy_engine_is_bound_by_both_copies_or_the_kernel),
		cmocka_unit_test(nothing_gains_where_engines_take_turns),
		cmocka_unit_test(modes_that_are_not_known_are_not_used),
		cmocka_unit_test(what_is_no_number_or_has_no_speed_is_refused),
		cmocka_unit_test(amdahl_is_what_the_handbook_draws),
		cmocka_unit_test(no_random_schedule_beats_the_bound_and_the_dual_meets_it),
		cmocka_unit_test(equal_stages_reach_the_closed_forms),
		cmocka_unit_test(unequal_stages_take_what_is_attainable),
		cmocka_unit_test(engines_are_counted_by_what_was_seen_together),
		cmocka_unit_test(modes_that_were_not_measured_reveal_nothing),
		cmocka_unit_test(no_schedule_with_kernels_side_by_side_beats_the_bound),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
