// SPDX-License-Identifier: Apache-2.0
// The memory of Level Zero devices in which kernels count, what reads it, and the moments at which
// that is done. A list of ours copies it, on the compute engines, which see what kernels wrote.
#include "guest/blocks/levelzero.h"

#include <errno.h>
#include <sched.h>

enum { MOST_GROUPS = 32, ALIGNMENT = 64 };

// What copies between a device and us, of one context.
struct link {
	struct link *following;
	_Atomic(const void *) context; // NULL: it is gone
	const void *device;
	ze_command_list_handle_t list; // immediate; NULL: there is none
	_Atomic uint32_t held;         // a thread appends to it
};

// A command's event.
struct signal {
	struct link *link;
	ze_event_pool_handle_t pool;
	ze_event_handle_t event;
};

// A queue or an immediate list with launches that count so.
struct used {
	struct used *following;
	_Atomic(const void *) handle; // NULL: it is gone
	const void *context;
	struct signal signal; // of an immediate list, by which it is asked whether it is idle
	bool immediate, asked;
};

static struct link *_Atomic links;
static struct used *_Atomic used;

// ---- what copies

// An engine with kernels and copies, or else one with copies.
static uint32_t ordinal_of(ze_device_handle_t device)
{
	ze_command_queue_group_properties_t groups[MOST_GROUPS];
	uint32_t count = MOST_GROUPS, chosen = UINT32_MAX;

	for (uint32_t i = 0; i < MOST_GROUPS; i++)
		groups[i] = (ze_command_queue_group_properties_t){
			.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES
		};
	if (blocks_ze_next.queue_groups == NULL ||
	    blocks_ze_next.queue_groups(device, &count, groups) != ZE_RESULT_SUCCESS)
		return UINT32_MAX;
	for (uint32_t i = count; i-- > 0;)
		if ((groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY) &&
		    (chosen == UINT32_MAX ||
		     (groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE)))
			chosen = i;
	return chosen;
}

static struct link *link_of(ze_context_handle_t context, ze_device_handle_t device)
{
	for (struct link *at = atomic_load(&links); at != NULL; at = at->following)
		if (at->device == device && atomic_load(&at->context) == context)
			return at;
	struct link *made = guest_memory(sizeof *made);
	if (made == NULL)
		return NULL;
	const ze_command_queue_desc_t wanted = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		                                 .ordinal = ordinal_of(device),
		                                 .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS };
	if (wanted.ordinal == UINT32_MAX || blocks_ze_next.create_immediate == NULL ||
	    blocks_ze_next.create_immediate(context, device, &wanted, &made->list) !=
	        ZE_RESULT_SUCCESS)
		return NULL;
	made->device = device;
	atomic_store(&made->context, context);
	made->following = atomic_load(&links);
	while (!atomic_compare_exchange_weak(&links, &made->following, made))
		;
	return made;
}

// Of threads of ours alone, for as long as one command is appended.
static void hold(struct link *link)
{
	uint32_t nobody = 0;

	while (!atomic_compare_exchange_weak(&link->held, &nobody, 1)) {
		nobody = 0;
		sched_yield();
	}
}

static bool make_signal(struct link *link, struct signal *signal)
{
	const ze_event_pool_desc_t pool = { .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
		                            .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
		                            .count = 1 };
	const ze_event_desc_t event = { .stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
		                        .signal = ZE_EVENT_SCOPE_FLAG_HOST,
		                        .wait = ZE_EVENT_SCOPE_FLAG_HOST };
	ze_device_handle_t device = (ze_device_handle_t)(uintptr_t)link->device;

	signal->link = link;
	return blocks_ze_next.pool_create != NULL && blocks_ze_next.event_create != NULL &&
	       blocks_ze_next.pool_create(
	           (ze_context_handle_t)(uintptr_t)atomic_load(&link->context), &pool, 1, &device,
	           &signal->pool) == ZE_RESULT_SUCCESS &&
	       blocks_ze_next.event_create(signal->pool, &event, &signal->event) ==
	           ZE_RESULT_SUCCESS;
}

// 1: it is signalled. 0: not yet. Negative: it will not be.
static int state_of(const struct signal *signal)
{
	ze_result_t result = blocks_ze_next.event_query(signal->event);

	return result == ZE_RESULT_SUCCESS ? 1 : result == ZE_RESULT_NOT_READY ? 0 : -1;
}

static ze_result_t copy(const struct signal *signal, void *to, const void *from, size_t bytes)
{
	hold(signal->link);
	blocks_ze_next.event_reset(signal->event);
	ze_result_t result =
	    blocks_ze_next.copy(signal->link->list, to, from, bytes, signal->event, 0, NULL);
	atomic_store(&signal->link->held, 0);
	return result;
}

static bool begin(struct blocks_far *far)
{
	return copy(far->by, far->copy, far->memory, (size_t)far->bytes) == ZE_RESULT_SUCCESS;
}

