// SPDX-License-Identifier: Apache-2.0
// What a command touches and signals, whoever recorded it.
#include "analysis/recording/internal.h"

static uint64_t event_key(uint8_t api, uint64_t event)
{
	return event ^ (uint64_t)api << 60;
}

void loading_put_event(struct loading *l, uint8_t api, uint64_t event, uint32_t index)
{
	if (!tare_id_map_put(&l->event_of, event_key(api, event), index))
		loading_fail(l, ENOMEM, "events");
}

// An unmap does not say which part of the memory object it is about; the address does.
uint32_t loading_place_identity(uint8_t kind, uint64_t address)
{
	uint64_t part = kind == TARE_KIND_UNMAP ? address : 0;
	return (uint32_t)tare_hash_bytes(TARE_HASH_START, &part, sizeof part);
}

uint32_t loading_transfer_identity(uint32_t identity, const struct tare_trace_transfer *t)
{
	return (uint32_t)tare_hash_bytes(identity, &t->offset,
	                                 sizeof *t - offsetof(typeof(*t), offset));
}

int loading_add_place(struct loading *l, uint32_t command, uint32_t identity)
{
	struct tare_recorded_place *place = LOADING_ADD(l, places, place_count, place_room);

	if (place)
		*place = (struct tare_recorded_place){ .command = command, .identity = identity };
	return l->status;
}

// The command that an event handle meant at `ticks`; LOADING_NO_COMMAND for an event of the user's,
// and, counted, for one that was not seen.
uint32_t loading_command_of_event(struct loading *l, uint8_t api, uint64_t event, uint64_t ticks,
                                  int64_t before_ns)
{
	const struct tare_recording *r = l->recording;
	uint32_t index = tare_id_map_find(&l->event_of, event_key(api, event));
	const struct load_object *user = loading_find(l, api, TARE_OBJECT_EVENT, event, ticks);

	// The handle may have been used again: what was made later, but not after, is meant.
	int64_t enter_ns = index == TARE_ID_ABSENT ? 0 : TARE_COMMAND(r, index)->enter_ns;

	if (index != TARE_ID_ABSENT && enter_ns <= before_ns &&
	    (!user || loading_ns(l, user->ticks) <= enter_ns))
		return index;
	l->recording->unresolved += !user;
	return LOADING_NO_COMMAND;
}
