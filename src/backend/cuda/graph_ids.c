// SPDX-License-Identifier: Apache-2.0
// Which of a graph's nodes CUPTI speaks of, by the numbers that it gives them.
#include "backend/cuda/graph.h"
#include "base/room.h"

static void keep(struct cuda_graph *graph, uint64_t id, uint32_t node)
{
	struct cuda_node_id *added = TARE_ROOM_FOR(graph->ids, graph->id_room, graph->id_count);

	if (!added)
		return; // its stamps are absent
	*added = (struct cuda_node_id){ id, node };
	graph->id_count++;
}

void cuda_graph_keep_id(struct cuda_graph *graph, uint64_t id)
{
	if (graph->count && !graph->recorded)
		keep(graph, id, graph->count - 1);
}

static const struct cuda_node_id *find_id(const struct cuda_graph *graph, uint64_t id)
{
	for (uint32_t i = 0; i < graph->id_count; i++)
		if (graph->ids[i].id == id)
			return &graph->ids[i];
	return NULL;
}

void cuda_graph_keep_copy(struct cuda_graph *graph, uint64_t id, uint64_t original)
{
	const struct cuda_node_id *found = find_id(graph, original);

	if (found)
		keep(graph, id, found->node);
}

struct cuda_engine_times *cuda_graph_node_times(struct cuda_graph *graph, uint64_t id)
{
	const struct cuda_node_id *found = id ? find_id(graph, id) : NULL;
	return found ? &graph->nodes[found->node].times : NULL;
}
