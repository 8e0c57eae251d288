// SPDX-License-Identifier: Apache-2.0
// What a command touches and signals, and by what chance it was timed, whoever recorded it.
#include "analysis/recording/internal.h"

#include <stdlib.h>
#include <string.h>

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

// ---- the random sample

int loading_drawn(struct loading *l, const struct tare_trace_drawn *drawn)
{
	const struct load_track *track = loading_track(l, tare_trace_track(drawn->head));
	struct tare_recorded_draw *draw;

	if (!track)
		return l->status;
	if (track->command_number != drawn->number || track->command == TARE_NO_INDEX) {
		l->recording->unresolved++;
		return l->status;
	}
	draw = LOADING_ADD(l, draws, draw_count, draw_room);
	if (draw)
		*draw = (struct tare_recorded_draw){ track->command, drawn->chance };
	return l->status;
}

static int compare_draws(const void *a, const void *b)
{
	const struct tare_recorded_draw *x = a, *y = b;

	return (x->command > y->command) - (x->command < y->command);
}

void loading_order_draws(struct tare_recording *r)
{
	for (size_t i = 1; i < r->draw_count; i++)
		if (r->draws[i].command < r->draws[i - 1].command) {
			qsort(r->draws, r->draw_count, sizeof *r->draws, compare_draws);
			return;
		}
}

double tare_command_chance(const struct tare_recording *recording, size_t command)
{
	size_t low = 0, high = recording->draw_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (recording->draws[middle].command < command)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == recording->draw_count || recording->draws[low].command != command)
		return 1;
	return recording->draws[low].chance / 4294967296.0;
}

// ---- launches like those before
//
// In a loop nearly all records of launches are alike but for times and number: what one means is
// found out once.

// What four members say together.
static uint32_t rest_of(const struct tare_trace_command *c)
{
	uint32_t rest;

	_Static_assert(offsetof(struct tare_trace_command, queue) -
	                       offsetof(struct tare_trace_command, kind) ==
	                   sizeof rest,
	               "kind, direction, alignment and memory");
	memcpy(&rest, &c->kind, sizeof rest);
	return rest;
}

static struct load_alike *alike_of(struct loading *l, const struct tare_trace_command *c)
{
	uint64_t hash = (c->object ^ c->amount << 20 ^ (uint64_t)c->queue << 40 ^ c->head) *
	                UINT64_C(0x9e3779b97f4a7c15);

	return &l->alike[hash >> 32 & (LOADING_RECENT - 1)];
}

uint32_t loading_add_alike(struct loading *l, const struct tare_trace_command *c, int64_t enter_ns,
                           int64_t exit_ns)
{
	const struct load_alike *as = alike_of(l, c);

	if (as->head != c->head || as->object != c->object || as->amount != c->amount ||
	    as->queue != c->queue || as->rest != rest_of(c) || as->event != (c->event != 0) ||
	    as->from_ticks > c->enter)
		return TARE_NO_INDEX;
	return loading_add_like(l, as->like, as->untimed, enter_ns, exit_ns);
}

void loading_keep_alike(struct loading *l, const struct tare_trace_command *c, uint32_t index)
{
	const struct tare_packed_command *row = &l->recording->commands.rows[index];
	const struct load_object *kernel = l->last_object ? &l->objects[l->last_object - 1] : NULL;

	// Of a handle that has one object alone it is known what it means from then on.
	if (c->kind != TARE_KIND_KERNEL || row->like == TARE_PACKED_WHOLE || !kernel ||
	    kernel->kind != TARE_OBJECT_KERNEL || kernel->handle != c->object)
		return;
	*alike_of(l, c) = (struct load_alike){ .head = c->head,
		                               .object = c->object,
		                               .amount = c->amount,
		                               .from_ticks = kernel->ticks,
		                               .queue = c->queue,
		                               .rest = rest_of(c),
		                               .like = row->like,
		                               .untimed = row->untimed,
		                               .event = c->event != 0 };
}
