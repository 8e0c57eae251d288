// SPDX-License-Identifier: Apache-2.0
#include "trace/internal.h"

#include <errno.h>
#include <stdlib.h>

static struct tare_trace_chain_entry *entry_of(const struct tare_trace_chains *chains,
                                               uint32_t track)
{
	size_t at = (track * UINT32_C(2654435769)) & (chains->room - 1);

	while (chains->entries[at].place && chains->entries[at].track != track)
		at = (at + 1) & (chains->room - 1);
	return &chains->entries[at];
}

static int make_room(struct tare_trace_chains *chains)
{
	struct tare_trace_chains larger = { .room = chains->room ? 2 * chains->room : 64 };

	if (chains->count >= TARE_TRACE_MOST_TRACKS)
		return -E2BIG;
	larger.entries = calloc(larger.room, sizeof *larger.entries);
	if (!larger.entries)
		return -ENOMEM;
	for (size_t i = 0; i < chains->room; i++)
		if (chains->entries[i].place)
			*entry_of(&larger, chains->entries[i].track) = chains->entries[i];
	larger.count = chains->count;
	free(chains->entries);
	*chains = larger;
	return 0;
}

static uint32_t root_of(struct tare_trace_place *places, uint32_t place)
{
	while (places[place].parent != place) {
		places[place].parent = places[places[place].parent].parent;
		place = places[place].parent;
	}
	return place;
}

int tare_trace_chains_add(struct tare_trace_chains *chains, struct tare_trace_source *source,
                          uint32_t place, uint32_t track)
{
	struct tare_trace_chain_entry *entry;

	if (2 * chains->count >= chains->room) {
		int status = make_room(chains);
		if (status)
			return status;
	}
	entry = entry_of(chains, track);
	if (entry->place) {
		uint32_t earlier = root_of(source->places, entry->place - 1);
		uint32_t later = root_of(source->places, place);
		if (earlier < later)
			source->places[later].parent = earlier;
		else
			source->places[earlier].parent = later;
	} else {
		entry->track = track;
		chains->count++;
	}
	entry->place = place + 1;
	return 0;
}

int tare_trace_chains_finish(struct tare_trace_source *source)
{
	uint32_t *ends;

	source->ordered = source->chains = 0;
	for (size_t i = 0; i < source->count; i++) {
		struct tare_trace_place *place = &source->places[i];
		uint32_t root = root_of(source->places, (uint32_t)i);
		if (place->definitions)
			continue;
		source->ordered++;
		// The root is the earliest window of its chain, so it has its number already.
		place->chain = root == i ? (uint32_t)source->chains++ : source->places[root].chain;
	}
	source->order = malloc((source->ordered + 1) * sizeof *source->order);
	ends = calloc(source->chains + 1, sizeof *ends);
	if (!source->order || !ends) {
		free(ends);
		return -ENOMEM;
	}
	for (size_t i = 0; i < source->count; i++)
		if (!source->places[i].definitions)
			ends[source->places[i].chain + 1]++;
	for (size_t i = 1; i <= source->chains; i++)
		ends[i] += ends[i - 1];
	for (size_t i = 0; i < source->count; i++)
		if (!source->places[i].definitions)
			source->order[ends[source->places[i].chain]++] = (uint32_t)i;
	free(ends);
	return 0;
}
