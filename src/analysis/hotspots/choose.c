// SPDX-License-Identifier: Apache-2.0
// Which kernels are worth counting, and which may be.
#include "analysis/hotspots/instructions.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A kernel whose launches ran beside those of another queue more often than this may wait for them:
// counted, each runs alone.
#define MOST_OVERLAPPING 0.1
enum { MOST_CHOSEN = 64 }; // as the recorder takes

// What counting costs, and may cost.
struct tare_collected_cost {
	double most_ns, most_share; // the larger of the two, the second of the recorded run
	double set_up_ns, launch_ns;
	uint32_t groups; // of counters, on most chips
	uint32_t most;   // launches a group
};

struct interval {
	int64_t from_ns, to_ns;
	uint32_t queue, row;
	bool overlaps;
};

static int by_start(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;
	return x->from_ns != y->from_ns ? (x->from_ns < y->from_ns ? -1 : 1)
	                                : (x->queue > y->queue) - (x->queue < y->queue);
}

static int by_end_down(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;
	return x->to_ns != y->to_ns ? (x->to_ns > y->to_ns ? -1 : 1)
	                            : (x->queue > y->queue) - (x->queue < y->queue);
}

// The farthest moment that was seen, and the farthest of another queue than that one's.
struct reach {
	int64_t first, second;
	uint32_t queue;
};

static void reach_add(struct reach *reach, uint32_t queue, int64_t at)
{
	if (queue == reach->queue) {
		reach->first = at > reach->first ? at : reach->first;
	} else if (at > reach->first) {
		reach->second = reach->first;
		*reach = (struct reach){ at, reach->second, queue };
	} else if (at > reach->second) {
		reach->second = at;
	}
}

static int64_t reach_of_others(const struct reach *reach, uint32_t queue)
{
	return queue == reach->queue ? reach->second : reach->first;
}

// Once forth, for those that began before an interval, once back, for those that ended after it.
static void mark_overlaps(struct interval *at, size_t count)
{
	struct reach reach = { INT64_MIN, INT64_MIN, TARE_NO_INDEX };

	qsort(at, count, sizeof *at, by_start);
	for (size_t i = 0; i < count; i++) {
		at[i].overlaps |= reach_of_others(&reach, at[i].queue) > at[i].from_ns;
		reach_add(&reach, at[i].queue, at[i].to_ns);
	}
	reach = (struct reach){ INT64_MIN, INT64_MIN, TARE_NO_INDEX };
	qsort(at, count, sizeof *at, by_end_down);
	for (size_t i = 0; i < count; i++) {
		at[i].overlaps |= reach_of_others(&reach, at[i].queue) > -at[i].to_ns;
		reach_add(&reach, at[i].queue, -at[i].from_ns);
	}
}

// Of each kernel of the recording its row among those of the collection; TARE_NO_INDEX: none.
static uint32_t *rows_of(const struct tare_recording *recorded, const struct tare_counted_run *run)
{
	uint32_t *rows = calloc(recorded->kernel_count + 1, sizeof *rows);

	for (size_t k = 0; rows && k < recorded->kernel_count; k++) {
		rows[k] = TARE_NO_INDEX;
		for (size_t i = 0; i < run->kernel_count && rows[k] == TARE_NO_INDEX; i++)
			if (strcmp(recorded->kernels[k].name, run->kernels[i].name) == 0)
				rows[k] = (uint32_t)i;
	}
	return rows;
}

// One that is told under its own name needs no other.
static const char *symbol_of(const struct tare_recording *recorded, uint32_t kernel)
{
	const struct tare_recorded_kernel *of = &recorded->kernels[kernel];

	return of->symbol ? of->symbol : of->name;
}

static int look_at_launches(const struct tare_recording *recorded,
                            struct tare_collection *collection)
{
	uint32_t *rows = rows_of(recorded, &collection->run);
	struct interval *intervals = calloc(recorded->command_count + 1, sizeof *intervals);
	size_t count = 0;

	for (size_t i = 0; rows && intervals && i < recorded->command_count; i++) {
		const struct tare_recorded_command *c = TARE_COMMAND(recorded, i);
		uint32_t row = c->kind == TARE_KIND_KERNEL && c->object != TARE_NO_INDEX
		                   ? rows[c->object]
		                   : TARE_NO_INDEX;
		struct tare_collected *kernel;
		if (row == TARE_NO_INDEX)
			continue;
		kernel = &collection->kernels[row];
		kernel->symbol = kernel->symbol ? kernel->symbol : symbol_of(recorded, c->object);
		// A list of Level Zero is appended to launch by launch: each can be counted.
		bool alone = c->part == TARE_ALONE || collection->levelzero;
		kernel->launches += alone;
		kernel->in_graphs += !alone;
		if (c->start_ns != TARE_NO_TIME && c->end_ns > c->start_ns)
			intervals[count++] =
			    (struct interval){ c->start_ns, c->end_ns, c->queue, row, false };
	}
	if (rows && intervals) {
		mark_overlaps(intervals, count);
		for (size_t i = 0; i < count; i++)
			collection->kernels[intervals[i].row].overlapping += intervals[i].overlaps;
	}
	free(intervals);
	free(rows);
	return rows && intervals ? 0 : -ENOMEM;
}

