// SPDX-License-Identifier: Apache-2.0
// CUPTI's buffers and what is kept of the records in them. Buffers come back on threads of CUPTI's;
// what they held is matched only once all are there, because nothing says that a call's records
// come in one buffer, or in which order.
#include "backend/cuda/cupti/engines.h"
#include "backend/cuda/graph.h"
#include "backend/cuda/trace.h"
#include "base/room.h"

#include <stdlib.h>

// A call of the driver, and the ticket under which it was made.
struct link {
	uint32_t correlation;
	uint64_t ticket;
};

struct work {
	uint32_t correlation;
	uint64_t queued, submitted, start, end, graph_node;
	uint64_t ticket; // of the call, once they are matched
};

static struct {
	pthread_mutex_t lock;
	struct cupti_functions call;
	bool graph_nodes; // records carry them
	struct link *links;
	struct work *works;
	size_t link_count, link_room, work_count, work_room;
	size_t dropped;
} store = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void keep_link(uint32_t correlation, uint64_t ticket)
{
	struct link *added = TARE_ROOM_FOR(store.links, store.link_room, store.link_count);

	if (!added) {
		store.dropped++;
		return;
	}
	*added = (struct link){ correlation, ticket };
	store.link_count++;
}

static void keep_work(struct work work)
{
	struct work *added = TARE_ROOM_FOR(store.works, store.work_room, store.work_count);

	if (!added) {
		store.dropped++;
		return;
	}
	*added = work;
	store.work_count++;
}

static void keep(const cupti_record *record)
{
	// A record of an older library ends before its graph_node: it is copied only where it is
	// there.
	bool nodes = store.graph_nodes;

	switch (record->kind) {
	case ABI_CUPTI_KIND_CONCURRENT_KERNEL: {
		const struct cupti_kernel *kernel = (const void *)record;
		keep_work((struct work){ kernel->correlation, kernel->queued, kernel->submitted,
		                         kernel->start, kernel->end, nodes ? kernel->graph_node : 0,
		                         0 });
		break;
	}
	case ABI_CUPTI_KIND_MEMCPY: {
		const struct cupti_memcpy *copy = (const void *)record;
		keep_work((struct work){ copy->correlation, 0, 0, copy->start, copy->end,
		                         nodes ? copy->graph_node : 0, 0 });
		break;
	}
	case ABI_CUPTI_KIND_MEMCPY_PEER: {
		const struct cupti_memcpy_peer *copy = (const void *)record;
		keep_work((struct work){ copy->correlation, 0, 0, copy->start, copy->end,
		                         nodes ? copy->graph_node : 0, 0 });
		break;
	}
	case ABI_CUPTI_KIND_MEMSET: {
		const struct cupti_memset *fill = (const void *)record;
		keep_work((struct work){ fill->correlation, 0, 0, fill->start, fill->end,
		                         nodes ? fill->graph_node : 0, 0 });
		break;
	}
	case ABI_CUPTI_KIND_EXTERNAL_CORRELATION: {
		const struct cupti_external *external = (const void *)record;
		if (external->external_kind == ABI_CUPTI_EXTERNAL_CUSTOM0)
			keep_link(external->correlation, external->external);
		break;
	}
	default:
		break;
	}
}

void cuda_records_begin(const struct cupti_functions *call, uint32_t version)
{
	pthread_mutex_lock(&store.lock);
	store.call = *call;
	store.graph_nodes = version >= ABI_CUPTI_VERSION_GRAPH_NODE;
	store.link_count = store.work_count = store.dropped = 0;
	pthread_mutex_unlock(&store.lock);
}

void cuda_records_completed(cu_context context, uint32_t stream, uint8_t *buffer, size_t bytes,
                            size_t valid_bytes)
{
	(void)context;
	(void)stream;
	(void)bytes;
	pthread_mutex_lock(&store.lock);
	store.dropped += tare_cupti_read(&store.call, buffer, valid_bytes, keep);
	pthread_mutex_unlock(&store.lock);
}

