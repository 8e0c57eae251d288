// SPDX-License-Identifier: Apache-2.0
// What single work-items did, of a few work-groups: how often each passed through each block, and
// which address each load and store of global memory had last. From neighbours follows what a
// device loses that runs them side by side: divergence and lines of memory.
#pragma once
#include "blocks/plan.h"

enum {
	TARE_BLOCKS_SAMPLE_ITEMS = 512,
	TARE_BLOCKS_SAMPLE_BYTES = 1 << 18, // most, of one kernel
	TARE_BLOCKS_SITES = 32,             // that are sampled, of a kernel
	// Words in front of the slots: which groups are sampled (groups & [0] is 0), and by how
	// many bits their numbers are shifted for a slot.
	TARE_BLOCKS_SAMPLE_HEAD = 2,
	// Words of a slot before its counters: the group's number + 1, and its work-items.
	TARE_BLOCKS_SLOT_HEAD = 2,
};

// A load or store of global memory in a kernel's own function.
struct tare_blocks_site {
	size_t at; // its word
	uint32_t block, file, line, bytes;
	bool store;
};
// The first ones of a function; returns how many.
uint32_t tare_blocks_sites(const struct tare_blocks_module *module, uint32_t function,
                           struct tare_blocks_site sites[TARE_BLOCKS_SITES]);

// How the sample of a module's kernels lies in memory, in words of 8 bytes. A slot has its head,
// `counters` of its function from the function's first one, and the sites' addresses.
struct tare_blocks_layout {
	uint32_t items;    // slots; 0: nothing is sampled
	uint32_t counters; // the most of a kernel's function
	uint32_t sites;
	uint32_t words; // of a slot
};
struct tare_blocks_layout tare_blocks_layout(const struct tare_blocks_module *module,
                                             const struct tare_blocks_plan *plan);
// The lowest counter of a function's blocks, and how many there are from it on.
uint32_t tare_blocks_first_counter(const struct tare_blocks_module *module,
                                   const struct tare_blocks_plan *plan, uint32_t function,
                                   uint32_t *count);
