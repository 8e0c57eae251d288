// SPDX-License-Identifier: Apache-2.0
// Tasks and transfers of recordings made by hand: what random ones (test_tables_random.c) do not
// reach, and each figure that cannot be known.
#include "tables_run.h"
#include "tests/unit/model/statistics/noise.h"

static void nothing_recorded_gives_empty_tables(void **state)
{
	struct tare_recording recording = { .user_cpu_ns = TARE_NO_TIME,
		                            .system_cpu_ns = TARE_NO_TIME };
	struct tare_view view = tare_view_all(&recording);
	struct tare_ledgers ledgers = { 0 };
	struct tare_tables tables;
	(void)state;
	assert_int_equal(tare_tables_compute(&recording, &view, &ledgers, NULL, 0, &tables, NULL),
	                 0);
	assert_int_equal(tables.task_count + tables.transfer_count + tables.api_count +
	                     tables.build_count + tables.queue_count,
	                 0);
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
		// the third does not count
		{ 2, { 64, 48, 7 }, { 16, 16, 0 }, 0, 4, 12, 3, 3, 0 },
		{ 3, { 8, 8, 8 }, { 4, 4, 2 }, 0, 5, 16, 3.2, 4, 0.8 },
		{ 3, { 8, 8, 8 }, { 0, 0, 0 }, PACKED(8, 4, 2), 4, 8, 2, 2, 0 }, // as compiled
		{ 1, { 1024, 1, 1 }, { 64, 1, 1 }, PACKED(2, 1, 1), 4, 16, 4, 4, 0 },
		{ 1, { 1024, 1, 1 }, { 0, 0, 0 }, 0, 4, 0, NAN, NAN, NAN },   // up to the runtime
		{ 1, { 1024, 1, 1 }, { 64, 1, 1 }, 0, 0, 16, NAN, NAN, NAN }, // units not told
		{ 1, { 0, 1, 1 }, { 64, 1, 1 }, 0, 4, 0, NAN, NAN, NAN },
		{ 3, { UINT64_MAX, UINT64_MAX, 9 }, { 1, 1, 1 }, 0, 4, 0, NAN, NAN, NAN },
	};
	struct run *run = *state;
	add(run, TARE_KIND_KERNEL, 0, 100, 200);
	run->recording.shape_count = 1;
	run->recording.kernel_fact_count = 2;
	run->facts[0] = (struct tare_recorded_kernel_fact){
		.device = 1, .compiled_group = PACKED(3, 3, 3)
	}; // another device's
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
		{ 1500, 1000, 1000, 0, false },
		{ 1500, 1000, 1000, 100, false },
		{ 1500, 1000, 1500, 0, true },
		{ 1500, 1000, 1500, 50, true },
		{ 1500, 1500, 1000, 50, true },
		{ 200, 1000, 1500, 10, true },
		{ 20, 1000, 1500, 0, false }, // too few to say
		{ 1500, 1000, 1001, 100, false },
		{ 1500, 10000, 10050, 0, false }, // sure, but next to nothing
	};
	struct tare_random random = { 1 };
	struct run *run = *state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		// Of a straight line, the middles of the first and the last sixteenth.
		double edge = (rows[i].to_ns - rows[i].from_ns) / 32;
		double change = (rows[i].to_ns - edge) / (rows[i].from_ns + edge) - 1;
		double told;
		run->recording.command_count = 0;
		for (int k = 0; k < rows[i].count; k++) {
			double along = (double)k / (rows[i].count - 1);
			double length = rows[i].from_ns +
			                along * (rows[i].to_ns - rows[i].from_ns) +
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

// Falls by 46 % while most launches are close together in time: the change is of the durations,
// never of a line drawn on.
static void a_trend_is_what_the_ends_differ_by(void **state)
{
	struct run *run = *state;
	int64_t at_ns = 0;
	for (int k = 0; k < 1600; k++) {
		int64_t length_ns = k < 200 ? 1000 : k < 1400 ? 1000 - (k - 200) * 460 / 1200 : 540;
		add(run, TARE_KIND_KERNEL, at_ns, at_ns, at_ns + length_ns);
		at_ns += k < 200 || k >= 1400 ? 100000 : 1500;
	}
	compute(run);
	assert_true(fabs(run->tables.tasks[0].trend_per_run + 0.46) < 0.001);
	assert_near(run->tables.tasks[0].first_ns, 1000);
	assert_near(run->tables.tasks[0].last_ns, 540);
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
		double ceiling, pinned;
	} rows[] = {
		{ TARE_KIND_WRITE, TARE_DIRECTION_TO_DEVICE, TARE_TRACE_MEMORY_PINNED, 0, 55e9,
		  55e9 },
		{ TARE_KIND_WRITE, TARE_DIRECTION_TO_DEVICE, TARE_TRACE_MEMORY_MAPPED, 0, 55e9,
		  55e9 },
		{ TARE_KIND_WRITE, TARE_DIRECTION_TO_DEVICE, TARE_TRACE_MEMORY_PAGEABLE, 0, 12e9,
		  55e9 },
		{ TARE_KIND_WRITE, TARE_DIRECTION_TO_DEVICE, TARE_TRACE_MEMORY_UNKNOWN, 0, NAN,
		  55e9 },
		{ TARE_KIND_WRITE, TARE_DIRECTION_TO_DEVICE, TARE_TRACE_MEMORY_PINNED, 1, 5e9,
		  5e9 },
		{ TARE_KIND_READ, TARE_DIRECTION_FROM_DEVICE, TARE_TRACE_MEMORY_PINNED, 0, 50e9,
		  50e9 },
		{ TARE_KIND_READ, TARE_DIRECTION_FROM_DEVICE, TARE_TRACE_MEMORY_PAGEABLE, 0, NAN,
		  50e9 },
		{ TARE_KIND_COPY, TARE_DIRECTION_LOCAL, TARE_TRACE_MEMORY_UNKNOWN, 0, 2000e9,
		  2000e9 },
		{ TARE_KIND_FILL, TARE_DIRECTION_LOCAL, TARE_TRACE_MEMORY_UNKNOWN, 0, NAN, NAN },
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
		assert_int_equal(tare_tables_compute(&run->recording, &view, &run->ledgers,
		                                     ceilings, sizeof ceilings / sizeof *ceilings,
		                                     &run->tables, NULL),
		                 0);
		assert_near(run->tables.transfers[0].ceiling, rows[i].ceiling);
		assert_near(run->tables.transfers[0].pinned_ceiling, rows[i].pinned);
	}
}

