// SPDX-License-Identifier: Apache-2.0
// Work of which a script alone says when each command begins and ends: all of it is handed over
// before an event of the host lets the first command begin, so that nothing depends on how fast the
// host is.
//   gated immediate|overlap|regular N|lists N [TICKS]
// With TICKS it waits until the device's counter is so many ticks from its wrap before it lets go.
#include "example.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BYTES (1u << 16)
#define CHUNKS 4u
#define LIMIT_NS (60 * UINT64_C(1000000000))

enum { LISTS = 2 };

static struct device device;
static ze_kernel_handle_t kernel;
static ze_event_pool_handle_t pool;
static ze_event_handle_t gate, last;
static void *host, *there, *also;
static uint64_t before_wrap;

static ze_command_list_handle_t immediate(uint32_t ordinal, uint32_t index)
{
	const ze_command_queue_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		                               .ordinal = ordinal,
		                               .index = index,
		                               .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS };
	ze_command_list_handle_t list;

	check(zeCommandListCreateImmediate(device.context, device.id, &desc, &list),
	      "zeCommandListCreateImmediate");
	return list;
}

static void copy(ze_command_list_handle_t list, void *to, const void *from,
                 ze_event_handle_t signal, ze_event_handle_t after)
{
	check(zeCommandListAppendMemoryCopy(list, to, from, BYTES, signal, after != NULL,
	                                    after ? &after : NULL),
	      "zeCommandListAppendMemoryCopy");
}

static void launch(ze_command_list_handle_t list, ze_event_handle_t signal, ze_event_handle_t after)
{
	const ze_group_count_t one = { 1, 1, 1 };

	check(zeCommandListAppendLaunchKernel(list, kernel, &one, signal, after != NULL,
	                                      after ? &after : NULL),
	      "zeCommandListAppendLaunchKernel");
}

static void fill(ze_command_list_handle_t list)
{
	check(zeCommandListAppendMemoryFill(list, also, "x", 1, BYTES, NULL, 0, NULL),
	      "zeCommandListAppendMemoryFill");
}

// One of each kind, in the order of `ROW` in the test.
static void append_row(ze_command_list_handle_t list, ze_event_handle_t after)
{
	copy(list, there, host, NULL, after);
	launch(list, NULL, NULL);
	copy(list, host, there, NULL, NULL);
	fill(list);
	launch(list, NULL, NULL);
	copy(list, also, there, NULL, NULL);
}

static void wait_for_wrap(void)
{
	const struct timespec moment = { .tv_nsec = 100000 };
	const uint32_t bits = device.properties.timestampValidBits;
	const uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
	uint64_t host_ns, ticks, last_ticks = 0;

	while (before_wrap) {
		check(zeDeviceGetGlobalTimestamps(device.id, &host_ns, &ticks),
		      "zeDeviceGetGlobalTimestamps");
		// From the start on it is short of the wrap; a machine that was too slow is past
		// it.
		if (ticks < last_ticks || ticks < mask / 32)
			stop("the counter has wrapped too early");
		if (mask - ticks <= before_wrap)
			return;
		last_ticks = ticks;
		nanosleep(&moment, NULL);
	}
}

static void let_go(void)
{
	wait_for_wrap();
	check(zeEventHostSignal(gate), "zeEventHostSignal");
}

static void in_immediate_list(void)
{
	ze_command_list_handle_t list = immediate(device.compute, 0);

	for (int i = 0; i < 3; i++)
		append_row(list, i == 0 ? gate : NULL);
	launch(list, last, NULL);
	let_go();
	check(zeEventHostSynchronize(last, LIMIT_NS), "zeEventHostSynchronize");
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
}

// Copies in on one engine, kernels on another, copies out on a third, chunk after chunk.
static void overlapping(void)
{
	uint32_t copies = device.group_count - 1;
	ze_command_list_handle_t in = immediate(copies, 0), out = immediate(copies, 1),
	                         work = immediate(device.compute, 0);
	ze_event_pool_handle_t events = pool_of(&device, 2 * CHUNKS);

	for (uint32_t i = 0; i < CHUNKS; i++) {
		ze_event_handle_t written = event_of(events, 2 * i),
		                  worked = event_of(events, 2 * i + 1);
		copy(in, there, host, written, i == 0 ? gate : NULL);
		launch(work, worked, written);
		copy(out, host, there, i + 1 == CHUNKS ? last : NULL, worked);
	}
	let_go();
	check(zeEventHostSynchronize(last, LIMIT_NS), "zeEventHostSynchronize");
	check(zeCommandListDestroy(in), "zeCommandListDestroy");
	check(zeCommandListDestroy(work), "zeCommandListDestroy");
	check(zeCommandListDestroy(out), "zeCommandListDestroy");
}

// `each` lists in one call, so often.
static void in_regular_lists(uint32_t each, uint32_t times)
{
	ze_command_queue_handle_t queue = queue_of(&device, device.compute, 0);
	ze_command_list_handle_t lists[LISTS];

	for (uint32_t i = 0; i < each; i++) {
		lists[i] = list_of(&device, device.compute);
		append_row(lists[i], gate);
		check(zeCommandListClose(lists[i]), "zeCommandListClose");
	}
	for (uint32_t i = 0; i < times; i++)
		check(zeCommandQueueExecuteCommandLists(queue, each, lists, NULL),
		      "zeCommandQueueExecuteCommandLists");
	let_go();
	synchronize(queue);
	for (uint32_t i = 0; i < each; i++)
		check(zeCommandListDestroy(lists[i]), "zeCommandListDestroy");
	check(zeCommandQueueDestroy(queue), "zeCommandQueueDestroy");
}

int main(int count, char **arguments)
{
	const char *style = count > 1 ? arguments[1] : "immediate";
	bool regular = strcmp(style, "regular") == 0, lists = strcmp(style, "lists") == 0;
	uint32_t times =
	    count > 2 && (regular || lists) ? (uint32_t)strtoul(arguments[2], NULL, 10) : 1;
	int ticks_at = regular || lists ? 3 : 2;

	before_wrap = count > ticks_at ? strtoull(arguments[ticks_at], NULL, 10) : 0;
	device = open_device();
	ze_module_handle_t module = module_of(&device, getenv("STYLES_KERNELS"));
	kernel = kernel_of(module, "empty");
	check(zeKernelSetGroupSize(kernel, 64, 1, 1), "zeKernelSetGroupSize");
	host = memory_of(&device, HOST, BYTES);
	there = memory_of(&device, DEVICE, BYTES);
	also = memory_of(&device, DEVICE, BYTES);
	pool = pool_of(&device, 2);
	gate = event_of(pool, 0);
	last = event_of(pool, 1);
	if (strcmp(style, "immediate") == 0)
		in_immediate_list();
	else if (strcmp(style, "overlap") == 0)
		overlapping();
	else
		in_regular_lists(lists ? LISTS : 1, times);
	check(zeEventDestroy(gate), "zeEventDestroy");
	check(zeEventDestroy(last), "zeEventDestroy");
	check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
	close_device(&device);
	return 0;
}