static int done(struct blocks_far *far)
{
	return state_of(far->by);
}

// ---- queues of the program's

static struct used *find_used(const void *handle)
{
	struct used *at = atomic_load(&used);

	while (at != NULL && atomic_load(&at->handle) != handle)
		at = at->following;
	return at;
}

void blocks_ze_used(struct blocks_far *far, const void *handle, bool immediate)
{
	const struct signal *own = far->by;

	blocks_far_launched(far, handle);
	if (find_used(handle) != NULL)
		return;
	struct used *made = guest_memory(sizeof *made);
	if (made == NULL)
		return;
	made->context = atomic_load(&far->context);
	made->immediate = immediate && make_signal(own->link, &made->signal);
	atomic_store(&made->handle, handle);
	made->following = atomic_load(&used);
	while (!atomic_compare_exchange_weak(&used, &made->following, made))
		;
}

void blocks_ze_gone(const void *handle)
{
	struct used *at = find_used(handle);

	if (at != NULL)
		atomic_store(&at->handle, NULL);
}

static bool is_idle(struct used *at, const void *handle, bool first)
{
	if (!at->immediate)
		return blocks_ze_next.queue_synchronize != NULL &&
		       blocks_ze_next.queue_synchronize(
		           (ze_command_queue_handle_t)(uintptr_t)handle, 0) == ZE_RESULT_SUCCESS;
	if (first)
		at->asked = blocks_ze_next.barrier((ze_command_list_handle_t)(uintptr_t)handle,
		                                   at->signal.event, 0, NULL) == ZE_RESULT_SUCCESS;
	return at->asked && state_of(&at->signal) > 0;
}

static bool idle(const void *context, bool first)
{
	bool all = true;

	for (struct used *at = atomic_load(&used); at != NULL; at = at->following) {
		const void *handle = atomic_load(&at->handle);
		if (handle != NULL && at->context == context)
			all &= is_idle(at, handle, first);
	}
	return all;
}

static const struct blocks_reader reader = { .begin = begin, .done = done, .idle = idle };

// ---- memory

static void *make_memory(struct blocks_far *far, ze_context_handle_t context,
                         ze_device_handle_t device, ze_result_t *code)
{
	const ze_device_mem_alloc_desc_t wanted = { .stype =
		                                        ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC };
	struct link *link = link_of(context, device);
	struct signal *signal = guest_memory(sizeof *signal);
	void *memory = NULL;
	uint64_t end = blocks_now_ns() + BLOCKS_FIRST_NS;

	*code = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
	if (link == NULL || signal == NULL || !make_signal(link, signal) ||
	    blocks_ze_next.allocate == NULL)
		return NULL;
	*code = blocks_ze_next.allocate(context, &wanted, (size_t)far->bytes, ALIGNMENT, device,
	                                &memory);
	if (*code != ZE_RESULT_SUCCESS)
		return NULL;
	far->by = signal;
	*code = copy(signal, memory, far->copy, (size_t)far->bytes);
	int state = 0;
	while (*code == ZE_RESULT_SUCCESS && (state = state_of(signal)) == 0 &&
	       blocks_wait_until(end))
		;
	if (*code == ZE_RESULT_SUCCESS && state <= 0)
		*code = ZE_RESULT_NOT_READY;
	// What may still be written to is never freed.
	return *code == ZE_RESULT_SUCCESS ? memory : NULL;
}

struct blocks_far *blocks_ze_far_memory(ze_context_handle_t context, ze_device_handle_t device,
                                        struct blocks_kernel *row,
                                        const struct blocks_module *module, enum blocks_why *why,
                                        int32_t *code)
{
	struct blocks_far *far = blocks_far_find(row, context, device);
	ze_result_t result;

	if (far != NULL)
		return far;
	far = blocks_far_new(row, module, context, device, why);
	if (far == NULL)
		return NULL;
	*why = BLOCKS_NO_MEMORY;
	far->memory = make_memory(far, context, device, &result);
	*code = (int32_t)result;
	if (far->memory == NULL)
		return NULL;
	blocks_far_add(far, &reader);
	return far;
}

void blocks_ze_far_sample(struct blocks_far *far, uint64_t work_items)
{
	const uint64_t at = (uint64_t)far->module->rows * far->module->row_counters;
	const uint64_t end = blocks_now_ns() + BLOCKS_FIRST_NS;

	if (far->module->sample_items == 0 || atomic_load(&far->launched) != 0)
		return;
	blocks_choose_sample(far->copy, far->module, work_items);
	if (copy(far->by, (uint64_t *)far->memory + at, far->copy + at,
	         BLOCKS_SAMPLE_HEAD * sizeof *far->copy) == ZE_RESULT_SUCCESS)
		while (state_of(far->by) == 0 && blocks_wait_until(end))
			;
}

