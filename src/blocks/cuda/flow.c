// SPDX-License-Identifier: Apache-2.0
#include "blocks/cuda/flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t block_at(const struct tare_sampled_kernel *kernel, int64_t pc)
{
	for (uint32_t i = 0; i < kernel->split.count; i++)
		if ((int64_t)kernel->blocks[i].first * TARE_SASS_BYTES == pc)
			return i;
	return TARE_FLOW_NOWHERE;
}

static enum tare_flow_kind kind_of(const struct tare_sass *last)
{
	if (last->indirect)
		return TARE_FLOW_UNKNOWN;
	switch (last->opcode) {
	case TARE_SASS_BSYNC:
		return TARE_FLOW_MEETS;
	case TARE_SASS_CALL:
	case TARE_SASS_CALL_ABSOLUTE:
		return TARE_FLOW_CALLS;
	case TARE_SASS_RET:
		return TARE_FLOW_RETURNS;
	default:
		break;
	}
	if (!last->leaves)
		return TARE_FLOW_ON;
	if (last->has_target)
		return last->goes_on ? TARE_FLOW_CHOICE : TARE_FLOW_JUMP;
	return last->goes_on ? TARE_FLOW_ENDS_SOME : TARE_FLOW_ENDS;
}

static struct tare_sass_way way_of(const struct tare_sampled_kernel *kernel, uint32_t block)
{
	const struct tare_sampled_block *from = &kernel->blocks[block];
	struct tare_sass last = tare_sampled_sass(kernel, from->first + from->count - 1);
	bool branches = last.leaves && last.has_target;
	struct tare_sass_way way = {
		.kind = kind_of(&last),
		.conditional = last.conditional,
		.to = { branches ? block_at(kernel, last.target) : TARE_FLOW_NOWHERE,
		        TARE_FLOW_NOWHERE },
	};

	way.ends = branches ? way.to[0] == TARE_FLOW_NOWHERE : last.leaves && !last.goes_on;
	// An exit under a condition ends some warps.
	way.ends |= last.leaves && !branches && last.conditional;
	if (last.goes_on && block + 1 < kernel->split.count)
		way.to[1] = block + 1;
	return way;
}

int tare_flow_make(const struct tare_sampled_kernel *kernel, struct tare_sass_flow *flow)
{
	uint32_t count = kernel->split.count;

	*flow = (struct tare_sass_flow){ 0 };
	if (count > TARE_FLOW_MOST_BLOCKS)
		return 0;
	flow->ways = calloc((size_t)count + 1, sizeof *flow->ways);
	flow->stack = calloc((size_t)count + 1, sizeof *flow->stack);
	flow->seen = calloc((size_t)count + 1, sizeof *flow->seen);
	if (!flow->ways || !flow->stack || !flow->seen)
		return -ENOMEM;
	for (; flow->count < count; flow->count++)
		flow->ways[flow->count] = way_of(kernel, flow->count);
	return 0;
}

void tare_flow_free(struct tare_sass_flow *flow)
{
	free(flow->ways);
	free(flow->stack);
	free(flow->seen);
}

bool tare_flow_reach(const struct tare_sass_flow *flow, uint32_t from, uint32_t without)
{
	uint32_t depth = 0;
	bool ends = false;

	memset(flow->seen, 0, flow->count * sizeof *flow->seen);
	if (from == without || from == TARE_FLOW_NOWHERE)
		return false;
	flow->seen[from] = true;
	flow->stack[depth++] = from;
	while (depth) {
		const struct tare_sass_way *way = &flow->ways[flow->stack[--depth]];
		ends |= way->ends;
		for (int i = 0; i < 2; i++) {
			uint32_t to = way->to[i];
			if (to == TARE_FLOW_NOWHERE || to == without || flow->seen[to])
				continue;
			flow->seen[to] = true;
			flow->stack[depth++] = to;
		}
	}
	return ends;
}

bool tare_flow_parts(const struct tare_sass_flow *flow, uint32_t block)
{
	tare_flow_reach(flow, 0, block);
	for (uint32_t i = 0; i < flow->count; i++) {
		const struct tare_sass_way *way = &flow->ways[i];
		bool outside = way->to[0] == TARE_FLOW_NOWHERE;
		bool parts = way->kind == TARE_FLOW_CHOICE || way->kind == TARE_FLOW_UNKNOWN ||
		             (way->kind == TARE_FLOW_CALLS && (way->conditional || outside)) ||
		             (way->kind == TARE_FLOW_RETURNS && way->to[1] != TARE_FLOW_NOWHERE);
		if (flow->seen[i] && parts)
			return true;
	}
	return false;
}

bool tare_flow_is_once(const struct tare_sass_flow *flow, uint32_t block)
{
	if (tare_flow_reach(flow, 0, block))
		return false;
	for (int i = 0; i < 2; i++) {
		tare_flow_reach(flow, flow->ways[block].to[i], TARE_FLOW_NOWHERE);
		if (flow->seen[block])
			return false;
	}
	tare_flow_reach(flow, 0, TARE_FLOW_NOWHERE);
	return flow->seen[block];
}