// One row a name, of all devices.
static int add_tasks(const struct tare_tables *tables, struct tare_collection *collection)
{
	struct tare_counted_run *run = &collection->run;
	double total = 0;

	run->kernels = calloc(tables->task_count + 1, sizeof *run->kernels);
	collection->kernels = calloc(tables->task_count + 1, sizeof *collection->kernels);
	if (!run->kernels || !collection->kernels)
		return -ENOMEM;
	for (size_t i = 0; i < tables->task_count; i++) {
		const struct tare_task *task = &tables->tasks[i];
		struct tare_counted_kernel *kernel = run->kernels;
		while (kernel < run->kernels + run->kernel_count &&
		       strcmp(kernel->name, task->name) != 0)
			kernel++;
		if (kernel == run->kernels + run->kernel_count) {
			run->kernel_count++;
			kernel->name = task->name;
			kernel->occupancy_possible =
			    task->occupancy.groups ? 100 * task->occupancy.share : NAN;
			kernel->occupancy_limit =
			    task->occupancy.groups
			        ? tare_occupancy_limit_name(task->occupancy.limit)
			        : NULL;
			kernel->uncounted = TARE_UNCOUNTED_NOT_CHOSEN;
		}
		kernel->launches += task->instances;
		kernel->total_ns += (uint64_t)task->total_ns;
		kernel->mean_ns += task->timed; // for now: how many have times
		total += (double)task->total_ns;
	}
	for (size_t i = 0; i < run->kernel_count; i++) {
		struct tare_counted_kernel *kernel = &run->kernels[i];
		kernel->mean_ns = kernel->mean_ns ? kernel->total_ns / kernel->mean_ns : 0;
		kernel->share = total > 0 ? (double)kernel->total_ns / total : 0;
	}
	return 0;
}

static bool may_wait(const struct tare_collected *kernel, const char *name,
                     const struct tare_collect_options *options)
{
	uint64_t all = kernel->launches + kernel->in_graphs;

	return kernel->waits || tare_collection_waits(name) ||
	       (!options->overlapping &&
	        (double)kernel->overlapping > MOST_OVERLAPPING * (double)all);
}

// Returns how many are chosen.
static uint32_t choose(const struct tare_collect_options *options,
                       struct tare_collection *collection)
{
	uint32_t most = options->top < MOST_CHOSEN ? options->top : MOST_CHOSEN, seen = 0,
	         chosen = 0;

	if (options->counted)
		most = UINT32_MAX;
	for (size_t i = 0; i < collection->run.kernel_count && seen < most; i++) {
		struct tare_counted_kernel *kernel = &collection->run.kernels[i];
		struct tare_collected *collected = &collection->kernels[i];
		if (options->pattern && fnmatch(options->pattern, kernel->name, 0) != 0)
			continue;
		seen++;
		if (options->counted) {
			collected->chosen = collected->launches > 0 && !collected->graph;
			continue;
		}
		kernel->uncounted = !collected->symbol && !collected->graph ? TARE_UNCOUNTED_FAILED
		                    : collected->launches == 0 ? TARE_UNCOUNTED_CAPTURED
		                    : may_wait(collected, kernel->name, options)
		                        ? TARE_UNCOUNTED_WAITS
		                        : TARE_UNCOUNTED_NOT_LAUNCHED;
		collected->chosen = kernel->uncounted == TARE_UNCOUNTED_NOT_LAUNCHED;
		chosen += collected->chosen;
	}
	return chosen;
}

// How many launches of each kernel and group of counters take no longer than the program may be
// slowed, by what counting one took on an H200 at most (docs/hotspots.md).
static uint32_t launches_a_group(const struct tare_collected_cost *cost, uint64_t wall_ns,
                                 uint32_t chosen)
{
	double most_ns = fmax(cost->most_ns, cost->most_share * (double)wall_ns) - cost->set_up_ns;
	double launches = most_ns / (cost->launch_ns * cost->groups * chosen);

	return launches >= cost->most ? cost->most : launches < 1 ? 1 : (uint32_t)launches;
}

static int write_plan(const struct tare_collect_options *options, uint32_t chosen,
                      struct tare_collection *collection)
{
	static const struct tare_collected_cost costs[] = {
		{ .most_ns = 3e9,
		  .most_share = 0.3,
		  .set_up_ns = 9e8,
		  .launch_ns = 2.5e7,
		  .groups = 5,
		  .most = 3 },
		// Of Level Zero no device was measured: a query should take microseconds.
		{ .most_ns = 3e9, .most_share = 0.3, .launch_ns = 1e6, .groups = 4, .most = 3 },
	};
	const struct tare_collected_cost *cost = &costs[collection->levelzero];
	uint32_t a_group = options->a_group
	                       ? options->a_group
	                       : launches_a_group(cost, collection->run.recorded_wall_ns, chosen);

