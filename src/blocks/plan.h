// SPDX-License-Identifier: Apache-2.0
// Which blocks get a counter. What goes into a block comes out of it, so that the counts of a few
// blocks tell those of all (Knuth and Stevenson, Optimal measurement points for program frequency
// counts, BIT 13, 1973).
#pragma once
#include "blocks/module.h"

struct tare_blocks_plan {
	uint32_t *counters; // of each block: its counter; TARE_BLOCKS_DERIVED: it has none
	uint32_t counter_count;
	// Of each block that has none: the counters that tell its count, from terms[first[block]]
	// up to terms[first[block + 1]].
	struct tare_blocks_term *terms;
	size_t *first, term_count, term_room;
	bool samples; // single work-items are to be sampled, too (sample.h); the caller's to set
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

// The count of a block by the values of all counters. Exact below 2^61 - 1.
uint64_t tare_blocks_plan_count(const struct tare_blocks_plan *plan, uint32_t block,
                                const uint64_t *values);
