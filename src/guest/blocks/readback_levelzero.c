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
	_Atomic bool late;             // a copy in it may not have ended
};

// A command's event.
struct signal {
	struct link *link;
	ze_event_pool_handle_t pool;
	ze_event_handle_t event;
};

// A queue or an immediate list with launches that count so. It is read and changed with the lock.
struct used {
	struct used *following;
	const void *handle; // NULL: it is gone, and another one may take its place
	const void *context;
	struct link *link;
	struct signal signal; // of an immediate list that is asked whether it is idle
	bool immediate, asked;
};

static struct link *_Atomic links;
static struct used *used;
static guest_lock lock;

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
	ze_command_list_handle_t list;
	const ze_command_queue_desc_t wanted = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		                                 .ordinal = ordinal_of(device),
		                                 .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS };
	if (wanted.ordinal == UINT32_MAX || blocks_ze_next.create_immediate == NULL ||
	    blocks_ze_next.create_immediate(context, device, &wanted, &list) != ZE_RESULT_SUCCESS)
		return NULL;
	struct link *made = guest_memory(sizeof *made);
	if (made == NULL) {
		blocks_ze_next.list_destroy(list);
		return NULL;
	}
	made->list = list;
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

// Of that handle; NULL: one that is free.
static struct used *find_used(const void *handle)
{
	struct used *at = used;

	while (at != NULL && (at->handle != handle || at->asked))
		at = at->following;
	return at;
}

void blocks_ze_begin_used(void)
{
	guest_lock_register(&lock);
}

void blocks_ze_used(struct blocks_far *far, const void *handle, bool immediate)
{
	const struct signal *own = far->by;

	blocks_far_launched(far, handle);
	guest_acquire(&lock);
	if (find_used(handle) != NULL) {
		guest_release(&lock);
		return;
	}
	struct used *made = find_used(NULL);
	if (made == NULL && (made = guest_memory(sizeof *made)) != NULL) {
		made->following = used;
		used = made;
	}
	if (made != NULL) {
		made->handle = handle;
		made->context = atomic_load(&far->context);
		made->link = own->link;
		made->immediate = immediate;
	}
	guest_release(&lock);
}

void blocks_ze_gone(const void *handle)
{
	guest_acquire(&lock);
	struct used *at = find_used(handle);
	if (at != NULL)
		at->handle = NULL;
	guest_release(&lock);
}

// As blocks_reader.idle() says. The lock keeps a queue from being destroyed while it is asked.
static int is_idle(struct used *at, bool first, bool exits)
{
	if (!at->immediate)
		return blocks_ze_next.queue_synchronize == NULL
		           ? -1
		           : blocks_ze_next.queue_synchronize(
		                 (ze_command_queue_handle_t)(uintptr_t)at->handle, 0) ==
		                 ZE_RESULT_SUCCESS;
	// Other threads may be appending to it, and two must not.
	if (exits)
		return -1;
	if (first)
		at->asked = make_signal(at->link, &at->signal) &&
		            blocks_ze_next.barrier((ze_command_list_handle_t)(uintptr_t)at->handle,
		                                   at->signal.event, 0, NULL) == ZE_RESULT_SUCCESS;
	return at->asked ? state_of(&at->signal) : -1;
}

static int idle(const void *context, bool first, bool exits)
{
	int all = 1;

	guest_acquire(&lock);
	for (struct used *at = used; at != NULL; at = at->following)
		if (at->handle != NULL && at->context == context)
			all = blocks_both_idle(all, is_idle(at, first, exits));
	guest_release(&lock);
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
	if (*code == ZE_RESULT_SUCCESS && state <= 0) {
		*code = ZE_RESULT_NOT_READY;
		atomic_store(&link->late, true);
	}
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

	if (far == NULL) {
		far = blocks_far_new(row, module, context, device, why);
		if (far == NULL)
			return NULL;
		far->memory = make_memory(far, context, device, &result);
		far->code = (int32_t)result;
		blocks_far_add(far, &reader);
	}
	*why = BLOCKS_NO_MEMORY;
	*code = far->code;
	return far->memory != NULL ? far : NULL;
}

void blocks_ze_far_sample(struct blocks_far *far, uint64_t work_items)
{
	const uint64_t at = (uint64_t)far->module->rows * far->module->row_counters;
	const uint64_t end = blocks_now_ns() + BLOCKS_FIRST_NS;

	if (far->module->sample_items == 0 || atomic_load(&far->launched) != 0)
		return;
	const struct signal *signal = far->by;
	blocks_choose_sample(far->copy, far->module, work_items);
	if (copy(signal, (uint64_t *)far->memory + at, far->copy + at,
	         BLOCKS_SAMPLE_HEAD * sizeof *far->copy) != ZE_RESULT_SUCCESS)
		return;
	while (state_of(signal) == 0 && blocks_wait_until(end))
		;
	if (state_of(signal) <= 0)
		atomic_store(&signal->link->late, true);
}

// ---- what is wrapped

static void free_signal(const struct signal *signal)
{
	blocks_ze_next.event_destroy(signal->event);
	blocks_ze_next.pool_destroy(signal->pool);
}

static void forget_used(const void *context, bool idle)
{
	guest_acquire(&lock);
	for (struct used *at = used; at != NULL; at = at->following) {
		if (at->context != context)
			continue;
		if (at->asked && idle)
			free_signal(&at->signal);
		// Where the barrier may still signal it, the entry stays taken.
		at->asked &= !idle;
		at->context = at->handle = NULL;
	}
	guest_release(&lock);
}

// Ours in a context that goes. What the device may still be using stays; `idle`: no kernel is. The
// driver may refuse to destroy the context: its twins are not launched any more (they see that
// far->context is gone), and what stands in regular lists keeps its memory.
static void free_all(const void *context, bool idle)
{
	forget_used(context, idle);
	for (struct blocks_far *far = blocks_far_first(); far != NULL; far = far->following) {
		if (atomic_load(&far->context) != context)
			continue;
		struct signal *signal = far->by;
		bool none = blocks_far_forget(far);
		if (signal == NULL || far->memory == NULL)
			continue;
		if (!none)
			atomic_store(&signal->link->late, true);
		if (!idle || atomic_load(&signal->link->late) || atomic_load(&far->listed))
			continue;
		free_signal(signal);
		blocks_ze_next.release((ze_context_handle_t)(uintptr_t)context, far->memory);
	}
	for (struct link *at = atomic_load(&links); at != NULL; at = at->following)
		if (atomic_load(&at->context) == context) {
			atomic_store(&at->context, NULL);
			if (idle && !atomic_load(&at->late))
				blocks_ze_next.list_destroy(at->list);
		}
}

static ze_result_t ZE_APICALL context_destroy(ze_context_handle_t context)
{
	int saved = errno;

	free_all(context, blocks_far_last(context));
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
