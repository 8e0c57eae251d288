// SPDX-License-Identifier: Apache-2.0
// The tables of recordings made by hand: what random ones (test_tables_random.c) do not reach, and
// each figure that cannot be known.
#include "analysis/tables.h"
#include "noise.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 2000, FEW = 8, SHAPES = 64 };

// One process with one thread, one device of 4 units and one queue; the rest is up to the test.
struct run {
	struct tare_recording recording;
	struct tare_recorded_process processes[1];
	struct tare_recorded_thread threads[1];
	struct tare_recorded_device devices[2];
	struct tare_recorded_queue queues[2];
	struct tare_recorded_kernel kernels[3];
	struct tare_recorded_kernel_fact facts[FEW];
	struct tare_recorded_program programs[1];
	struct tare_recorded_shape shapes[SHAPES];
	struct tare_recorded_function functions[FEW];
	struct tare_recorded_call calls[FEW];
	struct tare_recorded_command commands[MOST];
	struct tare_ledgers ledgers;
	struct tare_tables tables;
};

enum { FINISH, FLUSH, BUILD, NDRANGE, RELEASE_QUEUE, QUERY, NDRANGE_TOO };

static int set_up(void **state)
{
	struct run *run = calloc(1, sizeof *run);
	struct tare_recording *r = &run->recording;
	static const struct tare_recorded_function functions[] = {
		[FINISH] = { "clFinish", TARE_TRACE_OPENCL, TARE_ROLE_WAIT },
		[FLUSH] = { "clFlush", TARE_TRACE_OPENCL, TARE_ROLE_FLUSH },
		[BUILD] = { "clBuildProgram", TARE_TRACE_OPENCL, TARE_ROLE_BUILD },
		[NDRANGE] = { "clEnqueueNDRangeKernel", TARE_TRACE_OPENCL, TARE_ROLE_COMMAND },
		[RELEASE_QUEUE] = { "clReleaseCommandQueue", TARE_TRACE_OPENCL, TARE_ROLE_CREATE },
		[QUERY] = { "clGetEventInfo", TARE_TRACE_OPENCL, TARE_ROLE_POLL },
		[NDRANGE_TOO] = { "clEnqueueNDRangeKernel", TARE_TRACE_OPENCL, TARE_ROLE_COMMAND },
	};
	if (!run)
		return -1;
	memcpy(run->functions, functions, sizeof functions);
	run->threads[0].unfinished_function = TARE_NO_INDEX;
	run->devices[0] = (struct tare_recorded_device){ .name = "A", .compute_units = 4 };
	run->devices[1] = (struct tare_recorded_device){ .name = "B", .same_as = 1 };
	run->queues[1] = (struct tare_recorded_queue){ .device = 1, .number = 1 };
	run->kernels[0].name = "add";
	run->kernels[1].name = "scale";
	run->kernels[2].name = "add";
	*r = (struct tare_recording){ .end_ns = 1000000, .user_cpu_ns = TARE_NO_TIME,
		.system_cpu_ns = TARE_NO_TIME, .processes = run->processes, .process_count = 1,
		.threads = run->threads, .thread_count = 1, .devices = run->devices,
		.device_count = 2, .queues = run->queues, .queue_count = 2,
		.kernels = run->kernels, .kernel_count = 3, .kernel_facts = run->facts,
		.programs = run->programs, .program_count = 1, .shapes = run->shapes,
		.functions = run->functions, .function_count = 7, .calls = run->calls,
		.commands = run->commands };
	*state = run;
	return 0;
}

static int tear_down(void **state)
{
	struct run *run = *state;
	tare_tables_free(&run->tables);
	free(run);
	return 0;
}

static struct tare_recorded_command *add(struct run *run, uint8_t kind, int64_t enter_ns,
                                         int64_t start_ns, int64_t end_ns)
{
	struct tare_recorded_command *command = &run->commands[run->recording.command_count++];
	*command = (struct tare_recorded_command){ .enter_ns = enter_ns, .exit_ns = enter_ns + 10,
		.submitted_ns = TARE_NO_TIME, .start_ns = start_ns, .end_ns = end_ns,
		.first_wait = TARE_NO_INDEX, .function = NDRANGE, .kind = kind,
		.alignment = 255, .amount = kind == TARE_KIND_KERNEL ? 0 : 1000 };
	return command;
}

