// SPDX-License-Identifier: Apache-2.0
#include "example.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LIMIT_NS UINT64_C(60000000000)

const char *const memory_names[] = { "heap", "host", "device", "shared" };

void stop(const char *format, ...)
{
	va_list arguments;

	fflush(stdout);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(1);
}

void check(ze_result_t result, const char *what)
{
	if (result == ZE_RESULT_NOT_READY)
		stop("%s: not done after a minute; this device does not get on", what);
	if (result != ZE_RESULT_SUCCESS)
		stop("%s failed: Level Zero error 0x%x", what, (unsigned)result);
}

static void find_device(struct device *device)
{
	ze_driver_handle_t drivers[16];
	uint32_t driver_count = 0, device_count = 0;
	ze_result_t result = zeInit(0);

	if (result == ZE_RESULT_SUCCESS)
		check(zeDriverGet(&driver_count, NULL), "zeDriverGet");
	if (driver_count > 16)
		driver_count = 16;
	if (driver_count > 0)
		check(zeDriverGet(&driver_count, drivers), "zeDriverGet");
	// Numbers are asked for first: there are drivers that do not lower one that is too large.
	for (uint32_t i = 0; i < driver_count && device_count == 0; i++) {
		device->driver = drivers[i];
		check(zeDeviceGet(drivers[i], &device_count, NULL), "zeDeviceGet");
	}
	if (device_count == 0)
		stop("there is no Level Zero device (zeInit: 0x%x); tare has a driver for the CPU: "
		     "ZE_ENABLE_ALT_DRIVERS=/path/to/libze_cpu.so",
		     (unsigned)result);
	device_count = 1;
	check(zeDeviceGet(device->driver, &device_count, &device->id), "zeDeviceGet");
}

// The type is an input: it says whether timerResolution is to be cycles a second or nanoseconds a
// cycle. The latter is rounded, 83 for 83.33 at 12 MHz, and every duration with it.
static void ask_timer(struct device *device)
{
	ze_device_properties_t older = { .stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES };
	ze_device_properties_t *properties = &device->properties;
	ze_api_version_t version = ZE_API_VERSION_1_0;

	properties->stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
	check(zeDeviceGetProperties(device->id, properties), "zeDeviceGetProperties");
	check(zeDeviceGetProperties(device->id, &older), "zeDeviceGetProperties");
	check(zeDriverGetApiVersion(device->driver, &version), "zeDriverGetApiVersion");
	if (properties->timerResolution == 0 || properties->timestampValidBits == 0 ||
	    properties->kernelTimestampValidBits == 0)
		stop("the driver says that the timer has a rate of 0, or 0 valid bits");
	device->older_resolution_ns = older.timerResolution;
	// Version 1.0 knew nanoseconds only.
	device->tick_ns = version < ZE_API_VERSION_1_1 ? (double)properties->timerResolution
	                                               : 1e9 / (double)properties->timerResolution;
	printf("device: %s\n", properties->name);
	printf("timer: %.4f ns a tick (%" PRIu64 " cycles/s; the older encoding says %" PRIu64
	       " ns)\nvalid bits: %u global, %u kernel\n",
	       device->tick_ns, properties->timerResolution, device->older_resolution_ns,
	       properties->timestampValidBits, properties->kernelTimestampValidBits);
}

struct device open_device(void)
{
	struct device device = { 0 };
	ze_context_desc_t wanted = { .stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC };

	find_device(&device);
	ask_timer(&device);
	check(zeContextCreate(device.driver, &wanted, &device.context), "zeContextCreate");
	for (int i = 0; i < GROUPS; i++)
		device.groups[i].stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
	check(zeDeviceGetCommandQueueGroupProperties(device.id, &device.group_count, NULL),
	      "zeDeviceGetCommandQueueGroupProperties");
	if (device.group_count > GROUPS)
		device.group_count = GROUPS;
	check(zeDeviceGetCommandQueueGroupProperties(device.id, &device.group_count, device.groups),
	      "zeDeviceGetCommandQueueGroupProperties");
	while (
	    device.compute < device.group_count &&
	    !(device.groups[device.compute].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE))
		device.compute++;
	if (device.compute == device.group_count)
		stop("the device has no queue group that runs kernels");
	return device;
}

void close_device(const struct device *device)
{
	check(zeContextDestroy(device->context), "zeContextDestroy");
}

