// SPDX-License-Identifier: Apache-2.0
// Stages of pipelines on simulated devices: beside each other, alone, as bars.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "even_device.h"

// ---- modes

static const struct mode_row {
	const char *name, *old, *new, *more;
	uint32_t mode;
	double speeds[TARE_STAGE_COUNT];
	bool together;
} mode_rows[] = {
	{ "free", NULL, NULL, "", 7, { 1, 1, 1 }, true },
	{ "duplex 80 and 60 %",
	  NULL,
	  NULL,
	  "concurrent to-device speed 80 % while to-host\n"
	  "concurrent to-host speed 60 % while to-device\n",
	  5,
	  { 0.8, 0, 0.6 },
	  true },
	// The same speeds, from two engines that halve each other and from one that takes turns.
	{ "duplex 50 %",
	  NULL,
	  NULL,
	  "concurrent to-device speed 50 % while to-host\n"
	  "concurrent to-host speed 50 % while to-device\n",
	  5,
	  { 0.5, 0, 0.5 },
	  true },
	{ "one copy engine", BOTH, ONE_COPY_ENGINE, "", 5, { 0.5, 0, 0.5 }, false },
	{ "one copy engine, with the kernel", BOTH, ONE_COPY_ENGINE, "", 3, { 1, 1, 0 }, true },
	{ "one copy engine, all", BOTH, ONE_COPY_ENGINE, "", 7, { 0.5, 1, 0.5 }, false },
	{ "one engine",
	  "compute runs kernel\n" BOTH,
	  "compute runs kernel,to-device,to-host,local\n",
	  "",
	  3,
	  { 0.5, 0.5, 0 },
	  false },
	{ "copies beside the kernel",
	  NULL,
	  NULL,
	  "concurrent to-device speed 90 % while kernel\n"
	  "concurrent kernel speed 70 % while to-device\n",
	  3,
	  { 0.9, 0.7, 0 },
	  true },
	{ "alone", NULL, NULL, "", 4, { 0, 0, 1 }, true },
	// The first queue is let go long before the second.
	{ "gates that open late",
	  NULL,
	  NULL,
	  "concurrent to-device speed 50 % while to-host\n"
	  "concurrent to-host speed 50 % while to-device\nhost gate 300 us\n",
	  5,
	  { 0.5, 0, 0.5 },
	  true },
	// The copies are done long before the kernels unless there are more of them.
	{ "a kernel that is slowed much",
	  NULL,
	  NULL,
	  "concurrent kernel speed 10 % while to-device\n",
	  3,
	  { 1, 0.1, 0 },
	  true },
	// Between operations of one queue the engine is free for long enough to take another's.
	{ "one copy engine, with gaps",
	  BOTH,
	  ONE_COPY_ENGINE,
	  "queue same-gap 2 us\n",
	  5,
	  { 0.51, 0, 0.51 },
	  false },
};

static void check_modes(const char *stamps)
{
	for (size_t i = 0; i < sizeof mode_rows / sizeof *mode_rows; i++) {
		const struct mode_row *row = &mode_rows[i];
		static char script[4096];
		struct device device;
		snprintf(script, sizeof script, "%s", even(row->old, row->new, row->more));
		if (stamps)
			replace(script, "stamps queued,submitted,start,end", stamps);
		start(&device, script, ITEMS, 1);
		for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
			bool together = !row->together;
			double got;
			if (!(row->mode >> stage & 1))
				continue;
			got = speed(&device, row->mode, (enum tare_stage)stage, &together);
			if (got < 0.995 * row->speeds[stage] || got > 1.005 * row->speeds[stage])
				fail_msg("%s: %s goes at %.4f, expected %.4f", row->name,
				         tare_stage_name((enum tare_stage)stage), got,
				         row->speeds[stage]);
			if (together != row->together)
				fail_msg("%s: together is %d", row->name, together);
		}
		stop(&device);
	}
}

static void speeds_of_modes_are_the_scripts(void **state)
{
	(void)state;
	check_modes(NULL);
}

static void stamps_that_do_not_bracket_are_helped_by_a_probe(void **state)
{
	(void)state;
	check_modes("stamps start,end,stream");
}

static void without_stamps_the_host_counts(void **state)
{
	static const struct {
		const char *old, *new;
		double sum;
		bool together;
	} rows[] = { { NULL, NULL, 2, true }, { BOTH, ONE_COPY_ENGINE, 1, false } };
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		static char script[4096];
		struct device device;
		bool together = !rows[i].together;
		double sum;
		snprintf(script, sizeof script, "%s", even(rows[i].old, rows[i].new, ""));
		replace(script, "stamps queued,submitted,start,end", "stamps none");
		start(&device, script, ITEMS, 1);
		sum = speed(&device, 5, TARE_STAGE_TO_DEVICE, &together) +
		      speed(&device, 5, TARE_STAGE_TO_HOST, &together);
		// The host looks 50 times in an operation.
		if (sum < 0.97 * rows[i].sum || sum > 1.03 * rows[i].sum)
			fail_msg("speeds add up to %.3f, expected %.0f", sum, rows[i].sum);
		assert_int_equal(together, rows[i].together);
		stop(&device);
	}
}