	size_t size = 0;
	FILE *file = open_memstream(&collection->plan, &size);

	if (!file)
		return -ENOMEM;
	fprintf(file, "%" PRIu32 "%s", a_group, options->replay ? ",replay" : "");
	for (size_t i = 0; i < collection->run.kernel_count; i++)
		if (collection->kernels[i].chosen && collection->kernels[i].graph)
			fprintf(file, "\n%" PRIu64 " #%" PRIu32, collection->kernels[i].launches,
			        collection->kernels[i].graph);
		else if (collection->kernels[i].chosen && collection->kernels[i].places)
			fprintf(file, "\n%" PRIu64 "@%s %s", collection->kernels[i].like_launches,
			        collection->kernels[i].places, collection->kernels[i].symbol);
		else if (collection->kernels[i].chosen)
			fprintf(file, "\n%" PRIu64 " %s", collection->kernels[i].launches,
			        collection->kernels[i].symbol);
	return fclose(file) == 0 ? 0 : -ENOMEM;
}

static int look_alike(const struct tare_recording *recorded, uint32_t chosen,
                      struct tare_collection *collection)
{
	uint32_t *rows = rows_of(recorded, &collection->run);
	int status = -ENOMEM;

	if (rows)
		status = tare_collection_look_alike(recorded, rows, chosen, collection);
	free(rows);
	return status;
}

static void describe_device(const struct tare_recording *recorded,
                            struct tare_collection *collection)
{
	struct tare_counted_device *device = &collection->run.device;

	for (size_t i = 0; i < recorded->device_count && !device->name; i++)
		if (recorded->devices[i].api == TARE_TRACE_CUDA) {
			device->name = recorded->devices[i].name;
			device->cores = (uint32_t)recorded->devices[i].compute_units;
		}
	if (device->name)
		return;
	for (size_t i = 0; i < recorded->device_count && !device->name; i++)
		if (recorded->devices[i].api == TARE_TRACE_LEVELZERO) {
			device->name = recorded->devices[i].name;
			device->cores = (uint32_t)recorded->devices[i].compute_units;
			collection->levelzero = true;
		}
	if (device->name)
		return;
	device->name = recorded->device_count ? recorded->devices[0].name : NULL;
	if (!recorded->device_count)
		device->no_counters = "no device was used";
	else
		device->no_counters =
		    "OpenCL tells none; `tare blocks` counts instructions, loads and stores "
		    "without them";
}

// Counters come from the library that device times come from.
static bool are_timed(const struct tare_counted_run *run)
{
	for (size_t i = 0; i < run->kernel_count; i++)
		if (run->kernels[i].total_ns > 0)
			return true;
	return run->kernel_count == 0;
}

int tare_collection_choose(const struct tare_recording *recorded, const struct tare_tables *tables,
                           const struct tare_collect_options *options,
                           struct tare_collection *collection, struct tare_error *error)
{
	int status;

	*collection = (struct tare_collection){ 0 };
	collection->run.recorded_wall_ns = (uint64_t)(recorded->end_ns - recorded->start_ns);
	describe_device(recorded, collection);
	status = add_tasks(tables, collection);
	if (status == 0)
		status = look_at_launches(recorded, collection);
	if (status == 0 && !collection->run.device.no_counters && !are_timed(&collection->run))
		collection->run.device.no_counters =
		    collection->levelzero
		        ? "the recording has no device time of a kernel: `tare report` says why"
		        : "the recording has no device time: both take CUPTI (libcupti.so), held "
		          "by "
		          "no other tool (TARE_CUPTI_LIBRARY names it)";
	if (status == 0 && !collection->run.device.no_counters) {
		uint32_t chosen;
		status = tare_collection_add_graphs(recorded, collection);
		chosen = status == 0 ? choose(options, collection) : 0;
		if (status == 0 && chosen)
			status = look_alike(recorded, chosen, collection);
		status = status == 0 && chosen ? write_plan(options, chosen, collection) : status;
	}
	return status == 0 ? 0 : tare_fail(error, ENOMEM, "out of memory");
}

void tare_collection_free(struct tare_collection *collection)
{
	for (size_t i = 0; i < collection->graph_count; i++)
		free(collection->graph_names[i]);
	free(collection->graph_names);
	for (size_t i = 0; collection->kernels && i < collection->run.kernel_count; i++)
		free(collection->kernels[i].places);
	free(collection->run.kernels);
	free(collection->kernels);
	free(collection->plan);
	free(collection->reason);
}
