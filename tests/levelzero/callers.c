// SPDX-License-Identifier: Apache-2.0
// Makes the calls that runtimes of other languages make of Level Zero, in their order: what
// docs/recorder-levelzero-callers.md lists. Written from that list.
//   callers sycl-v1|sycl-v1-batched|sycl-v2|openmp|chipstar
// It prints "run KIND" for each command that the device runs, and a sum of what came out. What
// Debian 12's loader lacks is asked for by zeDriverGetExtensionFunctionAddress.
#include "backend/levelzero/newer.h"
#include "example.h"

#include <level_zero/loader/ze_loader.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS 1024u
#define BYTES (ITEMS * sizeof(uint32_t))
#define GROUP 64u
#define ROUNDS 4u

static struct device device;
static ze_module_handle_t module;
static ze_kernel_handle_t kernel;
static uint32_t *on_host, *on_device, *shared;
static uint64_t *stamp; // host memory
static levelzero_list_host_synchronize *host_synchronize;

static void *extension(const char *name)
{
	void *address = NULL;

	return zeDriverGetExtensionFunctionAddress(device.driver, name, &address) ==
	               ZE_RESULT_SUCCESS
	           ? address
	           : NULL;
}

static void ran(const char *kind)
{
	printf("run %s\n", kind);
}

// ---- what all of them do

static void ask_driver(void)
{
	ze_driver_properties_t driver = { .stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES };
	ze_device_compute_properties_t compute = {
		.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES
	};
	ze_device_module_properties_t modules = { .stype =
		                                      ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES };
	uint32_t count = 0;

	check(zeDriverGetProperties(device.driver, &driver), "zeDriverGetProperties");
	check(zeDriverGetExtensionProperties(device.driver, &count, NULL),
	      "zeDriverGetExtensionProperties");
	check(zeDeviceGetComputeProperties(device.id, &compute), "zeDeviceGetComputeProperties");
	check(zeDeviceGetModuleProperties(device.id, &modules), "zeDeviceGetModuleProperties");
	host_synchronize =
	    (levelzero_list_host_synchronize *)extension("zeCommandListHostSynchronize");
	if (!host_synchronize)
		stop("the driver has no zeCommandListHostSynchronize");
}

static void make_kernel(void)
{
	ze_kernel_properties_t properties = { .stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES };
	uint32_t cycles = 3;

	module = module_of(&device, getenv("CALLERS_KERNELS"));
	kernel = kernel_of(module, "steps");
	check(zeKernelGetProperties(kernel, &properties), "zeKernelGetProperties");
	check(zeKernelSetIndirectAccess(kernel, ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE |
	                                            ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST),
	      "zeKernelSetIndirectAccess");
	check(zeKernelSetGroupSize(kernel, GROUP, 1, 1), "zeKernelSetGroupSize");
	set_argument(kernel, 0, sizeof on_device, &on_device);
	set_argument(kernel, 1, sizeof cycles, &cycles);
}

static void make_memory(void)
{
	on_host = memory_of(&device, HOST, BYTES);
	on_device = memory_of(&device, DEVICE, BYTES);
	shared = memory_of(&device, SHARED, BYTES);
	stamp = memory_of(&device, HOST, sizeof *stamp);
	for (uint32_t i = 0; i < ITEMS; i++)
		on_host[i] = i;
	memset(shared, 0, BYTES);
}

static void release_all(void)
{
	free_memory(&device, HOST, stamp);
	free_memory(&device, SHARED, shared);
	free_memory(&device, DEVICE, on_device);
	free_memory(&device, HOST, on_host);
	check(zeKernelDestroy(kernel), "zeKernelDestroy");
	check(zeModuleDestroy(module), "zeModuleDestroy");
	close_device(&device);
}

static ze_command_list_handle_t immediate(uint32_t flags)
{
	const ze_command_queue_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		                               .ordinal = device.compute,
		                               .flags = flags,
		                               .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS };
	ze_command_list_handle_t list;

	check(zeCommandListCreateImmediate(device.context, device.id, &desc, &list),
	      "zeCommandListCreateImmediate");
	return list;
}