// A rate of 10 GB/s and 6 us for each copy: what copies of several sizes reach of that is not what
// large ones do.
static void the_ceiling_of_a_row_is_that_of_its_sizes(void **state)
{
	static const struct {
		uint64_t bytes[3];
		double rate;
	} rows[] = {
		{ { 8192, 8192, 8192 }, 8192 / 6819.2 },
		{ { 20000, 20000, 20000 }, 20000 / 8000.0 },
		{ { 8192, 20000, 1 << 20 }, (8192 + 20000 + 1048576) / (3 * 6000 + 107676.8) },
		{ { 1 << 30, 1 << 30, 1 << 30 }, 67108864 / 6716886.4 },
		{ { 4096, 8192, 8192 }, NAN }, // nothing was measured so small
		{ { 4096, 1 << 26, 1 << 26 }, (4096 + 2 * 67108864) / (6819.2 + 2 * 6716886.4) },
	};
	struct run *run = *state;
	struct tare_view view = tare_view_all(&run->recording);
	struct tare_transfer_ceiling ceiling = { "A", TARE_DIRECTION_TO_DEVICE, true, 10e9, NULL };

	for (double bytes = 8192; bytes <= 1 << 26; bytes *= 2)
		tare_rate_curve_add(&ceiling.sizes, bytes, 1e9 * bytes / (6000 + bytes / 10));
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		run->recording.command_count = 0;
		for (int k = 0; k < 3; k++) {
			struct tare_recorded_command *command =
			    add(run, TARE_KIND_WRITE, 0, 100, 200);
			command->direction = TARE_DIRECTION_TO_DEVICE;
			command->memory = TARE_TRACE_MEMORY_PINNED;
			command->amount = rows[i].bytes[k];
		}
		tare_tables_free(&run->tables);
		assert_int_equal(tare_tables_compute(&run->recording, &view, &run->ledgers,
		                                     &ceiling, 1, &run->tables, NULL),
		                 0);
		assert_near(run->tables.transfers[0].sized_ceiling, 1e9 * rows[i].rate);
		assert_near(run->tables.transfers[0].ceiling, 10e9);
	}
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
				command->amount =
				    kind == TARE_KIND_KERNEL ? (uint64_t)wild[b] : UINT64_MAX;
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

