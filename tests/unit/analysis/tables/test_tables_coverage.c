// SPDX-License-Identifier: Apache-2.0
// API calls, builds, queues and coverage of recordings made by hand.
#include "tables_run.h"

// ---- API calls and builds

static void calls_within_calls_count_but_take_no_time(void **state)
{
	struct run *run = *state;
	add_call(run, BUILD, 100, 900);
	add_call(run, FINISH, 200, 300)->flags = TARE_CALL_NESTED;
	add_call(run, FINISH, 1000, 1030);
	add_call(run, FINISH, 1100, 1150)->flags = TARE_CALL_FAILED;
	add(run, TARE_KIND_KERNEL, 2000, 2100, 2200);
	add(run, TARE_KIND_KERNEL, 2010, 2200, 2300)->function = NDRANGE_TOO;
	add(run, TARE_KIND_KERNEL, 2020, 2300, 2400)->flags = TARE_COMMAND_NESTED;
	compute(run);
	assert_int_equal(run->tables.api_count, 3);
	assert_string_equal(run->tables.api[0].function, "clBuildProgram");
	assert_int_equal(run->tables.api[0].total_ns, 800);
	assert_string_equal(run->tables.api[1].function, "clFinish");
	assert_int_equal(run->tables.api[1].count, 3);
	assert_int_equal(run->tables.api[1].nested, 1);
	assert_int_equal(run->tables.api[1].failed, 1);
	assert_int_equal(run->tables.api[1].total_ns, 80);
	assert_int_equal(run->tables.api[1].max_ns, 50);
	assert_string_equal(run->tables.api[2].function, "clEnqueueNDRangeKernel");
	assert_int_equal(run->tables.api[2].role, TARE_ROLE_COMMAND);
	assert_int_equal(run->tables.api[2].count, 3);
	assert_int_equal(run->tables.api[2].total_ns, 20);
	assert_int_equal(run->tables.coverage.calls, 7);
}

static void calls_for_another_device_are_left_out(void **state)
{
	struct run *run = *state;
	struct tare_view view = tare_view_all(&run->recording);
	add_call(run, FINISH, 100, 200)->device = 0;
	add_call(run, FINISH, 300, 500)->device = 1;
	add_call(run, FLUSH, 600, 700); // does not say
	view.device = 0;
	for (uint32_t same = 0; same < 2; same++) {
		run->devices[1].same_as = same;
		tare_tables_free(&run->tables);
		assert_int_equal(tare_tables_compute(&run->recording, &view, &run->ledgers, NULL, 0,
		                                     &run->tables, NULL),
		                 0);
		assert_int_equal(run->tables.coverage.calls, same == 0 ? 3 : 2);
	}
}

static void polled_calls_count_each(void **state)
{
	struct run *run = *state;
	struct tare_recorded_call *row;
	add_call(run, QUERY, 50, 550);
	row = add_call(run, QUERY, 600, 90000600);
	row->count = 400000;
	row->inside_ns = 80000000;
	compute(run);
	assert_int_equal(run->tables.api[0].count, 400001);
	assert_int_equal(run->tables.api[0].total_ns, 80000500);
	assert_int_equal(run->tables.api[0].max_ns, 500);
	row->inside_ns = 800 * 400000;
	compute(run);
	assert_int_equal(run->tables.api[0].max_ns, 800);
	assert_int_equal(run->tables.coverage.calls, 400001);
}

static void builds_say_what_became_of_them(void **state)
{
	struct run *run = *state;
	struct tare_recorded_call *call = add_call(run, BUILD, 100, 900);
	call->flags = TARE_CALL_FAILED;
	call->result = -11;
	add_call(run, BUILD, 1000, 1300)->object = 0;
	add_call(run, BUILD, 1100, 1200)->flags = TARE_CALL_NESTED;
	run->programs[0].build_error = -15;
	compute(run);
	assert_int_equal(run->tables.build_count, 2);
	assert_int_equal(run->tables.builds[0].ns, 800);
	assert_int_equal(run->tables.builds[0].error, -11);
	assert_int_equal(run->tables.builds[0].program, TARE_NO_INDEX);
	assert_int_equal(run->tables.builds[1].at_ns, 1000);
	assert_int_equal(run->tables.builds[1].error, -15);
	assert_int_equal(run->tables.builds[1].program, 0);
}

// ---- queues

