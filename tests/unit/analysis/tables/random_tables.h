// SPDX-License-Identifier: Apache-2.0
// Views made at random, and what their tables hold, counted a second time. Include after cmocka.h.
#pragma once
#include "analysis/tables/tables.h"
#include "tests/unit/model/statistics/noise.h"

#include <fnmatch.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

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

static inline int64_t below(struct tare_random *random, int64_t bound)
{
	return (int64_t)tare_random_below(random, (uint64_t)bound);
}

static inline void make_objects(struct world *world, struct tare_random *random)
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

static inline int compare_enters(const void *a, const void *b)
{
	const struct tare_recorded_command *x = a;
	const struct tare_recorded_command *y = b;
	return (x->enter_ns > y->enter_ns) - (x->enter_ns < y->enter_ns);
}

static inline struct tare_recorded_command make_command(struct tare_random *random)
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

static inline void make_view(struct world *world, struct tare_random *random)
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

static inline void make_world(struct world *world, struct tare_random *random)
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

static inline uint32_t device_of(const struct world *world,
                                 const struct tare_recorded_command *command)
{
	uint32_t device = world->queues[command->queue].device;
	return device == TARE_NO_INDEX ? device : world->devices[device].same_as;
}

static inline bool is_timed(const struct tare_recorded_command *command)
{
	return command->start_ns != TARE_NO_TIME;
}

static inline bool in_spans(const struct tare_view *view, int64_t at_ns)
{
	bool inside = !view->spans;
	for (size_t i = 0; i < view->span_count; i++)
		inside |= view->spans[i].from_ns <= at_ns && at_ns < view->spans[i].to_ns;
	return inside;
}

// What is beyond the run belongs to its last moment.
static inline bool in_time(const struct tare_view *view, int64_t at_ns)
{
	at_ns = at_ns >= SPAN_NS ? SPAN_NS - 1 : at_ns < 0 ? 0 : at_ns;
	return at_ns >= view->from_ns && at_ns < view->to_ns && in_spans(view, at_ns);
}

// Whether a moment lies between two spans.
static inline bool between(const struct tare_view *view, int64_t at_ns)
{
	return view->span_count > 0 && at_ns >= view->spans[0].from_ns &&
	       at_ns < view->spans[view->span_count - 1].to_ns && !in_spans(view, at_ns);
}

static inline bool is_in(const struct world *world, const struct tare_recorded_command *command,
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

static inline void paint(struct grid *grid, const struct tare_recorded_command *command)
{
	for (int64_t t = command->start_ns; t < command->end_ns; t++)
		grid->at[t] = true;
}

static inline int64_t painted(const struct grid *grid, const struct grid *other, bool other_is)
{
	int64_t ns = 0;
	for (size_t t = 0; t < 2 * SPAN_NS; t++)
		ns += grid->at[t] && (!other || other->at[t] == other_is);
	return ns;
}

// Kernels of a device; of those in the view or of all.
static inline struct grid kernels_of(const struct world *world, uint32_t device, bool of_view)
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

static inline int compare_doubles(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

// Type 7 of Hyndman and Fan, of sorted values.
static inline double quantile(const double *sorted, size_t n, double p)
{
	double h = (double)(n - 1) * p;
	size_t k = (size_t)floor(h);
	return k + 1 < n ? sorted[k] + (h - (double)k) * (sorted[k + 1] - sorted[k]) : sorted[k];
}

static inline void assert_near(double a, double b)
{
	if (isnan(a) || isnan(b))
		assert_true(isnan(a) && isnan(b));
	else
		assert_true(fabs(a - b) <= 1e-9 * (1 + fabs(b)));
}

static inline bool same_shape(const struct world *world, uint64_t a, uint64_t b)
{
	return world->shapes[a].global[0] == world->shapes[b].global[0];
}
