// SPDX-License-Identifier: Apache-2.0
// Counts are sums over edges. Edges that close a cycle (beside a spanning tree, and with an edge
// from each end of the function back to its beginning) can be chosen freely, and each count is a
// sum of them: a vector. Blocks whose vectors are independent get counters; the others' vectors are
// sums of those. All is reckoned modulo the prime 2^61 - 1: counts are smaller, so nothing is lost,
// and divisions leave no remainder.
#include "blocks/plan.h"

#include "blocks/module/calls.h"
#include "blocks/module/uniform.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PRIME ((UINT64_C(1) << 61) - 1)

// In functions with more blocks or edges each block gets a counter: the equations would take too
// long.
enum { MOST_EDGES = 1600, COSTS_NOTHING = 0, COSTS_ROUNDS = 1 };

struct edge {
	uint32_t from, to; // blocks of the function
	bool tree;
	uint32_t free; // number among those that are not in the tree
};

struct solving {
	const struct tare_blocks_module *module;
	const struct tare_blocks_function *function;
	struct tare_blocks_plan *plan;
	const struct tare_blocks_way *ways;
	bool launched;
	struct edge *edges;
	uint32_t edge_count, free_count;
	// Rows of `width` numbers: a block's vector, then how it is made of those of blocks before.
	uint64_t *rows;
	size_t width;
	uint32_t *pivots; // of each row in use: its first column that is not 0
	uint32_t *owner;  // and its block
	uint32_t row_count;
};

// ---- arithmetic modulo the prime

static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t sum = a + b;

	return sum >= PRIME ? sum - PRIME : sum;
}

static uint64_t negative(uint64_t a)
{
	return a ? PRIME - a : 0;
}

// In parts of 32 bits; 2^61 is 1, so 2^64 is 8.
static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
	uint64_t low = a_low * b_low, middle = a_high * b_low + a_low * b_high;
	uint64_t sum = add(low & PRIME, low >> 61);

	sum = add(sum, middle >> 29);
	sum = add(sum, (middle & ((UINT64_C(1) << 29) - 1)) << 32);
	return add(sum, a_high * b_high * 8);
}

// By Fermat's theorem.
static uint64_t inverse(uint64_t a)
{
	uint64_t result = 1;

	for (uint64_t power = PRIME - 2; power; power >>= 1) {
		if (power & 1)
			result = times(result, a);
		a = times(a, a);
	}
	return result;
}

// ---- the graph

static uint32_t root_of(uint32_t *parents, uint32_t block)
{
	while (parents[block] != block)
		block = parents[block] = parents[parents[block]];
	return block;
}

static void add_edge(struct solving *solving, uint32_t *parents, uint32_t from, uint32_t to)
{
	struct edge *edge = &solving->edges[solving->edge_count++];
	uint32_t a = root_of(parents, from), b = root_of(parents, to);

	*edge = (struct edge){ .from = from, .to = to, .tree = a != b };
	parents[a] = b;
	if (!edge->tree)
		edge->free = solving->free_count++;
}

static void add_edges(struct solving *solving, uint32_t *parents)
{
	const struct tare_blocks_module *module = solving->module;
	uint32_t first = solving->function->first_block, count = solving->function->blocks;

	for (uint32_t i = 0; i < count; i++)
		parents[i] = i;
	for (uint32_t i = 0; i < count; i++) {
		const struct tare_blocks_block *block = &module->blocks[first + i];
		if (block->successors == 0)
			add_edge(solving, parents, i, 0);
		for (uint32_t k = 0; k < block->successors; k++) {
			uint32_t to = module->successors[block->first_successor + k];
			if (to >= first && to - first < count)
				add_edge(solving, parents, i, to - first);
		}
	}
}

// ---- counts as sums of free edges

// The other end of a tree's edge at `block`, when `block` has no other that is open; `open` counts.
static bool is_leaf(const struct solving *solving, const bool *done, uint32_t block, uint32_t *edge)
{
	uint32_t open = 0;

	for (uint32_t i = 0; i < solving->edge_count; i++)
		if (solving->edges[i].tree && !done[i] &&
		    (solving->edges[i].from == block || solving->edges[i].to == block)) {
			open++;
			*edge = i;
		}
	return open == 1;
}

