// SPDX-License-Identifier: Apache-2.0
#include "blocks/module/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_END = 249, BEHIND_ENDS = 256 };

static bool is_closed(const struct graph *graph)
{
	for (uint32_t i = 0; i < graph->function->blocks; i++)
		for (uint32_t k = 0; k < graph_edges(graph, i); k++)
			if (graph_next(graph, i, k) >= graph->function->blocks)
				return false;
	return true;
}

static bool reach_more(struct graph *graph, uint32_t block)
{
	struct graph_set set = graph->reaches[block];

	for (uint32_t k = 0; k < graph_edges(graph, block); k++) {
		uint32_t next = graph_next(graph, block, k);
		graph_put(&set, next);
		for (int i = 0; i < GRAPH_WORDS; i++)
			set.words[i] |= graph->reaches[next].words[i];
	}
	if (memcmp(&set, &graph->reaches[block], sizeof set) == 0)
		return false;
	graph->reaches[block] = set;
	return true;
}

static bool pass_less(struct graph *graph, uint32_t block)
{
	struct graph_set set = { .words = { 0 } };

	if (graph_edges(graph, block))
		memset(&set, 0xff, sizeof set);
	for (uint32_t k = 0; k < graph_edges(graph, block); k++)
		for (int i = 0; i < GRAPH_WORDS; i++)
			set.words[i] &= graph->after[graph_next(graph, block, k)].words[i];
	graph_put(&set, block);
	if (memcmp(&set, &graph->after[block], sizeof set) == 0)
		return false;
	graph->after[block] = set;
	return true;
}

int graph_make(const struct tare_blocks_module *module, const struct tare_blocks_function *function,
               struct graph *graph)
{
	uint32_t blocks = function->blocks;

	*graph = (struct graph){ .module = module, .function = function };
	if (blocks == 0 || blocks > TARE_BLOCKS_MOST_BLOCKS || !is_closed(graph))
		return -ENOTSUP;
	graph->reaches = calloc(blocks, sizeof *graph->reaches);
	graph->after = calloc(blocks, sizeof *graph->after);
	if (!graph->reaches || !graph->after)
		return -ENOMEM;
	memset(graph->after, 0xff, blocks * sizeof *graph->after);
	for (bool more = true; more;) {
		more = false;
		for (uint32_t i = blocks; i-- > 0;) {
			bool reached = reach_more(graph, i), fewer = pass_less(graph, i);
			more = more || reached || fewer;
		}
	}
	return 0;
}

void graph_free(struct graph *graph)
{
	free(graph->reaches);
	free(graph->after);
	*graph = (struct graph){ .module = NULL };
}

static uint32_t count(const struct graph_set *set, uint32_t blocks)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < blocks; i++)
		count += graph_has(set, i);
	return count;
}

// Of those that every way passes, the first one is followed by all others.
uint32_t graph_join(const struct graph *graph, uint32_t block)
{
	uint32_t join = UINT32_MAX, most = 0, blocks = graph->function->blocks;
	bool ends = false;

	// From where no end is reached, ways need not meet.
	for (uint32_t i = 0; i < blocks; i++)
		ends |= graph_edges(graph, i) == 0 && graph_has(&graph->reaches[block], i);
	for (uint32_t i = 0; ends && i < blocks; i++) {
		if (i == block || !graph_has(&graph->after[block], i))
			continue;
		uint32_t followers = count(&graph->after[i], blocks);
		if (followers > most) {
			most = followers;
			join = i;
		}
	}
	return join;
}

size_t graph_end(const struct graph *graph, uint32_t block)
{
	const struct spirv_words *words = &graph->module->words;
	size_t at = graph->module->blocks[graph->function->first_block + block].at;

	if (!tare_blocks_has_words(graph->module))
		return 0;
	for (at += spirv_length(words, at); at < words->count; at += spirv_length(words, at)) {
		uint32_t op = spirv_op(words, at);
		if (op >= FIRST_END && op < BEHIND_ENDS)
			return at;
		if (op == SPIRV_LABEL || op == SPIRV_FUNCTION_END)
			break;
	}
	return 0;
}

uint32_t graph_split(const struct graph *graph, uint32_t block, struct tare_blocks_way *ways)
{
	uint32_t join = graph_join(graph, block), blocks = graph->function->blocks;
	uint32_t stack[TARE_BLOCKS_MOST_BLOCKS + 1], depth = 0;
	struct graph_set seen = { .words = { 0 } };

	if (join < blocks)
		graph_put(&seen, join);
	stack[depth++] = block;
	while (depth) {
		uint32_t at = stack[--depth];
		for (uint32_t i = 0; i < graph_edges(graph, at); i++) {
			uint32_t next = graph_next(graph, at, i);
			if (graph_has(&seen, next))
				continue;
			graph_put(&seen, next);
			ways[next].uniform = false;
			stack[depth++] = next;
		}
	}
	return join;
}