static void gaps_have_the_causes_that_the_ledger_lists(void **state)
{
	struct run *run = *state;
	struct tare_gap gaps[] = {
		{ 1700, 2000, 0, 3, TARE_LEDGER_WAIT },
		{ 600, 800, 0, 2, TARE_LEDGER_COMPUTING },
		{ 250, 400, 0, 1, TARE_LEDGER_COMPUTING },
		{ 600, 700, 1, 2, TARE_LEDGER_BUILD },
		{ 0, 100, 0, 0, TARE_LEDGER_BEFORE_FIRST },
	};
	add(run, TARE_KIND_KERNEL, 0, 100, 200);
	add(run, TARE_KIND_KERNEL, 10, 400, 500);
	add(run, TARE_KIND_KERNEL, 20, 700, 1700);
	add(run, TARE_KIND_KERNEL, 30, 2000, 2100);
	run->ledgers = (struct tare_ledgers){ .gaps = gaps, .gap_count = 5 };
	compute(run);
	assert_int_equal(run->tables.queue_count, 1);
	assert_int_equal(run->tables.queues[0].gaps_ns, 200 + 200 + 300);
	assert_int_equal(run->tables.queues[0].gap_causes_ns[TARE_LEDGER_COMPUTING], 150 + 100);
	assert_int_equal(run->tables.queues[0].gap_causes_ns[TARE_LEDGER_WAIT], 300);
	assert_int_equal(run->tables.queues[0].gap_causes_ns[TARE_LEDGER_BUILD], 0);
	assert_int_equal(run->tables.queues[0].gap_causes_ns[TARE_LEDGER_BEFORE_FIRST], 0);
}

static void depth_ends_with_the_command(void **state)
{
	struct run *run = *state;
	add(run, TARE_KIND_KERNEL, 0, 100, 200);
	add(run, TARE_KIND_KERNEL, 200, 250, 300);
	compute(run);
	assert_int_equal(run->tables.queues[0].max_depth, 1);
	assert_near(run->tables.queues[0].mean_depth, 1);
	run->commands[1].enter_ns = 199;
	compute(run);
	assert_int_equal(run->tables.queues[0].max_depth, 2);
	assert_near(run->tables.queues[0].mean_depth, 301.0 / 300);
}

static void what_a_queue_does_not_tell_is_not_known(void **state)
{
	struct run *run = *state;
	add(run, TARE_KIND_KERNEL, 0, TARE_NO_TIME, TARE_NO_TIME);
	add(run, TARE_KIND_READ, 10, 100, 300)->queue = 1;
	run->commands[1].flags = TARE_COMMAND_BLOCKING;
	compute(run);
	assert_int_equal(run->tables.queue_count, 2);
	assert_int_equal(run->tables.queues[0].commands, 1);
	assert_true(isnan(run->tables.queues[0].mean_depth));
	assert_int_equal(run->tables.queues[0].median_latency_ns, TARE_NO_TIME);
	assert_int_equal(run->tables.queues[1].busy_ns, 200);
	assert_int_equal(run->tables.queues[1].median_latency_ns, TARE_NO_TIME);
}

// ---- memory

static void parts_hold_no_memory_of_their_own(void **state)
{
	struct tare_recorded_memory memories[] = {
		{ .kind = TARE_TRACE_MEMORY_BUFFER,
		  .bytes = 100,
		  .parent = TARE_NO_INDEX,
		  .created_ns = 10,
		  .released_ns = 50 },
		{ .kind = TARE_TRACE_MEMORY_PART,
		  .bytes = 60,
		  .parent = 0,
		  .created_ns = 20,
		  .released_ns = 30 },
		{ .kind = TARE_TRACE_MEMORY_PART,
		  .bytes = 50,
		  .parent = TARE_NO_INDEX,
		  .created_ns = 20,
		  .released_ns = TARE_NO_TIME },
		{ .kind = TARE_TRACE_MEMORY_IMAGE,
		  .bytes = 40,
		  .parent = TARE_NO_INDEX,
		  .created_ns = 30,
		  .released_ns = TARE_NO_TIME },
		// Made in the moment in which the first is let go of.
		{ .kind = TARE_TRACE_MEMORY_BUFFER,
		  .bytes = 90,
		  .parent = TARE_NO_INDEX,
		  .created_ns = 50,
		  .released_ns = 60 },
	};
	struct run *run = *state;
	run->recording.memories = memories;
	run->recording.memory_count = 5;
	compute(run);
	assert_int_equal(run->tables.memory.objects, 3);
	assert_int_equal(run->tables.memory.bytes, 230);
	assert_int_equal(run->tables.memory.peak_bytes, 140);
	assert_int_equal(run->tables.memory.peak_at_ns, 30);
	assert_int_equal(run->tables.memory.held_at_end, 1);
}

// ---- coverage

