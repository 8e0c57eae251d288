// SPDX-License-Identifier: Apache-2.0
// Spans as phases. Phases of a thread nest and spans need not: one that has a later one inside it
// ends with that.
#include "time/internal.h"

#include "tare/phase.h"

#define DEPTH 64

static _Thread_local struct open_phase {
	const void *owner;
	uint32_t slot, turn;
	bool over;
} open_phases[DEPTH];
static _Thread_local uint32_t depth;

const void *tare_time_thread(void)
{
	return &depth;
}

void tare_time_phase_begin(const void *owner, uint32_t slot, uint32_t turn, const char *name)
{
	// Deeper ones are spans only.
	if (depth == DEPTH)
		return;
	open_phases[depth++] = (struct open_phase){ owner, slot, turn, false };
	tare_phase_begin(name[0] ? name : "span");
}

void tare_time_phase_end(const void *owner, uint32_t slot, uint32_t turn)
{
	for (uint32_t i = depth; i-- > 0;) {
		struct open_phase *each = &open_phases[i];
		if (each->owner == owner && each->slot == slot && each->turn == turn) {
			each->over = true;
			break;
		}
	}
	for (; depth > 0 && open_phases[depth - 1].over; depth--)
		tare_phase_end();
}
