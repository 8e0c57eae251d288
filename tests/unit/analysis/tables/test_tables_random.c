// SPDX-License-Identifier: Apache-2.0
// The tables of random recordings against the same figures counted nanosecond by nanosecond.
#include "analysis/tables/tables.h"
#include "tests/unit/model/statistics/noise.h"

#include <fnmatch.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	DEVICES = 3,
	SAME = 2,
	QUEUES = 5,
	KERNELS = 5,
	SHAPES = 4,
	THREADS = 3,
	MOST = 400,
	SPAN_NS = 4000,
	MEMORIES = 12,
	RUNS = 150,
	SPANS = 6
};

struct world {
	struct tare_recording recording;
	struct tare_recorded_process processes[2];
	struct tare_recorded_thread threads[THREADS];
	struct tare_recorded_device devices[DEVICES];
	struct tare_recorded_queue queues[QUEUES];
	struct tare_recorded_kernel kernels[KERNELS];
	struct tare_recorded_shape shapes[SHAPES];
	struct tare_recorded_function functions[3];
	struct tare_recorded_command commands[MOST];
	struct tare_recorded_memory memories[MEMORIES];
	struct tare_run_span spans[SPANS];
	struct tare_view view;
};

static int64_t below(struct tare_random *random, int64_t bound)
{
	return (int64_t)tare_random_below(random, (uint64_t)bound);
}

static void make_objects(struct world *world, struct tare_random *random)
{
	static const char *const names[KERNELS] = { "add", "scale", "add", "norm", "scale" };
	// Device 2 is device 0 as the second process sees it.
	for (uint32_t i = 0; i < DEVICES; i++)
		world->devices[i] = (struct tare_recorded_device){ .process = i == 2,
			                                           .same_as = i == 2 ? 0 : i,
			                                           .name = i == 1 ? "B" : "A",
			                                           .compute_units = 4 };
	for (uint32_t i = 0; i < THREADS; i++)
		world->threads[i] =
		    (struct tare_recorded_thread){ .process = i == 2,
			                           .unfinished_function = TARE_NO_INDEX };
	for (uint32_t i = 0; i < QUEUES; i++)
		world->queues[i] = (struct tare_recorded_queue){ .process = i == 4,
			                                         .device = i == 4   ? 2
			                                                   : i == 3 ? TARE_NO_INDEX
			                                                            : i % 2,
			                                         .number = i };
	for (uint32_t i = 0; i < KERNELS; i++)
		world->kernels[i] = (struct tare_recorded_kernel){ .process = i > 2,
			                                           .program = TARE_NO_INDEX,
			                                           .name = names[i] };
	for (uint32_t i = 0; i < SHAPES; i++) // the last is the first again
		world->shapes[i] = (struct tare_recorded_shape){ .dimensions = 1,
			                                         .global = { 64 << i % 3, 1, 1 },
			                                         .local = { 16, 1, 1 } };
	world->functions[0] = (struct tare_recorded_function){ "clEnqueueNDRangeKernel", 1, 1 };
	world->functions[1] = (struct tare_recorded_function){ "clEnqueueWriteBuffer", 1, 1 };
	world->functions[2] = (struct tare_recorded_function){ "clEnqueueNDRangeKernel", 1, 1 };
	for (uint32_t i = 0; i < MEMORIES; i++) {
		int64_t at_ns = below(random, SPAN_NS);
		world->memories[i] = (struct tare_recorded_memory){
			.process = i % 2,
			.kind = TARE_TRACE_MEMORY_BUFFER,
			.bytes = 1 + below(random, 1000),
			.parent = i % 5 == 4 ? i - 1 : TARE_NO_INDEX,
			.created_ns = at_ns,
			.released_ns = i % 3 == 0 ? TARE_NO_TIME : at_ns + below(random, 900)
		};
	}
}

static int compare_enters(const void *a, const void *b)
{
	const struct tare_recorded_command *x = a;
	const struct tare_recorded_command *y = b;
	return (x->enter_ns > y->enter_ns) - (x->enter_ns < y->enter_ns);
}