static void commands_that_nothing_started(void **state)
{
	static const struct {
		int function; // of one call; -1: none
		uint32_t object;
		uint8_t flags;
		int64_t at_ns;
		uint64_t never;
	} rows[] = {
		{ -1, 0, 0, 0, 2 },
		{ FLUSH, 0, 0, 1500, 1 }, // after the first, before the second
		{ FLUSH, 0, 0, 2500, 0 },
		{ FLUSH, 1, 0, 2500, 2 }, // of another queue
		{ FINISH, 0, TARE_CALL_FAILED, 2500, 2 },
		{ FINISH, TARE_NO_INDEX, 0, 2500, 0 }, // a wait for events: of any queue
		{ RELEASE_QUEUE, TARE_NO_INDEX, 0, 2500, 0 },
		{ RELEASE_QUEUE, 1, 0, 2500, 0 }, // the number is not known to be a queue's
		{ QUERY, TARE_NO_INDEX, 0, 2500, 2 },
		{ BUILD, 0, 0, 2500, 2 },
	};
	struct run *run = *state;
	add(run, TARE_KIND_KERNEL, 1000, TARE_NO_TIME, TARE_NO_TIME);
	add(run, TARE_KIND_KERNEL, 2000, TARE_NO_TIME, TARE_NO_TIME)->untimed =
	    TARE_UNTIMED_ABANDONED;
	add(run, TARE_KIND_KERNEL, 2100, TARE_NO_TIME, TARE_NO_TIME)->untimed =
	    TARE_UNTIMED_FAILED; // was seen to end
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		run->recording.call_count = 0;
		if (rows[i].function >= 0) {
			struct tare_recorded_call *call =
			    add_call(run, rows[i].function, rows[i].at_ns, rows[i].at_ns + 10);
			call->object = rows[i].object;
			call->flags = rows[i].flags;
		}
		compute(run);
		assert_int_equal(run->tables.coverage.never_flushed, rows[i].never);
		assert_int_equal(run->tables.coverage.completed, 0);
	}
}

static void what_else_starts_commands(void **state)
{
	struct run *run = *state;
	add(run, TARE_KIND_KERNEL, 1000, TARE_NO_TIME, TARE_NO_TIME);
	compute(run);
	assert_int_equal(run->tables.coverage.never_flushed, 1);
	run->threads[0].unfinished_function = BUILD;
	run->threads[0].unfinished_since_ns = 1500;
	compute(run);
	assert_int_equal(run->tables.coverage.never_flushed, 1);
	run->threads[0].unfinished_function = FINISH; // ended while it waited
	run->threads[0].unfinished_since_ns = 1500;
	compute(run);
	assert_int_equal(run->tables.coverage.never_flushed, 0);
	run->threads[0].unfinished_function = TARE_NO_INDEX;
	run->processes[0].lost_records = 1; // the flush may be among these
	compute(run);
	assert_int_equal(run->tables.coverage.never_flushed, 0);
	run->processes[0].lost_records = 0;
	add(run, TARE_KIND_READ, 2000, TARE_NO_TIME, TARE_NO_TIME)->flags = TARE_COMMAND_BLOCKING;
	compute(run);
	assert_int_equal(run->tables.coverage.never_flushed, 0);
	run->commands[1].flags = 0;
	compute(run);
	assert_int_equal(run->tables.coverage.never_flushed, 2);
	run->commands[1].start_ns = run->commands[1].end_ns = 3000;
	compute(run);
	assert_int_equal(run->tables.coverage.never_flushed, 0);
}

static void each_untimed_command_has_its_reason(void **state)
{
	static const struct {
		int64_t start_ns, end_ns;
		uint8_t untimed, flags;
		int reason; // -1: it has times
		uint8_t part;
	} rows[] = {
		{ 10, 20, 0, 0, -1 },
		{ 10, 10, 0, 0, -1 },
		{ TARE_NO_TIME, TARE_NO_TIME, 0, 0, TARE_UNOBSERVED_PENDING },
		{ TARE_NO_TIME, TARE_NO_TIME, 0, TARE_COMMAND_NO_TIMES, TARE_UNOBSERVED_NOT_ASKED },
		{ TARE_NO_TIME, TARE_NO_TIME, 0, TARE_COMMAND_NO_TIMES, TARE_UNOBSERVED_UNLISTED,
		  TARE_EXECUTES_MORE },
		{ TARE_NO_TIME, TARE_NO_TIME, TARE_UNTIMED_REFUSED, 0, TARE_UNOBSERVED_REFUSED },
		{ TARE_NO_TIME, TARE_NO_TIME, TARE_UNTIMED_FAILED, 0, TARE_UNOBSERVED_FAILED },
		{ TARE_NO_TIME, TARE_NO_TIME, TARE_UNTIMED_ABANDONED, 0,
		  TARE_UNOBSERVED_ABANDONED },
		{ TARE_NO_TIME, TARE_NO_TIME, TARE_UNTIMED_NO_ROOM, 0, TARE_UNOBSERVED_NO_ROOM },
		{ TARE_NO_TIME, TARE_NO_TIME, TARE_UNTIMED_UNUSABLE, 0, TARE_UNOBSERVED_UNUSABLE },
		{ 20, 10, 0, 0, TARE_UNOBSERVED_UNUSABLE },
		{ 20, TARE_NO_TIME, 0, 0, TARE_UNOBSERVED_UNUSABLE },
	};
	struct run *run = *state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct tare_coverage *coverage = &run->tables.coverage;
		struct tare_recorded_command *command;
		run->recording.command_count = 0;
		command = add(run, TARE_KIND_KERNEL, 0, rows[i].start_ns, rows[i].end_ns);
		command->untimed = rows[i].untimed;
		command->flags = rows[i].flags;
		command->part = rows[i].part;
		compute(run);
		assert_int_equal(coverage->completed, rows[i].reason < 0);
		assert_int_equal(coverage->unobserved, rows[i].reason >= 0);
		for (int k = 0; k < TARE_UNOBSERVED_REASONS; k++)
			assert_int_equal(coverage->unobserved_by[k], k == rows[i].reason);
	}
}