static struct tare_recorded_call *add_call(struct run *run, uint16_t function, int64_t enter_ns,
                                           int64_t exit_ns)
{
	struct tare_recorded_call *call = &run->calls[run->recording.call_count++];
	*call = (struct tare_recorded_call){ .enter_ns = enter_ns, .exit_ns = exit_ns, .count = 1,
		.inside_ns = exit_ns - enter_ns, .object = TARE_NO_INDEX,
		.device = TARE_NO_INDEX, .function = function,
		.role = (uint8_t)run->functions[function].role };
	return call;
}

static void add_shape(struct run *run, uint64_t global, uint32_t local)
{
	run->shapes[run->recording.shape_count++] = (struct tare_recorded_shape){
		.dimensions = 1, .global = { global, 1, 1 }, .local = { local, 1, 1 } };
}

static void compute(struct run *run)
{
	struct tare_view view = tare_view_all(&run->recording);
	tare_tables_free(&run->tables);
	assert_int_equal(tare_tables_compute(&run->recording, &view, &run->ledgers, NULL, 0,
	                                     &run->tables, NULL), 0);
}

static void assert_near(double a, double b)
{
	if (isnan(a) || isnan(b))
		assert_true(isnan(a) && isnan(b));
	else
		assert_true(fabs(a - b) <= 1e-9 * (1 + fabs(b)));
}

static void nothing_recorded_gives_empty_tables(void **state)
{
	struct tare_recording recording = { .user_cpu_ns = TARE_NO_TIME,
		                            .system_cpu_ns = TARE_NO_TIME };
	struct tare_view view = tare_view_all(&recording);
	struct tare_ledgers ledgers = { 0 };
	struct tare_tables tables;
	(void)state;
	assert_int_equal(tare_tables_compute(&recording, &view, &ledgers, NULL, 0, &tables, NULL), 0);
	assert_int_equal(tables.task_count + tables.transfer_count + tables.api_count +
	                     tables.build_count + tables.queue_count, 0);
	assert_true(isnan(tables.summary.device_utilisation));
	assert_true(isnan(tables.summary.kernel_share));
	assert_true(isnan(tables.summary.cpu_utilisation));
	assert_true(isnan(tables.coverage.self_cost_share));
	assert_int_equal(tables.coverage.self_cost_ns, TARE_NO_TIME);
	assert_int_equal(tables.memory.peak_at_ns, TARE_NO_TIME);
	assert_int_equal(tables.summary.bound, TARE_BOUND_NOTHING);
	tare_tables_free(&tables);
	tare_tables_free(&tables);
	tare_tables_free(NULL);
}

// ---- tasks

#define PACKED(x, y, z) ((uint64_t)(x) | (uint64_t)(y) << 21 | (uint64_t)(z) << 42)

static void fill_of_the_device_by_model(void **state)
{
	static const struct {
		uint32_t dimensions;
		uint64_t global[3];
		uint32_t local[3];
		uint64_t compiled, units, groups;
		double per_unit, waves, tail;
	} rows[] = {
		{ 1, { 1024, 1, 1 }, { 64, 1, 1 }, 0, 4, 16, 4, 4, 0 },
		{ 1, { 1024, 1, 1 }, { 64, 1, 1 }, 0, 6, 16, 16.0 / 6, 3, 2.0 / 6 },
		{ 1, { 100, 1, 1 }, { 64, 1, 1 }, 0, 4, 2, 0.5, 1, 0.5 }, // not a whole number
		{ 2, { 64, 48, 7 }, { 16, 16, 7 }, 0, 4, 12, 3, 3, 0 },   // the third does not count
		{ 3, { 8, 8, 8 }, { 4, 4, 2 }, 0, 5, 16, 3.2, 4, 0.8 },
		{ 3, { 8, 8, 8 }, { 0, 0, 0 }, PACKED(8, 4, 2), 4, 8, 2, 2, 0 }, // as compiled
		{ 1, { 1024, 1, 1 }, { 64, 1, 1 }, PACKED(2, 1, 1), 4, 16, 4, 4, 0 },
		{ 1, { 1024, 1, 1 }, { 0, 0, 0 }, 0, 4, 0, NAN, NAN, NAN }, // up to the runtime
		{ 1, { 1024, 1, 1 }, { 64, 1, 1 }, 0, 0, 16, NAN, NAN, NAN }, // units not told
		{ 1, { 0, 1, 1 }, { 64, 1, 1 }, 0, 4, 0, NAN, NAN, NAN },
		{ 3, { UINT64_MAX, UINT64_MAX, 9 }, { 1, 1, 1 }, 0, 4, 0, NAN, NAN, NAN },
	};
	struct run *run = *state;
	add(run, TARE_KIND_KERNEL, 0, 100, 200);
	run->recording.shape_count = 1;
	run->recording.kernel_fact_count = 2;
	run->facts[0] = (struct tare_recorded_kernel_fact){ .device = 1,
		.compiled_group = PACKED(3, 3, 3) }; // another device's
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct tare_task *task;
		run->shapes[0].dimensions = rows[i].dimensions;
		memcpy(run->shapes[0].global, rows[i].global, sizeof rows[i].global);
		memcpy(run->shapes[0].local, rows[i].local, sizeof rows[i].local);
		run->facts[1].compiled_group = rows[i].compiled;
		run->devices[0].compute_units = rows[i].units;
		compute(run);
		task = &run->tables.tasks[0];
		assert_int_equal(task->groups, rows[i].groups);
		assert_near(task->groups_per_unit, rows[i].per_unit);
		assert_near(task->waves, rows[i].waves);
		assert_near(task->tail, rows[i].tail);
	}
}