static struct tare_recorded_command make_command(struct tare_random *random)
{
	uint32_t queue = below(random, QUEUES);
	bool kernel = below(random, 2);
	bool write = below(random, 2);
	int64_t enter_ns = below(random, SPAN_NS - 600);
	int64_t exit_ns = enter_ns + below(random, 60);
	int64_t start_ns = enter_ns + below(random, 300);
	struct tare_recorded_command command = {
		.enter_ns = enter_ns,
		.exit_ns = exit_ns,
		.submitted_ns = TARE_NO_TIME,
		.start_ns = start_ns,
		.end_ns = start_ns + below(random, 250),
		.thread = queue == 4 ? 2 : below(random, 2),
		.queue = queue,
		.first_wait = TARE_NO_INDEX,
		.alignment = below(random, 13),
		.function = kernel ? 2 * (queue == 4) : 1,
		.kind = kernel  ? TARE_KIND_KERNEL
		        : write ? TARE_KIND_WRITE
		                : TARE_KIND_READ,
		.direction = kernel  ? TARE_DIRECTION_NONE
		             : write ? TARE_DIRECTION_TO_DEVICE
		                     : TARE_DIRECTION_FROM_DEVICE,
		.memory = kernel ? 0 : TARE_TRACE_MEMORY_PINNED + below(random, 2),
		.object = kernel ? (queue == 4 ? 3 + below(random, 2) : below(random, 3)) : 0,
		.amount = kernel ? below(random, SHAPES) : 1 + below(random, 100000),
		.flags = !kernel && below(random, 4) == 0 ? TARE_COMMAND_BLOCKING : 0,
	};
	if (below(random, 8) == 0)
		command.start_ns = command.end_ns = TARE_NO_TIME;
	return command;
}

static void make_view(struct world *world, struct tare_random *random)
{
	world->view = tare_view_all(&world->recording);
	if (below(random, 2)) {
		world->view.from_ns = below(random, SPAN_NS / 2);
		world->view.to_ns = world->view.from_ns + 1 + below(random, SPAN_NS / 2);
	}
	if (below(random, 2)) {
		int64_t at_ns = world->view.from_ns;
		size_t count = below(random, SPANS + 1);
		world->view.spans = world->spans;
		for (size_t i = 0; i < count && at_ns < world->view.to_ns; i++) {
			struct tare_run_span *span = &world->spans[world->view.span_count++];
			// Some touch the one before, or the ends of the view.
			span->from_ns =
			    at_ns + below(random, 2) * below(random, world->view.to_ns - at_ns);
			span->to_ns =
			    span->from_ns + 1 + below(random, world->view.to_ns - span->from_ns);
			at_ns = span->to_ns;
		}
	}
	if (below(random, 3) == 0)
		world->view.process = below(random, 2);
	if (below(random, 3) == 0)
		world->view.device = below(random, SAME);
	if (below(random, 3) == 0)
		world->view.kernel = "*d*";
}

static void make_world(struct world *world, struct tare_random *random)
{
	size_t commands = below(random, MOST);
	make_objects(world, random);
	for (size_t i = 0; i < commands; i++)
		world->commands[i] = make_command(random);
	qsort(world->commands, commands, sizeof *world->commands, compare_enters);
	world->recording = (struct tare_recording){
		.start_ns = 0,
		.end_ns = SPAN_NS,
		.user_cpu_ns = TARE_NO_TIME,
		.system_cpu_ns = TARE_NO_TIME,
		.processes = world->processes,
		.process_count = 2,
		.threads = world->threads,
		.thread_count = THREADS,
		.devices = world->devices,
		.device_count = DEVICES,
		.queues = world->queues,
		.queue_count = QUEUES,
		.kernels = world->kernels,
		.kernel_count = KERNELS,
		.shapes = world->shapes,
		.shape_count = SHAPES,
		.functions = world->functions,
		.function_count = 3,
		.commands.plain = world->commands,
		.command_count = commands,
		.memories = world->memories,
		.memory_count = MEMORIES,
	};
	make_view(world, random);
}

