// SPDX-License-Identifier: Apache-2.0
// A module that counts how often its basic blocks run. Each function keeps its counters in private
// variables and adds them to memory as it returns; a kernel gets the memory as one more argument,
// its last. How often a kernel was begun the first work-item of each group adds for all of it.
#pragma once
#include "blocks/sample.h"

struct tare_blocks_instrumented {
	void *data; // malloc
	size_t bytes;
	uint32_t counters;
	// The memory has so many rows of counters, and a work-group uses one of them, so that
	// groups that run at once seldom meet. The sum of all rows is what counts. A power of two.
	uint32_t rows;
	struct tare_blocks_layout layout; // of the sample, which lies behind the rows
	uint32_t row_counters; // of 8 bytes each, in a row, to the next: counters, rounded up
};

// Most bytes of the memory for one kernel's counters.
#define TARE_BLOCKS_MOST_BYTES (UINT64_C(1) << 20)

// 0; -ENOTSUP where the module is of a kind that cannot be instrumented, or -ENOMEM, with a
// sentence. `made->data` is the caller's.
int tare_blocks_instrument(const struct tare_blocks_module *module,
                           const struct tare_blocks_plan *plan,
                           struct tare_blocks_instrumented *made, struct tare_error *error);