static void losses_and_cost_come_from_the_processes(void **state)
{
	struct run *run = *state;
	struct tare_recorded_process *process = &run->processes[0];
	const struct tare_coverage *coverage = &run->tables.coverage;
	*process = (struct tare_recorded_process){ .lost_records = 7,
		                                   .lost_commands = 3,
		                                   .recycled_records = 20,
		                                   .recycled_commands = 10,
		                                   .passed_calls = 5,
		                                   .helper_cpu_ns = 77,
		                                   .stalled_ns = 88,
		                                   .damaged_windows = 2,
		                                   .self_cost_ps = 150000,
		                                   .self_call_cost_ps = 50000 };
	run->devices[0].contradictions = 4;
	run->recording.unresolved = 6;
	add(run, TARE_KIND_KERNEL, 0, 100, 200);
	add(run, TARE_KIND_KERNEL, 10, 200, 300);
	add_call(run, FINISH, 50, 300);
	add_call(run, NDRANGE, 400, 410)->flags = TARE_CALL_FAILED;
	add_call(run, FINISH, 500, 510)->flags = TARE_CALL_FAILED;
	compute(run);
	assert_int_equal(coverage->enqueued, 2 + 3 + 10);
	assert_int_equal(coverage->lost_commands, 13);
	assert_int_equal(coverage->dropped, 27);
	assert_int_equal(coverage->failed, 1);
	assert_int_equal(coverage->passed_calls, 5);
	assert_int_equal(coverage->damaged_windows, 2);
	assert_int_equal(coverage->contradictions, 4);
	assert_int_equal(coverage->unresolved, 6);
	assert_int_equal(coverage->helper_cpu_ns, 77);
	assert_int_equal(coverage->stalled_ns, 88);
	assert_int_equal(coverage->self_cost_ns, 2 * 150 + 3 * 50);
	assert_near(coverage->self_cost_share, 450.0 / 1000000);
	// Of a view's spans together.
	struct tare_view view = tare_view_all(&run->recording);
	view.spans = (const struct tare_run_span[]){ { 0, 600 }, { 1000, 1400 } };
	view.span_count = 2;
	tare_tables_free(&run->tables);
	assert_int_equal(
	    tare_tables_compute(&run->recording, &view, &run->ledgers, NULL, 0, &run->tables, NULL),
	    0);
	assert_near(coverage->self_cost_share, 450.0 / 1000);
	process->harvest_cost_ps = 40000;
	compute(run);
	assert_int_equal(coverage->harvest_ns, 2 * 40);
	assert_int_equal(coverage->self_cost_ns, 2 * (150 + 40) + 3 * 50);
	process->self_call_cost_ps = 0;
	compute(run);
	assert_int_equal(coverage->self_cost_ns, TARE_NO_TIME);
	assert_true(isnan(coverage->self_cost_share));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RUN(calls_within_calls_count_but_take_no_time),
		WITH_RUN(calls_for_another_device_are_left_out),
		WITH_RUN(polled_calls_count_each),
		WITH_RUN(builds_say_what_became_of_them),
		WITH_RUN(gaps_have_the_causes_that_the_ledger_lists),
		WITH_RUN(depth_ends_with_the_command),
		WITH_RUN(what_a_queue_does_not_tell_is_not_known),
		WITH_RUN(parts_hold_no_memory_of_their_own),
		WITH_RUN(commands_that_nothing_started),
		WITH_RUN(what_else_starts_commands),
		WITH_RUN(each_untimed_command_has_its_reason),
		WITH_RUN(losses_and_cost_come_from_the_processes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