// ---- matching

static int compare_links(const void *a, const void *b)
{
	const struct link *x = a, *y = b;
	return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

static int compare_tickets(const void *a, const void *b)
{
	const struct cuda_traced *x = a, *y = b;
	return (x->ticket > y->ticket) - (x->ticket < y->ticket);
}

static void add(struct cuda_engine_times *times, const struct work *work)
{
	times->records++;
	if (!work->start || !work->end || work->end < work->start) {
		times->timeless = true;
		return;
	}
	if (!times->start || work->start < times->start) {
		// Of the record that began first.
		times->start = work->start;
		times->queued = work->queued;
		times->submitted = work->submitted;
	}
	if (work->end > times->end)
		times->end = work->end;
}

static uint64_t ticket_of(const struct work *work)
{
	const struct link *link = NULL;

	if (store.link_count)
		link = bsearch(&(struct link){ .correlation = work->correlation }, store.links,
		               store.link_count, sizeof *store.links, compare_links);
	return link ? link->ticket : 0;
}

static void match(struct cuda_trace *trace, struct work *work)
{
	struct cuda_traced *traced = NULL;

	work->ticket = ticket_of(work);
	if (work->ticket && trace->count)
		traced = bsearch(&(struct cuda_traced){ .ticket = work->ticket }, trace->at,
		                 trace->count, sizeof *trace->at, compare_tickets);
	if (!traced)
		return;
	add(&traced->times, work);
	struct cuda_engine_times *node =
	    traced->graph ? cuda_graph_node_times(traced->graph, work->graph_node) : NULL;
	if (node)
		add(node, work);
}

static int compare_starts(const void *a, const void *b)
{
	const struct work *x = *(const struct work *const *)a, *y = *(const struct work *const *)b;
	return (x->start > y->start) - (x->start < y->start);
}

static bool nodes_are_matched(const struct cuda_graph *graph)
{
	for (uint32_t i = 0; i < graph->count; i++)
		if (graph->nodes[i].times.records != 1)
			return false;
	return true;
}

// A launch whose records do not tell their nodes, or not all of them: where one node follows the
// other and each has one record, their order tells.
static void match_in_order(const struct cuda_traced *traced)
{
	struct cuda_graph *graph = traced->graph;
	const struct work **works;
	size_t found = 0;

	if (!cuda_graph_in_order(graph) || nodes_are_matched(graph) || traced->times.timeless ||
	    traced->times.records != graph->count)
		return;
	works = calloc(graph->count, sizeof *works);
	for (size_t i = 0; works && i < store.work_count; i++)
		if (store.works[i].ticket == traced->ticket)
			works[found++] = &store.works[i];
	if (works)
		qsort(works, found, sizeof *works, compare_starts);
	for (size_t i = 0; i < found; i++) {
		graph->nodes[i].times = (struct cuda_engine_times){ 0 };
		add(&graph->nodes[i].times, works[i]);
	}
	free(works);
}

void cuda_records_resolve(struct cuda_trace *trace)
{
	size_t dropped = 0;

	pthread_mutex_lock(&store.lock);
	if (store.call.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) == ABI_CUPTI_SUCCESS)
		store.dropped += dropped;
	trace->dropped = store.dropped;
	if (store.link_count)
		qsort(store.links, store.link_count, sizeof *store.links, compare_links);
	for (size_t i = 0; i < store.work_count; i++)
		match(trace, &store.works[i]);
	for (uint32_t i = 0; i < trace->count; i++)
		if (trace->at[i].graph)
			match_in_order(&trace->at[i]);
	free(store.links);
	free(store.works);
	store.links = NULL;
	store.works = NULL;
	store.link_count = store.link_room = store.work_count = store.work_room = 0;
	pthread_mutex_unlock(&store.lock);
}
