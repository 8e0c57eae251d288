// SPDX-License-Identifier: Apache-2.0
// Which of a graph's nodes CUPTI speaks of, by the numbers that it gives them.
#include "backend/cuda/graph.h"

#include <stdlib.h>

static void keep(struct cuda_graph *graph, uint64_t id, uint32_t node)
{
	if (graph->id_count == graph->id_capacity) {
		uint32_t wanted = graph->id_capacity ? 2 * graph->id_capacity : 64;
		struct cuda_node_id *grown = realloc(graph->ids, wanted * sizeof *grown);
		if (!grown)
			return; // its stamps are absent
		graph->ids = grown;
		graph->id_capacity = wanted;
	}
	graph->ids[graph->id_count++] = (struct cuda_node_id){ id, node };
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