static void unequal_stages_keep_their_speeds(void **state)
{
	struct device device;
	bool together;
	(void)state;
	// The kernel takes 50 times as long as a copy.
	start(&device,
	      even(NULL, NULL,
	           "concurrent to-device speed 80 % while kernel\n"
	           "concurrent kernel speed 50 % while to-device\n"),
	      ITEMS, 50);
	double got = speed(&device, 3, TARE_STAGE_TO_DEVICE, &together);
	if (got < 0.796 || got > 0.804 || !together)
		fail_msg("copy beside a long kernel: %.4f", got);
	got = speed(&device, 3, TARE_STAGE_KERNEL, &together);
	if (got < 0.4975 || got > 0.5025 || !together)
		fail_msg("long kernel beside a copy: %.4f", got);
	stop(&device);
}

static void without_gates_stages_are_fed_in_turn(void **state)
{
	static const struct {
		const char *old, *new;
		double sum;
	} rows[] = { { NULL, NULL, 2 },
		     { "compute runs kernel\n" BOTH,
		       "compute runs kernel,to-device,to-host,local\n", 1 } };
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct device device;
		bool together;
		double sum;
		start(&device,
		      even(rows[i].old, rows[i].new,
		           "lacks gates reason \"none\"\nhost append 1 us submit 1 us\n"),
		      ITEMS, 1);
		sum = speed(&device, 5, TARE_STAGE_TO_DEVICE, &together) +
		      speed(&device, 5, TARE_STAGE_TO_HOST, &together);
		if (sum < 0.995 * rows[i].sum || sum > 1.005 * rows[i].sum || together != (i == 0))
			fail_msg("speeds add up to %.3f, together %d", sum, together);
		stop(&device);
	}
}

// A runtime that runs all of a queue in the call that opens its gate.
static struct tare_backend eager, eager_plain;
static struct {
	struct tare_gate *gate;
	struct tare_queue *queue;
} eager_gates[8];

static int eager_shut(struct tare_queue *queue, struct tare_gate **gate, struct tare_error *error)
{
	int status = eager_plain.gate_shut(queue, gate, error);
	size_t i = 0;
	while (eager_gates[i].gate)
		assert_true(++i < 8);
	eager_gates[i].gate = *gate;
	eager_gates[i].queue = queue;
	return status;
}

static int eager_open(struct tare_gate *gate, struct tare_error *error)
{
	int status = eager_plain.gate_open(gate, error);
	for (size_t i = 0; i < 8; i++)
		if (eager_gates[i].gate == gate) {
			eager_gates[i].gate = NULL;
			return status < 0 ? status
			                  : eager_plain.finish(eager_gates[i].queue,
			                                       TARE_LIMIT_DEFAULT_NS, error);
		}
	return status;
}

static void stages_that_run_one_after_the_other_took_turns(void **state)
{
	static const char *const stamps[] = { "stamps queued,submitted,start,end",
		                              "stamps start,end,stream" };
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct device device;
		bool together;
		double sum;
		simulated_open(&device.simulated, even(stamps[0], stamps[i], ""), "overlap",
		               INT64_C(1000000000));
		eager_plain = eager = *device.simulated.device->backend;
		eager.gate_shut = eager_shut;
		eager.gate_open = eager_open;
		device.simulated.device->backend = &eager;
		rig_open(&device.rig, &device.simulated.run, ITEMS, 1);
		sum = speed(&device, 3, TARE_STAGE_TO_DEVICE, &together) +
		      speed(&device, 3, TARE_STAGE_KERNEL, &together);
		if (sum < 0.95 || sum > 1.05)
			fail_msg("%s: speeds add up to %.3f", stamps[i], sum);
		if (i == 0)
			assert_false(together);
		stop(&device);
	}
}

static void work_that_cannot_be_cut_has_speeds(void **state)
{
	struct tare_chunk_kernel chunk;
	struct device device;
	bool together;
	double got;
	(void)state;
	// More kernels than a queue holds fit beside a single copy.
	start(&device, even("2500 Mitem/s", "250 Gitem/s", ""), 0, 1);
	chunk = device.rig.chunk;
	chunk.align = ITEMS;
	rig_must(tare_pipeline_open(&device.rig.bench, ITEMS, &device.rig.pipeline, &chunk, error));
	for (int stage = 0; stage < 2; stage++) {
		got = speed(&device, 3, (enum tare_stage)stage, &together);
		if (got < 0.95 || got > 1.05 || !together)
			fail_msg("stage %d goes at %.3f, together %d", stage, got, together);
	}
	stop(&device);
}

// ---- stages