static ze_event_pool_handle_t pool_with(ze_event_pool_flags_t flags, uint32_t count,
                                        uint32_t devices)
{
	const ze_event_pool_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
		                            .flags = flags,
		                            .count = count };
	ze_event_pool_handle_t pool;

	check(zeEventPoolCreate(device.context, &desc, devices, devices ? &device.id : NULL, &pool),
	      "zeEventPoolCreate");
	return pool;
}

static void copy(ze_command_list_handle_t list, void *to, const void *from,
                 ze_event_handle_t signal, ze_event_handle_t after, const char *kind)
{
	check(zeCommandListAppendMemoryCopy(list, to, from, BYTES, signal, after != NULL,
	                                    after ? &after : NULL),
	      "zeCommandListAppendMemoryCopy");
	ran(kind);
}

static void launch(ze_command_list_handle_t list, ze_event_handle_t signal, ze_event_handle_t after)
{
	const ze_group_count_t groups = { ITEMS / GROUP, 1, 1 };

	check(zeCommandListAppendLaunchKernel(list, kernel, &groups, signal, after != NULL,
	                                      after ? &after : NULL),
	      "zeCommandListAppendLaunchKernel");
	ran("kernel");
}

static void barrier(ze_command_list_handle_t list, ze_event_handle_t signal,
                    ze_event_handle_t after)
{
	check(zeCommandListAppendBarrier(list, signal, after != NULL, after ? &after : NULL),
	      "zeCommandListAppendBarrier");
	ran("barrier");
}

static void fill(ze_command_list_handle_t list, ze_event_handle_t signal, ze_event_handle_t after)
{
	check(zeCommandListAppendMemoryFill(list, on_device, "\x5", 1, BYTES, signal, after != NULL,
	                                    after ? &after : NULL),
	      "zeCommandListAppendMemoryFill");
	ran("fill");
}

static void wait_for(ze_event_handle_t event)
{
	check(zeEventHostSynchronize(event, UINT64_MAX), "zeEventHostSynchronize");
}

// ---- SYCL: unified-runtime's first adapter

// Immediate lists: each command of an in-order queue waits for the event of the one before.
static void sycl_v1(void)
{
	enum { EVENTS = 256 };
	ze_command_list_handle_t list = immediate(0);
	ze_event_pool_handle_t pool = pool_with(
	    ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, EVENTS, 1);
	ze_event_handle_t events[4], before = NULL;

	for (uint32_t i = 0; i < 4; i++)
		events[i] = event_of(pool, i);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		copy(list, on_device, on_host, events[0], before, "write");
		launch(list, events[1], events[0]);
		copy(list, on_host, on_device, events[2], events[1], "read");
		barrier(list, events[3], events[2]);
		while (zeEventQueryStatus(events[2]) == ZE_RESULT_NOT_READY)
			;
		wait_for(events[3]);
		stamps_of(events[1]);
		for (int i = 0; i < 4; i++)
			check(zeEventHostReset(events[i]), "zeEventHostReset");
	}
	check(host_synchronize(list, UINT64_MAX), "zeCommandListHostSynchronize");
	for (int i = 0; i < 4; i++)
		check(zeEventDestroy(events[i]), "zeEventDestroy");
	check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
}

// Regular lists that collect commands, a fence behind each; what is done is reset and used again.
static void sycl_v1_batched(void)
{
	const ze_fence_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_FENCE_DESC };
	ze_command_queue_handle_t queue = queue_of(&device, device.compute, 0);
	ze_command_list_handle_t list = list_of(&device, device.compute);
	ze_event_pool_handle_t pool = pool_with(ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 256, 1);
	ze_event_handle_t events[3] = { event_of(pool, 0), event_of(pool, 1), event_of(pool, 2) };
	ze_fence_handle_t fence;

	check(zeFenceCreate(queue, &desc, &fence), "zeFenceCreate");
	for (uint32_t round = 0; round < ROUNDS; round++) {
		copy(list, on_device, on_host, events[0], NULL, "write");
		launch(list, events[1], events[0]);
		copy(list, on_host, on_device, NULL, events[1], "read");
		barrier(list, NULL, NULL);
		check(zeCommandListAppendSignalEvent(list, events[2]),
		      "zeCommandListAppendSignalEvent");
		ran("marker");
		check(zeCommandListClose(list), "zeCommandListClose");
		check(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence),
		      "zeCommandQueueExecuteCommandLists");
		wait_for(events[2]);
		synchronize(queue);
		check(zeFenceQueryStatus(fence), "zeFenceQueryStatus");
		check(zeFenceReset(fence), "zeFenceReset");
		check(zeCommandListReset(list), "zeCommandListReset");
		for (int i = 0; i < 3; i++)
			check(zeEventHostReset(events[i]), "zeEventHostReset");
	}
	check(zeFenceDestroy(fence), "zeFenceDestroy");
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
	for (int i = 0; i < 3; i++)
		check(zeEventDestroy(events[i]), "zeEventDestroy");
	check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
	check(zeCommandQueueDestroy(queue), "zeCommandQueueDestroy");
}

