// SPDX-License-Identifier: Apache-2.0
// A recorded graph: graph.c records and launches, graph_lists.c makes and ends its lists.
#pragma once
#include "backend/levelzero/work.h"

// What is recorded for one engine.
struct levelzero_track {
	struct levelzero_engine engine;
	ze_command_list_handle_t body;
	ze_command_queue_handle_t native;
	struct levelzero_slot *start, *end; // NULL for the first track
	bool unordered;
};

struct levelzero_node {
	struct levelzero_slot *slot; // NULL: it signals nothing
	const char *unstamped;
};

struct levelzero_graph {
	struct tare_graph base;
	uint64_t number;
	const struct levelzero_queue *origin; // NULL once it is recorded
	bool timed;
	struct levelzero_track *tracks;
	uint32_t track_count;
	struct levelzero_node *nodes;
	uint32_t count;
	size_t room;
	ze_command_list_handle_t head;         // executed before the first track's body
	struct levelzero_slot *before, *after; // the launching queue's; see graph_lists.c
	bool launched, done;                   // done: the last launch is known to be
	bool broken;                           // a launch failed half way
	uint64_t queue, serial;                // of the last launch
};

// The graph's track on that engine; begun where it has none.
int levelzero_track_of(struct levelzero_graph *graph, const struct levelzero_engine *engine,
                       struct levelzero_track **track, struct tare_error *error);
// Ends and closes every list, and makes the queues to execute them.
int levelzero_graph_close_lists(struct levelzero_graph *graph, struct tare_error *error);
// Gives back lists, queues and events; nothing of it is in use.
void levelzero_graph_free_lists(struct levelzero_graph *graph);
