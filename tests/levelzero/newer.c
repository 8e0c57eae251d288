// SPDX-License-Identifier: Apache-2.0
// Puts work into a Level Zero device by what is newer than Debian 12's headers, as
// unified-runtime's adapters and others do: every function is asked for by its name
// (zeDriverGetExtensionFunctionAddress).
//   newer STYLE...
// It prints what styles.c prints: "run KIND" for each command as often as it runs, "stamps START
// END" for what the program's own events said.
#include "backend/levelzero/newer.h"
#include "example.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES (1u << 16)
#define COUNT 20u
#define MANY 100u
#define STAMPS LEVELZERO_COUNTER_DEVICE_STAMPS
#define BOTH                                                                                       \
	(LEVELZERO_COUNTER_IMMEDIATE | LEVELZERO_COUNTER_REGULAR | LEVELZERO_COUNTER_HOST_VISIBLE)

typedef ze_result_t append_lists(ze_command_list_handle_t onto, uint32_t count,
                                 ze_command_list_handle_t *lists, ze_event_handle_t signal,
                                 uint32_t wait_count, ze_event_handle_t *waits);

static struct device device;
static ze_kernel_handle_t kernel;
static void *host, *there, *also;
static const ze_group_count_t one = { 1, 1, 1 };

static void *entry(const char *name)
{
	void *address = NULL;
	check(zeDriverGetExtensionFunctionAddress(device.driver, name, &address), name);
	return address;
}
#define CALL(type, name, ...) check(((type *)entry(#name))(__VA_ARGS__), #name)
#define OLD(name, ...) CALL(__typeof__(name), name, __VA_ARGS__)

static ze_command_list_handle_t immediate(ze_command_queue_mode_t mode)
{
	const ze_command_queue_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		                               .ordinal = device.compute,
		                               .flags = LEVELZERO_QUEUE_IN_ORDER,
		                               .mode = mode };
	ze_command_list_handle_t list;
	OLD(zeCommandListCreateImmediate, device.context, device.id, &desc, &list);
	return list;
}

static ze_command_list_handle_t regular(void)
{
	const ze_command_list_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
		                              .commandQueueGroupOrdinal = device.compute,
		                              .flags = LEVELZERO_LIST_IN_ORDER };
	ze_command_list_handle_t list;
	OLD(zeCommandListCreate, device.context, device.id, &desc, &list);
	return list;
}

static void wait_list(ze_command_list_handle_t list)
{
	CALL(levelzero_list_host_synchronize, zeCommandListHostSynchronize, list, UINT64_MAX);
}

static ze_event_handle_t counting(const char *name, uint32_t flags)
{
	const struct levelzero_counter_event desc = { .stype = LEVELZERO_TYPE_COUNTER_EVENT,
		                                      .flags = flags,
		                                      .signal = ZE_EVENT_SCOPE_FLAG_HOST };
	ze_event_handle_t event;
	check(((levelzero_create_counter_event *)entry(name))(device.context, device.id, &desc,
	                                                      &event),
	      name);
	return event;
}

static void launch(ze_command_list_handle_t list, ze_event_handle_t event)
{
	OLD(zeCommandListAppendLaunchKernel, list, kernel, &one, event, 0, NULL);
}

static void copy(ze_command_list_handle_t list, ze_event_handle_t event)
{
	OLD(zeCommandListAppendMemoryCopy, list, there, host, BYTES, event, 0, NULL);
}

static void print_stamps_as(const char *what, ze_event_handle_t event)
{
	ze_kernel_timestamp_result_t stamps;
	OLD(zeEventQueryKernelTimestamp, event, &stamps);
	printf("%s %llu %llu\n", what, (unsigned long long)stamps.global.kernelStart,
	       (unsigned long long)stamps.global.kernelEnd);
}

static void print_stamps(ze_event_handle_t event)
{
	print_stamps_as("stamps", event);
}

static void destroy(ze_command_list_handle_t list)
{
	OLD(zeCommandListDestroy, list);
}

static void append(ze_command_list_handle_t onto, uint32_t count, ze_command_list_handle_t *lists,
                   ze_event_handle_t signal, ze_event_handle_t wait)
{
	CALL(append_lists, zeCommandListImmediateAppendCommandListsExp, onto, count, lists, signal,
	     wait != NULL, wait != NULL ? &wait : NULL);
}

// ---- lists on an immediate list

