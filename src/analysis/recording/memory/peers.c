// SPDX-License-Identifier: Apache-2.0
// Copies from one device's memory to another's, and what lies between the two.
#include "analysis/recording/internal.h"

#include <stdlib.h>

// A pair in this order, added when it is new; NULL: no memory, or too many.
static struct tare_recorded_link *link_of(struct loading *l, uint32_t source, uint32_t destination)
{
	struct tare_recording *r = l->recording;
	struct tare_recorded_link *link;
	uint8_t kind = 0;
	uint64_t count = 0;

	for (size_t i = 0; i < r->link_count; i++) {
		link = &r->links[i];
		if (link->source == source && link->destination == destination)
			return link;
		if (link->source == destination && link->destination == source) {
			kind = link->kind;
			count = link->count;
		}
	}
	link =
	    r->link_count < TARE_MOST_LINKS ? LOADING_ADD(l, links, link_count, link_room) : NULL;
	if (link)
		*link = (struct tare_recorded_link){ source, destination, kind, count };
	return link;
}

int loading_add_peer(struct loading *l, uint32_t command, uint8_t api, uint64_t source,
                     uint64_t destination)
{
	struct tare_recording *r = l->recording;
	uint32_t from, to;
	struct tare_recorded_link *link;
	struct tare_recorded_peer *peer;

	if (!source || !destination)
		return l->status;
	from = loading_resolve(l, api, TARE_OBJECT_DEVICE, source, UINT64_MAX);
	to = loading_resolve(l, api, TARE_OBJECT_DEVICE, destination, UINT64_MAX);
	if (from == TARE_NO_INDEX || to == TARE_NO_INDEX || from == to)
		return l->status;
	link = link_of(l, from, to);
	peer = link ? LOADING_ADD(l, peers, peer_count, peer_room) : NULL;
	if (peer)
		*peer = (struct tare_recorded_peer){ command, (uint32_t)(link - r->links) };
	return l->status;
}

int loading_peer(struct loading *l, const struct tare_trace_peer *peer)
{
	struct load_track *track;

	if (!loading_is_last_command(l, tare_trace_track(peer->head), peer->number, &track) ||
	    track->command == TARE_NO_INDEX) {
		l->recording->unresolved++;
		return l->status;
	}
	return loading_add_peer(l, track->command, loading_api_of_head(l, peer->head), peer->source,
	                        peer->destination);
}

static void tell(struct tare_recorded_link *link, const struct tare_trace_link *told)
{
	uint8_t kind = (uint8_t)tare_trace_detail(told->head);

	if (!link || kind < link->kind)
		return;
	link->kind = kind;
	link->count = kind == TARE_LINK_NVLINK ? told->count : 0;
}

int loading_link_told(struct loading *l, const struct tare_trace_link *told)
{
	uint8_t api = loading_api_of_head(l, told->head);
	uint32_t first = loading_resolve(l, api, TARE_OBJECT_DEVICE, told->first, told->ticks);
	uint32_t second = loading_resolve(l, api, TARE_OBJECT_DEVICE, told->second, told->ticks);

	if (first == TARE_NO_INDEX || second == TARE_NO_INDEX || first == second)
		return l->status;
	// Each before the other is looked for: what is added may move them.
	tell(link_of(l, first, second), told);
	tell(link_of(l, second, first), told);
	return l->status;
}

static int compare_peers(const void *a, const void *b)
{
	const struct tare_recorded_peer *x = a, *y = b;

	return (x->command > y->command) - (x->command < y->command);
}

void loading_order_peers(struct tare_recording *r)
{
	for (size_t i = 1; i < r->peer_count; i++)
		if (r->peers[i].command < r->peers[i - 1].command) {
			qsort(r->peers, r->peer_count, sizeof *r->peers, compare_peers);
			return;
		}
}

const struct tare_recorded_link *tare_command_link(const struct tare_recording *recording,
                                                   size_t command)
{
	size_t low = 0, high = recording->peer_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (recording->peers[middle].command < command)
			low = middle + 1;
		else
			high = middle;
	}
	return low < recording->peer_count && recording->peers[low].command == command
	           ? &recording->links[recording->peers[low].link]
	           : NULL;
}
