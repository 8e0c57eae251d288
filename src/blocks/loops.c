// SPDX-License-Identifier: Apache-2.0
// Loops of a kernel, and how often their bodies turn: a block to which a way leads back that
// passes through it always.
#include "blocks/profile.h"

#include <stdlib.h>
#include <string.h>

// Of one function; blocks by their place in it.
struct loop_graph {
	const struct tare_blocks_module *module;
	const struct tare_blocks_function *function;
	bool *seen; // by reaches()
	uint32_t *stack;
};

// A block of the same function, or UINT32_MAX.
static uint32_t successor(const struct loop_graph *graph, uint32_t block, uint32_t i)
{
	const struct tare_blocks_module *module = graph->module;
	uint32_t to = module->successors[module->blocks[block].first_successor + i];
	uint32_t first = graph->function->first_block;

	return to >= first && to - first < graph->function->blocks ? to : UINT32_MAX;
}

// Whether a way leads from the function's beginning to `to` without `avoided`.
static bool reaches_without(struct loop_graph *graph, uint32_t to, uint32_t avoided)
{
	uint32_t first = graph->function->first_block, depth = 0;

	if (first == avoided)
		return false;
	memset(graph->seen, 0, graph->function->blocks * sizeof *graph->seen);
	graph->stack[depth++] = first;
	graph->seen[0] = true;
	while (depth) {
		uint32_t block = graph->stack[--depth];
		if (block == to)
			return true;
		for (uint32_t i = 0; i < graph->module->blocks[block].successors; i++) {
			uint32_t next = successor(graph, block, i);
			if (next == UINT32_MAX || next == avoided || graph->seen[next - first])
				continue;
			graph->seen[next - first] = true;
			graph->stack[depth++] = next;
		}
	}
	return false;
}

// Fills in a loop with its header at `header`. False: there is none.
static bool find_loop(struct loop_graph *graph, const uint64_t *executions, uint32_t header,
                      struct tare_blocks_loop *loop)
{
	uint32_t first = graph->function->first_block, end = first + graph->function->blocks;
	bool back = false;

	*loop = (struct tare_blocks_loop){ .header = header,
		                           .turns = executions[header],
		                           .known = header != first };
	for (uint32_t i = first; i < end; i++) {
		const struct tare_blocks_block *block = &graph->module->blocks[i];
		for (uint32_t k = 0; k < block->successors; k++) {
			if (successor(graph, i, k) != header)
				continue;
			if (!reaches_without(graph, i, header)) {
				back = true;
			} else if (block->successors == 1) {
				loop->entries += executions[i];
			} else if (executions[i]) {
				// How often it went this way was not counted.
				loop->known = false;
			}
		}
	}
	loop->known &= loop->entries != 0;
	return back && executions[header];
}

struct tare_blocks_loop *tare_blocks_loops(const struct tare_blocks_kernel *kernel, size_t *count)
{
	const struct tare_blocks_module *module = &kernel->build->module;
	struct tare_blocks_loop *loops = calloc(module->block_count + 1, sizeof *loops);
	struct loop_graph graph = { .module = module,
		                    .seen = calloc(module->block_count + 1, sizeof *graph.seen),
		                    .stack = calloc(module->block_count + 1, sizeof *graph.stack) };

	*count = 0;
	for (uint32_t i = 0; loops && graph.seen && graph.stack && i < module->function_count;
	     i++) {
		graph.function = &module->functions[i];
		for (uint32_t k = 0; graph.function->counted && k < graph.function->blocks; k++)
			*count += find_loop(&graph, kernel->executions,
			                    graph.function->first_block + k, &loops[*count]);
	}
	free(graph.seen);
	free(graph.stack);
	return loops;
}
