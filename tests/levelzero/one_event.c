// SPDX-License-Identifier: Apache-2.0
// One event, signalled by commands of several lists that are in flight at once: events of the
// host's hold them up, so that in each way everything is where it is said to be. Each fill has a
// size of its own, by which its time is known.
//   one_event behind|before|read|immediate|pending|again|twice
#include "example.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL = 1 << 20, LARGE = 1 << 25 };

static struct device device;
static void *there;
static ze_command_queue_handle_t queue, other;
// What all signal; what the first waits for before and behind that; what the second waits for
// before; the last of all.
static ze_event_handle_t event, first_may_begin, first_may_end, second_may_begin, last;

static void hold(ze_command_list_handle_t list, ze_event_handle_t gate)
{
	check(zeCommandListAppendWaitOnEvents(list, 1, &gate), "zeCommandListAppendWaitOnEvents");
}

static void fill(ze_command_list_handle_t list, size_t bytes)
{
	check(zeCommandListAppendMemoryFill(list, there, "x", 1, bytes, event, 0, NULL),
	      "zeCommandListAppendMemoryFill");
}

static void barrier(ze_command_list_handle_t list)
{
	check(zeCommandListAppendBarrier(list, NULL, 0, NULL), "zeCommandListAppendBarrier");
}

static ze_command_list_handle_t closed(ze_command_list_handle_t list)
{
	check(zeCommandListClose(list), "zeCommandListClose");
	return list;
}

// The event is signalled, and the list not over yet.
static ze_command_list_handle_t first(void)
{
	ze_command_list_handle_t list = list_of(&device, device.compute);
	fill(list, SMALL);
	hold(list, first_may_end);
	return closed(list);
}

static ze_command_list_handle_t second(void)
{
	ze_command_list_handle_t list = list_of(&device, device.compute);
	hold(list, second_may_begin);
	fill(list, LARGE);
	return closed(list);
}

static void execute(ze_command_queue_handle_t on, ze_command_list_handle_t list)
{
	check(zeCommandQueueExecuteCommandLists(on, 1, &list, NULL),
	      "zeCommandQueueExecuteCommandLists");
}

static void signal(ze_event_handle_t gate)
{
	check(zeEventHostSignal(gate), "zeEventHostSignal");
}

static void reset(ze_event_handle_t of)
{
	check(zeEventHostReset(of), "zeEventHostReset");
}

static void await(ze_event_handle_t of)
{
	check(zeEventHostSynchronize(of, UINT64_MAX), "zeEventHostSynchronize");
}

static void end(void)
{
	signal(first_may_end);
	signal(second_may_begin);
	await(event);
	synchronize(queue);
	synchronize(other);
}

// The event is reset while both are in flight.
static void both(ze_command_list_handle_t one, ze_command_list_handle_t two)
{
	execute(queue, one);
	execute(other, two);
	await(event);
	reset(event);
	end();
}

static void behind(void)
{
	ze_command_list_handle_t one = first();
	both(one, second());
}

static void before(void)
{
	ze_command_list_handle_t two = second();
	both(first(), two);
}

// The first has been read by its query.
static void read_before(void)
{
	ze_command_list_handle_t one = first(), two = second();
	signal(first_may_end);
	execute(queue, one);
	synchronize(queue);
	execute(other, two);
	await(event);
	reset(event);
	end();
}

// The second is an immediate list's, and the event is not reset.
static void immediate(void)
{
	ze_command_list_handle_t list = immediate_of(&device, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	execute(queue, first());
	await(event);
	hold(list, second_may_begin);
	fill(list, LARGE);
	// At this its times are asked for.
	check(zeEventQueryStatus(event), "zeEventQueryStatus");
	check(zeCommandListAppendBarrier(list, last, 0, NULL), "zeCommandListAppendBarrier");
	end();
	await(last);
}

static void again(void)
{
	ze_command_list_handle_t one = first();
	signal(first_may_end);
	execute(queue, one);
	synchronize(queue);
	reset(event);
	reset(first_may_end);
	both(one, second());
}

// It was appended before the first, which is a regular list's, has signalled the event.
static void pending(void)
{
	ze_command_list_handle_t one = list_of(&device, device.compute),
	                         two = immediate_of(&device, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	hold(one, first_may_begin);
	fill(one, SMALL);
	execute(queue, closed(one));
	hold(two, second_may_begin);
	fill(two, LARGE);
	signal(first_may_begin);
	await(event);
	reset(event);
	end();
}

// Of two commands in one list the first is not the last that signals the event.
static void twice(void)
{
	ze_command_list_handle_t list = list_of(&device, device.compute);
	fill(list, SMALL);
	barrier(list);
	second();
	check(zeCommandListAppendEventReset(list, event), "zeCommandListAppendEventReset");
	barrier(list);
	fill(list, LARGE);
	execute(queue, closed(list));
	synchronize(queue);
}

int main(int count, char **arguments)
{
	static const struct way {
		const char *name;
		void (*go)(void);
	} ways[] = { { "behind", behind },       { "before", before }, { "read", read_before },
		     { "immediate", immediate }, { "again", again },   { "twice", twice },
		     { "pending", pending } };
	device = open_device();
	there = memory_of(&device, DEVICE, LARGE);
	queue = queue_of(&device, device.compute, 0);
	other = queue_of(&device, device.compute, 0);
	ze_event_pool_handle_t pool = pool_of(&device, 5);
	event = event_of(pool, 0);
	first_may_end = event_of(pool, 1);
	second_may_begin = event_of(pool, 2);
	last = event_of(pool, 3);
	first_may_begin = event_of(pool, 4);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (count == 2 && strcmp(arguments[1], ways[i].name) == 0) {
			ways[i].go();
			return EXIT_SUCCESS;
		}
	stop("one_event behind|before|read|immediate|pending|again|twice");
}
