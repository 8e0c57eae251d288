// SPDX-License-Identifier: Apache-2.0
// A graph and what is known of its nodes, in the order of appending.
#pragma once
#include "backend/cuda/trace.h"

struct cuda_node {
	cu_event start, end; // recorded by nodes around it at each launch; NULL: not timed
	struct cuda_engine_times times;
};

// CUPTI's number of a node; the ready graph's nodes have others than the recorded one's.
struct cuda_node_id {
	uint64_t id;
	uint32_t node;
};

struct cuda_graph {
	struct tare_graph base;
	cu_graph_exec exec;        // NULL while it is recorded
	struct cuda_queue *origin; // where it is recorded
	struct cuda_queue *joined; // other queues that it has come to by waits
	bool timed;                // nodes have events
	bool recorded;             // nodes that are made from now on are copies of its own
	bool chain;                // recorded on one queue: its nodes follow one another
	uint32_t idle;             // nodes that no engine works for
	struct cuda_node *nodes;
	uint32_t count;
	size_t room;
	struct cuda_node_id *ids;
	uint32_t id_count;
	size_t id_room;
	bool launched;
	struct cuda_epoch *epoch; // of the last launch, if timed
	struct cuda_trace *trace; // of the last launch, if it was traced
	uint32_t traced;          // its place there
};

// Of the node with CUPTI's number; NULL: there is none.
struct cuda_engine_times *cuda_graph_node_times(struct cuda_graph *graph, uint64_t id);
// Whether an engine works once for each node, in the order of appending.
static inline bool cuda_graph_in_order(const struct cuda_graph *graph)
{
	return graph->chain && !graph->idle && graph->count;
}
// Keeps the number of the node that is being appended, or of the copy of another node. CUPTI tells
// of a copy twice: as a new node, and then as a copy.
void cuda_graph_keep_id(struct cuda_graph *graph, uint64_t id);
void cuda_graph_keep_copy(struct cuda_graph *graph, uint64_t id, uint64_t original);
