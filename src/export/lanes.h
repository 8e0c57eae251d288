// SPDX-License-Identifier: Apache-2.0
// As few lines as it takes so that slices of one line never overlap.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct lanes_busy {
	int64_t until_ns;
	uint32_t lane;
};

struct lanes {
	struct lanes_busy *busy; // a heap, the first that ends on top
	uint32_t *free;          // a heap, the lowest on top
	size_t busy_count, free_count, room;
	uint32_t count;  // lanes that there are
	uint64_t *track; // of each lane: whatever the caller keeps; 0 at first
};

#define LANES_NONE UINT32_MAX

// The lowest lane that is free from `from_ns` on; then it is taken until `to_ns`. Slices come in
// the order of their beginning. A slice of no length takes its lane until its own moment only.
// Takes log n of the slices that are open. Returns LANES_NONE when there is no memory.
uint32_t lanes_take(struct lanes *lanes, int64_t from_ns, int64_t to_ns);
void lanes_free(struct lanes *lanes);
