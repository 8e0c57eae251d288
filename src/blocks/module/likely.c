// SPDX-License-Identifier: Apache-2.0
// Guesses at branches, by what compilers take for likely (Ball and Larus, Branch prediction for
// free, PLDI 1993): numbers are seldom equal, loops go on, and what returns at once is the
// exception. Counts never hang on them, only what counting costs.
#include "blocks/module/graph.h"

enum {
	LOGICAL_OR = 166,
	LOGICAL_AND = 167,
	LOGICAL_NOT = 168,
	I_EQUAL = 170,
	I_NOT_EQUAL = 171,
	F_EQUAL = 180,
	BRANCH_CONDITIONAL = 250,
	RETURN = 253,
	RETURN_VALUE = 254,
	EVEN = 500,
	SELDOM = 250,
	ALL = 1000,
	SHORT = 3, // instructions of a block that does little more than return
	DEEPEST = 4,
};

// The word that defines an id in the function; 0: none.
static size_t definition(const struct graph *graph, uint32_t id)
{
	const struct spirv_words *words = &graph->module->words;
	size_t at = graph->module->blocks[graph->function->first_block].at;

	for (; at < words->count && spirv_op(words, at) != SPIRV_FUNCTION_END;
	     at += spirv_length(words, at))
		if (spirv_length(words, at) > 3 && words->words[at + 2] == id &&
		    id < words->bound && graph->module->types[id])
			return at;
	return 0;
}

// How likely a condition holds.
static uint32_t holds(const struct graph *graph, uint32_t id, int depth)
{
	const struct spirv_words *words = &graph->module->words;
	size_t at = definition(graph, id);
	uint32_t op = at ? spirv_op(words, at) : 0;

	if (op == I_EQUAL || op == F_EQUAL)
		return SELDOM;
	if (op == I_NOT_EQUAL)
		return ALL - SELDOM;
	if (depth == DEEPEST)
		return EVEN;
	if (op == LOGICAL_NOT)
		return ALL - holds(graph, words->words[at + 3], depth + 1);
	if ((op != LOGICAL_OR && op != LOGICAL_AND) || spirv_length(words, at) < 5)
		return EVEN;
	uint32_t first = holds(graph, words->words[at + 3], depth + 1),
	         second = holds(graph, words->words[at + 4], depth + 1);
	// Those that say the same of two conditions seldom say another of both.
	return op == LOGICAL_OR ? (first > second ? first : second)
	                        : (first < second ? first : second);
}

static bool returns_at_once(const struct graph *graph, uint32_t block)
{
	const struct tare_blocks_block *of =
	    &graph->module->blocks[graph->function->first_block + block];
	size_t end = graph_end(graph, block);
	uint32_t op = end ? spirv_op(&graph->module->words, end) : 0;

	if (!tare_blocks_has_words(graph->module))
		op = graph_edges(graph, block) ? 0 : RETURN;
	return (op == RETURN || op == RETURN_VALUE) &&
	       tare_blocks_instructions(&of->tally) <= SHORT;
}

static bool leaves(const struct graph *graph, uint32_t from, uint32_t to)
{
	return graph_has(&graph->reaches[from], from) && to != from &&
	       !graph_has(&graph->reaches[to], from);
}

// How likely a block's i-th edge is taken once the block is passed.
static uint32_t taken(const struct graph *graph, uint32_t block, uint32_t i)
{
	uint32_t edges = graph_edges(graph, block), next = graph_next(graph, block, i);
	size_t end = graph_end(graph, block);

	// A loop is left in the end.
	if (edges == 1 || leaves(graph, block, next))
		return ALL;
	if (edges != 2 || (tare_blocks_has_words(graph->module) &&
	                   (!end || spirv_op(&graph->module->words, end) != BRANCH_CONDITIONAL)))
		return ALL / edges;
	uint32_t other = graph_next(graph, block, 1 - i);
	if (leaves(graph, block, other))
		return ALL - SELDOM / 2;
	if (returns_at_once(graph, next) != returns_at_once(graph, other))
		return returns_at_once(graph, next) ? SELDOM : ALL - SELDOM;
	if (!end)
		return EVEN;
	uint32_t yes = holds(graph, graph->module->words.words[end + 1], 0);
	return i == 0 ? yes : ALL - yes;
}

// Probabilities flow from the beginning, in the order that compilers write blocks in: what leads
// back brings nothing new.
void graph_likely(const struct graph *graph, struct tare_blocks_way *ways)
{
	uint32_t blocks = graph->function->blocks;

	for (uint32_t i = 0; i < blocks; i++)
		ways[i].likely = i == 0 ? ALL : 0;
	for (uint32_t i = 0; i < blocks; i++) {
		if (ways[i].likely == 0)
			ways[i].likely = EVEN;
		for (uint32_t k = 0; k < graph_edges(graph, i); k++) {
			uint32_t next = graph_next(graph, i, k);
			if (next <= i)
				continue;
			uint32_t sum =
			    ways[next].likely + ways[i].likely * taken(graph, i, k) / ALL;
			ways[next].likely = sum < ALL ? sum : ALL;
		}
	}
}
