// SPDX-License-Identifier: Apache-2.0
// Host memory of which the library knows: mapped buffers, SVM and the like, sorted by address.
#include "guest/region.h"

#include <string.h>

enum { FIRST_REGIONS = 128, MOST_REGIONS = 1 << 16 };

_Atomic uint32_t guest_region_count;
static struct guest_region *regions;
static uint32_t capacity;
static guest_lock lock;

void guest_regions_begin(void)
{
	static _Atomic bool begun;
	if (!atomic_exchange(&begun, true))
		guest_lock_register(&lock);
}

// The first region that begins at or after `start`.
static uint32_t first_from(const char *start)
{
	uint32_t low = 0, high = atomic_load_explicit(&guest_region_count, memory_order_relaxed);
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (regions[middle].start < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool make_room(uint32_t count)
{
	if (count < capacity)
		return true;
	uint32_t wanted = capacity != 0 ? capacity * 2 : FIRST_REGIONS;
	struct guest_region *larger =
	    wanted <= MOST_REGIONS ? guest_memory(wanted * sizeof *larger) : NULL;
	if (larger == NULL)
		return false;
	if (count != 0)
		memcpy(larger, regions, count * sizeof *larger);
	regions = larger;
	capacity = wanted;
	return true;
}

void guest_region_add(const void *start, uint64_t bytes, uint64_t flags, uint8_t memory)
{
	if (start == NULL || bytes == 0)
		return;
	guest_hold(&lock);
	uint32_t count = atomic_load_explicit(&guest_region_count, memory_order_relaxed);
	uint32_t at = first_from(start);
	if (at < count && regions[at].start == start) {
		struct guest_region *region = &regions[at];
		region->count++;
		region->bytes = bytes;
		region->flags = flags;
		region->memory = memory;
	} else if (make_room(count)) {
		memmove(&regions[at + 1], &regions[at], (count - at) * sizeof *regions);
		regions[at] = (struct guest_region){
			.start = start, .bytes = bytes, .flags = flags, .count = 1, .memory = memory
		};
		atomic_store_explicit(&guest_region_count, count + 1, memory_order_relaxed);
	}
	guest_let_go(&lock);
}

static void remove_at(uint32_t at)
{
	uint32_t count = atomic_load_explicit(&guest_region_count, memory_order_relaxed) - 1;
	memmove(&regions[at], &regions[at + 1], (count - at) * sizeof *regions);
	atomic_store_explicit(&guest_region_count, count, memory_order_relaxed);
}

static bool take(const char *start, struct guest_region *region, bool all)
{
	bool found = false;
	guest_hold(&lock);
	uint32_t at = first_from(start);
	if (at < atomic_load_explicit(&guest_region_count, memory_order_relaxed) &&
	    regions[at].start == start) {
		found = true;
		*region = regions[at];
		if (all || --regions[at].count == 0)
			remove_at(at);
	}
	guest_let_go(&lock);
	return found;
}

bool guest_region_unmap(const void *start, struct guest_region *region)
{
	return start != NULL &&
	       atomic_load_explicit(&guest_region_count, memory_order_relaxed) != 0 &&
	       take(start, region, false);
}

bool guest_region_find_slow(const void *address, struct guest_region *region)
{
	// Maps of one buffer may overlap: one that begins earlier may reach further.
	enum { LOOK_BACK = 8 };
	bool found = false;
	guest_hold(&lock);
	uint32_t after = first_from((const char *)address + 1);
	for (uint32_t i = 0; i < LOOK_BACK && i < after && !found; i++) {
		const struct guest_region *candidate = &regions[after - 1 - i];
		found = (uint64_t)((const char *)address - candidate->start) < candidate->bytes;
		if (found)
			*region = *candidate;
	}
	guest_let_go(&lock);
	return found;
}

void guest_region_forget(const void *start)
{
	struct guest_region region;
	if (start != NULL && atomic_load_explicit(&guest_region_count, memory_order_relaxed) != 0)
		take(start, &region, true);
}
