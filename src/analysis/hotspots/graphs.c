// SPDX-License-Identifier: Apache-2.0
// Graphs that the recorded program launched, as rows beside its kernels. A graph is known by its
// place among those that were made, which the counted run's recorder counts, too.
#include "analysis/hotspots/collect.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Kernels that wait for others on other devices, by libraries that are known for it.
static const char *const waiting[] = { "*nccl*", "*nvshmem*" };

bool tare_collection_waits(const char *name)
{
	for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++)
		if (fnmatch(waiting[i], name, 0) == 0)
			return true;
	return false;
}

struct launched_graph {
	uint64_t launches, timed;
	int64_t total_ns;
	uint32_t first; // its first execution
	uint32_t kernels;
	const char *name; // of its first kernel
	bool waits;
};

struct span {
	int64_t from_ns, to_ns;
};

struct graphs {
	struct launched_graph *made; // by their numbers
	size_t count;                // with the first, which is none
	struct span *executions;
};

static void add_run(const struct tare_recording *recorded, struct graphs *graphs,
                    const struct tare_recorded_command *c)
{
	struct launched_graph *graph = &graphs->made[recorded->executions[c->execution].graph];
	struct span *span = &graphs->executions[c->execution];

	if (c->start_ns != TARE_NO_TIME && c->end_ns >= c->start_ns) {
		span->from_ns = span->from_ns == TARE_NO_TIME || c->start_ns < span->from_ns
		                    ? c->start_ns
		                    : span->from_ns;
		span->to_ns = c->end_ns > span->to_ns ? c->end_ns : span->to_ns;
	}
	if (c->kind != TARE_KIND_KERNEL || c->object == TARE_NO_INDEX)
		return;
	graph->waits |= tare_collection_waits(recorded->kernels[c->object].name);
	if (graph->first != c->execution)
		return;
	graph->name = graph->kernels++ ? graph->name : recorded->kernels[c->object].name;
}

static void look(const struct tare_recording *recorded, struct graphs *graphs)
{
	for (size_t i = 0; i < recorded->command_count; i++) {
		const struct tare_recorded_command *c = TARE_COMMAND(recorded, i);
		struct launched_graph *graph;
		if (c->part == TARE_ALONE || c->execution >= recorded->execution_count ||
		    !recorded->executions[c->execution].graph)
			continue;
		graph = &graphs->made[recorded->executions[c->execution].graph];
		if (c->part == TARE_RUN) {
			add_run(recorded, graphs, c);
		} else if (graph->launches++ == 0) {
			graph->first = c->execution;
		}
	}
	for (size_t i = 0; i < recorded->execution_count; i++) {
		const struct span *span = &graphs->executions[i];
		struct launched_graph *graph;
		if (span->from_ns == TARE_NO_TIME)
			continue;
		graph = &graphs->made[recorded->executions[i].graph];
		graph->timed++;
		graph->total_ns += span->to_ns - span->from_ns;
	}
}

static int add_row(struct tare_collection *collection, const struct launched_graph *graph,
                   size_t number, double all_ns)
{
	struct tare_counted_run *run = &collection->run;
	struct tare_counted_kernel *kernel = &run->kernels[run->kernel_count];
	char *name;

	if (asprintf(&name, "graph %zu (%.300s%s)", number, graph->name,
	             graph->kernels > 1 ? " and more" : "") < 0)
		return -ENOMEM;
	collection->graph_names[collection->graph_count++] = name;
	*kernel = (struct tare_counted_kernel){
		.name = name,
		.launches = graph->launches,
		.total_ns = (uint64_t)graph->total_ns,
		.mean_ns = (uint64_t)graph->total_ns / graph->timed,
		.share = all_ns > 0 ? fmin((double)graph->total_ns / all_ns, 1) : 0,
		.occupancy_possible = NAN,
		.compulsory_missing = "the arguments of a graph's kernels are not looked at",
		.uncounted = TARE_UNCOUNTED_NOT_CHOSEN,
	};
	collection->kernels[run->kernel_count++] = (struct tare_collected){
		.graph = (uint32_t)number,
		.launches = graph->launches,
		.waits = graph->waits,
	};
	return 0;
}

// Longest first, as kernels are; both arrays alike.
static void sort_rows(struct tare_collection *collection)
{
	struct tare_counted_run *run = &collection->run;

	for (size_t i = 1; i < run->kernel_count; i++)
		for (size_t k = i; k > 0 && run->kernels[k].total_ns > run->kernels[k - 1].total_ns;
		     k--) {
			struct tare_counted_kernel kernel = run->kernels[k];
			struct tare_collected collected = collection->kernels[k];
			run->kernels[k] = run->kernels[k - 1];
			run->kernels[k - 1] = kernel;
			collection->kernels[k] = collection->kernels[k - 1];
			collection->kernels[k - 1] = collected;
		}
}

static int make_room(struct tare_collection *collection, size_t more)
{
	struct tare_counted_run *run = &collection->run;
	size_t count = run->kernel_count + more + 1;
	void *kernels = realloc(run->kernels, count * sizeof *run->kernels), *collected;

	run->kernels = kernels ? kernels : run->kernels;
	collected = realloc(collection->kernels, count * sizeof *collection->kernels);
	collection->kernels = collected ? collected : collection->kernels;
	collection->graph_names = calloc(more + 1, sizeof *collection->graph_names);
	return kernels && collected && collection->graph_names ? 0 : -ENOMEM;
}

static int add_rows(const struct graphs *graphs, struct tare_collection *collection)
{
	int status = make_room(collection, graphs->count);
	double all_ns = 0;

	for (size_t i = 0; i < collection->run.kernel_count; i++)
		all_ns += (double)collection->run.kernels[i].total_ns;
	for (size_t i = 1; i < graphs->count && status == 0; i++)
		if (graphs->made[i].name && graphs->made[i].timed)
			status = add_row(collection, &graphs->made[i], i, all_ns);
	if (status == 0)
		sort_rows(collection);
	return status;
}

int tare_collection_add_graphs(const struct tare_recording *recorded,
                               struct tare_collection *collection)
{
	struct graphs graphs = { .count = 1 };
	int status = -ENOMEM;

	for (size_t i = 0; i < recorded->execution_count; i++)
		if (recorded->executions[i].graph >= graphs.count)
			graphs.count = (size_t)recorded->executions[i].graph + 1;
	// Of several processes it is not known which is which in the other run.
	if (recorded->process_count != 1 || graphs.count == 1)
		return 0;
	graphs.made = calloc(graphs.count, sizeof *graphs.made);
	graphs.executions = calloc(recorded->execution_count + 1, sizeof *graphs.executions);
	for (size_t i = 0; graphs.executions && i < recorded->execution_count; i++)
		graphs.executions[i] = (struct span){ TARE_NO_TIME, TARE_NO_TIME };
	if (graphs.made && graphs.executions) {
		look(recorded, &graphs);
		status = add_rows(&graphs, collection);
	}
	free(graphs.made);
	free(graphs.executions);
	return status;
}
