// SPDX-License-Identifier: Apache-2.0
#include "analysis/core/id_map.h"

#include <stdlib.h>
#include <string.h>

// Keys come from a file: handles are aligned and numbers follow one another, which the finalizer of
// MurmurHash3 spreads; and somebody may have chosen them to meet in one slot, which is why the
// place of the table, which differs from run to run, goes in first.
static size_t slot_of(const struct tare_id_map *map, uint64_t key)
{
	key ^= (uintptr_t)map->values * UINT64_C(0x9e3779b97f4a7c15);
	key ^= key >> 33;
	key *= UINT64_C(0xff51afd7ed558ccd);
	key ^= key >> 33;
	key *= UINT64_C(0xc4ceb9fe1a85ec53);
	key ^= key >> 33;
	return (size_t)key & (map->slots - 1);
}

void tare_id_map_free(struct tare_id_map *map)
{
	free(map->keys);
	free(map->values);
	*map = (struct tare_id_map){ 0 };
}

static void place(struct tare_id_map *map, uint64_t key, uint32_t value)
{
	size_t slot = slot_of(map, key);

	while (map->values[slot] != TARE_ID_ABSENT)
		slot = (slot + 1) & (map->slots - 1);
	map->keys[slot] = key;
	map->values[slot] = value;
}

static bool widen(struct tare_id_map *map)
{
	struct tare_id_map wide = { .slots = map->slots ? map->slots * 2 : 64,
		                    .count = map->count };

	wide.keys = malloc(wide.slots * sizeof *wide.keys);
	wide.values = malloc(wide.slots * sizeof *wide.values);
	if (!wide.keys || !wide.values) {
		tare_id_map_free(&wide);
		return false;
	}
	memset(wide.values, 0xff, wide.slots * sizeof *wide.values);
	for (size_t i = 0; i < map->slots; i++)
		if (map->values[i] != TARE_ID_ABSENT)
			place(&wide, map->keys[i], map->values[i]);
	tare_id_map_free(map);
	*map = wide;
	return true;
}

// The slot of `key`, or the free one where it would go.
static size_t find_slot(const struct tare_id_map *map, uint64_t key)
{
	size_t slot = slot_of(map, key);

	while (map->values[slot] != TARE_ID_ABSENT && map->keys[slot] != key)
		slot = (slot + 1) & (map->slots - 1);
	return slot;
}

bool tare_id_map_put(struct tare_id_map *map, uint64_t key, uint32_t value)
{
	size_t slot;

	if ((map->count + 1) * 4 > map->slots * 3 && !widen(map))
		return false;
	slot = find_slot(map, key);
	map->count += map->values[slot] == TARE_ID_ABSENT;
	map->keys[slot] = key;
	map->values[slot] = value;
	return true;
}

uint32_t tare_id_map_find(const struct tare_id_map *map, uint64_t key)
{
	return map->slots ? map->values[find_slot(map, key)] : TARE_ID_ABSENT;
}

uint32_t tare_id_map_take(struct tare_id_map *map, uint64_t key)
{
	size_t mask = map->slots - 1;
	size_t hole;
	uint32_t value;

	if (!map->slots)
		return TARE_ID_ABSENT;
	hole = find_slot(map, key);
	value = map->values[hole];
	if (value == TARE_ID_ABSENT)
		return value;
	map->count--;
	// Those behind it that would be looked for across the hole move into it.
	for (size_t at = (hole + 1) & mask; map->values[at] != TARE_ID_ABSENT;
	     at = (at + 1) & mask) {
		size_t home = slot_of(map, map->keys[at]);
		if (((at - home) & mask) >= ((at - hole) & mask)) {
			map->keys[hole] = map->keys[at];
			map->values[hole] = map->values[at];
			hole = at;
		}
	}
	map->values[hole] = TARE_ID_ABSENT;
	return value;
}

uint64_t tare_hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash;
}

uint64_t tare_hash_text(uint64_t hash, const char *text)
{
	return tare_hash_bytes(hash, text, strlen(text) + 1);
}
