// SPDX-License-Identifier: Apache-2.0
// How often blocks of a kernel were executed: from how many instructions its warps executed, which
// the hardware counts, and which of them were met while they issued.
//
// Of J instructions a block of n was met R of T times beside its first instruction, which is booked
// elsewhere: it was executed J × R / T / (n - 1) times. But the sampler picks one of the warps that
// are there, so an issue beside few others is met more often: those of a warp's beginning and end
// by up to 2.3 times (H100). Blocks that each warp executes once are therefore left out of J and T:
// of these the count is known. What else is in unlike company is unknown: the interval takes it
// that other instructions were met up to 2.5 times too often or too seldom, whichever is worse.
#include "blocks/cuda/samples.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_ISSUES = 100, MOST_BLOCKS = 8192, NOWHERE = UINT32_MAX };
static const double interval = 1.96; // standard deviations of 95 %
static const double company = 2.5;

// ---- blocks that each warp executes once

// Where a block leads; `ends`: out of the kernel.
struct way {
	uint32_t to[2];
	bool ends;
};
struct flow {
	struct way *ways;
	uint32_t *stack;
	bool *seen;
	uint32_t count;
};

static uint32_t block_at(const struct tare_sampled_kernel *kernel, int64_t pc)
{
	for (uint32_t i = 0; i < kernel->split.count; i++)
		if ((int64_t)kernel->blocks[i].first * TARE_SASS_BYTES == pc)
			return i;
	return NOWHERE;
}

static struct way way_of(const struct tare_sampled_kernel *kernel, uint32_t block)
{
	const struct tare_sampled_block *from = &kernel->blocks[block];
	uint64_t pc = (uint64_t)(from->first + from->count - 1) * TARE_SASS_BYTES;
	struct tare_sass last = tare_sass_read(kernel->function->code + pc, kernel->cubin->sm, pc);
	bool branches = last.leaves && last.has_target;
	struct way way = { .to = { branches ? block_at(kernel, last.target) : NOWHERE, NOWHERE } };

	way.ends = branches ? way.to[0] == NOWHERE : last.leaves && !last.goes_on;
	// An exit under a condition ends some warps.
	way.ends |= last.leaves && !branches && last.conditional;
	if (last.goes_on && block + 1 < kernel->split.count)
		way.to[1] = block + 1;
	return way;
}

// Marks the blocks that can be reached from `from`, itself included, by none of `without`. Returns
// whether one of them leads out.
static bool reach(const struct flow *flow, uint32_t from, uint32_t without)
{
	uint32_t depth = 0;
	bool ends = false;

	memset(flow->seen, 0, flow->count * sizeof *flow->seen);
	if (from == without || from == NOWHERE)
		return false;
	flow->seen[from] = true;
	flow->stack[depth++] = from;
	while (depth) {
		const struct way *way = &flow->ways[flow->stack[--depth]];
		ends |= way->ends;
		for (int i = 0; i < 2; i++) {
			uint32_t to = way->to[i];
			if (to == NOWHERE || to == without || flow->seen[to])
				continue;
			flow->seen[to] = true;
			flow->stack[depth++] = to;
		}
	}
	return ends;
}

static bool is_once(const struct flow *flow, uint32_t block)
{
	if (reach(flow, 0, block))
		return false;
	for (int i = 0; i < 2; i++) {
		reach(flow, flow->ways[block].to[i], NOWHERE);
		if (flow->seen[block])
			return false;
	}
	reach(flow, 0, NOWHERE);
	return flow->seen[block];
}