// An OpenCL driver on Level Zero: the program's commands on queue 0, the driver's own on queue 1.
static void work_that_two_apis_recorded_is_counted_once(void **state)
{
	struct run *run = *state;
	run->recording.apis = 1 << TARE_TRACE_OPENCL | 1 << TARE_TRACE_LEVELZERO;
	run->queues[0].api = TARE_TRACE_OPENCL;
	run->queues[1].api = TARE_TRACE_LEVELZERO;
	run->devices[1].same_as = 0;
	static const struct {
		uint8_t kind;
		uint32_t queue;
		int64_t enter_ns, exit_ns, start_ns;
	} rows[] = {
		{ TARE_KIND_KERNEL, 0, 0, 90, 100 },
		{ TARE_KIND_KERNEL, 1, 10, 20, 100 }, // the same: within the call
		{ TARE_KIND_WRITE, 1, 30, 40, 95 },   // the driver's own
		{ TARE_KIND_WRITE, 0, 200, 290, 300 },
		{ TARE_KIND_WRITE, 1, 210, 220, 300 }, // the same
		{ TARE_KIND_KERNEL, 0, 400, 410, 500 },
		{ TARE_KIND_KERNEL, 1, 411, 420, 600 }, // the program's, behind it
		{ TARE_KIND_KERNEL, 0, 700, 790, TARE_NO_TIME },
		{ TARE_KIND_KERNEL, 1, 710, 720, 800 }, // which knows more
		{ TARE_KIND_KERNEL, 0, 900, 990, 1000 },
		{ TARE_KIND_KERNEL, 0, 910, 920, 1000 }, // of the same API: another one
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_recorded_command *command =
		    add(run, rows[i].kind, rows[i].enter_ns, rows[i].start_ns,
		        rows[i].start_ns == TARE_NO_TIME ? TARE_NO_TIME : rows[i].start_ns + 50);
		command->queue = rows[i].queue;
		command->exit_ns = rows[i].exit_ns;
	}
	compute(run);
	assert_int_equal(run->tables.task_count, 1);
	assert_int_equal(run->tables.tasks[0].instances, 7);
	assert_int_equal(run->tables.tasks[0].timed, 6);
	uint64_t writes = 0;
	for (size_t i = 0; i < run->tables.transfer_count; i++)
		writes += run->tables.transfers[i].count;
	assert_int_equal(writes, 2);
	// All of them were recorded.
	assert_int_equal(run->tables.coverage.enqueued, 11);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_recorded_gives_empty_tables),
		WITH_RUN(fill_of_the_device_by_model),
		WITH_RUN(facts_are_the_kernels_own_or_of_its_name),
		WITH_RUN(kernels_without_a_kernel_have_rows_of_their_own),
		WITH_RUN(only_the_longest_shapes_have_rows),
		WITH_RUN(a_trend_is_told_from_none),
		WITH_RUN(a_trend_is_what_the_ends_differ_by),
		WITH_RUN(maps_in_place_have_no_rate),
		WITH_RUN(a_rate_needs_time_and_bytes),
		WITH_RUN(ceilings_are_of_the_same_device_direction_and_memory),
		WITH_RUN(the_ceiling_of_a_row_is_that_of_its_sizes),
		WITH_RUN(work_that_two_apis_recorded_is_counted_once),
		WITH_RUN(wild_times_do_no_harm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