static void stages_and_points_equal_closed_forms(void **state)
{
	struct device device;
	struct tare_stage_point point;
	int64_t ps;
	bool by_device;
	(void)state;
	start(&device,
	      even("copy pinned device rate", "copy pinned device fixed 2 us rate",
	           "queue same-gap 300 ns submission 1 us\nhost append 1 us\n"),
	      ITEMS, 2);
	rig_must(
	    tare_pipeline_stage(device.rig.pipeline, TARE_STAGE_TO_DEVICE, &ps, &by_device, error));
	assert_true(by_device);
	assert_int_equal(ps, (STAGE_NS + 2000) * INT64_C(1000));
	rig_must(
	    tare_pipeline_stage(device.rig.pipeline, TARE_STAGE_KERNEL, &ps, &by_device, error));
	assert_int_equal(ps, 2 * STAGE_NS * INT64_C(1000));
	rig_must(tare_pipeline_stage_point(device.rig.pipeline, TARE_STAGE_TO_DEVICE, ITEMS / 8, 20,
	                                   &point, error));
	assert_int_equal(point.amount, ITEMS / 8 * 4);
	near_ns("alone", point.isolated_ns, STAGE_NS / 8 + 2000, 0.001);
	near_ns("in a row", point.back_to_back_ns, STAGE_NS / 8 + 2300, 0.1);
	rig_must(tare_pipeline_stage_point(device.rig.pipeline, TARE_STAGE_KERNEL, ITEMS / 8, 20,
	                                   &point, error));
	assert_int_equal(point.amount, ITEMS / 8);
	near_ns("in a row", point.back_to_back_ns, STAGE_NS / 4 + 300, 0.1);
	stop(&device);
}

static void halves_of_a_kernel_take_as_long_as_the_whole(void **state)
{
	struct device device;
	int64_t together_ps, one_ps;
	(void)state;
	start(&device, even(NULL, NULL, ""), ITEMS, 2);
	rig_must(tare_pipeline_kernel_beside(device.rig.pipeline, &together_ps, &one_ps, error));
	assert_int_equal(one_ps, 2 * STAGE_NS * INT64_C(1000));
	assert_int_equal(together_ps, one_ps);
	stop(&device);
}

// ---- bars

static void bars_do_not_contradict_the_schedule(void **state)
{
	static const struct tare_schedule schedules[] = {
		{ .chunks = 12, .queues = 3 },
		{ .chunks = 12,
		  .queues = 3,
		  .mechanism = TARE_MECHANISM_STAGE_QUEUES,
		  .order = TARE_ORDER_INTERLEAVED },
		{ .chunks = 12, .queues = 1, .mechanism = TARE_MECHANISM_OUT_OF_ORDER },
	};
	struct device device;
	(void)state;
	start(&device, even(NULL, NULL, "queue gap 2 us event-gap 1 us switch 1 us\n"), ITEMS, 1);
	for (size_t s = 0; s < 3; s++) {
		struct tare_bar bars[36], of[12][3];
		int64_t last = 0;
		int count = 0;
		rig_must(count =
		             tare_pipeline_gantt(device.rig.pipeline, &schedules[s], bars, error));
		assert_int_equal(count, 36);
		for (int i = 0; i < 36; i++) {
			of[bars[i].chunk][bars[i].stage] = bars[i];
			assert_true(bars[i].start_ps >= 0);
			near_ns("bar", (double)(bars[i].end_ps - bars[i].start_ps) / 1000,
			        STAGE_NS / 12.0, 2);
			last = bars[i].end_ps > last ? bars[i].end_ps : last;
		}
		for (int c = 0; c < 12; c++) {
			assert_true(of[c][0].end_ps <= of[c][1].start_ps);
			assert_true(of[c][1].end_ps <= of[c][2].start_ps);
		}
		near_ns("bars and run", (double)last / 1000,
		        (double)time_of(&device, &schedules[s], TARE_BREAK_NONE), 2500);
	}
	stop(&device);
}

static void without_bracketing_stamps_there_are_no_bars(void **state)
{
	static const char *const stamps[] = { "stamps none", "stamps start,end,stream" };
	struct tare_schedule schedule = { .chunks = 4, .queues = 2 };
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct tare_bar bars[12];
		struct tare_error why = { 0 };
		struct device device;
		start(&device, even("stamps queued,submitted,start,end", stamps[i], ""), ITEMS, 1);
		assert_int_equal(tare_pipeline_gantt(device.rig.pipeline, &schedule, bars, &why),
		                 -ENODATA);
		assert_true(strlen(why.message) > 10);
		stop(&device);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(speeds_of_modes_are_the_scripts),
		cmocka_unit_test(stamps_that_do_not_bracket_are_helped_by_a_probe),
		cmocka_unit_test(without_stamps_the_host_counts),
		cmocka_unit_test(unequal_stages_keep_their_speeds),
		cmocka_unit_test(without_gates_stages_are_fed_in_turn),
		cmocka_unit_test(stages_that_run_one_after_the_other_took_turns),
		cmocka_unit_test(work_that_cannot_be_cut_has_speeds),
		cmocka_unit_test(stages_and_points_equal_closed_forms),
		cmocka_unit_test(halves_of_a_kernel_take_as_long_as_the_whole),
		cmocka_unit_test(bars_do_not_contradict_the_schedule),
		cmocka_unit_test(without_bracketing_stamps_there_are_no_bars),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
