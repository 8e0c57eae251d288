// SPDX-License-Identifier: Apache-2.0
// A Level Zero program on the unscripted CPU driver, through the loader.
#pragma once
#include "backend/levelzero/newer.h"
#include "base/random.h"

#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOR_EVER UINT64_MAX

static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;
static ze_event_pool_handle_t pool;

#define must(call) assert_int_equal((call), ZE_RESULT_SUCCESS)

// Makes everything, or tells what is missing and returns 77.
static inline int rig_open(const char *library)
{
	ze_context_desc_t described = { .stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC };
	uint32_t one = 1;
	ze_result_t result;

	setenv("ZE_ENABLE_ALT_DRIVERS", library, 1);
	unsetenv("ZE_CPU_SCRIPT");
	result = zeInit(0);
	if (result == ZE_RESULT_SUCCESS)
		result = zeDriverGet(&one, &driver);
	if (result == ZE_RESULT_SUCCESS)
		result = zeDeviceGet(driver, &one, &device);
	if (result == ZE_RESULT_SUCCESS)
		result = zeContextCreate(driver, &described, &context);
	if (result == ZE_RESULT_SUCCESS)
		return 0;
	printf("1..0 # SKIP the loader does not take %s: 0x%x\n", library, (unsigned)result);
	return 77;
}

// An entry point newer than the loader.
static inline void *newer_entry(const char *name)
{
	void *address = NULL;

	if (zeDriverGetExtensionFunctionAddress(driver, name, &address) != ZE_RESULT_SUCCESS)
		return NULL;
	return address;
}

static inline ze_event_pool_handle_t pool_new(uint32_t count, ze_event_pool_flags_t flags)
{
	ze_event_pool_desc_t described = {
		.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
		.flags = flags,
		.count = count,
	};
	ze_event_pool_handle_t made = NULL;

	must(zeEventPoolCreate(context, &described, 0, NULL, &made));
	return made;
}

static inline ze_event_handle_t event_of(ze_event_pool_handle_t from, uint32_t index)
{
	ze_event_desc_t described = {
		.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
		.index = index,
		.signal = ZE_EVENT_SCOPE_FLAG_HOST,
		.wait = ZE_EVENT_SCOPE_FLAG_HOST,
	};
	ze_event_handle_t event = NULL;

	must(zeEventCreate(from, &described, &event));
	return event;
}

static inline ze_command_queue_desc_t queue_description(uint32_t index, bool synchronous)
{
	return (ze_command_queue_desc_t){
		.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		.index = index,
		.mode = synchronous ? ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS
		                    : ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
	};
}

static inline ze_command_queue_handle_t queue_new(bool synchronous)
{
	ze_command_queue_desc_t described = queue_description(0, synchronous);
	ze_command_queue_handle_t queue = NULL;

	must(zeCommandQueueCreate(context, device, &described, &queue));
	return queue;
}

static inline ze_command_list_handle_t immediate_new(bool synchronous)
{
	ze_command_queue_desc_t described = queue_description(0, synchronous);
	ze_command_list_handle_t list = NULL;

	must(zeCommandListCreateImmediate(context, device, &described, &list));
	return list;
}

static inline ze_command_list_handle_t list_new(void)
{
	ze_command_list_desc_t described = { .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC };
	ze_command_list_handle_t list = NULL;

	must(zeCommandListCreate(context, device, &described, &list));
	return list;
}

static inline void *shared_new(size_t bytes)
{
	ze_device_mem_alloc_desc_t on_device = { .stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC };
	ze_host_mem_alloc_desc_t on_host = { .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC };
	void *memory = NULL;

	must(zeMemAllocShared(context, &on_device, &on_host, bytes, 64, device, &memory));
	return memory;
}

static inline void random_bytes(struct tare_random *random, void *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		((uint8_t *)at)[i] = (uint8_t)tare_random_next(random);
}

enum { POOL_EVENTS = 64 };

// Set-up and tear-down of a group.
static inline int make_pool(void **state)
{
	(void)state;
	pool = pool_new(POOL_EVENTS,
	                ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
	return 0;
}

static inline int free_pool(void **state)
{
	(void)state;
	must(zeEventPoolDestroy(pool));
	return 0;
}