static void appended(ze_command_queue_mode_t mode)
{
	ze_command_list_handle_t onto = immediate(mode), lists[2];
	ze_event_pool_handle_t pool = pool_of(&device, 2);
	ze_event_handle_t events[2] = { event_of(pool, 0), event_of(pool, 1) };
	for (int i = 0; i < 2; i++) {
		lists[i] = regular();
		launch(lists[i], i == 0 ? events[0] : NULL);
		copy(lists[i], NULL);
		OLD(zeCommandListClose, lists[i]);
	}
	launch(onto, NULL);
	puts("run kernel");
	for (int i = 0; i < 5; i++) {
		append(onto, 2, lists, NULL, NULL);
		puts("run kernel\nrun write\nrun kernel\nrun write");
	}
	append(onto, 1, lists, events[1], events[0]);
	puts("run kernel\nrun write");
	OLD(zeEventHostSynchronize, events[1], UINT64_MAX);
	// The same event again, without a reset: of what it says now nothing is the next command's.
	launch(onto, events[1]);
	puts("run kernel");
	OLD(zeEventHostSynchronize, events[1], UINT64_MAX);
	wait_list(onto);
	print_stamps(events[1]);
	for (int i = 0; i < 2; i++) {
		destroy(lists[i]);
		OLD(zeEventDestroy, events[i]);
	}
	destroy(onto);
	OLD(zeEventPoolDestroy, pool);
}

// More lists in a call than anybody would think.
static void many(void)
{
	ze_command_list_handle_t onto = immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS), lists[MANY];
	ze_command_queue_handle_t queue = queue_of(&device, device.compute, 0);
	for (uint32_t i = 0; i < MANY; i++) {
		lists[i] = regular();
		launch(lists[i], NULL);
		OLD(zeCommandListClose, lists[i]);
		puts("run kernel\nrun kernel\nrun kernel");
	}
	OLD(zeCommandQueueExecuteCommandLists, queue, MANY, lists, NULL);
	OLD(zeCommandQueueExecuteCommandLists, queue, MANY, lists, NULL);
	OLD(zeCommandQueueSynchronize, queue, UINT64_MAX);
	append(onto, MANY, lists, NULL, NULL);
	wait_list(onto);
	for (uint32_t i = 0; i < MANY; i++)
		destroy(lists[i]);
	destroy(onto);
	OLD(zeCommandQueueDestroy, queue);
}

// ---- events that count

static void with_counting(const char *name, uint32_t flags)
{
	ze_command_list_handle_t list = immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_event_handle_t event = counting(name, flags);
	for (uint32_t i = 0; i < COUNT; i++) {
		if (i % 2)
			copy(list, event);
		else
			launch(list, event);
		puts(i % 2 ? "run write" : "run kernel");
		OLD(zeEventHostSynchronize, event, UINT64_MAX);
		if (flags & STAMPS)
			print_stamps(event);
	}
	OLD(zeEventDestroy, event);
	destroy(list);
}

// Signalled again by each command, without waiting.
static void hurried(void)
{
	ze_command_list_handle_t list = immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_event_handle_t event = counting("zeEventCounterBasedCreate", BOTH | STAMPS);
	for (uint32_t i = 0; i < COUNT; i++) {
		launch(list, event);
		puts("run kernel");
	}
	wait_list(list);
	print_stamps(event);
	OLD(zeEventDestroy, event);
	destroy(list);
}

// The same with an event that does not count: only the first is to say when it ran.
static void hurried_plain(void)
{
	ze_command_list_handle_t list = immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_event_pool_handle_t pool = pool_of(&device, 1);
	ze_event_handle_t event = event_of(pool, 0);
	for (uint32_t i = 0; i < COUNT; i++) {
		launch(list, event);
		puts("run kernel");
	}
	// It is signalled by the first.
	OLD(zeEventHostSynchronize, event, UINT64_MAX);
	wait_list(list);
	print_stamps_as("last", event);
	OLD(zeEventHostReset, event);
	launch(list, event);
	puts("run kernel");
	wait_list(list);
	print_stamps(event);
	OLD(zeEventDestroy, event);
	OLD(zeEventPoolDestroy, pool);
	destroy(list);
}

// In a list that is executed again and again; then one of its events becomes another command's.
static void counting_lists(uint32_t flags)
{
	ze_command_list_handle_t onto = immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS),
	                         list = regular();
	ze_event_handle_t first = counting("zeEventCounterBasedCreate", BOTH | flags),
	                  second = counting("zexCounterBasedEventCreate2", BOTH | flags);
	launch(list, first);
	copy(list, second);
	OLD(zeCommandListClose, list);
	for (int i = 0; i < 5; i++) {
		append(onto, 1, &list, NULL, NULL);
		puts("run kernel\nrun write");
	}
	wait_list(onto);
	if (flags & STAMPS) {
		print_stamps(first);
		print_stamps(second);
	}
	OLD(zeEventDestroy, first);
	OLD(zeEventDestroy, second);
	destroy(list);
	destroy(onto);
}

