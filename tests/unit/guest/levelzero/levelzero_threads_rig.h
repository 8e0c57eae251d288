// SPDX-License-Identifier: Apache-2.0
// The CPU driver, with the recorder in front of it as a loader would have it, and what the threads
// of test_levelzero_threads.c have each: lists, a queue, events.
#pragma once
#include "guest/levelzero/ze.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

void tare_levelzero_table(unsigned slot, const char *table, uint32_t version, void *members);

enum { WORKERS = 4, EVENTS = 8, WORDS = 64, FIRST_SLOT = 0 };
#define FOR_EVER UINT64_MAX
#define QUEUE_IN_ORDER (1u << 1) // in older headers it is missing

static const char *driver_path;
static ze_dditable_t ze;
// In older headers these are missing.
static ze_result_t (*append_lists)(ze_command_list_handle_t, uint32_t, ze_command_list_handle_t *,
                                   ze_event_handle_t, uint32_t, ze_event_handle_t *);
static ze_result_t (*list_synchronize)(ze_command_list_handle_t, uint64_t);
static ze_context_handle_t context;
static ze_device_handle_t device;
static ze_event_pool_handle_t timed_pool, plain_pool;

static inline void must(ze_result_t result)
{
	if (result == ZE_RESULT_SUCCESS)
		return;
	fprintf(stderr, "Level Zero error %x\n", (unsigned)result);
	exit(9);
}

static inline void get_table(void *library, const char *name, void *members)
{
	const uint32_t version = ZE_MAKE_VERSION(1, 4);
	ze_result_t (*get)(ze_api_version_t, void *) =
	    (ze_result_t(*)(ze_api_version_t, void *))dlsym(library, name);
	if (get == NULL)
		exit(8);
	must(get((ze_api_version_t)version, members));
	tare_levelzero_table(FIRST_SLOT, name, version, members);
}

static inline ze_event_pool_handle_t make_pool(ze_event_pool_flags_t flags, uint32_t count)
{
	const ze_event_pool_desc_t described = { .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
		                                 .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | flags,
		                                 .count = count };
	ze_event_pool_handle_t pool;
	must(ze.EventPool.pfnCreate(context, &described, 1, &device, &pool));
	return pool;
}

static inline ze_event_handle_t make_event(ze_event_pool_handle_t pool, uint32_t index)
{
	const ze_event_desc_t described = { .stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
		                            .index = index,
		                            .signal = ZE_EVENT_SCOPE_FLAG_HOST,
		                            .wait = ZE_EVENT_SCOPE_FLAG_HOST };
	ze_event_handle_t event;
	must(ze.Event.pfnCreate(pool, &described, &event));
	return event;
}

static inline void open_driver(void)
{
	void *library = dlopen(driver_path, RTLD_NOW | RTLD_LOCAL);
	const ze_context_desc_t described = { .stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC };
	ze_driver_handle_t driver;
	uint32_t one = 1;
	if (library == NULL)
		exit(7);
	get_table(library, "zeGetGlobalProcAddrTable", &ze.Global);
	get_table(library, "zeGetDriverProcAddrTable", &ze.Driver);
	get_table(library, "zeGetDeviceProcAddrTable", &ze.Device);
	get_table(library, "zeGetContextProcAddrTable", &ze.Context);
	get_table(library, "zeGetCommandQueueProcAddrTable", &ze.CommandQueue);
	get_table(library, "zeGetCommandListProcAddrTable", &ze.CommandList);
	get_table(library, "zeGetFenceProcAddrTable", &ze.Fence);
	get_table(library, "zeGetEventPoolProcAddrTable", &ze.EventPool);
	get_table(library, "zeGetEventProcAddrTable", &ze.Event);
	get_table(library, "zeGetMemProcAddrTable", &ze.Mem);
	must(ze.Global.pfnInit(0));
	must(ze.Driver.pfnGet(&one, &driver));
	must(ze.Device.pfnGet(driver, &one, &device));
	must(ze.Driver.pfnGetExtensionFunctionAddress(
	    driver, "zeCommandListImmediateAppendCommandListsExp", (void **)&append_lists));
	must(ze.Driver.pfnGetExtensionFunctionAddress(driver, "zeCommandListHostSynchronize",
	                                              (void **)&list_synchronize));
	must(ze.Context.pfnCreate(driver, &described, &context));
	timed_pool = make_pool(ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, 2 * WORKERS * EVENTS);
	plain_pool = make_pool(0, 2 * WORKERS * EVENTS);
}

// ---- a thread's own

struct worker {
	pthread_t thread;
	uint32_t number, random;
	ze_command_list_handle_t immediate, regular, other;
	ze_command_queue_handle_t queue;
	ze_fence_handle_t fence;
	ze_event_handle_t event[EVENTS];
	ze_event_handle_t gate;           // by the host
	ze_event_handle_t last;           // of the last command of all before
	ze_event_handle_t within, at_end; // of the regular list, reset in it and by the host
	uint32_t *memory;
	uint64_t immediates, in_lists; // commands that are to have times, each time they run
};