// ---- SYCL: its second adapter

// An in-order list; events that count where the driver has them, else those of a pool; the most
// commands have none.
static void sycl_v2(void)
{
	levelzero_create_counter_event *create =
	    (levelzero_create_counter_event *)extension("zexCounterBasedEventCreate2");
	const struct levelzero_counter_event desc = {
		.stype = LEVELZERO_TYPE_COUNTER_EVENT,
		.flags = LEVELZERO_COUNTER_IMMEDIATE | LEVELZERO_COUNTER_REGULAR |
		         LEVELZERO_COUNTER_HOST_VISIBLE,
		.signal = ZE_EVENT_SCOPE_FLAG_HOST,
	};
	ze_command_list_handle_t list = immediate(LEVELZERO_QUEUE_IN_ORDER);
	ze_event_handle_t events[2];

	// as the driver has it: what it gave goes past the loader
	ze_context_handle_t context = NULL;
	ze_device_handle_t id = NULL;

	if (!create)
		stop("the driver has no zexCounterBasedEventCreate2");
	check(zelLoaderTranslateHandle(ZEL_HANDLE_CONTEXT, device.context, (void **)&context),
	      "zelLoaderTranslateHandle");
	check(zelLoaderTranslateHandle(ZEL_HANDLE_DEVICE, device.id, (void **)&id),
	      "zelLoaderTranslateHandle");
	for (int i = 0; i < 2; i++)
		check(create(context, id, &desc, &events[i]), "zexCounterBasedEventCreate2");
	for (uint32_t round = 0; round < ROUNDS; round++) {
		copy(list, on_device, on_host, NULL, NULL, "write");
		check(zeCommandListAppendMemoryPrefetch(list, shared, BYTES),
		      "zeCommandListAppendMemoryPrefetch");
		check(zeCommandListAppendSignalEvent(list, events[0]),
		      "zeCommandListAppendSignalEvent");
		ran("marker");
		launch(list, events[1], events[0]);
		// A copy that blocks: the list is waited for.
		copy(list, on_host, on_device, NULL, NULL, "read");
		check(host_synchronize(list, UINT64_MAX), "zeCommandListHostSynchronize");
		wait_for(events[1]);
	}
	launch(list, NULL, NULL);
	barrier(list, NULL, NULL);
	while (host_synchronize(list, 0) == ZE_RESULT_NOT_READY)
		;
	for (int i = 0; i < 2; i++)
		check(zeEventDestroy(events[i]), "zeEventDestroy");
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
}

// ---- OpenMP offload: LLVM's plugin, whose queues are immediate lists