// An event of a list's becomes that of another command: what the list's command does then, nobody
// knows.
static void taken(void)
{
	ze_command_list_handle_t onto = immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS),
	                         list = regular();
	ze_event_handle_t event = counting("zeEventCounterBasedCreate", BOTH | STAMPS);
	launch(list, event);
	copy(list, NULL);
	OLD(zeCommandListClose, list);
	append(onto, 1, &list, NULL, NULL);
	wait_list(onto);
	copy(onto, event);
	for (int i = 0; i < 3; i++)
		append(onto, 1, &list, NULL, NULL);
	wait_list(onto);
	print_stamps(event);
	puts("run kernel\nrun kernel\nrun kernel\nrun kernel");
	puts("run write\nrun write\nrun write\nrun write\nrun write");
	OLD(zeEventDestroy, event);
	destroy(list);
	destroy(onto);
}

// ---- launches

static void count_up(void *context)
{
	__atomic_fetch_add((uint32_t *)context, 1, __ATOMIC_RELAXED);
}

static void launch_all(ze_command_list_handle_t list, ze_group_count_t *counts, uint32_t *calls)
{
	const ze_group_count_t three = { 3, 1, 1 };
	const struct levelzero_group_size size = { 32, 2, 1 };
	uint32_t *number = (uint32_t *)(counts + 2);
	CALL(levelzero_launch_with_parameters, zeCommandListAppendLaunchKernelWithParameters, list,
	     kernel, &three, NULL, NULL, 0, NULL);
	CALL(levelzero_launch_with_arguments, zeCommandListAppendLaunchKernelWithArguments, list,
	     kernel, three, size, NULL, NULL, NULL, 0, NULL);
	launch(list, NULL);
	// Refused, but the kernel has the size all the same.
	if (((levelzero_launch_with_arguments *)entry(
	        "zeCommandListAppendLaunchKernelWithArguments"))(
	        list, kernel, three, (struct levelzero_group_size){ 16, 1, 1 }, NULL, NULL, NULL, 1,
	        NULL) == ZE_RESULT_SUCCESS)
		stop("a launch that waits for nothing, once");
	launch(list, NULL);
	OLD(zeKernelSetGroupSize, kernel, 64, 1, 1);
	OLD(zeCommandListAppendLaunchCooperativeKernel, list, kernel, &one, NULL, 0, NULL);
	counts[0] = counts[1] = three;
	*number = 2;
	OLD(zeCommandListAppendLaunchKernelIndirect, list, kernel, counts, NULL, 0, NULL);
	ze_kernel_handle_t kernels[2] = { kernel, kernel };
	OLD(zeCommandListAppendLaunchMultipleKernelsIndirect, list, 2, kernels, number, counts,
	    NULL, 0, NULL);
	CALL(levelzero_append_host_function, zeCommandListAppendHostFunction, list, count_up, calls,
	     NULL, NULL, 0, NULL);
}

static void print_all(void)
{
	puts("run kernel\nrun kernel\nrun kernel\nrun kernel\nrun kernel\nrun kernel\nrun "
	     "several\nrun marker");
}

static void launches(void)
{
	ze_command_list_handle_t onto = immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS),
	                         list = regular();
	uint32_t calls = 0;
	launch_all(onto, host, &calls);
	print_all();
	launch_all(list, host, &calls);
	OLD(zeCommandListClose, list);
	for (int i = 0; i < 2; i++) {
		append(onto, 1, &list, NULL, NULL);
		print_all();
	}
	wait_list(onto);
	if (calls != 3)
		stop("the host's function was called %u times", calls);
	destroy(list);
	destroy(onto);
}

// ---- what ze-cpu lacks (other_driver.c)