uint64_t elapsed(uint64_t start, uint64_t end, uint32_t valid_bits)
{
	uint64_t mask = valid_bits >= 64 ? UINT64_MAX : (UINT64_C(1) << valid_bits) - 1;

	return (end - start) & mask;
}

void *memory_of(const struct device *device, enum memory kind, size_t bytes)
{
	ze_device_mem_alloc_desc_t on_device = { .stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC };
	ze_host_mem_alloc_desc_t on_host = { .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC };
	void *memory = NULL;

	switch (kind) {
	case HEAP:
		memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
		if (!memory)
			stop("there is no memory for %zu bytes", bytes);
		break;
	case HOST:
		check(zeMemAllocHost(device->context, &on_host, bytes, 4096, &memory),
		      "zeMemAllocHost");
		break;
	case DEVICE:
		check(
		    zeMemAllocDevice(device->context, &on_device, bytes, 4096, device->id, &memory),
		    "zeMemAllocDevice");
		break;
	case SHARED:
		check(zeMemAllocShared(device->context, &on_device, &on_host, bytes, 4096,
		                       device->id, &memory),
		      "zeMemAllocShared");
		break;
	}
	return memory;
}

void free_memory(const struct device *device, enum memory kind, void *memory)
{
	if (kind == HEAP)
		free(memory);
	else
		check(zeMemFree(device->context, memory), "zeMemFree");
}

ze_command_queue_handle_t queue_of(const struct device *device, uint32_t ordinal, uint32_t index)
{
	ze_command_queue_desc_t wanted = {
		.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		.ordinal = ordinal,
		.index = index,
		.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
	};
	ze_command_queue_handle_t queue;

	check(zeCommandQueueCreate(device->context, device->id, &wanted, &queue),
	      "zeCommandQueueCreate");
	return queue;
}

ze_command_list_handle_t list_of(const struct device *device, uint32_t ordinal)
{
	ze_command_list_desc_t wanted = {
		.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
		.commandQueueGroupOrdinal = ordinal,
	};
	ze_command_list_handle_t list;

	check(zeCommandListCreate(device->context, device->id, &wanted, &list),
	      "zeCommandListCreate");
	return list;
}

ze_command_list_handle_t immediate_of(const struct device *device, ze_command_queue_mode_t mode)
{
	const ze_command_queue_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		                               .ordinal = device->compute,
		                               .mode = mode };
	ze_command_list_handle_t list;

	check(zeCommandListCreateImmediate(device->context, device->id, &desc, &list),
	      "zeCommandListCreateImmediate");
	return list;
}

void synchronize(ze_command_queue_handle_t queue)
{
	check(zeCommandQueueSynchronize(queue, LIMIT_NS), "zeCommandQueueSynchronize");
}

double run_ns(ze_command_queue_handle_t queue, ze_command_list_handle_t list)
{
	double begin = now_ns();

	check(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL),
	      "zeCommandQueueExecuteCommandLists");
	synchronize(queue);
	return now_ns() - begin;
}

ze_event_pool_handle_t pool_of(const struct device *device, uint32_t count)
{
	ze_event_pool_desc_t wanted = {
		.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
		.flags = ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
		.count = count,
	};
	ze_device_handle_t id = device->id;
	ze_event_pool_handle_t pool;

	check(zeEventPoolCreate(device->context, &wanted, 1, &id, &pool), "zeEventPoolCreate");
	return pool;
}

ze_event_handle_t event_of(ze_event_pool_handle_t pool, uint32_t index)
{
	ze_event_desc_t wanted = {
		.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
		.index = index,
		.signal = ZE_EVENT_SCOPE_FLAG_HOST,
		.wait = ZE_EVENT_SCOPE_FLAG_HOST,
	};
	ze_event_handle_t event;

	check(zeEventCreate(pool, &wanted, &event), "zeEventCreate");
	return event;
}

ze_kernel_timestamp_result_t stamps_of(ze_event_handle_t event)
{
	ze_kernel_timestamp_result_t stamps;

	check(zeEventQueryKernelTimestamp(event, &stamps), "zeEventQueryKernelTimestamp");
	return stamps;
}

double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;
	return (left > right) - (left < right);
}

double median(double *values, size_t count)
{
	qsort(values, count, sizeof *values, ascending);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}