// What flows on a tree's edge at a leaf: all that comes in goes out.
static void solve_edge(const struct solving *solving, uint64_t *flows, uint32_t block,
                       uint32_t unknown)
{
	size_t width = solving->free_count;
	uint64_t *sum = flows + unknown * width;
	bool leaves = solving->edges[unknown].from == block;

	for (uint32_t i = 0; i < solving->edge_count; i++) {
		const struct edge *edge = &solving->edges[i];
		if (i == unknown || edge->from == edge->to)
			continue;
		for (size_t k = 0; k < width && (edge->from == block || edge->to == block); k++) {
			uint64_t flow = flows[i * width + k];
			sum[k] = add(sum[k], (edge->to == block) == leaves ? flow : negative(flow));
		}
	}
}

// Fills in every edge's flow as a sum of the free ones.
static void solve_edges(const struct solving *solving, uint64_t *flows, bool *done)
{
	bool more = true;

	for (uint32_t i = 0; i < solving->edge_count; i++)
		if (!solving->edges[i].tree)
			flows[(size_t)i * solving->free_count + solving->edges[i].free] = 1;
	while (more) {
		more = false;
		for (uint32_t block = 0; block < solving->function->blocks; block++) {
			uint32_t edge;
			if (!is_leaf(solving, done, block, &edge))
				continue;
			solve_edge(solving, flows, block, edge);
			done[edge] = true;
			more = true;
		}
	}
}

// ---- choosing

// Takes the rows before off the row, and its share in them off what it is made of. True: something
// is left.
static bool reduce(struct solving *solving, uint64_t *row, uint32_t *pivot)
{
	for (uint32_t i = 0; i < solving->row_count; i++) {
		const uint64_t *other = solving->rows + i * solving->width;
		uint64_t factor = negative(row[solving->pivots[i]]);
		for (size_t k = 0; factor && k < solving->width; k++)
			row[k] = add(row[k], times(factor, other[k]));
	}
	for (*pivot = 0; *pivot < solving->free_count; ++*pivot)
		if (row[*pivot])
			return true;
	return false;
}

static bool add_term(struct tare_blocks_plan *plan, uint32_t counter, uint64_t factor)
{
	if (plan->term_count == plan->term_room) {
		size_t room = plan->term_room ? 2 * plan->term_room : 64;
		struct tare_blocks_term *terms = realloc(plan->terms, room * sizeof *terms);
		if (!terms)
			return false;
		plan->terms = terms;
		plan->term_room = room;
	}
	plan->terms[plan->term_count++] = (struct tare_blocks_term){ counter, factor };
	return true;
}

// A block whose vector is in the rows already: `row` then says how it and those make zero.
static bool derive(struct solving *solving, const uint64_t *row)
{
	for (uint32_t i = 0; i < solving->row_count; i++) {
		uint64_t factor = negative(row[solving->free_count + i]);
		uint32_t block = solving->function->first_block + solving->owner[i];
		if (factor && !add_term(solving->plan, solving->plan->counters[block], factor))
			return false;
	}
	return true;
}

static struct tare_blocks_counter kept_by(const struct solving *solving, uint32_t block)
{
	const struct tare_blocks_way *way = &solving->ways[block];

	if (solving->launched && (block == 0 || way->uniform))
		return (struct tare_blocks_counter){ .keeper = TARE_BLOCKS_KEPT_BY_GROUP };
	if (block == 0 && tare_blocks_is_told_by_calls(solving->module, solving->function))
		return (struct tare_blocks_counter){ .keeper = TARE_BLOCKS_KEPT_BY_CALLS };
	return (struct tare_blocks_counter){
		.keeper = TARE_BLOCKS_KEPT_BY_EACH,
		.expected = solving->launched && !way->repeats && way->likely > 500,
	};
}

static void take(struct solving *solving, uint64_t *row, uint32_t pivot, uint32_t block)
{
	uint64_t scale = inverse(row[pivot]);

	row[solving->free_count + solving->row_count] = 1;
	for (size_t k = 0; k < solving->width; k++)
		row[k] = times(row[k], scale);
	solving->pivots[solving->row_count] = pivot;
	solving->owner[solving->row_count++] = block;
	solving->plan->kept[solving->plan->counter_count] = kept_by(solving, block);
	solving->plan->counters[solving->function->first_block + block] =
	    solving->plan->counter_count++;
}

// How often, in thousandths, a work-item is guessed to add to a block's counter.
static uint32_t cost(const struct solving *solving, uint32_t block)
{
	const struct tare_blocks_way *way = &solving->ways[block];

	if (block == 0 || way->uniform)
		return COSTS_NOTHING;
	return COSTS_ROUNDS + (way->repeats         ? way->likely + 1
	                       : way->likely <= 500 ? way->likely
	                                            : 1000 - way->likely);
}