static void facts_are_the_kernels_own_or_of_its_name(void **state)
{
	struct run *run = *state;
	add(run, TARE_KIND_KERNEL, 0, 100, 200)->object = 0;
	add(run, TARE_KIND_KERNEL, 10, 200, 210)->object = 1;
	run->recording.kernel_fact_count = 2;
	run->facts[0] = (struct tare_recorded_kernel_fact){ .kernel = 2, .group_limit = 22 };
	run->facts[1] = (struct tare_recorded_kernel_fact){ .kernel = 0, .group_limit = 11 };
	compute(run);
	assert_string_equal(run->tables.tasks[0].name, "add");
	assert_int_equal(run->tables.tasks[0].facts.group_limit, 11);
	assert_string_equal(run->tables.tasks[1].name, "scale");
	assert_int_equal(run->tables.tasks[1].facts.kernel, TARE_NO_INDEX);
	assert_true(run->tables.tasks[1].facts.spill_bytes == UINT64_MAX);
	run->facts[1].kernel = 1;
	compute(run);
	assert_int_equal(run->tables.tasks[0].facts.group_limit, 22);
}

static void kernels_without_a_kernel_have_rows_of_their_own(void **state)
{
	struct run *run = *state;
	add(run, TARE_KIND_KERNEL, 0, 100, 104)->object = TARE_NO_INDEX;
	add(run, TARE_KIND_TASK, 10, 200, 203)->object = 0;
	add(run, TARE_KIND_GRAPH, 20, 300, 302)->object = 0;
	add(run, TARE_KIND_MARKER, 30, 400, 401);
	add(run, TARE_KIND_KERNEL, 40, TARE_NO_TIME, TARE_NO_TIME)->object = 1;
	compute(run);
	assert_int_equal(run->tables.task_count, 4);
	assert_string_equal(run->tables.tasks[0].name, "(unknown kernel)");
	assert_string_equal(run->tables.tasks[1].name, "(native kernel)");
	assert_string_equal(run->tables.tasks[2].name, "(graph)");
	assert_int_equal(run->tables.tasks[2].shape, TARE_NO_INDEX);
	assert_string_equal(run->tables.tasks[3].name, "scale");
	assert_int_equal(run->tables.tasks[3].instances, 1);
	assert_int_equal(run->tables.tasks[3].timed, 0);
	assert_true(isnan(run->tables.tasks[3].mean_ns));
	assert_true(isnan(run->tables.tasks[3].p95_ns));
	assert_true(isnan(run->tables.tasks[3].share));
}

static void only_the_longest_shapes_have_rows(void **state)
{
	struct run *run = *state;
	for (int i = 0; i < SHAPES; i++) {
		add_shape(run, 64 * (i + 1), 64);
		add(run, TARE_KIND_KERNEL, i, 100 * i, 100 * i + 1 + i)->amount = i;
	}
	add(run, TARE_KIND_KERNEL, SHAPES, 9000, 9001)->amount = 7; // twice: the most frequent
	compute(run);
	assert_int_equal(run->tables.task_count, 1);
	assert_int_equal(run->tables.tasks[0].shapes, SHAPES);
	assert_int_equal(run->tables.tasks[0].frequent_shape, 7);
	assert_int_equal(run->tables.tasks[0].groups, 8);
	assert_int_equal(run->tables.tasks[0].shape_rows, TARE_TASK_SHAPES);
	assert_int_equal(run->tables.task_shape_count, TARE_TASK_SHAPES);
	for (int i = 0; i < TARE_TASK_SHAPES; i++)
		assert_int_equal(run->tables.task_shapes[i].total_ns, SHAPES - i);
}

