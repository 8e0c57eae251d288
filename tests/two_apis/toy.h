// SPDX-License-Identifier: Apache-2.0
// A vendor's API, as small as can be, for the tests of the recorder's contract (src/guest/api.h):
// queues whose commands run at once, events with their times. Like many drivers it has one lock for
// everything, and ends the process where it is called again by the thread that holds it.
#pragma once
#include <stdint.h>

typedef struct toy_queue toy_queue;
typedef struct toy_event toy_event;

// What a tool may replace: $TOY_TOOL is loaded at the first call, and its toy_tool_start is given
// this.
struct toy_table {
	int (*queue_create)(toy_queue **queue);
	// Runs `inside` (NULL: nothing) within the driver, under its lock. `event` NULL: none is
	// wanted.
	int (*launch)(toy_queue *queue, void (*inside)(void *), void *data, toy_event **event);
	int (*finish)(toy_queue *queue);
	int (*poll)(toy_queue *queue);
	// Nanoseconds of CLOCK_MONOTONIC_RAW. Not 0: it is not complete.
	int (*event_times)(toy_event *event, uint64_t times[2]);
	int (*event_release)(toy_event *event);
};
typedef void toy_start(struct toy_table *table);

int toy_queue_create(toy_queue **queue);
int toy_launch(toy_queue *queue, void (*inside)(void *), void *data, toy_event **event);
int toy_finish(toy_queue *queue);
int toy_poll(toy_queue *queue);
int toy_event_release(toy_event *event);
// How often the driver itself was polled, and how many events there are; past any tool.
uint64_t toy_polls(void);
int toy_events(void);
