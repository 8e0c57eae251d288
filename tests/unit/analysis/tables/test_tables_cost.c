// SPDX-License-Identifier: Apache-2.0
// What recording cost, and what commands took of which a sample has times.
#include "tables_run.h"

enum { LAUNCHES = 1500 };

// A process that was measured: each cost of the driver has a value of its own.
static void be_measured(struct run *run)
{
	struct tare_recorded_process *process = &run->processes[0];
	*process = (struct tare_recorded_process){ .self_cost_ps = 100000,
		                                   .self_call_cost_ps = 50000,
		                                   .self_untimed_cost_ps = 40000,
		                                   .driver_rounds = 9,
		                                   .setup_ns = 77,
		                                   .calibration_ns = 700,
		                                   .self_low_ps = { 90000, 35000 },
		                                   .self_high_ps = { 130000, 60000 } };
	for (int i = 0; i < TARE_DRIVER_COST_COUNT; i++) {
		process->driver_ps[i] = (i + 1) * 1000000;
		process->driver_low_ps[i] = process->driver_ps[i] - 100000;
		process->driver_high_ps[i] = process->driver_ps[i] + 200000;
	}
	run->queues[0].profiling = run->queues[0].profiling_added = true;
	run->queues[1].profiling = true;
	run->queues[1].profiling_added = false;
}

static void only_what_was_changed_costs(void **state)
{
	// Of a command on queue 0, which has profiling because of the recorder, or queue 1.
	static const struct {
		uint32_t queue;
		uint8_t flags, untimed;
		int64_t cost_ns; // in the driver
		bool transfer;
	} rows[] = {
		{ 0, TARE_COMMAND_OWN_EVENT, 0, 2000 },
		{ 0, 0, 0, 3000 },
		{ 0, TARE_COMMAND_NO_TIMES, 0, 1000 },
		{ 0, TARE_COMMAND_NOT_SAMPLED, TARE_UNTIMED_NOT_SAMPLED, 1000 },
		{ 0, TARE_COMMAND_NO_TIMES, TARE_UNTIMED_NOT_SAMPLED, 3000 },
		{ 1, TARE_COMMAND_OWN_EVENT, 0, 4000 },
		{ 1, 0, 0, 0 },
		{ 1, TARE_COMMAND_NOT_SAMPLED, TARE_UNTIMED_NOT_SAMPLED, 0 },
		{ 1, TARE_COMMAND_NO_TIMES, TARE_UNTIMED_NOT_SAMPLED, 0 },
		{ 0, TARE_COMMAND_OWN_EVENT, 0, 6000, true },
		{ 0, TARE_COMMAND_NOT_SAMPLED, TARE_UNTIMED_NOT_SAMPLED, 5000, true },
		{ 1, TARE_COMMAND_OWN_EVENT, 0, 8000, true },
		{ 1, 0, 0, 0, true },
	};
	struct run *run = *state;
	const struct tare_coverage *coverage = &run->tables.coverage;
	be_measured(run);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		bool timed = !(rows[i].flags & TARE_COMMAND_NO_TIMES);
		run->recording.command_count = 0;
		struct tare_recorded_command *command =
		    add(run, rows[i].transfer ? TARE_KIND_WRITE : TARE_KIND_KERNEL, 100,
		        timed ? 200 : TARE_NO_TIME, timed ? 300 : TARE_NO_TIME);
		command->queue = rows[i].queue;
		command->flags = rows[i].flags;
		command->untimed = rows[i].untimed;
		compute(run);
		assert_int_equal(coverage->driver_ns, rows[i].cost_ns);
		assert_int_equal(coverage->driver_low_ns,
		                 rows[i].cost_ns ? rows[i].cost_ns - 100 : 0);
		assert_int_equal(coverage->driver_high_ns,
		                 rows[i].cost_ns ? rows[i].cost_ns + 200 : 0);
		assert_int_equal(coverage->self_cost_ns, timed ? 100 : 40);
		assert_int_equal(coverage->cost_ns, rows[i].cost_ns + (timed ? 100 : 40) + 777);
		assert_int_equal(coverage->cost_low_ns,
		                 coverage->driver_low_ns + (timed ? 90 : 35) + 777);
		assert_int_equal(coverage->cost_high_ns,
		                 coverage->driver_high_ns + (timed ? 130 : 60) + 777);
		assert_int_equal(coverage->cost_source, TARE_COST_CALIBRATED);
		assert_near(coverage->cost_share, (double)coverage->cost_ns / 1000000);
	}
	assert_int_equal(coverage->once_ns, 777);
	// Lower than what the release saved the loop is noise.
	run->processes[0].driver_ps[TARE_DRIVER_BOTH] = -17000000;
	run->commands[0].kind = TARE_KIND_KERNEL;
	run->commands[0].queue = 0;
	run->commands[0].flags = TARE_COMMAND_OWN_EVENT;
	run->commands[0].untimed = 0;
	run->processes[0].driver_high_ps[TARE_DRIVER_BOTH] = -17000000;
	compute(run);
	assert_int_equal(coverage->driver_ns, -10000);
	assert_int_equal(coverage->cost_ns, 0);
	assert_int_equal(coverage->cost_high_ns, 0);
}

