// SPDX-License-Identifier: Apache-2.0
// The tables of random recordings against the same figures counted nanosecond by nanosecond.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random_tables.h"

// ---- the other way

// A row of all shapes (shape TARE_NO_INDEX) or of one, recounted.
static void check_task(const struct world *world, const struct tare_task *task, uint64_t shape)
{
	struct grid own = { 0 };
	struct grid all = kernels_of(world, task->device, true);
	double lengths[MOST];
	uint64_t instances = 0;
	int64_t total_ns = 0, launch_ns = 0;
	size_t n = 0;
	for (size_t i = 0; i < world->recording.command_count; i++) {
		const struct tare_recorded_command *command = &world->commands[i];
		if (command->kind != TARE_KIND_KERNEL || !is_in(world, command, true) ||
		    device_of(world, command) != task->device ||
		    strcmp(world->kernels[command->object].name, task->name) != 0 ||
		    (shape != TARE_NO_INDEX && !same_shape(world, command->amount, shape)))
			continue;
		instances++;
		launch_ns += command->exit_ns - command->enter_ns;
		if (!is_timed(command))
			continue;
		paint(&own, command);
		lengths[n++] = (double)(command->end_ns - command->start_ns);
		total_ns += command->end_ns - command->start_ns;
	}
	assert_int_equal(task->instances, instances);
	assert_int_equal(task->timed, n);
	assert_int_equal(task->total_ns, total_ns);
	assert_int_equal(task->launch_total_ns, launch_ns);
	qsort(lengths, n, sizeof *lengths, compare_doubles);
	assert_near(task->mean_ns, n ? (double)total_ns / (double)n : NAN);
	assert_near(task->median_ns, n ? quantile(lengths, n, 0.5) : NAN);
	assert_near(task->p95_ns, n ? quantile(lengths, n, 0.95) : NAN);
	assert_near(task->min_ns, n ? lengths[0] : NAN);
	assert_near(task->max_ns, n ? lengths[n - 1] : NAN);
	if (n == 0 || task->device == TARE_NO_INDEX || painted(&all, NULL, true) == 0)
		assert_true(isnan(task->share));
	else
		assert_near(task->share,
		            (double)painted(&own, NULL, true) / (double)painted(&all, NULL, true));
}

static void check_tasks(const struct world *world, const struct tare_tables *tables)
{
	uint64_t instances = 0, expected = 0;
	for (size_t i = 0; i < tables->task_count; i++) {
		const struct tare_task *task = &tables->tasks[i];
		uint64_t in_shapes = 0, most = 0;
		check_task(world, task, TARE_NO_INDEX);
		assert_true(i == 0 || task[-1].total_ns >= task->total_ns);
		instances += task->instances;
		assert_int_equal(task->shape_rows, task->shapes > 1 ? task->shapes : 0);
		for (size_t k = task->first_shape; k < task->first_shape + task->shape_rows; k++) {
			check_task(world, &tables->task_shapes[k], tables->task_shapes[k].shape);
			in_shapes += tables->task_shapes[k].instances;
			if (tables->task_shapes[k].instances > most)
				most = tables->task_shapes[k].instances;
		}
		if (task->shape_rows == 0)
			continue;
		assert_int_equal(in_shapes, task->instances);
		assert_int_equal(task->shape, TARE_NO_INDEX);
		for (size_t k = task->first_shape; k < task->first_shape + task->shape_rows; k++)
			if (tables->task_shapes[k].shape == task->frequent_shape)
				assert_int_equal(tables->task_shapes[k].instances, most);
	}
	for (size_t i = 0; i < world->recording.command_count; i++)
		expected += world->commands[i].kind == TARE_KIND_KERNEL &&
		            is_in(world, &world->commands[i], true);
	assert_int_equal(instances, expected);
}

static void check_transfer(const struct world *world, const struct tare_transfer_row *row)
{
	struct grid own = { 0 };
	struct grid kernels = kernels_of(world, row->device, false);
	struct tare_transfer_row truth = { .smallest = UINT64_MAX };
	double rates[MOST];
	uint64_t timed_bytes = 0;
	size_t rate_count = 0;
	for (size_t i = 0; i < world->recording.command_count; i++) {
		const struct tare_recorded_command *command = &world->commands[i];
		int64_t ns = command->end_ns - command->start_ns;
		if (command->kind != row->kind || !is_in(world, command, true) ||
		    device_of(world, command) != row->device || command->memory != row->memory ||
		    (command->flags & TARE_COMMAND_BLOCKING) !=
		        (row->blocking ? TARE_COMMAND_BLOCKING : 0))
			continue;
		truth.count++;
		truth.bytes += command->amount;
		truth.unaligned += command->alignment < 6;
		truth.smallest =
		    command->amount < truth.smallest ? command->amount : truth.smallest;
		truth.largest = command->amount > truth.largest ? command->amount : truth.largest;
		truth.sizes[command->amount < 64
		                ? 0
		                : (size_t)(log2((double)command->amount) / 2 - 2)]++;
		if (!is_timed(command))
			continue;
		truth.timed++;
		truth.total_ns += ns;
		timed_bytes += command->amount;
		paint(&own, command);
		if (ns > 0)
			rates[rate_count++] = floor(1e9 * (double)command->amount / (double)ns);
	}
	qsort(rates, rate_count, sizeof *rates, compare_doubles);
	assert_int_equal(row->count, truth.count);
	assert_int_equal(row->timed, truth.timed);
	assert_int_equal(row->bytes, truth.bytes);
	assert_int_equal(row->total_ns, truth.total_ns);
	assert_int_equal(row->unaligned, truth.unaligned);
	assert_int_equal(row->smallest, truth.smallest);
	assert_int_equal(row->largest, truth.largest);
	assert_memory_equal(row->sizes, truth.sizes, sizeof truth.sizes);
	assert_int_equal(row->hidden_ns, painted(&own, &kernels, true));
	assert_int_equal(row->exposed_ns, painted(&own, &kernels, false));
	assert_near(row->bytes_per_second,
	            truth.total_ns ? 1e9 * (double)timed_bytes / (double)truth.total_ns : NAN);
	assert_near(row->median_bytes_per_second,
	            rate_count ? quantile(rates, rate_count, 0.5) : NAN);
}