// ---- what is wrapped

static void free_signal(const struct signal *signal)
{
	blocks_ze_next.event_destroy(signal->event);
	blocks_ze_next.pool_destroy(signal->pool);
}

// Ours in a context that goes. What a read may still be using stays.
static void free_all(const void *context)
{
	for (struct used *at = atomic_load(&used); at != NULL; at = at->following) {
		if (at->context != context)
			continue;
		at->context = NULL;
		atomic_store(&at->handle, NULL);
		if (at->immediate && !at->asked)
			free_signal(&at->signal);
	}
	for (struct blocks_far *far = blocks_far_first(); far != NULL; far = far->following) {
		if (atomic_load(&far->context) != context)
			continue;
		atomic_store(&far->context, NULL);
		if (far->under_way)
			continue;
		free_signal(far->by);
		blocks_ze_next.release((ze_context_handle_t)(uintptr_t)context, far->memory);
	}
	for (struct link *at = atomic_load(&links); at != NULL; at = at->following)
		if (atomic_load(&at->context) == context) {
			atomic_store(&at->context, NULL);
			blocks_ze_next.list_destroy(at->list);
		}
}

static ze_result_t ZE_APICALL context_destroy(ze_context_handle_t context)
{
	int saved = errno;

	blocks_far_last(context);
	free_all(context);
	errno = saved;
	return blocks_ze_next.context_destroy(context);
}

static ze_result_t ZE_APICALL queue_synchronize(ze_command_queue_handle_t queue, uint64_t timeout)
{
	uint64_t since = blocks_far_now();
	ze_result_t result = blocks_ze_next.queue_synchronize(queue, timeout);

	if (result == ZE_RESULT_SUCCESS)
		blocks_far_waited(queue, since);
	return result;
}

static ze_result_t ZE_APICALL queue_destroy(ze_command_queue_handle_t queue)
{
	blocks_ze_gone(queue);
	return blocks_ze_next.queue_destroy(queue);
}

static ze_result_t ZE_APICALL fence_synchronize(ze_fence_handle_t fence, uint64_t timeout)
{
	ze_result_t result = blocks_ze_next.fence_synchronize(fence, timeout);

	if (result == ZE_RESULT_SUCCESS)
		blocks_far_waited(NULL, 0);
	return result;
}

static ze_result_t ZE_APICALL event_synchronize(ze_event_handle_t event, uint64_t timeout)
{
	ze_result_t result = blocks_ze_next.event_synchronize(event, timeout);

	if (result == ZE_RESULT_SUCCESS)
		blocks_far_waited(NULL, 0);
	return result;
}

#define ROW(table, type, member, kept, ours)                                                       \
	BLOCKS_ZE_ROW("zeGet" table "ProcAddrTable", type, member, kept, ours)

// All of them are of version 1.0.
const struct blocks_ze_row blocks_ze_far_rows[] = {
	ROW("Context", ze_context_dditable_t, pfnDestroy, context_destroy, context_destroy),
	ROW("CommandQueue", ze_command_queue_dditable_t, pfnSynchronize, queue_synchronize,
	    queue_synchronize),
	ROW("CommandQueue", ze_command_queue_dditable_t, pfnDestroy, queue_destroy, queue_destroy),
	ROW("Fence", ze_fence_dditable_t, pfnHostSynchronize, fence_synchronize, fence_synchronize),
	ROW("Event", ze_event_dditable_t, pfnHostSynchronize, event_synchronize, event_synchronize),
	ROW("Event", ze_event_dditable_t, pfnCreate, event_create, NULL),
	ROW("Event", ze_event_dditable_t, pfnDestroy, event_destroy, NULL),
	ROW("Event", ze_event_dditable_t, pfnHostReset, event_reset, NULL),
	ROW("Event", ze_event_dditable_t, pfnQueryStatus, event_query, NULL),
	ROW("EventPool", ze_event_pool_dditable_t, pfnCreate, pool_create, NULL),
	ROW("EventPool", ze_event_pool_dditable_t, pfnDestroy, pool_destroy, NULL),
	ROW("Mem", ze_mem_dditable_t, pfnAllocDevice, allocate, NULL),
	ROW("Mem", ze_mem_dditable_t, pfnFree, release, NULL),
	ROW("CommandList", ze_command_list_dditable_t, pfnAppendMemoryCopy, copy, NULL),
	ROW("CommandList", ze_command_list_dditable_t, pfnAppendBarrier, barrier, NULL),
	ROW("Device", ze_device_dditable_t, pfnGetCommandQueueGroupProperties, queue_groups, NULL),
	ROW("Device", ze_device_dditable_t, pfnGetModuleProperties, module_properties, NULL),
};
const size_t blocks_ze_far_row_count = sizeof blocks_ze_far_rows / sizeof *blocks_ze_far_rows;
