// SPDX-License-Identifier: Apache-2.0
// Puts work into a Level Zero device in one style after another, as programs do, for the tests of
// the recorder:
//   styles STYLE...
// For each command that it gives an event of its own it prints what that said when the program read
// it:
//   stamps START END
// and for each command that runs, in the order of appending, and as often as it runs:
//   run KIND
#include "example.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define IN_ORDER_QUEUE 2u // of flags that older headers lack
#define BYTES (1u << 16)
#define COUNT 20u

static struct device device;
static ze_kernel_handle_t kernel;
static ze_module_handle_t module;
static void *host, *there, *also;
static const ze_group_count_t one = { 1, 1, 1 };

static ze_command_list_handle_t immediate_on(uint32_t ordinal, uint32_t flags,
                                             ze_command_queue_mode_t mode)
{
	const ze_command_queue_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		                               .ordinal = ordinal,
		                               .flags = flags,
		                               .mode = mode };
	ze_command_list_handle_t list;
	check(zeCommandListCreateImmediate(device.context, device.id, &desc, &list),
	      "zeCommandListCreateImmediate");
	return list;
}

static ze_command_list_handle_t immediate(uint32_t flags, ze_command_queue_mode_t mode)
{
	return immediate_on(device.compute, flags, mode);
}

static void launch(ze_command_list_handle_t list, ze_event_handle_t event)
{
	check(zeCommandListAppendLaunchKernel(list, kernel, &one, event, 0, NULL),
	      "zeCommandListAppendLaunchKernel");
	puts("run kernel");
}

static void write_to(ze_command_list_handle_t list, ze_event_handle_t event)
{
	check(zeCommandListAppendMemoryCopy(list, there, host, BYTES, event, 0, NULL),
	      "zeCommandListAppendMemoryCopy");
	puts("run write");
}

static void barrier(ze_command_list_handle_t list)
{
	check(zeCommandListAppendBarrier(list, NULL, 0, NULL), "zeCommandListAppendBarrier");
	puts("run barrier");
}

static void wait_for(ze_event_handle_t event)
{
	check(zeEventHostSynchronize(event, UINT64_MAX), "zeEventHostSynchronize");
}

static void print_stamps(ze_event_handle_t event)
{
	ze_kernel_timestamp_result_t stamps = stamps_of(event);
	printf("stamps %llu %llu\n", (unsigned long long)stamps.global.kernelStart,
	       (unsigned long long)stamps.global.kernelEnd);
}