static void a_trend_is_told_from_none(void **state)
{
	static const struct {
		int count;
		double from_ns, to_ns, noise_ns; // length of the first and the last; deviation
		bool told;
	} rows[] = {
		{ 1500, 1000, 1000, 0, false }, { 1500, 1000, 1000, 100, false },
		{ 1500, 1000, 1500, 0, true },  { 1500, 1000, 1500, 50, true },
		{ 1500, 1500, 1000, 50, true }, { 200, 1000, 1500, 10, true },
		{ 20, 1000, 1500, 0, false }, // too few to say
		{ 1500, 1000, 1001, 100, false },
		{ 1500, 10000, 10050, 0, false }, // sure, but next to nothing
	};
	struct tare_random random = { 1 };
	struct run *run = *state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		double change = (rows[i].to_ns - rows[i].from_ns) * 2 / (rows[i].to_ns + rows[i].from_ns);
		double told;
		run->recording.command_count = 0;
		for (int k = 0; k < rows[i].count; k++) {
			double along = (double)k / (rows[i].count - 1);
			double length = rows[i].from_ns + along * (rows[i].to_ns - rows[i].from_ns) +
			                rows[i].noise_ns * normal(&random);
			int64_t at_ns = 10000 * (int64_t)k;
			add(run, TARE_KIND_KERNEL, at_ns, at_ns, at_ns + llround(fmax(1, length)));
		}
		compute(run);
		told = run->tables.tasks[0].trend_per_run;
		assert_int_equal(!isnan(told), rows[i].told);
		if (rows[i].told)
			assert_true(fabs(told - change) < 0.03);
	}
}

// ---- transfers

static void maps_in_place_have_no_rate(void **state)
{
	struct run *run = *state;
	add(run, TARE_KIND_MAP, 0, 100, 300)->direction = TARE_DIRECTION_FROM_DEVICE;
	add(run, TARE_KIND_UNMAP, 10, 400, 500)->direction = TARE_DIRECTION_TO_DEVICE;
	add(run, TARE_KIND_WRITE, 20, 600, 650)->direction = TARE_DIRECTION_TO_DEVICE;
	for (int unified = 0; unified < 2; unified++) {
		run->devices[0].unified_memory = unified;
		compute(run);
		assert_int_equal(run->tables.transfer_count, 3);
		assert_int_equal(run->tables.transfers[0].kind, TARE_KIND_MAP);
		assert_int_equal(run->tables.transfers[0].in_place, unified);
		assert_near(run->tables.transfers[0].bytes_per_second, unified ? NAN : 5e9);
		assert_near(run->tables.transfers[1].median_bytes_per_second, unified ? NAN : 10e9);
		assert_int_equal(run->tables.transfers[1].in_place, unified);
		assert_near(run->tables.transfers[2].bytes_per_second, 20e9);
		assert_false(run->tables.transfers[2].in_place);
	}
}

static void a_rate_needs_time_and_bytes(void **state)
{
	struct run *run = *state;
	add(run, TARE_KIND_WRITE, 0, 100, 100);
	add(run, TARE_KIND_READ, 10, 200, 300)->amount = 0;
	add(run, TARE_KIND_COPY, 20, TARE_NO_TIME, TARE_NO_TIME);
	compute(run);
	assert_int_equal(run->tables.transfer_count, 3);
	for (int i = 0; i < 3; i++) {
		assert_true(isnan(run->tables.transfers[i].bytes_per_second));
		assert_true(isnan(run->tables.transfers[i].median_bytes_per_second));
		assert_true(isnan(run->tables.transfers[i].ceiling));
	}
}

