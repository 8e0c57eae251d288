// SPDX-License-Identifier: Apache-2.0
// What a device that runs neighbouring work-items side by side makes of a kernel: a model, by the
// sample (sample.h). Neighbours are TARE_BLOCKS_LANES work-items of a group, one after another.
#pragma once
#include "blocks/profile.h"

enum { TARE_BLOCKS_LANES = 32, TARE_BLOCKS_LINE_BYTES = 64 };

// Lanes that passed through a block. Such a device passes as often as the one that does so most
// often, which is the least that it can be.
struct tare_blocks_lanes {
	uint64_t used, offered; // offered: passes × lanes
};

// An access of global memory, by the address that each lane had last.
struct tare_blocks_access {
	struct tare_blocks_site site;
	uint64_t executions; // of its block, of all launches
	// Sub-groups whose lanes all executed it equally often: then their last addresses are of
	// one pass. How many lines they touched, and how many so many bytes take at least.
	uint64_t sub_groups, lines, fewest;
	uint64_t bytes,
	    stretches; // that lanes accessed, and stretches without a gap that these are
};

// Turns of a loop by one work-item.
struct tare_blocks_turns {
	uint64_t least, most;
};

struct tare_blocks_sampled {
	uint64_t work_items;             // 0: there is no sample
	uint32_t function;               // the kernel's
	struct tare_blocks_lanes *lanes; // of each block of the module; malloc
	struct tare_blocks_turns *turns; // of each block, as if it were a loop's; malloc
	struct tare_blocks_lanes all;    // weighted by the blocks' instructions
	struct tare_blocks_access access[TARE_BLOCKS_SITES];
	uint32_t accesses;
};

// 0, or -ENOMEM. To free in either case.
int tare_blocks_sampled_make(const struct tare_blocks_kernel *kernel,
                             struct tare_blocks_sampled *sampled);
// Whether an access touches lines that it would not need if its lanes' addresses lay together:
// twice as many, and not only since its stretches begin and end within lines.
bool tare_blocks_is_scattered(const struct tare_blocks_access *access);
void tare_blocks_sampled_free(struct tare_blocks_sampled *sampled);
