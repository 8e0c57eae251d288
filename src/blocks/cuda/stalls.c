// SPDX-License-Identifier: Apache-2.0
#include "blocks/cuda/samples.h"

#include <math.h>

static const struct {
	const char *name, *what;
} stalls[TARE_STALLS] = {
#define STALL(name, text, what) [TARE_STALL_##name] = { text, what },
#include "blocks/cuda/stalls.def"
#undef STALL
	[TARE_STALL_OTHER] = { "other", "something that tare has no name for" },
};

const char *tare_stall_name(enum tare_stall stall)
{
	return stalls[stall].name;
}

const char *tare_stall_what(enum tare_stall stall)
{
	return stalls[stall].what;
}

void tare_stalls_add(struct tare_stall_counts *to, const struct tare_stall_counts *from)
{
	to->all += from->all;
	for (int i = 0; i < TARE_STALLS; i++)
		to->by[i] += from->by[i];
}

uint32_t tare_stalls_order(const struct tare_stall_counts *counts,
                           enum tare_stall order[TARE_STALLS])
{
	uint32_t count = 0;

	for (int i = 0; i < TARE_STALLS; i++) {
		uint32_t at = count;
		if (!counts->by[i])
			continue;
		for (; at > 0 && counts->by[order[at - 1]] < counts->by[i]; at--)
			order[at] = order[at - 1];
		order[at] = (enum tare_stall)i;
		count++;
	}
	return count;
}

// Of a warp group there are two reasons, and one counter.
uint64_t tare_stall_sampled(const struct tare_sampled_kernel *kernel, enum tare_stall stall)
{
	const uint64_t *by = kernel->stalls.by;

	return by[stall] + (stall == TARE_STALL_GMMA ? by[TARE_STALL_WARPGROUP_ARRIVE] : 0);
}

bool tare_sampled_counts_stand(const struct tare_sampled_kernel *kernel)
{
	const double most = 0.01; // relative

	if (!kernel->counted || !kernel->launches)
		return false;
	double all = (double)kernel->warps / (double)kernel->launches;
	double counted = (double)kernel->counted_warps / (double)kernel->counted;
	return fabs(counted - all) <= most * all &&
	       kernel->each_most <= (1 + most) * kernel->each_least;
}