static void ceilings_are_of_the_same_device_direction_and_memory(void **state)
{
	static const struct tare_transfer_ceiling ceilings[] = {
		{ "A", TARE_DIRECTION_TO_DEVICE, true, 55e9, "2026-01-02" },
		{ "A", TARE_DIRECTION_TO_DEVICE, false, 12e9, "2026-01-02" },
		{ "A", TARE_DIRECTION_FROM_DEVICE, true, 50e9, "2026-01-02" },
		{ "A", TARE_DIRECTION_LOCAL, false, 2000e9, "2026-01-02" },
		{ "B", TARE_DIRECTION_TO_DEVICE, true, 5e9, "2026-01-02" },
		{ "A", TARE_DIRECTION_TO_DEVICE, true, 54e9, "2026-01-03" },
	};
	static const struct {
		uint8_t kind, direction, memory;
		uint32_t queue;
		double ceiling;
	} rows[] = {
		{ TARE_KIND_WRITE, TARE_DIRECTION_TO_DEVICE, TARE_TRACE_MEMORY_PINNED, 0, 55e9 },
		{ TARE_KIND_WRITE, TARE_DIRECTION_TO_DEVICE, TARE_TRACE_MEMORY_MAPPED, 0, 55e9 },
		{ TARE_KIND_WRITE, TARE_DIRECTION_TO_DEVICE, TARE_TRACE_MEMORY_PAGEABLE, 0, 12e9 },
		{ TARE_KIND_WRITE, TARE_DIRECTION_TO_DEVICE, TARE_TRACE_MEMORY_UNKNOWN, 0, NAN },
		{ TARE_KIND_WRITE, TARE_DIRECTION_TO_DEVICE, TARE_TRACE_MEMORY_PINNED, 1, 5e9 },
		{ TARE_KIND_READ, TARE_DIRECTION_FROM_DEVICE, TARE_TRACE_MEMORY_PINNED, 0, 50e9 },
		{ TARE_KIND_READ, TARE_DIRECTION_FROM_DEVICE, TARE_TRACE_MEMORY_PAGEABLE, 0, NAN },
		{ TARE_KIND_COPY, TARE_DIRECTION_LOCAL, TARE_TRACE_MEMORY_UNKNOWN, 0, 2000e9 },
		{ TARE_KIND_FILL, TARE_DIRECTION_LOCAL, TARE_TRACE_MEMORY_UNKNOWN, 0, NAN },
	};
	struct run *run = *state;
	struct tare_view view = tare_view_all(&run->recording);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_recorded_command *command;
		run->recording.command_count = 0;
		command = add(run, rows[i].kind, 0, 100, 200);
		command->direction = rows[i].direction;
		command->memory = rows[i].memory;
		command->queue = rows[i].queue;
		tare_tables_free(&run->tables);
		assert_int_equal(tare_tables_compute(&run->recording, &view, &run->ledgers, ceilings,
		                                     sizeof ceilings / sizeof *ceilings, &run->tables,
		                                     NULL), 0);
		assert_near(run->tables.transfers[0].ceiling, rows[i].ceiling);
	}
}

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

static void polled_calls_count_each(void **state)
{
	struct run *run = *state;
	struct tare_recorded_call *row = add_call(run, QUERY, 100, 90100);
	row->count = 400000;
	row->inside_ns = 80000000;
	compute(run);
	assert_int_equal(run->tables.api[0].count, 400000);
	assert_int_equal(run->tables.api[0].total_ns, 80000000);
	assert_int_equal(run->tables.api[0].max_ns, 200);
	assert_int_equal(run->tables.coverage.calls, 400000);
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
		{ 1700, 2000, 0, 3, TARE_LEDGER_WAIT }, { 250, 400, 0, 1, TARE_LEDGER_COMPUTING },
		{ 600, 700, 0, 2, TARE_LEDGER_COMPUTING }, { 600, 700, 1, 2, TARE_LEDGER_BUILD },
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
		{ FLUSH, 0, 0, 1500, 1 },              // after the first, before the second
		{ FLUSH, 0, 0, 2500, 0 },
		{ FLUSH, 1, 0, 2500, 2 },              // of another queue
		{ FINISH, 0, TARE_CALL_FAILED, 2500, 2 },
		{ FINISH, TARE_NO_INDEX, 0, 2500, 0 }, // a wait for events: of any queue
		{ RELEASE_QUEUE, TARE_NO_INDEX, 0, 2500, 0 },
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
	} rows[] = {
		{ 10, 20, 0, 0, -1 },
		{ 10, 10, 0, 0, -1 },
		{ TARE_NO_TIME, TARE_NO_TIME, 0, 0, TARE_UNOBSERVED_PENDING },
		{ TARE_NO_TIME, TARE_NO_TIME, 0, TARE_COMMAND_NO_TIMES, TARE_UNOBSERVED_NOT_ASKED },
		{ TARE_NO_TIME, TARE_NO_TIME, TARE_UNTIMED_REFUSED, 0, TARE_UNOBSERVED_REFUSED },
		{ TARE_NO_TIME, TARE_NO_TIME, TARE_UNTIMED_FAILED, 0, TARE_UNOBSERVED_FAILED },
		{ TARE_NO_TIME, TARE_NO_TIME, TARE_UNTIMED_ABANDONED, 0, TARE_UNOBSERVED_ABANDONED },
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
	*process = (struct tare_recorded_process){ .lost_records = 7, .lost_commands = 3,
		.recycled_records = 20, .recycled_commands = 10, .passed_calls = 5,
		.helper_cpu_ns = 77, .stalled_ns = 88, .damaged_windows = 2,
		.self_cost_ps = 150000, .self_call_cost_ps = 50000 };
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
	process->self_call_cost_ps = 0;
	compute(run);
	assert_int_equal(coverage->self_cost_ns, TARE_NO_TIME);
	assert_true(isnan(coverage->self_cost_share));
}

