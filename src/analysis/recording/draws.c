// SPDX-License-Identifier: Apache-2.0
// Commands that chance gave device times, and with what probability.
#include "analysis/recording/internal.h"

#include <stdlib.h>

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

static int compare(const void *a, const void *b)
{
	const struct tare_recorded_draw *x = a, *y = b;

	return (x->command > y->command) - (x->command < y->command);
}

void loading_order_draws(struct tare_recording *r)
{
	for (size_t i = 1; i < r->draw_count; i++)
		if (r->draws[i].command < r->draws[i - 1].command) {
			qsort(r->draws, r->draw_count, sizeof *r->draws, compare);
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
