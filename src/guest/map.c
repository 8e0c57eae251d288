// SPDX-License-Identifier: Apache-2.0
#include "guest/guest.h"
#include "tare_config.h"

#if TARE_HAVE_CONTENTS
#define XXH_INLINE_ALL
#include <xxhash.h>
#endif

// Open addressing in levels, each four times the one before. A key keeps the place where it was
// first put for ever, so nobody who looks for it needs a lock, not even a signal handler or the
// child of a fork that happened in the middle. The places of keys that were removed are used again
// by the same keys only: drivers give out the same few addresses over and over.
struct place {
	_Atomic uintptr_t key; // 0: free
	_Atomic uint64_t value;
	_Atomic uint32_t present;
};

struct level {
	struct level *older;
	size_t places; // a power of two
	_Atomic size_t used;
	struct place place[];
};

struct guest_map {
	_Atomic(struct level *) newest;
};

enum { FIRST_PLACES = 256 };

static size_t hash(uintptr_t key)
{
	uint64_t mixed = (uint64_t)key * UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(mixed ^ mixed >> 29);
}

static struct level *make_level(struct level *older)
{
	size_t places = older ? older->places * 4 : FIRST_PLACES;
	struct level *level = guest_memory(sizeof *level + places * sizeof *level->place);
	if (level) {
		level->older = older;
		level->places = places;
	}
	return level;
}

// Binaries of programs are hashed while the program waits.
#if TARE_HAVE_CONTENTS
uint64_t guest_hash(uint64_t hash, const void *data, size_t bytes)
{
	return XXH3_64bits_withSeed(data, bytes, hash);
}
#else
uint64_t guest_hash(uint64_t hash, const void *data, size_t bytes)
{
	const unsigned char *byte = data;
	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
	return hash;
}
#endif

struct guest_map *guest_map_new(void)
{
	struct guest_map *map = guest_memory(sizeof *map);
	struct level *level = map ? make_level(NULL) : NULL;
	if (!level)
		return NULL;
	atomic_store(&map->newest, level);
	return map;
}

static inline __attribute__((always_inline)) struct place *find_place(const struct guest_map *map,
                                                                      uintptr_t key)
{
	struct level *level = atomic_load_explicit(&map->newest, memory_order_acquire);
	for (; level; level = level->older)
		for (size_t i = hash(key);; i++) {
			struct place *place = &level->place[i & (level->places - 1)];
			uintptr_t found = atomic_load_explicit(&place->key, memory_order_acquire);
			if (found == key)
				return place;
			if (!found)
				break;
		}
	return NULL;
}

// A quarter of the places always stays free, so that every search ends.
static struct place *take_place(struct level *level, uintptr_t key)
{
	if (atomic_fetch_add(&level->used, 1) >= level->places / 4 * 3) {
		atomic_fetch_sub(&level->used, 1);
		return NULL;
	}
	for (size_t i = hash(key);; i++) {
		struct place *place = &level->place[i & (level->places - 1)];
		uintptr_t found = 0;
		if (atomic_compare_exchange_strong(&place->key, &found, key))
			return place;
		if (found == key) { // another thread was quicker
			atomic_fetch_sub(&level->used, 1);
			return place;
		}
	}
}

bool guest_map_put(struct guest_map *map, const void *key, uint64_t value)
{
	struct place *place;
	if (!map || !key)
		return false;
	place = find_place(map, (uintptr_t)key);
	while (!place) {
		struct level *newest = atomic_load_explicit(&map->newest, memory_order_acquire);
		struct level *larger;
		place = take_place(newest, (uintptr_t)key);
		if (place)
			break;
		larger = make_level(newest);
		if (!larger)
			return false;
		// Should another thread have grown it meanwhile, ours is lost; it happens a few
		// times in a process at most.
		atomic_compare_exchange_strong(&map->newest, &newest, larger);
	}
	atomic_store_explicit(&place->value, value, memory_order_relaxed);
	atomic_store_explicit(&place->present, 1, memory_order_release);
	return true;
}

uint64_t guest_map_find(const struct guest_map *map, const void *key, uint64_t absent)
{
	struct place *place = map && key ? find_place(map, (uintptr_t)key) : NULL;
	if (!place || !atomic_load_explicit(&place->present, memory_order_acquire))
		return absent;
	return atomic_load_explicit(&place->value, memory_order_relaxed);
}

void guest_map_remove(struct guest_map *map, const void *key)
{
	struct place *place = map && key ? find_place(map, (uintptr_t)key) : NULL;
	if (place)
		atomic_store_explicit(&place->present, 0, memory_order_release);
}