// A trace of before, or --strict: our own code was measured in a row by itself.
static void without_its_interval_there_is_no_upper_end(void **state)
{
	struct run *run = *state;
	const struct tare_coverage *coverage = &run->tables.coverage;
	be_measured(run);
	run->processes[0].self_high_ps[0] = 0;
	add(run, TARE_KIND_KERNEL, 100, 200, 300)->flags = TARE_COMMAND_OWN_EVENT;
	compute(run);
	assert_int_equal(coverage->cost_source, TARE_COST_CALIBRATED);
	assert_int_equal(coverage->cost_ns, 100 + 2000 + 777);
	assert_int_equal(coverage->cost_low_ns, 100 + 1900 + 777);
	assert_int_equal(coverage->cost_high_ns, TARE_NO_TIME);
}

static void an_unknown_driver_is_a_lower_limit(void **state)
{
	struct run *run = *state;
	const struct tare_coverage *coverage = &run->tables.coverage;
	be_measured(run);
	run->processes[0].driver_rounds = 0;
	add(run, TARE_KIND_KERNEL, 100, 200, 300)->flags = TARE_COMMAND_OWN_EVENT;
	compute(run);
	assert_int_equal(coverage->cost_source, TARE_COST_OWN_CODE);
	assert_int_equal(coverage->driver_ns, TARE_NO_TIME);
	assert_int_equal(coverage->cost_ns, 100 + 777);
	assert_int_equal(coverage->cost_high_ns, TARE_NO_TIME);
	// Where nothing was changed, nothing is missing.
	run->commands[0].flags = 0;
	run->commands[0].queue = 1;
	compute(run);
	assert_int_equal(coverage->cost_source, TARE_COST_CALIBRATED);
	assert_int_equal(coverage->cost_high_ns, 130 + 777);
}

static void threads_of_the_driver_hide_its_part(void **state)
{
	struct run *run = *state;
	const struct tare_coverage *coverage = &run->tables.coverage;
	be_measured(run);
	run->processes[0].flags = TARE_TRACE_DRIVER_THREADS;
	add(run, TARE_KIND_KERNEL, 100, 200, 300)->flags = TARE_COMMAND_OWN_EVENT;
	compute(run);
	assert_true(coverage->driver_hidden);
	assert_int_equal(coverage->cost_source, TARE_COST_OWN_CODE);
	assert_int_equal(coverage->driver_ns, TARE_NO_TIME);
	assert_int_equal(coverage->cost_ns, 100 + 777);
	assert_int_equal(coverage->cost_high_ns, TARE_NO_TIME);
	// Of a command for which nothing was changed there is nothing to hide.
	run->commands[0].flags = 0;
	run->commands[0].queue = 1;
	compute(run);
	assert_false(coverage->driver_hidden);
	assert_int_equal(coverage->cost_source, TARE_COST_CALIBRATED);
}