// ---- the other way

static uint32_t device_of(const struct world *world, const struct tare_recorded_command *command)
{
	uint32_t device = world->queues[command->queue].device;
	return device == TARE_NO_INDEX ? device : world->devices[device].same_as;
}

static bool is_timed(const struct tare_recorded_command *command)
{
	return command->start_ns != TARE_NO_TIME;
}

static bool in_spans(const struct tare_view *view, int64_t at_ns)
{
	bool inside = !view->spans;
	for (size_t i = 0; i < view->span_count; i++)
		inside |= view->spans[i].from_ns <= at_ns && at_ns < view->spans[i].to_ns;
	return inside;
}

// What is beyond the run belongs to its last moment.
static bool in_time(const struct tare_view *view, int64_t at_ns)
{
	at_ns = at_ns >= SPAN_NS ? SPAN_NS - 1 : at_ns < 0 ? 0 : at_ns;
	return at_ns >= view->from_ns && at_ns < view->to_ns && in_spans(view, at_ns);
}

// Whether a moment lies between two spans.
static bool between(const struct tare_view *view, int64_t at_ns)
{
	return view->span_count > 0 && at_ns >= view->spans[0].from_ns &&
	       at_ns < view->spans[view->span_count - 1].to_ns && !in_spans(view, at_ns);
}

static bool is_in(const struct world *world, const struct tare_recorded_command *command,
                  bool named)
{
	const struct tare_view *view = &world->view;
	if (!in_time(view, is_timed(command) ? command->start_ns : command->enter_ns))
		return false;
	if (view->process != TARE_NO_INDEX &&
	    view->process != world->threads[command->thread].process)
		return false;
	if (view->device != TARE_NO_INDEX && view->device != device_of(world, command))
		return false;
	return !named || !view->kernel || command->kind != TARE_KIND_KERNEL ||
	       fnmatch(view->kernel, world->kernels[command->object].name, 0) == 0;
}

struct grid {
	bool at[2 * SPAN_NS];
};

static void paint(struct grid *grid, const struct tare_recorded_command *command)
{
	for (int64_t t = command->start_ns; t < command->end_ns; t++)
		grid->at[t] = true;
}

static int64_t painted(const struct grid *grid, const struct grid *other, bool other_is)
{
	int64_t ns = 0;
	for (size_t t = 0; t < 2 * SPAN_NS; t++)
		ns += grid->at[t] && (!other || other->at[t] == other_is);
	return ns;
}

// Kernels of a device; of those in the view or of all.
static struct grid kernels_of(const struct world *world, uint32_t device, bool of_view)
{
	struct grid grid = { 0 };
	for (size_t i = 0; i < world->recording.command_count; i++) {
		const struct tare_recorded_command *command = &world->commands[i];
		if (command->kind == TARE_KIND_KERNEL && is_timed(command) &&
		    device_of(world, command) == device &&
		    (!of_view || is_in(world, command, false)))
			paint(&grid, command);
	}
	return grid;
}

static int compare_doubles(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

// Type 7 of Hyndman and Fan, of sorted values.
static double quantile(const double *sorted, size_t n, double p)
{
	double h = (double)(n - 1) * p;
	size_t k = (size_t)floor(h);
	return k + 1 < n ? sorted[k] + (h - (double)k) * (sorted[k + 1] - sorted[k]) : sorted[k];
}

static void assert_near(double a, double b)
{
	if (isnan(a) || isnan(b))
		assert_true(isnan(a) && isnan(b));
	else
		assert_true(fabs(a - b) <= 1e-9 * (1 + fabs(b)));
}

static bool same_shape(const struct world *world, uint64_t a, uint64_t b)
{
	return world->shapes[a].global[0] == world->shapes[b].global[0];
}

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
