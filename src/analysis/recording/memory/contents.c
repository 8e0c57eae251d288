// SPDX-License-Identifier: Apache-2.0
// Where in memory a transfer reads or writes, and what it carried.
#include "analysis/recording/internal.h"

int loading_place(struct loading *l, const struct tare_trace_command *c, uint32_t index)
{
	bool back = c->kind == TARE_KIND_UNMAP && c->direction == TARE_DIRECTION_TO_DEVICE;
	uint64_t identity = (uint64_t)tare_trace_track(c->head) << 32 | c->number;

	if ((c->kind != TARE_KIND_WRITE && c->kind != TARE_KIND_READ && !back) || !c->object2)
		return l->status;
	if (l->recording->processes[l->process].flags & TARE_TRACE_COMPARED &&
	    !tare_id_map_put(&l->contents_of, identity, index))
		return loading_fail(l, ENOMEM, "contents");
	return loading_add_place(l, index, loading_place_identity(c->kind, c->object2));
}

// They come in the order of the commands, of all threads. NULL: it has none.
static struct tare_recorded_place *place_of(const struct loading *l, uint32_t command)
{
	const struct tare_recording *r = l->recording;
	size_t low = 0, high = r->place_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (r->places[middle].command < command)
			low = middle + 1;
		else
			high = middle;
	}
	return low < r->place_count && r->places[low].command == command ? &r->places[low] : NULL;
}

int loading_contents(struct loading *l, const struct tare_trace_contents *c)
{
	uint64_t identity = (uint64_t)c->command_track << 32 | c->command_number;
	uint32_t command = c->execution ? loading_run_of(l, identity, c->execution)
	                                : tare_id_map_find(&l->contents_of, identity);
	struct tare_recorded_place *place = NULL;

	if (command != TARE_ID_ABSENT && command != TARE_NO_RUN)
		place = place_of(l, command);
	if (!place) {
		l->recording->unresolved++;
		return l->status;
	}
	place->contents = (uint8_t)tare_trace_detail(c->head);
	place->contents_flags = tare_trace_record_flags(c->head);
	place->whole = c->whole;
	place->sample = c->sample;
	place->from_ns = loading_ns(l, c->from);
	place->to_ns = loading_ns(l, c->to);
	if (place->to_ns < place->from_ns)
		place->to_ns = place->from_ns;
	return l->status;
}

// Other threads' commands may have come since.
int loading_transfer(struct loading *l, const struct tare_trace_transfer *t)
{
	struct load_track *track;
	bool c = loading_is_last_command(l, tare_trace_track(t->head), t->number, &track);
	struct tare_recorded_place *place = c ? place_of(l, track->command) : NULL;

	if (!c && track && loading_is_template(l, track->template, t->number))
		loading_append_transfer(l, track->template, t);
	else if (!c && track && track->command_number != t->number)
		l->recording->unresolved++;
	if (place) {
		place->identity = loading_transfer_identity(place->identity, t);
		place->offset = t->region[0] ? UINT64_MAX : t->offset;
	}
	return l->status;
}