static inline uint32_t chance(struct worker *worker)
{
	worker->random = worker->random * 1664525 + 1013904223;
	return worker->random >> 16;
}

// Even ones have timestamps by the program's wish, odd ones by the recorder's.
static inline ze_event_handle_t event_of(const struct worker *worker, uint32_t place)
{
	return make_event(place % 2 == 0 ? timed_pool : plain_pool,
	                  worker->number * 2 * EVENTS + place);
}

static inline void append(const struct worker *worker, ze_command_list_handle_t list,
                          ze_event_handle_t event)
{
	static const uint32_t pattern = 7;
	must(ze.CommandList.pfnAppendMemoryFill(list, worker->memory, &pattern, sizeof pattern,
	                                        WORDS * sizeof pattern, event, 0, NULL));
}

static inline void now(struct worker *worker, ze_event_handle_t event)
{
	append(worker, worker->immediate, event);
	worker->immediates++;
}

static inline void barrier(struct worker *worker, ze_event_handle_t event)
{
	must(ze.CommandList.pfnAppendBarrier(worker->immediate, event, 0, NULL));
	worker->immediates++;
}

// Waits for all that was appended to the immediate list.
static inline void finish(struct worker *worker)
{
	barrier(worker, worker->last);
	must(ze.Event.pfnHostSynchronize(worker->last, FOR_EVER));
	must(ze.Event.pfnHostReset(worker->last));
}

static inline ze_command_list_handle_t make_list(void)
{
	const ze_command_list_desc_t described = { .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC };
	ze_command_list_handle_t list;
	must(ze.CommandList.pfnCreate(context, device, &described, &list));
	return list;
}

static inline ze_command_list_handle_t make_immediate(ze_command_queue_flags_t flags)
{
	const ze_command_queue_desc_t described = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		                                    .flags = flags,
		                                    .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS };
	ze_command_list_handle_t list;
	must(ze.CommandList.pfnCreateImmediate(context, device, &described, &list));
	return list;
}

static inline void run(const struct worker *worker, ze_command_list_handle_t list,
                       ze_fence_handle_t fence)
{
	must(ze.CommandQueue.pfnExecuteCommandLists(worker->queue, 1, &list, fence));
}

static inline void finish_queue(const struct worker *worker)
{
	must(ze.CommandQueue.pfnSynchronize(worker->queue, FOR_EVER));
}

// Four commands: two without an event, one whose event the list resets, one whose event the host
// is to reset.
enum { IN_REGULAR = 4 };
static inline void fill_regular(const struct worker *worker)
{
	append(worker, worker->regular, NULL);
	append(worker, worker->regular, worker->within);
	must(ze.CommandList.pfnAppendBarrier(worker->regular, NULL, 0, NULL));
	must(ze.CommandList.pfnAppendEventReset(worker->regular, worker->within));
	append(worker, worker->regular, worker->at_end);
	must(ze.CommandList.pfnClose(worker->regular));
}

static inline void make_worker(struct worker *worker)
{
	const ze_command_queue_desc_t queue = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		                                .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS };
	const ze_fence_desc_t fence = { .stype = ZE_STRUCTURE_TYPE_FENCE_DESC };
	const ze_host_mem_alloc_desc_t memory = { .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC };
	worker->random = worker->number * 2654435761u + 1;
	worker->immediate = make_immediate(worker->number % 2 == 0 ? QUEUE_IN_ORDER : 0);
	worker->regular = make_list();
	worker->other = make_list();
	must(ze.CommandQueue.pfnCreate(context, device, &queue, &worker->queue));
	must(ze.Fence.pfnCreate(worker->queue, &fence, &worker->fence));
	must(ze.Mem.pfnAllocHost(context, &memory, WORDS * sizeof *worker->memory, 64,
	                         (void **)&worker->memory));
	for (uint32_t i = 0; i < EVENTS; i++)
		worker->event[i] = event_of(worker, i);
	worker->gate = event_of(worker, EVENTS);
	worker->last = event_of(worker, EVENTS + 1);
	worker->within = event_of(worker, EVENTS + 2);
	worker->at_end = event_of(worker, EVENTS + 3);
	fill_regular(worker);
	// Another list with the same event.
	append(worker, worker->other, NULL);
	append(worker, worker->other, worker->at_end);
	must(ze.CommandList.pfnClose(worker->other));
}

static inline void end_worker(struct worker *worker)
{
	for (uint32_t i = 0; i < EVENTS; i++)
		must(ze.Event.pfnDestroy(worker->event[i]));
	must(ze.Event.pfnDestroy(worker->gate));
	must(ze.Event.pfnDestroy(worker->last));
	must(ze.Event.pfnDestroy(worker->within));
	must(ze.Event.pfnDestroy(worker->at_end));
	must(ze.CommandList.pfnDestroy(worker->immediate));
	must(ze.CommandList.pfnDestroy(worker->regular));
	must(ze.CommandList.pfnDestroy(worker->other));
	must(ze.Fence.pfnDestroy(worker->fence));
	must(ze.CommandQueue.pfnDestroy(worker->queue));
	must(ze.Mem.pfnFree(context, worker->memory));
}