static void check_transfers(const struct world *world, const struct tare_tables *tables)
{
	uint64_t count = 0, expected = 0;
	for (size_t i = 0; i < tables->transfer_count; i++) {
		check_transfer(world, &tables->transfers[i]);
		count += tables->transfers[i].count;
	}
	for (size_t i = 0; i < world->recording.command_count; i++)
		expected += world->commands[i].kind != TARE_KIND_KERNEL &&
		            is_in(world, &world->commands[i], true);
	assert_int_equal(count, expected);
}

// Depth at each nanosecond is how many commands are between enqueue and end.
static void check_queue(const struct world *world, const struct tare_queue_row *row)
{
	struct grid busy = { 0 };
	uint32_t depth[2 * SPAN_NS] = { 0 };
	uint32_t deepest = 0;
	double latencies[MOST], area = 0;
	uint64_t commands = 0;
	int64_t gaps_ns = 0, lasts_ns = 0;
	size_t timed = 0, count = 0;
	int64_t first_enter = INT64_MAX, first_start = INT64_MAX, last_end = 0;
	for (size_t i = 0; i < world->recording.command_count; i++) {
		const struct tare_recorded_command *command = &world->commands[i];
		if (command->queue != row->queue || !is_in(world, command, true))
			continue;
		commands++;
		if (!is_timed(command))
			continue;
		timed++;
		paint(&busy, command);
		for (int64_t t = command->enter_ns; t < command->end_ns; t++)
			depth[t]++;
		// One of no length is there at its moment, but takes none.
		deepest = deepest > 0 ? deepest : 1;
		first_enter = command->enter_ns < first_enter ? command->enter_ns : first_enter;
		first_start = command->start_ns < first_start ? command->start_ns : first_start;
		last_end = command->end_ns > last_end ? command->end_ns : last_end;
		if (!(command->flags & TARE_COMMAND_BLOCKING))
			latencies[count++] =
			    fmax(0, (double)(command->start_ns - command->exit_ns));
	}
	for (size_t t = 0; t < 2 * SPAN_NS; t++) {
		bool counts = !between(&world->view, (int64_t)t);
		area += counts ? depth[t] : 0;
		lasts_ns += timed && counts && (int64_t)t >= first_enter && (int64_t)t < last_end;
		gaps_ns += timed && counts && (int64_t)t >= first_start && (int64_t)t < last_end &&
		           !busy.at[t];
		deepest = depth[t] > deepest ? depth[t] : deepest;
	}
	qsort(latencies, count, sizeof *latencies, compare_doubles);
	assert_int_equal(row->commands, commands);
	assert_int_equal(row->timed, timed);
	assert_int_equal(row->busy_ns, painted(&busy, NULL, true));
	assert_int_equal(row->gaps_ns, gaps_ns);
	assert_in_range(row->max_depth, deepest, deepest + 1);
	assert_near(row->mean_depth, lasts_ns ? area / (double)lasts_ns : NAN);
	assert_int_equal(row->median_latency_ns,
	                 count ? llround(quantile(latencies, count, 0.5)) : TARE_NO_TIME);
}

