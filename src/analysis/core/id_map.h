// SPDX-License-Identifier: Apache-2.0
// A map from 64-bit keys (handles, numbers, hashes) to indices. Internal to src/analysis.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TARE_ID_ABSENT UINT32_MAX // no value may be this

// All zero is an empty map. Free with tare_id_map_free.
struct tare_id_map {
	uint64_t *keys;
	uint32_t *values; // TARE_ID_ABSENT: free
	size_t slots;     // a power of two
	size_t count;
};

void tare_id_map_free(struct tare_id_map *map);
// Replaces the value of `key`. False when there is no memory.
bool tare_id_map_put(struct tare_id_map *map, uint64_t key, uint32_t value);
uint32_t tare_id_map_find(const struct tare_id_map *map, uint64_t key);
// Removes `key` and returns what it had, or TARE_ID_ABSENT.
uint32_t tare_id_map_take(struct tare_id_map *map, uint64_t key);

// A hash of bytes (FNV-1a), begun with TARE_HASH_START and carried on.
#define TARE_HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t tare_hash_bytes(uint64_t hash, const void *bytes, size_t n);
uint64_t tare_hash_text(uint64_t hash, const char *text); // with its end
