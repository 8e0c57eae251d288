// SPDX-License-Identifier: Apache-2.0
// The blocks of one function as a graph, by their places in it.
#pragma once
#include "blocks/module/uniform.h"

enum { GRAPH_WORDS = (TARE_BLOCKS_MOST_BLOCKS + 63) / 64 };

struct graph_set {
	uint64_t words[GRAPH_WORDS];
};

struct graph {
	const struct tare_blocks_module *module;
	const struct tare_blocks_function *function;
	struct graph_set *reaches; // the blocks that a way leads to, over an edge at least
	struct graph_set *after;   // those that every way to an end passes, itself among them
};

static inline bool graph_has(const struct graph_set *set, uint32_t block)
{
	return set->words[block / 64] >> block % 64 & 1;
}

static inline void graph_put(struct graph_set *set, uint32_t block)
{
	set->words[block / 64] |= UINT64_C(1) << block % 64;
}

// 0; -ENOTSUP: an edge leads out of the function, or it has too many blocks, or -ENOMEM. To free in
// either case.
int graph_make(const struct tare_blocks_module *module, const struct tare_blocks_function *function,
               struct graph *graph);
void graph_free(struct graph *graph);

// The place that the i-th edge of a block leads to.
static inline uint32_t graph_next(const struct graph *graph, uint32_t block, uint32_t i)
{
	const struct tare_blocks_block *of =
	    &graph->module->blocks[graph->function->first_block + block];

	return graph->module->successors[of->first_successor + i] - graph->function->first_block;
}

static inline uint32_t graph_edges(const struct graph *graph, uint32_t block)
{
	return graph->module->blocks[graph->function->first_block + block].successors;
}

// The first block that every way from this one to an end passes; UINT32_MAX: there is none.
uint32_t graph_join(const struct graph *graph, uint32_t block);
// A group splits as it leaves a block: what it then passes is not uniform, up to where its ways
// meet, which is returned as by graph_join().
uint32_t graph_split(const struct graph *graph, uint32_t block, struct tare_blocks_way *ways);
// The word of the instruction that ends a block; 0: there is none.
size_t graph_end(const struct graph *graph, uint32_t block);

// How likely each block is passed (likely.c).
void graph_likely(const struct graph *graph, struct tare_blocks_way *ways);
