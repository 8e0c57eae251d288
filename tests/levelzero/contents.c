// SPDX-License-Identifier: Apache-2.0
// Lists that are executed again, for what `tare record --contents` says of their bytes. Each list
// has a size of its own, by which the test knows its copies.
#include "example.h"

#include <stdlib.h>
#include <string.h>

#define MOST 262144u

static struct device device;
static ze_command_queue_handle_t queue;
static char *heap, *back;
static void *there, *also;

static ze_command_list_handle_t begun(void)
{
	return list_of(&device, device.compute);
}

static void copy(ze_command_list_handle_t list, void *to, const void *from, size_t bytes)
{
	check(zeCommandListAppendMemoryCopy(list, to, from, bytes, NULL, 0, NULL),
	      "zeCommandListAppendMemoryCopy");
	check(zeCommandListAppendBarrier(list, NULL, 0, NULL), "zeCommandListAppendBarrier");
}

static void execute(ze_command_list_handle_t list)
{
	check(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL),
	      "zeCommandQueueExecuteCommandLists");
}

static void end(ze_command_list_handle_t list)
{
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
}

// Three executions, the program waits for each: the same bytes twice, then others.
static void again(size_t bytes)
{
	ze_command_list_handle_t list = begun();
	copy(list, there, heap, bytes);
	copy(list, back, there, bytes);
	check(zeCommandListClose(list), "zeCommandListClose");
	for (int i = 0; i < 3; i++) {
		memset(heap, i < 2 ? 7 : 9, bytes);
		execute(list);
		synchronize(queue);
	}
	end(list);
}

// What is written is what the list itself has read before: it is not there when the list is handed
// over.
static void through_the_host(size_t bytes)
{
	ze_command_list_handle_t list = begun();
	memset(back, 1, bytes);
	copy(list, back, there, bytes);
	copy(list, also, back, bytes);
	check(zeCommandListClose(list), "zeCommandListClose");
	execute(list);
	synchronize(queue);
	end(list);
}

// Both executions read to the same place before anybody has looked.
static void overwritten(size_t bytes)
{
	ze_command_list_handle_t list = begun();
	copy(list, back, there, bytes);
	check(zeCommandListClose(list), "zeCommandListClose");
	execute(list);
	execute(list);
	synchronize(queue);
	end(list);
}

// Complete, and destroyed, without a call that waits.
static void looked_at(size_t bytes)
{
	ze_command_list_handle_t list = begun();
	ze_event_pool_handle_t pool = pool_of(&device, 1);
	ze_event_handle_t event = event_of(pool, 0);
	copy(list, back, there, bytes);
	check(zeCommandListAppendSignalEvent(list, event), "zeCommandListAppendSignalEvent");
	check(zeCommandListClose(list), "zeCommandListClose");
	memset(back, 1, bytes);
	execute(list);
	while (((volatile char *)back)[bytes - 1] == 1)
		;
	end(list);
	synchronize(queue);
	check(zeEventDestroy(event), "zeEventDestroy");
	check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
}

// A rectangle is no row.
static void rectangle(size_t bytes)
{
	ze_command_list_handle_t list = begun();
	ze_copy_region_t region = { .width = (uint32_t)(bytes / 8), .height = 8, .depth = 1 };
	check(zeCommandListAppendMemoryCopyRegion(list, there, &region, (uint32_t)(bytes / 8), 0,
	                                          heap, &region, (uint32_t)(bytes / 8), 0, NULL, 0,
	                                          NULL),
	      "zeCommandListAppendMemoryCopyRegion");
	check(zeCommandListClose(list), "zeCommandListClose");
	execute(list);
	synchronize(queue);
	end(list);
}

int main(void)
{
	device = open_device();
	queue = queue_of(&device, device.compute, 0);
	heap = memory_of(&device, HEAP, MOST);
	back = memory_of(&device, HEAP, MOST);
	there = memory_of(&device, DEVICE, MOST);
	also = memory_of(&device, DEVICE, MOST);
	again(MOST);
	through_the_host(4096);
	overwritten(8192);
	looked_at(16384);
	rectangle(32768);
	check(zeCommandQueueDestroy(queue), "zeCommandQueueDestroy");
	free_memory(&device, HEAP, heap);
	free_memory(&device, HEAP, back);
	free_memory(&device, DEVICE, there);
	free_memory(&device, DEVICE, also);
	close_device(&device);
	return 0;
}