static void check_memory(const struct world *world, const struct tare_memory_use *use)
{
	const struct tare_view *view = &world->view;
	int64_t to_ns = view->span_count ? view->spans[view->span_count - 1].to_ns : view->to_ns;
	uint64_t objects = 0, bytes = 0, most = 0, left = 0;
	to_ns = to_ns < SPAN_NS ? to_ns : 2 * SPAN_NS;
	to_ns = view->spans && !view->span_count ? 0 : to_ns;
	for (size_t i = 0; i < MEMORIES; i++) {
		const struct tare_recorded_memory *memory = &world->memories[i];
		bool released = memory->released_ns != TARE_NO_TIME;
		if (memory->parent != TARE_NO_INDEX ||
		    (view->process != TARE_NO_INDEX && view->process != memory->process))
			continue;
		objects += in_time(view, memory->created_ns);
		bytes += in_time(view, memory->created_ns) ? memory->bytes : 0;
		left += memory->created_ns < to_ns && (!released || memory->released_ns >= to_ns);
	}
	for (int64_t t = 0; t < 2 * SPAN_NS; t++) {
		uint64_t held = 0;
		for (size_t i = 0; i < MEMORIES && in_time(view, t); i++) {
			const struct tare_recorded_memory *memory = &world->memories[i];
			bool released = memory->released_ns != TARE_NO_TIME;
			if (memory->parent != TARE_NO_INDEX ||
			    (view->process != TARE_NO_INDEX && view->process != memory->process))
				continue;
			held += memory->created_ns <= t && (!released || memory->released_ns > t)
			            ? memory->bytes
			            : 0;
		}
		most = held > most ? held : most;
	}
	assert_int_equal(use->objects, objects);
	assert_int_equal(use->bytes, bytes);
	assert_int_equal(use->held_at_end, left);
	assert_true(use->peak_bytes == most);
	if (most)
		assert_true(in_time(view, use->peak_at_ns));
}

static void check_counts(const struct world *world, const struct tare_tables *tables)
{
	uint64_t enqueued = 0, completed = 0, calls = 0;
	int64_t inside_ns = 0, total_ns = 0;
	for (size_t i = 0; i < world->recording.command_count; i++) {
		const struct tare_recorded_command *command = &world->commands[i];
		if (!is_in(world, command, true))
			continue;
		enqueued++;
		completed += is_timed(command);
		inside_ns += command->exit_ns - command->enter_ns;
	}
	assert_int_equal(tables->coverage.enqueued, enqueued);
	assert_int_equal(tables->coverage.completed, completed);
	assert_int_equal(tables->coverage.unobserved, enqueued - completed);
	for (size_t i = 0; i < tables->api_count; i++) {
		calls += tables->api[i].count;
		total_ns += tables->api[i].total_ns;
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(tables->api[i].function, tables->api[k].function);
	}
	assert_int_equal(calls, enqueued);
	assert_int_equal(total_ns, inside_ns);
}

static void random_recordings_agree_with_the_count(void **state)
{
	struct tare_random random = unchosen_seed();
	struct tare_ledgers none = { 0 };
	(void)state;
	for (int run = 0; run < RUNS; run++) {
		struct world *world = calloc(1, sizeof *world);
		struct tare_tables tables;
		struct tare_error error;
		assert_non_null(world);
		make_world(world, &random);
		assert_int_equal(tare_tables_compute(&world->recording, &world->view, &none, NULL,
		                                     0, &tables, &error),
		                 0);
		check_tasks(world, &tables);
		check_transfers(world, &tables);
		for (size_t i = 0; i < tables.queue_count; i++)
			check_queue(world, &tables.queues[i]);
		check_memory(world, &tables.memory);
		check_counts(world, &tables);
		tare_tables_free(&tables);
		free(world);
	}
}

// Cutting a run in two leaves every count what it was.
static void views_in_a_row_add_up(void **state)
{
	struct tare_random random = unchosen_seed();
	struct tare_ledgers none = { 0 };
	(void)state;
	for (int run = 0; run < 20; run++) {
		struct world *world = calloc(1, sizeof *world);
		struct tare_view views[5];
		struct tare_tables tables[5];
		int64_t a_ns = 1 + below(&random, SPAN_NS - 2);
		int64_t b_ns = a_ns + 1 + below(&random, SPAN_NS - a_ns - 1);
		const struct tare_run_span inner = { a_ns, b_ns };
		const struct tare_run_span outer[2] = { { 0, a_ns }, { b_ns, SPAN_NS } };
		assert_non_null(world);
		make_world(world, &random);
		for (int i = 0; i < 5; i++)
			views[i] = tare_view_all(&world->recording);
		views[1].to_ns = views[2].from_ns = a_ns;
		views[3].spans = &inner;
		views[3].span_count = 1;
		views[4].spans = outer;
		views[4].span_count = 1 + (b_ns < SPAN_NS);
		for (int i = 0; i < 5; i++)
			assert_int_equal(tare_tables_compute(&world->recording, &views[i], &none,
			                                     NULL, 0, &tables[i], NULL),
			                 0);
		assert_int_equal(tables[0].coverage.enqueued,
		                 tables[1].coverage.enqueued + tables[2].coverage.enqueued);
		assert_int_equal(tables[0].coverage.enqueued, world->recording.command_count);
		assert_int_equal(tables[0].memory.bytes,
		                 tables[1].memory.bytes + tables[2].memory.bytes);
		assert_int_equal(tables[0].coverage.enqueued,
		                 tables[3].coverage.enqueued + tables[4].coverage.enqueued);
		assert_int_equal(tables[0].memory.bytes,
		                 tables[3].memory.bytes + tables[4].memory.bytes);
		for (int i = 0; i < 5; i++)
			tare_tables_free(&tables[i]);
		free(world);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_recordings_agree_with_the_count),
		cmocka_unit_test(views_in_a_row_add_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