static void only_opencl_has_prices(void **state)
{
	struct run *run = *state;
	const struct tare_coverage *coverage = &run->tables.coverage;
	be_measured(run);
	add(run, TARE_KIND_KERNEL, 100, 200, 300)->flags = TARE_COMMAND_OWN_EVENT;
	run->queues[0].api = TARE_TRACE_LEVELZERO;
	compute(run);
	assert_int_equal(coverage->driver_ns, TARE_NO_TIME);
	assert_int_equal(coverage->cost_source, TARE_COST_OWN_CODE);
	// For one without times its driver did nothing more.
	run->commands[0].flags = TARE_COMMAND_NO_TIMES;
	compute(run);
	assert_int_equal(coverage->driver_ns, 0);
}

// A command list of two, executed twice; what was appended is calls.
static void executed_lists(struct run *run)
{
	be_measured(run);
	run->processes[0].apis = UINT64_C(1) << TARE_TRACE_LEVELZERO;
	run->queues[0].api = TARE_TRACE_LEVELZERO;
	for (uint32_t i = 0; i < 2; i++) {
		run->calls[i] = (struct tare_recorded_call){
			.enter_ns = 10,
			.exit_ns = 11,
			.count = 1,
			.role = TARE_ROLE_COMMAND,
			.object = TARE_NO_INDEX,
			.device = TARE_NO_INDEX,
			.stack = TARE_NO_INDEX,
			.flags = (uint8_t)(TARE_CALL_TIMED | TARE_CALL_OWN_EVENT |
			                   (i ? TARE_CALL_LIKE_KERNEL : 0))
		};
		run->recording.call_count++;
	}
	for (uint32_t execution = 0; execution < 2; execution++)
		for (int i = 0; i < 3; i++) {
			struct tare_recorded_command *command =
			    add(run, i ? TARE_KIND_KERNEL : TARE_KIND_GRAPH, 100,
			        i ? 200 : TARE_NO_TIME, i ? 300 : TARE_NO_TIME);
			command->flags = i ? TARE_COMMAND_OWN_EVENT : TARE_COMMAND_NO_TIMES;
			command->part = i ? TARE_RUN : TARE_EXECUTES;
			command->execution = execution;
		}
}

static void executing_has_a_price_where_it_was_measured(void **state)
{
	struct run *run = *state;
	const struct tare_coverage *coverage = &run->tables.coverage;
	struct tare_recorded_process *process = &run->processes[0];
	executed_lists(run);
	compute(run);
	assert_int_equal(coverage->driver_ns, TARE_NO_TIME);
	process->execute_rounds = 9;
	for (int i = 0; i < TARE_EXECUTE_COST_COUNT; i++) {
		process->execute_ps[i] = 7000 + 1000000 * i;
		process->execute_low_ps[i] = process->execute_ps[i] - 1000;
		process->execute_high_ps[i] = process->execute_ps[i] + 2000;
	}
	compute(run);
	// An event with a transfer and one with a kernel; two executions, of two commands each.
	assert_int_equal(coverage->driver_ns, 8000 + 4000 + 2 * 1007 + 4 * 2007);
	assert_int_equal(coverage->driver_low_ns, 8000 + 4000 - 2 * 100 + 2 * 1006 + 4 * 2006);
	assert_int_equal(coverage->driver_high_ns, 8000 + 4000 + 2 * 200 + 2 * 1009 + 4 * 2009);
	// Two commands appended, with times, and two executions.
	assert_int_equal(coverage->self_cost_ns, 2 * 100 + 2 * 7);
	assert_int_equal(coverage->self_low_ns, 2 * 90 + 2 * 6);
	assert_int_equal(coverage->self_high_ns, 2 * 130 + 2 * 9);
	// One of which nothing was read behind it.
	for (size_t i = 3; i < 6; i++)
		run->commands[i].untimed = i > 3 ? TARE_UNTIMED_NO_ROOM : 0;
	compute(run);
	assert_int_equal(coverage->driver_ns, 8000 + 4000 + 1007 + 2 * 2007);
}

