// SPDX-License-Identifier: Apache-2.0
// Which blocks get a counter. What goes into a block comes out of it, so that the counts of a few
// blocks tell those of all (Knuth and Stevenson, Optimal measurement points for program frequency
// counts, BIT 13, 1973).
#pragma once
#include "blocks/module/module.h"

// Who raises a counter in memory.
enum tare_blocks_keeper {
	TARE_BLOCKS_KEPT_BY_EACH,  // each work-item, by what differs from what is expected of it
	TARE_BLOCKS_KEPT_BY_GROUP, // its first work-item for the whole group: all pass equally
	                           // often
	TARE_BLOCKS_KEPT_BY_CALLS, // nobody: the counts of the blocks that call the function tell
	                           // it
};

struct tare_blocks_counter {
	enum tare_blocks_keeper keeper;
	// What most work-items of a kernel are guessed to have, 0 or 1: the first one of a group
	// adds it for all, and a work-item adds nothing where it has that.
	uint32_t expected;
};

struct tare_blocks_plan {
	uint32_t *counters; // of each block: its counter; TARE_BLOCKS_DERIVED: it has none
	struct tare_blocks_counter *kept; // of each counter
	uint32_t counter_count;
	// Of each block that has none: the counters that tell its count, from terms[first[block]]
	// up to terms[first[block + 1]].
	struct tare_blocks_term *terms;
	size_t *first, term_count, term_room;
	// the caller's to set: single work-items are to be sampled, too (sample.h); the device has
	// no atomic additions of 64 bits
	bool samples, carries;
};

#define TARE_BLOCKS_DERIVED UINT32_MAX

struct tare_blocks_term {
	uint32_t counter;
	uint64_t factor; // modulo 2^61 - 1, where a fraction, too, is a whole number
};

// The first block of a function always has a counter, the blocks of functions that are not counted
// have none. 0, or -ENOMEM with a sentence. To free in either case.
int tare_blocks_plan_make(const struct tare_blocks_module *module, struct tare_blocks_plan *plan,
                          struct tare_error *error);
void tare_blocks_plan_free(struct tare_blocks_plan *plan);

// Fills in the counters that calls tell, by the values of the others. 0 or -ENOMEM.
int tare_blocks_plan_complete(const struct tare_blocks_plan *plan,
                              const struct tare_blocks_module *module, uint64_t *values);

// The count of a block by the values of all counters. Exact below 2^61 - 1.
uint64_t tare_blocks_plan_count(const struct tare_blocks_plan *plan, uint32_t block,
                                const uint64_t *values);
