// SPDX-License-Identifier: Apache-2.0
#include "export/lanes.h"

#include <stdbool.h>
#include <stdlib.h>

// ---- two heaps

static void busy_push(struct lanes *lanes, struct lanes_busy item)
{
	size_t at = lanes->busy_count++;

	for (; at > 0 && lanes->busy[(at - 1) / 2].until_ns > item.until_ns; at = (at - 1) / 2)
		lanes->busy[at] = lanes->busy[(at - 1) / 2];
	lanes->busy[at] = item;
}

static uint32_t busy_pop(struct lanes *lanes)
{
	uint32_t lane = lanes->busy[0].lane;
	struct lanes_busy item = lanes->busy[--lanes->busy_count];
	size_t at = 0, count = lanes->busy_count;

	for (size_t child = 1; child < count; child = 2 * at + 1) {
		if (child + 1 < count &&
		    lanes->busy[child + 1].until_ns < lanes->busy[child].until_ns)
			child++;
		if (lanes->busy[child].until_ns >= item.until_ns)
			break;
		lanes->busy[at] = lanes->busy[child];
		at = child;
	}
	lanes->busy[at] = item;
	return lane;
}

static void free_push(struct lanes *lanes, uint32_t lane)
{
	size_t at = lanes->free_count++;

	for (; at > 0 && lanes->free[(at - 1) / 2] > lane; at = (at - 1) / 2)
		lanes->free[at] = lanes->free[(at - 1) / 2];
	lanes->free[at] = lane;
}

static uint32_t free_pop(struct lanes *lanes)
{
	uint32_t lane = lanes->free[0], item = lanes->free[--lanes->free_count];
	size_t at = 0, count = lanes->free_count;

	for (size_t child = 1; child < count; child = 2 * at + 1) {
		if (child + 1 < count && lanes->free[child + 1] < lanes->free[child])
			child++;
		if (lanes->free[child] >= item)
			break;
		lanes->free[at] = lanes->free[child];
		at = child;
	}
	lanes->free[at] = item;
	return lane;
}

// ---- lanes

// Room for one lane more in everything.
static bool grow(struct lanes *lanes)
{
	size_t room = lanes->room ? 2 * lanes->room : 4;
	void *busy = reallocarray(lanes->busy, room, sizeof *lanes->busy);

	if (busy)
		lanes->busy = busy;
	void *unused = reallocarray(lanes->free, room, sizeof *lanes->free);
	if (unused)
		lanes->free = unused;
	void *track = reallocarray(lanes->track, room, sizeof *lanes->track);
	if (track)
		lanes->track = track;
	if (!busy || !unused || !track)
		return false;
	lanes->room = room;
	return true;
}

uint32_t lanes_take(struct lanes *lanes, int64_t from_ns, int64_t to_ns)
{
	uint32_t lane;

	while (lanes->busy_count && lanes->busy[0].until_ns <= from_ns)
		free_push(lanes, busy_pop(lanes));
	if (lanes->free_count) {
		lane = free_pop(lanes);
	} else {
		if (lanes->count == lanes->room && !grow(lanes))
			return LANES_NONE;
		lane = lanes->count++;
		lanes->track[lane] = 0;
	}
	busy_push(lanes, (struct lanes_busy){ to_ns, lane });
	return lane;
}

void lanes_free(struct lanes *lanes)
{
	free(lanes->busy);
	free(lanes->free);
	free(lanes->track);
	*lanes = (struct lanes){ 0 };
}