static void runs_without_recording_go_before(void **state)
{
	struct run *run = *state;
	const struct tare_coverage *coverage = &run->tables.coverage;
	be_measured(run);
	run->recording.comparison =
	    (struct tare_recorded_comparison){ 5, 900000, 50000, 40000, 70000, 1, 1, 1 };
	add(run, TARE_KIND_KERNEL, 100, 200, 300)->flags = TARE_COMMAND_OWN_EVENT;
	compute(run);
	assert_int_equal(coverage->cost_source, TARE_COST_COMPARED);
	assert_int_equal(coverage->cost_ns, 50000);
	assert_int_equal(coverage->cost_low_ns, 40000);
	assert_int_equal(coverage->cost_high_ns, 70000);
	assert_near(coverage->cost_share, 0.05);
	// They tell of the whole only.
	struct tare_view view = tare_view_all(&run->recording);
	view.to_ns = 500000;
	tare_tables_free(&run->tables);
	assert_int_equal(
	    tare_tables_compute(&run->recording, &view, &run->ledgers, NULL, 0, &run->tables, NULL),
	    0);
	assert_int_equal(coverage->cost_source, TARE_COST_CALIBRATED);
	// When measuring was, is not known.
	assert_int_equal(coverage->cost_ns, 100 + 2000);
}

// ---- estimates

static uint32_t number(uint32_t *state)
{
	return *state = *state * 1664525 + 1013904223;
}

// Chance has given the last command its times, one in so many.
static void was_drawn(struct run *run, uint32_t one_in)
{
	static struct tare_recorded_draw draws[LAUNCHES];
	size_t last = run->recording.command_count - 1;
	run->recording.draws = draws;
	draws[run->recording.draw_count++] =
	    (struct tare_recorded_draw){ (uint32_t)last, UINT32_MAX / one_in };
}

// Launches whose kernel takes longer and longer, all timed at first, then one in `chance`. Returns
// what they took altogether.
static double launch_sampled(struct run *run, uint32_t *random, uint32_t chance)
{
	double truth_ns = 0;
	run->recording.command_count = run->recording.draw_count = 0;
	for (int i = 0; i < LAUNCHES; i++) {
		int64_t from_ns = 100 + i * 600,
		        ns = 100 + i / 10 + number(random) / (UINT32_MAX / 100);
		bool timed = i < 200 || number(random) / 65536 % chance == 0;
		struct tare_recorded_command *command =
		    add(run, TARE_KIND_KERNEL, from_ns, timed ? from_ns + 20 : TARE_NO_TIME,
		        timed ? from_ns + 20 + ns : TARE_NO_TIME);
		command->flags = timed ? TARE_COMMAND_OWN_EVENT : TARE_COMMAND_NOT_SAMPLED;
		command->untimed = timed ? 0 : TARE_UNTIMED_NOT_SAMPLED;
		if (timed && i >= 200 && chance > 1)
			was_drawn(run, chance);
		truth_ns += (double)ns;
	}
	compute(run);
	return truth_ns;
}

static void the_interval_holds_the_truth(void **state)
{
	struct run *run = *state;
	uint32_t random = 7, within = 0;
	double mean_off = 0;
	run->recording.end_ns = 1000000;
	for (int round = 0; round < 200; round++) {
		double truth_ns = launch_sampled(run, &random, 8);
		const struct tare_task *task = &run->tables.tasks[0];
		assert_int_equal(task->instances, LAUNCHES);
		assert_int_equal(task->timed + task->estimate.unsampled, LAUNCHES);
		assert_true(task->estimate.low_ns < task->estimate.ns &&
		            task->estimate.ns < task->estimate.high_ns);
		within += truth_ns >= task->estimate.low_ns && truth_ns <= task->estimate.high_ns;
		mean_off += (task->estimate.ns / truth_ns - 1) / 200;
	}
	// 95 of 100; the numbers are always the same ones.
	assert_in_range(within, 180, 199);
	// Count times the mean of all timed ones would be 20 % too little: the early ones are
	// short.
	assert_true(fabs(mean_off) < 0.005);
}