// Times of a damaged trace may be anything: nothing overflows.
static void wild_times_do_no_harm(void **state)
{
	static const int64_t wild[] = { INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX };
	struct tare_ledger ledger = { .device = TARE_NO_INDEX, .wall_ns = 1000000 };
	struct run *run = *state;
	run->ledgers = (struct tare_ledgers){ .ledgers = &ledger, .count = 1 };
	add_shape(run, 64, 64);
	for (size_t a = 0; a < 6; a++)
		for (size_t b = 0; b < 6; b++)
			for (size_t c = 0; c < 6; c++) {
				uint8_t kind = (a + b + c) % 2 ? TARE_KIND_KERNEL : TARE_KIND_WRITE;
				struct tare_recorded_command *command =
				    add(run, kind, 0, wild[b], wild[c]);
				command->enter_ns = wild[a];
				command->exit_ns = wild[(a + c) % 6];
				command->amount = kind == TARE_KIND_KERNEL ? (uint64_t)wild[b] : UINT64_MAX;
			}
	for (int i = 0; i < 4; i++) {
		struct tare_recorded_call *call = add_call(run, i % 2 ? BUILD : FINISH, 0, 0);
		call->enter_ns = i < 2 ? INT64_MIN + 1 : INT64_MAX;
		call->exit_ns = i < 2 ? INT64_MAX : INT64_MIN + 1;
		call->inside_ns = call->exit_ns;
	}
	compute(run);
	for (size_t i = 0; i < run->tables.task_count; i++)
		assert_true(run->tables.tasks[i].total_ns >= 0);
	for (size_t i = 0; i < run->tables.transfer_count; i++)
		assert_true(run->tables.transfers[i].exposed_ns >= 0);
	assert_true(run->tables.summary.working_to_ns >= run->tables.summary.working_from_ns);
}

int main(void)
{
#define WITH_RUN(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_recorded_gives_empty_tables),
		WITH_RUN(fill_of_the_device_by_model),
		WITH_RUN(facts_are_the_kernels_own_or_of_its_name),
		WITH_RUN(kernels_without_a_kernel_have_rows_of_their_own),
		WITH_RUN(only_the_longest_shapes_have_rows),
		WITH_RUN(a_trend_is_told_from_none),
		WITH_RUN(maps_in_place_have_no_rate),
		WITH_RUN(a_rate_needs_time_and_bytes),
		WITH_RUN(ceilings_are_of_the_same_device_direction_and_memory),
		WITH_RUN(calls_within_calls_count_but_take_no_time),
		WITH_RUN(polled_calls_count_each),
		WITH_RUN(builds_say_what_became_of_them),
		WITH_RUN(gaps_have_the_causes_that_the_ledger_lists),
		WITH_RUN(what_a_queue_does_not_tell_is_not_known),
		WITH_RUN(commands_that_nothing_started),
		WITH_RUN(what_else_starts_commands),
		WITH_RUN(each_untimed_command_has_its_reason),
		WITH_RUN(losses_and_cost_come_from_the_processes),
		WITH_RUN(wild_times_do_no_harm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