// In any order: a launch waits for all copies before it, a copy for the last kernel; each has an
// event.
static void openmp(void)
{
	ze_command_list_handle_t list = immediate(0), ordered = immediate(LEVELZERO_QUEUE_IN_ORDER);
	ze_event_pool_handle_t pool = pool_with(ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 64, 0);
	ze_event_handle_t events[4];
	const ze_group_count_t groups = { ITEMS / GROUP, 1, 1 };

	for (uint32_t i = 0; i < 4; i++)
		events[i] = event_of(pool, i);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		copy(list, on_device, on_host, events[0], NULL, "write");
		check(zeCommandListAppendMemoryFill(list, shared, "\x5", 1, BYTES, events[1], 0,
		                                    NULL),
		      "zeCommandListAppendMemoryFill");
		ran("fill");
		check(zeCommandListAppendLaunchKernel(list, kernel, &groups, events[2], 2, events),
		      "zeCommandListAppendLaunchKernel");
		ran("kernel");
		copy(list, on_host, on_device, events[3], events[2], "read");
		// Back from the last to the kernel's: those before it are done when it is.
		for (int i = 4; i-- > 0;) {
			if (i >= 2)
				wait_for(events[i]);
			check(zeEventHostReset(events[i]), "zeEventHostReset");
		}
	}
	copy(ordered, on_device, on_host, NULL, NULL, "write");
	launch(ordered, NULL, NULL);
	copy(ordered, on_host, on_device, NULL, NULL, "read");
	check(host_synchronize(ordered, UINT64_MAX), "zeCommandListHostSynchronize");
	for (int i = 0; i < 4; i++)
		check(zeEventDestroy(events[i]), "zeEventDestroy");
	check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
	check(zeCommandListDestroy(ordered), "zeCommandListDestroy");
}

// ---- chipStar

// hipEventRecord: the global timestamp through memory of the host, and two barriers.
static void record_event(ze_command_list_handle_t list, ze_event_handle_t written,
                         ze_event_handle_t copied, ze_event_handle_t event)
{
	uint64_t on_the_host, on_the_device;

	check(zeDeviceGetGlobalTimestamps(device.id, &on_the_host, &on_the_device),
	      "zeDeviceGetGlobalTimestamps");
	check(zeCommandListAppendWriteGlobalTimestamp(list, (uint64_t *)shared, written, 0, NULL),
	      "zeCommandListAppendWriteGlobalTimestamp");
	ran("other");
	check(
	    zeCommandListAppendMemoryCopy(list, stamp, shared, sizeof *stamp, copied, 1, &written),
	    "zeCommandListAppendMemoryCopy");
	ran("read");
	barrier(list, event, copied);
	barrier(list, NULL, copied);
}

// One in-order list for all streams of an engine; events without timestamps, launches without
// events.
static void chipstar(void)
{
	const ze_command_queue_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		                               .ordinal = device.compute,
		                               .flags = LEVELZERO_QUEUE_IN_ORDER,
		                               .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS };
	ze_command_queue_handle_t queue;
	check(zeCommandQueueCreate(device.context, device.id, &desc, &queue),
	      "zeCommandQueueCreate");
	ze_command_list_handle_t list = immediate(LEVELZERO_QUEUE_IN_ORDER);
	ze_event_pool_handle_t pool = pool_with(ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 8, 0);
	ze_event_handle_t events[5];

	for (uint32_t i = 0; i < 5; i++)
		events[i] = event_of(pool, i);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		fill(list, events[0], NULL);
		copy(list, on_device, on_host, events[1], NULL, "write");
		launch(list, NULL, NULL);
		record_event(list, events[2], events[3], events[4]);
		wait_for(events[4]);
		copy(list, on_host, on_device, NULL, NULL, "read");
		check(zeCommandQueueSynchronize(queue, UINT64_MAX), "zeCommandQueueSynchronize");
		check(host_synchronize(list, UINT64_MAX), "zeCommandListHostSynchronize");
		for (int i = 0; i < 5; i++) {
			check(zeEventQueryStatus(events[i]), "zeEventQueryStatus");
			check(zeEventHostReset(events[i]), "zeEventHostReset");
		}
	}
	for (int i = 0; i < 5; i++)
		check(zeEventDestroy(events[i]), "zeEventDestroy");
	check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
	check(zeCommandQueueDestroy(queue), "zeCommandQueueDestroy");
}

int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} callers[] = { { "sycl-v1", sycl_v1 },
		        { "sycl-v1-batched", sycl_v1_batched },
		        { "sycl-v2", sycl_v2 },
		        { "openmp", openmp },
		        { "chipstar", chipstar } };
	uint32_t sum = 0;

	device = open_device();
	ask_driver();
	make_memory();
	make_kernel();
	for (size_t i = 0; count > 1 && i < sizeof callers / sizeof *callers; i++)
		if (strcmp(callers[i].name, arguments[1]) == 0)
			callers[i].run();
	for (uint32_t i = 0; i < ITEMS; i++)
		sum = sum * 31 + on_host[i];
	printf("sum %u\n", sum);
	release_all();
	return 0;
}