static void what_is_all_timed_is_not_estimated(void **state)
{
	struct run *run = *state;
	uint32_t random = 7;
	double truth_ns = launch_sampled(run, &random, 1);
	const struct tare_task *task = &run->tables.tasks[0];
	assert_int_equal(task->estimate.unsampled, 0);
	assert_true(isnan(task->estimate.ns));
	assert_near((double)task->total_ns, truth_ns);
}

static void too_few_are_no_estimate(void **state)
{
	struct run *run = *state;
	for (int i = 0; i < 3; i++) {
		struct tare_recorded_command *command =
		    add(run, TARE_KIND_KERNEL, 100 * i + 100, TARE_NO_TIME, TARE_NO_TIME);
		command->flags = TARE_COMMAND_NOT_SAMPLED;
		command->untimed = TARE_UNTIMED_NOT_SAMPLED;
	}
	run->commands[0].start_ns = 110;
	run->commands[0].end_ns = 120;
	run->commands[0].untimed = 0;
	compute(run);
	assert_int_equal(run->tables.tasks[0].estimate.unsampled, 2);
	assert_true(isnan(run->tables.tasks[0].estimate.ns));
	assert_int_equal(run->tables.coverage.unobserved_by[TARE_UNOBSERVED_NOT_SAMPLED], 2);
}

// Of two sizes in turn, of which one is timed more often than the other: each stands for its own.
static void transfers_are_estimated_by_their_size(void **state)
{
	static const struct {
		uint64_t bytes;
		int64_t ns;
		int one_in;
	} sizes[] = { { 64, 10, 10 }, { 1 << 20, 500, 2 } };
	struct run *run = *state;
	const struct tare_transfer_row *row;
	double truth_ns = 0;
	run->recording.end_ns = 1000000;
	for (int i = 0; i < LAUNCHES; i++) {
		int64_t from_ns = 100 + i * 600, ns = sizes[i % 2].ns;
		bool timed = i / 2 % sizes[i % 2].one_in == 0;
		struct tare_recorded_command *command =
		    add(run, TARE_KIND_WRITE, from_ns, timed ? from_ns + 20 : TARE_NO_TIME,
		        timed ? from_ns + 20 + ns : TARE_NO_TIME);
		command->amount = sizes[i % 2].bytes;
		command->flags = timed ? TARE_COMMAND_OWN_EVENT : TARE_COMMAND_NOT_SAMPLED;
		command->untimed = timed ? 0 : TARE_UNTIMED_NOT_SAMPLED;
		if (timed)
			was_drawn(run, (uint32_t)sizes[i % 2].one_in);
		truth_ns += (double)ns;
	}
	compute(run);
	row = &run->tables.transfers[0];
	assert_int_equal(run->tables.transfer_count, 1);
	assert_int_equal(row->timed + row->estimate.unsampled, LAUNCHES);
	assert_true((double)row->total_ns < truth_ns / 1.5);
	assert_near(row->estimate.ns, truth_ns);
	assert_near(row->estimate.low_ns, truth_ns);
	assert_near(row->estimate.high_ns, truth_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_what_was_changed_costs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_its_interval_there_is_no_upper_end, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(an_unknown_driver_is_a_lower_limit, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(threads_of_the_driver_hide_its_part, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(only_opencl_has_prices, set_up, tear_down),
		cmocka_unit_test_setup_teardown(executing_has_a_price_where_it_was_measured, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(runs_without_recording_go_before, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(the_interval_holds_the_truth, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_all_timed_is_not_estimated, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(too_few_are_no_estimate, set_up, tear_down),
		cmocka_unit_test_setup_teardown(transfers_are_estimated_by_their_size, set_up,
		                                tear_down),
	};
	return cmocka_run_group_tests_name("tables_cost", tests, NULL, NULL);
}
