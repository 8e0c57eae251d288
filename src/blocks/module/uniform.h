// SPDX-License-Identifier: Apache-2.0
// Which blocks of a function all work-items of a group pass equally often, and how likely the
// others are passed at all: where counting costs least.
#pragma once
#include "blocks/module/module.h"

// Functions with more blocks are not looked into.
enum { TARE_BLOCKS_MOST_BLOCKS = 400 };

struct tare_blocks_way {
	bool uniform; // every work-item of a group passes it as often as the first one
	bool repeats; // a way leads from it back to it
	// In thousandths, how likely a work-item passes it at all: a guess, by which nothing is
	// reckoned.
	uint32_t likely;
};

// Fills in each block of a function. `launched`: its parameters are a kernel's arguments, which
// are the same for all work-items; else no block but those is uniform. False: no memory.
bool tare_blocks_ways(const struct tare_blocks_module *module,
                      const struct tare_blocks_function *function, bool launched,
                      struct tare_blocks_way *ways);
