// SPDX-License-Identifier: Apache-2.0
// Names of a function, and lists that grow, as a module of PTX is read.
#include "blocks/ptx/reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64, LEAST_SLOTS = 256 };

void *reading_more(struct ptx_reading *reading, void *list, struct room *room, size_t bytes)
{
	void **at = list;

	if (room->count == room->most) {
		size_t most = room->most ? 2 * room->most : FIRST_ROOM;
		void *made = most <= UINT32_MAX ? realloc(*at, most * bytes) : NULL;
		if (!made) {
			tare_fail(reading->error, ENOMEM, "out of memory");
			return NULL;
		}
		*at = made;
		room->most = most;
	}
	void *last = (char *)*at + room->count++ * bytes;
	memset(last, 0, bytes);
	return last;
}

struct ptx_edit *reading_edit(struct ptx_reading *reading, enum ptx_edit_kind kind, size_t at,
                              size_t end)
{
	struct ptx_edit *edit =
	    reading_more(reading, &reading->ptx->edits, &reading->edits, sizeof *edit);

	if (edit)
		*edit = (struct ptx_edit){ .kind = kind,
			                   .function = reading->ptx->module.function_count - 1,
			                   .at = at,
			                   .end = end };
	return edit;
}

int reading_failed(struct ptx_reading *reading, size_t at, const char *what)
{
	unsigned line = 1;

	for (size_t i = 0; i < at && i < reading->scan.bytes; i++)
		line += reading->scan.text[i] == '\n';
	return tare_fail(reading->error, EINVAL, "line %u of the PTX: %s", line, what);
}

static uint32_t hash_of(const struct ptx_reading *reading, struct word word)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < word.bytes; i++)
		hash = (hash ^ (unsigned char)reading->scan.text[word.at + i]) * 16777619u;
	return hash;
}

bool reading_is_same(const struct ptx_reading *reading, struct word a, struct word b)
{
	return a.bytes == b.bytes &&
	       memcmp(reading->scan.text + a.at, reading->scan.text + b.at, a.bytes) == 0;
}

static bool grow_slots(struct ptx_reading *reading)
{
	uint32_t count = reading->slot_count ? 2 * reading->slot_count : LEAST_SLOTS;
	uint32_t *slots = calloc(count, sizeof *slots);
	struct symbol *symbols =
	    slots ? realloc(reading->symbols, count / 2 * sizeof *symbols) : NULL;

	if (!symbols) {
		free(slots);
		tare_fail(reading->error, ENOMEM, "out of memory");
		return false;
	}
	reading->symbols = symbols;
	free(reading->slots);
	reading->slots = slots;
	reading->slot_count = count;
	for (uint32_t i = 0; i < reading->symbol_count; i++) {
		uint32_t at = hash_of(reading, symbols[i].word) & (count - 1);
		while (slots[at])
			at = (at + 1) & (count - 1);
		slots[at] = i + 1;
	}
	return true;
}

uint32_t reading_symbol(struct ptx_reading *reading, struct word word)
{
	if (reading->symbol_count >= reading->slot_count / 2 && !grow_slots(reading))
		return UINT32_MAX;
	uint32_t mask = reading->slot_count - 1, at = hash_of(reading, word) & mask;
	for (; reading->slots[at]; at = (at + 1) & mask)
		if (reading_is_same(reading, reading->symbols[reading->slots[at] - 1].word, word))
			return reading->slots[at] - 1;
	reading->symbols[reading->symbol_count] = (struct symbol){ .word = word };
	reading->slots[at] = ++reading->symbol_count;
	return reading->symbol_count - 1;
}