// An event of its own for every command, read at the end.
static void plain(void)
{
	ze_command_list_handle_t list = immediate(0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_event_pool_handle_t pool = pool_of(&device, COUNT);
	ze_event_handle_t events[COUNT];
	for (uint32_t i = 0; i < COUNT; i++) {
		events[i] = event_of(pool, i);
		if (i % 2)
			write_to(list, events[i]);
		else
			launch(list, events[i]);
	}
	for (uint32_t i = 0; i < COUNT; i++) {
		wait_for(events[i]);
		print_stamps(events[i]);
	}
	for (uint32_t i = 0; i < COUNT; i++)
		check(zeEventDestroy(events[i]), "zeEventDestroy");
	check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
}

// No events but one at the end, of a pool without timestamps.
static void without(uint32_t flags)
{
	const ze_event_pool_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
		                            .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
		                            .count = 1 };
	ze_command_list_handle_t list = immediate(flags, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_event_pool_handle_t pool;
	check(zeEventPoolCreate(device.context, &desc, 0, NULL, &pool), "zeEventPoolCreate");
	ze_event_handle_t last = event_of(pool, 0);
	for (uint32_t i = 0; i < COUNT; i++) {
		launch(list, NULL);
		write_to(list, NULL);
		if (i % 4 == 3)
			barrier(list);
	}
	launch(list, last);
	wait_for(last);
	check(zeEventDestroy(last), "zeEventDestroy");
	check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
}

static void synchronous(void)
{
	ze_command_list_handle_t list = immediate(0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
	for (uint32_t i = 0; i < COUNT; i++)
		launch(list, NULL);
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
}

// One event for all: waited for, read, reset by the host.
static void reused(void)
{
	ze_command_list_handle_t list = immediate(0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_event_pool_handle_t pool = pool_of(&device, 1);
	ze_event_handle_t event = event_of(pool, 0);
	for (uint32_t i = 0; i < COUNT; i++) {
		launch(list, event);
		wait_for(event);
		print_stamps(event);
		check(zeEventHostReset(event), "zeEventHostReset");
	}
	check(zeEventDestroy(event), "zeEventDestroy");
	check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
}

// The same without a reset: it is signalled again while it is signalled.
static void signalled(void)
{
	ze_command_list_handle_t list =
	    immediate(IN_ORDER_QUEUE, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_event_pool_handle_t pool = pool_of(&device, 2);
	ze_event_handle_t event = event_of(pool, 0), last = event_of(pool, 1);
	for (uint32_t i = 0; i < 4; i++) {
		launch(list, event);
		launch(list, last);
		wait_for(last);
		print_stamps(event);
		print_stamps(last);
		check(zeEventHostReset(last), "zeEventHostReset");
	}
	check(zeEventDestroy(event), "zeEventDestroy");
	check(zeEventDestroy(last), "zeEventDestroy");
	check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
}

// One now and then until the counter has gone round, and some more.
static void wrapping(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	ze_command_list_handle_t list = immediate(0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_event_pool_handle_t pool = pool_of(&device, 1);
	ze_event_handle_t event = event_of(pool, 0);
	uint64_t first = 0, last = 0;
	for (uint32_t i = 0; last >= first; i++) {
		launch(list, event);
		wait_for(event);
		last = stamps_of(event).global.kernelEnd;
		first = i == 0 ? last : first;
		check(zeEventHostReset(event), "zeEventHostReset");
		nanosleep(&moment, NULL);
	}
	check(zeEventDestroy(event), "zeEventDestroy");
	check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
	without(0);
}

// ---- regular lists

static void fill_list(ze_command_list_handle_t list, ze_event_handle_t event)
{
	for (int i = 0; i < 4; i++) {
		check(zeCommandListAppendLaunchKernel(list, kernel, &one, i == 1 ? event : NULL, 0,
		                                      NULL),
		      "launch");
		check(zeCommandListAppendMemoryCopy(list, there, host, BYTES, NULL, 0, NULL),
		      "copy");
	}
	check(zeCommandListAppendBarrier(list, NULL, 0, NULL), "zeCommandListAppendBarrier");
	check(zeCommandListAppendMemoryFill(list, also, "x", 1, BYTES, NULL, 0, NULL), "fill");
	check(zeCommandListClose(list), "zeCommandListClose");
}

static void print_list(void)
{
	for (int i = 0; i < 4; i++)
		puts("run kernel\nrun write");
	puts("run barrier\nrun fill");
}

static void execute(ze_command_queue_handle_t queue, uint32_t count,
                    ze_command_list_handle_t *lists)
{
	check(zeCommandQueueExecuteCommandLists(queue, count, lists, NULL),
	      "zeCommandQueueExecuteCommandLists");
	for (uint32_t i = 0; i < count; i++)
		print_list();
}

// Executed some times without waiting; then reset, built anew and executed again.
static void regular(uint32_t times)
{
	ze_command_queue_handle_t queue = queue_of(&device, device.compute, 0);
	ze_command_list_handle_t list = list_of(&device, device.compute);
	ze_event_pool_handle_t pool = pool_of(&device, 1);
	ze_event_handle_t event = event_of(pool, 0);
	for (int round = 0; round < 2; round++) {
		fill_list(list, event);
		for (uint32_t i = 0; i < times; i++)
			execute(queue, 1, &list);
		synchronize(queue);
		check(zeCommandListReset(list), "zeCommandListReset");
		check(zeEventHostReset(event), "zeEventHostReset");
	}
	check(zeEventDestroy(event), "zeEventDestroy");
	check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
	check(zeCommandQueueDestroy(queue), "zeCommandQueueDestroy");
}

static void several(void)
{
	ze_command_queue_handle_t queue = queue_of(&device, device.compute, 0);
	ze_command_list_handle_t lists[3];
	for (int i = 0; i < 3; i++) {
		lists[i] = list_of(&device, device.compute);
		fill_list(lists[i], NULL);
	}
	execute(queue, 3, lists);
	execute(queue, 2, lists);
	synchronize(queue);
	for (int i = 0; i < 3; i++)
		check(zeCommandListDestroy(lists[i]), "zeCommandListDestroy");
	check(zeCommandQueueDestroy(queue), "zeCommandQueueDestroy");
}

// A list with a command that can have no event of its own, between two that can.
static void between(void)
{
	ze_command_queue_handle_t queue = queue_of(&device, device.compute, 0);
	ze_command_list_handle_t list = list_of(&device, device.compute);
	ze_event_pool_handle_t pool = pool_of(&device, 1);
	ze_event_handle_t event = event_of(pool, 0);
	check(zeEventHostSignal(event), "zeEventHostSignal");
	launch(list, NULL);
	check(zeCommandListAppendWaitOnEvents(list, 1, &event), "zeCommandListAppendWaitOnEvents");
	launch(list, NULL);
	check(zeCommandListClose(list), "zeCommandListClose");
	for (int i = 0; i < 2; i++)
		check(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL), "execute");
	synchronize(queue);
	puts("run kernel\nrun kernel");
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
	check(zeEventDestroy(event), "zeEventDestroy");
	check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
	check(zeCommandQueueDestroy(queue), "zeCommandQueueDestroy");
}

// Waits for an event in the middle of a list alone, and uses it again and destroys it while the
// list goes on.
static void early(void)
{
	ze_command_queue_handle_t queue = queue_of(&device, device.compute, 0);
	// The other engine, which is not held up by the list.
	ze_command_list_handle_t copies =
	    immediate_on(device.group_count - 1, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	for (int round = 0; round < 4; round++) {
		ze_command_list_handle_t list = list_of(&device, device.compute);
		ze_event_pool_handle_t pool = pool_of(&device, 1);
		ze_event_handle_t event = event_of(pool, 0);
		launch(list, event);
		for (uint32_t i = 0; i < COUNT; i++)
			launch(list, NULL);
		check(zeCommandListClose(list), "zeCommandListClose");
		check(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL), "execute");
		wait_for(event);
		print_stamps(event);
		if (round % 2) {
			check(zeEventHostReset(event), "zeEventHostReset");
			write_to(copies, event);
			wait_for(event);
			print_stamps(event);
		}
		check(zeEventDestroy(event), "zeEventDestroy");
		check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
		synchronize(queue);
		check(zeCommandListDestroy(list), "zeCommandListDestroy");
	}
	check(zeCommandListDestroy(copies), "zeCommandListDestroy");
	check(zeCommandQueueDestroy(queue), "zeCommandQueueDestroy");
}

static void reset_in(ze_command_list_handle_t list, ze_event_handle_t event)
{
	check(zeCommandListAppendBarrier(list, NULL, 0, NULL), "zeCommandListAppendBarrier");
	check(zeCommandListAppendEventReset(list, event), "zeCommandListAppendEventReset");
	check(zeCommandListAppendBarrier(list, NULL, 0, NULL), "zeCommandListAppendBarrier");
}

// One event that the list itself resets and signals again.
static void resetting(void)
{
	ze_command_queue_handle_t queue = queue_of(&device, device.compute, 0);
	ze_command_list_handle_t list = list_of(&device, device.compute),
	                         at_once = immediate(0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_event_pool_handle_t pool = pool_of(&device, 3);
	ze_event_handle_t event = event_of(pool, 0), other = event_of(pool, 1),
	                  last = event_of(pool, 2);
	for (int i = 0; i < 4; i++) {
		launch(at_once, event);
		reset_in(at_once, event);
		puts("run barrier\nrun barrier");
		write_to(at_once, event);
		reset_in(at_once, event);
		puts("run barrier\nrun barrier");
		check(zeCommandListAppendLaunchKernel(list, kernel, &one, other, 0, NULL),
		      "launch");
		reset_in(list, other);
		check(zeCommandListAppendMemoryCopy(list, there, host, BYTES, other, 0, NULL),
		      "copy");
		reset_in(list, other);
	}
	// What the event says may still be of the first one.
	launch(at_once, event);
	check(zeCommandListAppendBarrier(at_once, last, 0, NULL), "barrier");
	puts("run barrier");
	wait_for(last);
	check(zeCommandListClose(list), "zeCommandListClose");
	for (int i = 0; i < 3; i++) {
		check(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL), "execute");
		for (int k = 0; k < 4; k++)
			puts("run kernel\nrun barrier\nrun barrier\nrun write\nrun barrier\nrun "
			     "barrier");
	}
	synchronize(queue);
	check(zeEventDestroy(event), "zeEventDestroy");
	check(zeEventDestroy(other), "zeEventDestroy");
	check(zeEventDestroy(last), "zeEventDestroy");
	check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
	check(zeCommandListDestroy(at_once), "zeCommandListDestroy");
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
	check(zeCommandQueueDestroy(queue), "zeCommandQueueDestroy");
}

// A list of an engine that only copies, executed again without waiting.
static void copies(void)
{
	uint32_t ordinal = device.group_count - 1;
	ze_command_queue_handle_t queue = queue_of(&device, ordinal, 0);
	ze_command_list_handle_t list = list_of(&device, ordinal);
	for (int i = 0; i < 4; i++)
		check(zeCommandListAppendMemoryCopy(list, there, host, BYTES, NULL, 0, NULL),
		      "copy");
	check(zeCommandListClose(list), "zeCommandListClose");
	for (int i = 0; i < 3; i++) {
		check(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL), "execute");
		puts("run write\nrun write\nrun write\nrun write");
	}
	synchronize(queue);
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
	check(zeCommandQueueDestroy(queue), "zeCommandQueueDestroy");
}

// Three launches on each sub-device, one after another; then two on the device itself, which tell
// the results of all.
static void sub_devices(void)
{
	ze_device_handle_t found[5] = { NULL };
	uint32_t count = 4;
	check(zeDeviceGetSubDevices(device.id, &count, found), "zeDeviceGetSubDevices");
	found[count] = device.id;
	for (uint32_t i = 0; i <= count; i++) {
		const ze_command_queue_desc_t desc = { .stype =
			                                   ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
			                               .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS };
		ze_command_list_handle_t list;
		check(zeCommandListCreateImmediate(device.context, found[i], &desc, &list),
		      "zeCommandListCreateImmediate");
		for (int k = 0; k < (i < count ? 3 : 2); k++)
			launch(list, NULL);
		check(zeCommandListDestroy(list), "zeCommandListDestroy");
	}
}

// A list that is never executed.
static void appended(void)
{
	ze_command_list_handle_t list = list_of(&device, device.compute);
	for (int i = 0; i < 4; i++)
		check(zeCommandListAppendBarrier(list, NULL, 0, NULL),
		      "zeCommandListAppendBarrier");
	check(zeCommandListClose(list), "zeCommandListClose");
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
}

static void *one_thread(void *context)
{
	ze_event_pool_handle_t pool = context;
	ze_command_list_handle_t list = immediate(0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	static _Atomic uint32_t next;
	ze_event_handle_t event = event_of(pool, next++);
	for (uint32_t i = 0; i < 10 * COUNT; i++) {
		write_to(list, i % 2 ? event : NULL);
		if (i % 2) {
			wait_for(event);
			print_stamps(event);
			check(zeEventHostReset(event), "zeEventHostReset");
		}
	}
	check(zeEventDestroy(event), "zeEventDestroy");
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
	return NULL;
}

static void threads(void)
{
	enum { THREADS = 4 };
	pthread_t thread[THREADS];
	ze_event_pool_handle_t pool = pool_of(&device, THREADS);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, one_thread, pool))
			abort();
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
}

// Waits for ever, for whoever kills it.
static void endless(void)
{
	ze_command_list_handle_t list = immediate(0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_event_pool_handle_t pool = pool_of(&device, 1);
	for (uint32_t i = 0; i < COUNT; i++)
		launch(list, NULL);
	fflush(stdout);
	wait_for(event_of(pool, 0));
}

static void run(const char *style)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} styles[] = { { "plain", plain },
		       { "synchronous", synchronous },
		       { "reused", reused },
		       { "signalled", signalled },
		       { "wrapping", wrapping },
		       { "several", several },
		       { "between", between },
		       { "endless", endless },
		       { "early", early },
		       { "resetting", resetting },
		       { "sub-devices", sub_devices },
		       { "appended", appended },
		       { "copies", copies },
		       { "threads", threads } };
	if (strcmp(style, "without") == 0)
		without(0);
	else if (strcmp(style, "in-order") == 0)
		without(IN_ORDER_QUEUE);
	else if (strncmp(style, "regular=", 8) == 0)
		regular((uint32_t)strtoul(style + 8, NULL, 10));
	for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
		if (strcmp(style, styles[i].name) == 0)
			styles[i].run();
}

int main(int count, char **arguments)
{
	device = open_device();
	module = module_of(&device, getenv("STYLES_KERNELS"));
	kernel = kernel_of(module, "empty");
	check(zeKernelSetGroupSize(kernel, 64, 1, 1), "zeKernelSetGroupSize");
	host = memory_of(&device, HOST, BYTES);
	there = memory_of(&device, DEVICE, BYTES);
	also = memory_of(&device, DEVICE, BYTES);
	for (int i = 1; i < count; i++)
		run(arguments[i]);
	check(zeKernelDestroy(kernel), "zeKernelDestroy");
	check(zeModuleDestroy(module), "zeModuleDestroy");
	free_memory(&device, HOST, host);
	free_memory(&device, DEVICE, there);
	free_memory(&device, DEVICE, also);
	close_device(&device);
	return 0;
}