// The vector of a block, made of the rows so far. True: it is not a sum of them.
static bool work_out(struct solving *solving, const uint64_t *flows, uint32_t block,
                     uint32_t *pivot)
{
	uint64_t *row = solving->rows + solving->row_count * solving->width;
	size_t width = solving->free_count;

	memset(row, 0, solving->width * sizeof *row);
	for (uint32_t i = 0; i < solving->edge_count; i++)
		for (size_t k = 0; solving->edges[i].to == block && k < width; k++)
			row[k] = add(row[k], flows[i * width + k]);
	return reduce(solving, row, pivot);
}

// The blocks whose counting costs least get the counters; the first block comes before all.
static void choose(struct solving *solving, const uint64_t *flows, uint32_t *order)
{
	uint32_t blocks = solving->function->blocks, pivot;

	for (uint32_t i = 0; i < blocks; i++) {
		uint32_t at = i;
		for (; at > 0 && cost(solving, order[at - 1]) > cost(solving, i); at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	for (uint32_t i = 0; i < blocks; i++)
		if (work_out(solving, flows, order[i], &pivot))
			take(solving, solving->rows + solving->row_count * solving->width, pivot,
			     order[i]);
}

static bool derive_rest(struct solving *solving, const uint64_t *flows)
{
	struct tare_blocks_plan *plan = solving->plan;

	for (uint32_t block = 0; block < solving->function->blocks; block++) {
		uint32_t place = solving->function->first_block + block, pivot;
		plan->first[place] = plan->term_count;
		if (plan->counters[place] != TARE_BLOCKS_DERIVED)
			continue;
		work_out(solving, flows, block, &pivot);
		if (!derive(solving, solving->rows + solving->row_count * solving->width))
			return false;
	}
	return true;
}

// ---- functions

// At most: one to each successor, and one from each end.
static uint32_t edges_of(const struct tare_blocks_module *module,
                         const struct tare_blocks_function *function)
{
	uint32_t edges = function->blocks;

	for (uint32_t i = 0; i < function->blocks; i++)
		edges += module->blocks[function->first_block + i].successors;
	return edges;
}

static bool solve_with(struct solving *solving)
{
	uint32_t blocks = solving->function->blocks;
	uint32_t most = edges_of(solving->module, solving->function);

	uint32_t *parents = calloc(blocks, sizeof *parents);
	solving->edges = calloc(most, sizeof *solving->edges);
	if (parents && solving->edges)
		add_edges(solving, parents);
	// One row more than can be taken, to work in.
	solving->width = (size_t)solving->free_count + blocks + 1;
	solving->rows = calloc((blocks + 1) * solving->width, sizeof *solving->rows);
	solving->pivots = calloc(blocks, sizeof *solving->pivots);
	solving->owner = calloc(blocks, sizeof *solving->owner);
	uint64_t *flows = calloc((size_t)most * (solving->free_count + 1), sizeof *flows);
	bool *done = calloc(most, sizeof *done);
	uint32_t *order = calloc(blocks, sizeof *order);
	bool well = parents && solving->edges && solving->rows && solving->pivots &&
	            solving->owner && flows && done && order;
	if (well) {
		solve_edges(solving, flows, done);
		choose(solving, flows, order);
		well = derive_rest(solving, flows);
	}
	free(parents);
	free(solving->edges);
	free(solving->rows);
	free(solving->pivots);
	free(solving->owner);
	free(flows);
	free(done);
	free(order);
	return well;
}

static bool solve(const struct tare_blocks_module *module,
                  const struct tare_blocks_function *function, struct tare_blocks_plan *plan)
{
	struct tare_blocks_way *ways = calloc(function->blocks, sizeof *ways);
	struct solving solving = { .module = module,
		                   .function = function,
		                   .plan = plan,
		                   .ways = ways,
		                   .launched = tare_blocks_is_launched(module, function) };
	bool well = ways && tare_blocks_ways(module, function, solving.launched, ways) &&
	            solve_with(&solving);

	free(ways);
	return well;
}

static void count_all(const struct tare_blocks_module *module,
                      const struct tare_blocks_function *function, struct tare_blocks_plan *plan)
{
	for (uint32_t i = 0; i < function->blocks; i++) {
		bool group = i == 0 && tare_blocks_is_launched(module, function);
		plan->first[function->first_block + i] = plan->term_count;
		plan->kept[plan->counter_count].keeper =
		    group ? TARE_BLOCKS_KEPT_BY_GROUP : TARE_BLOCKS_KEPT_BY_EACH;
		plan->counters[function->first_block + i] = plan->counter_count++;
	}
}

static bool make_function(const struct tare_blocks_module *module,
                          const struct tare_blocks_function *function,
                          struct tare_blocks_plan *plan)
{
	if (function->counted && function->blocks && function->blocks <= TARE_BLOCKS_MOST_BLOCKS &&
	    edges_of(module, function) <= MOST_EDGES)
		return solve(module, function, plan);
	if (function->counted)
		count_all(module, function, plan);
	else
		for (uint32_t k = 0; k < function->blocks; k++)
			plan->first[function->first_block + k] = plan->term_count;
	return true;
}

int tare_blocks_plan_make(const struct tare_blocks_module *module, struct tare_blocks_plan *plan,
                          struct tare_error *error)
{
	*plan = (struct tare_blocks_plan){ .terms = NULL };
	plan->counters = calloc((size_t)module->block_count + 1, sizeof *plan->counters);
	plan->kept = calloc((size_t)module->block_count + 1, sizeof *plan->kept);
	plan->first = calloc((size_t)module->block_count + 1, sizeof *plan->first);
	bool well = plan->counters && plan->kept && plan->first;
	for (uint32_t i = 0; well && i < module->block_count; i++)
		plan->counters[i] = TARE_BLOCKS_DERIVED;
	for (uint32_t i = 0; well && i < module->function_count; i++)
		well = make_function(module, &module->functions[i], plan);
	if (!well)
		return tare_fail(error, ENOMEM, "out of memory");
	plan->first[module->block_count] = plan->term_count;
	return 0;
}

void tare_blocks_plan_free(struct tare_blocks_plan *plan)
{
	free(plan->counters);
	free(plan->kept);
	free(plan->terms);
	free(plan->first);
	*plan = (struct tare_blocks_plan){ .terms = NULL };
}

// ---- counts

// The calls of functions that are told by them, as a sum runs through a block.
struct calling {
	const struct tare_blocks_module *module;
	const struct tare_blocks_plan *plan;
	uint64_t *sums; // of each counter
	uint64_t executions;
};

static void add_call(void *context, size_t at, uint32_t file, uint32_t line)
{
	const struct calling *calling = context;
	const struct spirv_words *words = &calling->module->words;

	(void)file;
	(void)line;
	if (spirv_op(words, at) != SPIRV_CALL)
		return;
	const struct tare_blocks_function *to =
	    tare_blocks_function_of(calling->module, words->words[at + 3]);
	if (!to)
		return;
	uint32_t counter = calling->plan->counters[to->first_block];
	if (counter != TARE_BLOCKS_DERIVED &&
	    calling->plan->kept[counter].keeper == TARE_BLOCKS_KEPT_BY_CALLS)
		calling->sums[counter] = add(calling->sums[counter], calling->executions);
}

// Takes the sums of calls over. True: one of them is new.
static bool take_over(const struct tare_blocks_plan *plan, const uint64_t *sums, uint64_t *values)
{
	bool more = false;

	for (uint32_t i = 0; i < plan->counter_count; i++) {
		if (plan->kept[i].keeper != TARE_BLOCKS_KEPT_BY_CALLS)
			continue;
		more |= values[i] != sums[i];
		values[i] = sums[i];
	}
	return more;
}

int tare_blocks_plan_complete(const struct tare_blocks_plan *plan,
                              const struct tare_blocks_module *module, uint64_t *values)
{
	struct calling calling = { .module = module, .plan = plan };
	bool more = false;

	for (uint32_t i = 0; i < plan->counter_count; i++)
		more |= plan->kept[i].keeper == TARE_BLOCKS_KEPT_BY_CALLS;
	calling.sums = calloc((size_t)plan->counter_count + 1, sizeof *calling.sums);
	if (!calling.sums)
		return -ENOMEM;
	// Each round tells the calls of functions that lie one call deeper.
	for (uint32_t round = 0; more && round <= module->function_count; round++) {
		memset(calling.sums, 0, plan->counter_count * sizeof *calling.sums);
		for (uint32_t i = 0; i < module->block_count; i++) {
			calling.executions = tare_blocks_plan_count(plan, i, values);
			if (calling.executions)
				tare_blocks_each(module, i, add_call, &calling);
		}
		more = take_over(plan, calling.sums, values);
	}
	free(calling.sums);
	return 0;
}

uint64_t tare_blocks_plan_count(const struct tare_blocks_plan *plan, uint32_t block,
                                const uint64_t *values)
{
	uint64_t sum = 0;

	if (plan->counters[block] != TARE_BLOCKS_DERIVED)
		return values[plan->counters[block]];
	for (size_t i = plan->first[block]; i < plan->first[block + 1]; i++)
		sum =
		    add(sum, times(plan->terms[i].factor, values[plan->terms[i].counter] % PRIME));
	return sum;
}
