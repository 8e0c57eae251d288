// SPDX-License-Identifier: Apache-2.0
#include "blocks/cuda/findings.h"

// A stall tells what a warp waits for, not why that takes so long: advice names what may.
const struct tare_stall_rule tare_stall_rules[TARE_STALL_ADVICE] = {
	[TARE_ADVICE_LATENCY] = { "memory-latency",
	                          "its warps wait for data from global or local memory",
	                          "load earlier, load more at once for each thread, or keep more "
	                          "warps on a core; tare hotspots says whether the memory is busy",
	                          { TARE_STALL_LONG_SCOREBOARD },
	                          1,
	                          0.4 },
	[TARE_ADVICE_QUEUE] = { "memory-queue",
	                        "its warps wait for room in the queue of global and local memory",
	                        "make fewer and wider accesses, let neighbouring threads access "
	                        "neighbouring addresses, or keep in registers what is spilled",
	                        { TARE_STALL_LG_THROTTLE },
	                        1,
	                        0.15 },
	[TARE_ADVICE_SHARED] = { "shared-memory-queue",
	                         "its warps wait for shared memory or special functions",
	                         "make fewer and wider accesses, spread them over the banks of "
	                         "shared memory, or use fewer special functions",
	                         { TARE_STALL_MIO_THROTTLE, TARE_STALL_SHORT_SCOREBOARD },
	                         2,
	                         0.3 },
	[TARE_ADVICE_BARRIER] = { "barrier-wait",
	                          "its warps wait for others at a barrier",
	                          "give the warps of a block equal work, use smaller blocks, or "
	                          "synchronise less",
	                          { TARE_STALL_BARRIER },
	                          1,
	                          0.2 },
	[TARE_ADVICE_PIPE] = { "busy-pipe",
	                       "its warps wait for an arithmetic pipe that is busy",
	                       "use another sort of arithmetic at the lines below, or less of it: "
	                       "double precision has few pipes on many devices",
	                       { TARE_STALL_MATH_PIPE_THROTTLE },
	                       1,
	                       0.2 },
	[TARE_ADVICE_BRANCH] = { "branching",
	                         "its warps wait for targets of branches, or for instructions",
	                         "unroll less so that loops fit the instruction cache, branch "
	                         "less, or use shorter kernels",
	                         { TARE_STALL_BRANCH_RESOLVING, TARE_STALL_NO_INSTRUCTIONS },
	                         2,
	                         0.2 },
};

static uint64_t waits(const struct tare_stall_rule *rule, const struct tare_stall_counts *counts)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < rule->stall_count; i++)
		sum += counts->by[rule->stalls[i]];
	return sum;
}

// Keeps the instructions with most of it, the first one of equals.
static void find_places(const struct tare_sampled_kernel *kernel,
                        struct tare_stall_finding *finding)
{
	const struct tare_stall_rule *rule = &tare_stall_rules[finding->advice];

	for (uint32_t i = 0; i < kernel->count; i++) {
		uint64_t here = waits(rule, &kernel->instructions[i]);
		uint32_t at = finding->place_count;
		if (!here)
			continue;
		while (at > 0 &&
		       waits(rule, &kernel->instructions[finding->instructions[at - 1]]) < here)
			at--;
		if (at == TARE_STALL_PLACES)
			continue;
		if (finding->place_count < TARE_STALL_PLACES)
			finding->place_count++;
		for (uint32_t j = finding->place_count - 1; j > at; j--)
			finding->instructions[j] = finding->instructions[j - 1];
		finding->instructions[at] = i;
	}
}

void tare_stalls_find(const struct tare_sampled_kernel *kernel,
                      struct tare_stall_findings *findings)
{
	bool counted = kernel->states.all > 0 && tare_sampled_counts_stand(kernel);
	const struct tare_stall_counts *of = counted ? &kernel->states : &kernel->stalls;

	*findings = (struct tare_stall_findings){ 0 };
	if (kernel->stalls.all < TARE_STALL_LEAST_SAMPLES)
		return;
	for (int i = 0; i < TARE_STALL_ADVICE; i++) {
		struct tare_stall_finding made = {
			.advice = (enum tare_stall_advice)i,
			.counted = counted,
			.share = (double)waits(&tare_stall_rules[i], of) / (double)of->all
		};
		uint32_t at = findings->count;
		if (made.share < tare_stall_rules[i].least)
			continue;
		find_places(kernel, &made);
		for (; at > 0 && findings->at[at - 1].share < made.share; at--)
			findings->at[at] = findings->at[at - 1];
		findings->at[at] = made;
		findings->count++;
	}
}