// Every way from the kernel's beginning to an end goes through it, and none comes back to it.
static int find_once(struct tare_sampled_kernel *kernel)
{
	uint32_t count = kernel->split.count;
	struct flow flow = { .count = count };

	// Where a branch may lead anywhere nothing is known.
	if (kernel->split.indirect || count > MOST_BLOCKS)
		return 0;
	flow.ways = calloc(count, sizeof *flow.ways);
	flow.stack = calloc(count, sizeof *flow.stack);
	flow.seen = calloc(count, sizeof *flow.seen);
	bool whole = flow.ways && flow.stack && flow.seen;
	for (uint32_t i = 0; whole && i < count; i++)
		flow.ways[i] = way_of(kernel, i);
	for (uint32_t i = 0; whole && i < count; i++)
		kernel->blocks[i].once = is_once(&flow, i);
	free(flow.ways);
	free(flow.stack);
	free(flow.seen);
	return whole ? 0 : -ENOMEM;
}

// ---- figures

// Of blocks but the first instruction of each: how often they were met as they issued.
static double met(const struct tare_sampled_kernel *kernel, const struct tare_sampled_block *block)
{
	uint64_t issued = 0;

	for (uint32_t i = 1; i < block->count; i++)
		issued += kernel->instructions[block->first + i].by[TARE_STALL_SELECTED];
	return (double)issued;
}

// Instructions that were executed, and how often they were met as they issued, without those that
// each warp executes once.
struct rest {
	double instructions, issued;
	double least, most; // of those instructions in a launch, to their mean
	double error;       // relative, of `issued`
};

static struct rest rest_of(const struct tare_sampled_kernel *kernel)
{
	double all = 0, once = 0, counted = 0, once_met = 0;

	for (uint32_t i = 0; i < kernel->count; i++)
		all += (double)kernel->instructions[i].by[TARE_STALL_SELECTED];
	for (uint32_t i = 0; i < kernel->split.count; i++) {
		const struct tare_sampled_block *block = &kernel->blocks[i];
		if (!block->once)
			continue;
		once += block->count;
		counted += block->count - 1;
		once_met += met(kernel, block);
	}
	double left_out = counted > 0 ? once_met * once / counted : 0;
	double issued = all - left_out;
	double each = kernel->each - once;
	return (struct rest){ .instructions = (double)kernel->warps * each,
		              .issued = issued,
		              .least = each > 0 ? fmax(kernel->each_least - once, 0) / each : 0,
		              .most = each > 0 ? (kernel->each_most - once) / each : 0,
		              .error = once_met > 0 && issued > 0
		                           ? left_out / issued / sqrt(once_met)
		                           : 0 };
}

static struct tare_sampled executions_of(const struct tare_sampled_kernel *kernel,
                                         const struct tare_sampled_block *block,
                                         const struct rest *rest)
{
	double warps = (double)kernel->warps, issued = met(kernel, block), count = block->count;

	if (block->once)
		return (struct tare_sampled){ true, warps, warps, warps };
	if (issued < LEAST_ISSUES)
		return (struct tare_sampled){ .known = false };
	double most = rest->instructions / count;
	double part = fmin(issued / rest->issued, 1);
	double share = fmin(part * count / (count - 1), 1);
	double error = interval * sqrt((1 - part) / issued + rest->error * rest->error);
	double value = share * most;
	double low = value * fmax(0, 1 - error) / (share + (1 - share) * company),
	       high = value * (1 + error) / (share + (1 - share) / company);
	return (struct tare_sampled){ .known = true,
		                      .value = value,
		                      .low = low * rest->least,
		                      .high = fmin(high, most) * rest->most };
}

int tare_sampled_tell_executions(struct tare_sampled_kernel *kernel)
{
	if (kernel->why != TARE_SAMPLED_UNCOUNTED || kernel->each <= 0 || !kernel->split.count)
		return 0;
	int status = find_once(kernel);
	const struct rest rest = rest_of(kernel);
	bool any = false;

	if (status < 0)
		return status;
	kernel->why = TARE_SAMPLED_FEW;
	if (rest.instructions <= 0 || rest.issued <= 0)
		return 0;
	for (uint32_t i = 0; i < kernel->split.count; i++) {
		struct tare_sampled_block *block = &kernel->blocks[i];
		block->executions = executions_of(kernel, block, &rest);
		any |= block->executions.known && !block->once;
	}
	if (any)
		kernel->why = TARE_SAMPLED_KNOWN;
	return 0;
}
