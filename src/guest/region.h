// SPDX-License-Identifier: Apache-2.0
// Host memory of which an API's library has told: mapped buffers, shared memory and the like, of
// all APIs.
#pragma once
#include "guest/api.h"

// What is known of an address.
struct guest_region {
	const char *start;
	uint64_t bytes;
	uint64_t flags; // of the map
	uint32_t count; // times mapped
	uint8_t memory; // enum tare_trace_memory
};
extern GUEST_HIDDEN _Atomic uint32_t guest_region_count;
void guest_region_add(const void *start, uint64_t bytes, uint64_t flags, uint8_t memory);
// One that begins at `start`; false: none. A mapped one is counted down and goes.
bool guest_region_unmap(const void *start, struct guest_region *region);
bool guest_region_find_slow(const void *address, struct guest_region *region);
static inline bool guest_region_find(const void *address, struct guest_region *region)
{
	return atomic_load_explicit(&guest_region_count, memory_order_relaxed) != 0 &&
	       guest_region_find_slow(address, region);
}
// Any region that begins at `start`.
void guest_region_forget(const void *start);
// Once; again it does nothing.
void guest_regions_begin(void);