static void images(void)
{
	ze_image_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
		                 .type = ZE_IMAGE_TYPE_2D,
		                 .format = { .layout = ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16 },
		                 .width = 100,
		                 .height = 20,
		                 .depth = 1 };
	const ze_image_region_t part = { 1, 2, 0, 10, 5, 1 };
	ze_command_list_handle_t list = immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_image_handle_t image, media;
	check(zeImageCreate(device.context, device.id, &desc, &image), "zeImageCreate");
	desc.format.layout = ZE_IMAGE_FORMAT_LAYOUT_NV12;
	check(zeImageCreate(device.context, device.id, &desc, &media), "zeImageCreate");
	check(zeCommandListAppendImageCopyFromMemory(list, image, host, NULL, NULL, 0, NULL),
	      "write");
	check(zeCommandListAppendImageCopyToMemory(list, host, image, &part, NULL, 0, NULL),
	      "read");
	check(zeCommandListAppendImageCopyRegion(list, image, image, &part, &part, NULL, 0, NULL),
	      "copy");
	check(zeCommandListAppendImageCopy(list, media, media, NULL, 0, NULL), "copy");
	wait_list(list);
	check(zeImageDestroy(image), "zeImageDestroy");
	check(zeImageDestroy(media), "zeImageDestroy");
	destroy(list);
}

typedef ze_result_t next_id(ze_command_list_handle_t list, const void *desc, uint64_t *id);
typedef ze_result_t next_id_of_kernels(ze_command_list_handle_t list, const void *desc,
                                       uint32_t count, ze_kernel_handle_t *kernels, uint64_t *id);
typedef ze_result_t change_event(ze_command_list_handle_t list, uint64_t id,
                                 ze_event_handle_t event);

static void changed(void)
{
	const struct {
		ze_structure_type_t stype;
		const void *next;
		uint32_t flags;
	} arguments = { .flags = 1 }, everything = { 0 };
	ze_command_list_handle_t onto = immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS),
	                         list = regular();
	uint64_t id;
	CALL(next_id, zeCommandListGetNextCommandIdExp, list, &arguments, &id);
	launch(list, NULL);
	CALL(next_id, zeCommandListGetNextCommandIdExp, list, &everything, &id);
	launch(list, NULL);
	CALL(next_id_of_kernels, zeCommandListGetNextCommandIdWithKernelsExp, list, &everything, 1,
	     &kernel, &id);
	launch(list, NULL);
	launch(list, NULL);
	OLD(zeCommandListClose, list);
	append(onto, 1, &list, NULL, NULL);
	wait_list(onto);
	CALL(change_event, zeCommandListUpdateMutableCommandSignalEventExp, list, id, NULL);
	append(onto, 1, &list, NULL, NULL);
	wait_list(onto);
	destroy(list);
	destroy(onto);
}

typedef ze_result_t create_clone(ze_command_list_handle_t list, ze_command_list_handle_t *made);

static void cloned(void)
{
	ze_command_list_handle_t onto = immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS),
	                         list = regular(), clone;
	launch(list, NULL);
	launch(list, NULL);
	OLD(zeCommandListClose, list);
	append(onto, 1, &list, NULL, NULL);
	wait_list(onto);
	CALL(create_clone, zeCommandListCreateCloneExp, list, &clone);
	append(onto, 1, &clone, NULL, NULL);
	append(onto, 1, &list, NULL, NULL);
	append(onto, 1, &clone, NULL, NULL);
	wait_list(onto);
	destroy(clone);
	destroy(list);
	destroy(onto);
}

typedef ze_result_t begin_capture(ze_command_list_handle_t list, const void *next);
typedef ze_result_t end_capture(ze_command_list_handle_t list, void **graph, const void *next);
typedef ze_result_t append_graph(ze_command_list_handle_t list, void *graph, const void *next,
                                 ze_event_handle_t signal, uint32_t wait_count,
                                 ze_event_handle_t *waits);

static void graphs(void)
{
	ze_command_list_handle_t list = immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	void *graph;
	copy(list, NULL);
	CALL(begin_capture, zeCommandListBeginGraphCaptureExp, list, NULL);
	copy(list, NULL);
	copy(list, NULL);
	CALL(end_capture, zeCommandListEndGraphCaptureExp, list, &graph, NULL);
	CALL(append_graph, zeCommandListAppendGraphExp, list, graph, NULL, NULL, 0, NULL);
	CALL(append_graph, zeCommandListAppendGraphExp, list, graph, NULL, NULL, 0, NULL);
	copy(list, NULL);
	wait_list(list);
	destroy(list);
	(void)entry("zexNobodyKnows");
}

// ---- two engines at once

// Lists of the two, held up until all are submitted; each tells when it began and ended.
static void overlapping(void)
{
	enum { LISTS = 4, COMMANDS = 5 };
	const ze_event_pool_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
		                            .count = 1,
		                            .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE };
	uint32_t ordinals[2] = { device.compute, device.group_count - 1 };
	ze_command_list_handle_t lists[2][LISTS], held[2];
	ze_event_handle_t events[2][LISTS][2], gate;
	ze_command_queue_handle_t queues[2];
	ze_event_pool_handle_t pool = pool_of(&device, 4 * LISTS), gates;
	check(zeEventPoolCreate(device.context, &desc, 0, NULL, &gates), "zeEventPoolCreate");
	gate = event_of(gates, 0);
	for (uint32_t q = 0; q < 2; q++) {
		queues[q] = queue_of(&device, ordinals[q], 0);
		held[q] = list_of(&device, ordinals[q]);
		check(zeCommandListAppendWaitOnEvents(held[q], 1, &gate),
		      "zeCommandListAppendWaitOnEvents");
		check(zeCommandListClose(held[q]), "zeCommandListClose");
		check(zeCommandQueueExecuteCommandLists(queues[q], 1, &held[q], NULL), "execute");
		for (uint32_t i = 0; i < LISTS; i++) {
			lists[q][i] = list_of(&device, ordinals[q]);
			for (uint32_t k = 0; k < 2; k++)
				events[q][i][k] = event_of(pool, 4 * i + 2 * q + k);
			for (uint32_t k = 0; k < COMMANDS; k++)
				copy(lists[q][i], k == 0              ? events[q][i][0]
				                  : k == COMMANDS - 1 ? events[q][i][1]
				                                      : NULL);
			check(zeCommandListClose(lists[q][i]), "zeCommandListClose");
			check(zeCommandQueueExecuteCommandLists(queues[q], 1, &lists[q][i], NULL),
			      "execute");
		}
	}
	check(zeEventHostSignal(gate), "zeEventHostSignal");
	for (uint32_t q = 0; q < 2; q++) {
		synchronize(queues[q]);
		for (uint32_t i = 0; i < LISTS; i++) {
			ze_kernel_timestamp_result_t first = stamps_of(events[q][i][0]),
			                             last = stamps_of(events[q][i][1]);
			printf("ran %u %llu %llu\n", q,
			       (unsigned long long)first.global.kernelStart,
			       (unsigned long long)last.global.kernelEnd);
			for (uint32_t k = 0; k < 2; k++)
				check(zeEventDestroy(events[q][i][k]), "zeEventDestroy");
			destroy(lists[q][i]);
		}
		destroy(held[q]);
		check(zeCommandQueueDestroy(queues[q]), "zeCommandQueueDestroy");
	}
	check(zeEventDestroy(gate), "zeEventDestroy");
	check(zeEventPoolDestroy(gates), "zeEventPoolDestroy");
	check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
}

// ---- all

static void run(const char *style)
{
	if (strcmp(style, "appended") == 0)
		appended(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	else if (strcmp(style, "appended-synchronous") == 0)
		appended(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
	else if (strcmp(style, "many") == 0)
		many();
	else if (strcmp(style, "counting") == 0)
		with_counting("zeEventCounterBasedCreate", LEVELZERO_COUNTER_HOST_VISIBLE | STAMPS);
	else if (strcmp(style, "counting-2") == 0)
		with_counting("zexCounterBasedEventCreate2", BOTH | STAMPS);
	else if (strcmp(style, "counting-without") == 0)
		with_counting("zeEventCounterBasedCreate", LEVELZERO_COUNTER_IMMEDIATE);
	else if (strcmp(style, "hurried") == 0)
		hurried();
	else if (strcmp(style, "hurried-plain") == 0)
		hurried_plain();
	else if (strcmp(style, "counting-lists") == 0)
		counting_lists(STAMPS);
	else if (strcmp(style, "counting-lists-without") == 0)
		counting_lists(0);
	else if (strcmp(style, "taken") == 0)
		taken();
	else if (strcmp(style, "launches") == 0)
		launches();
	else if (strcmp(style, "images") == 0)
		images();
	else if (strcmp(style, "changed") == 0)
		changed();
	else if (strcmp(style, "cloned") == 0)
		cloned();
	else if (strcmp(style, "graphs") == 0)
		graphs();
	else if (strcmp(style, "overlapping") == 0)
		overlapping();
	else
		stop("there is no style %s", style);
}

int main(int count, char **arguments)
{
	device = open_device();
	ze_module_handle_t module = module_of(&device, getenv("STYLES_KERNELS"));
	kernel = kernel_of(module, "empty");
	OLD(zeKernelSetGroupSize, kernel, 64, 1, 1);
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
