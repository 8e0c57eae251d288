// SPDX-License-Identifier: Apache-2.0
// Queues and lists: what is kept of them from their making to the last time that is read of them.
#include "guest/levelzero/ze.h"

#include <sched.h>

#define FLAG_QUEUE_IN_ORDER (1u << 1) // in older headers these are missing
#define FLAG_LIST_IN_ORDER (1u << 3)
#define OUT_OF_ORDER 1u
#define PROFILING 2u

static struct guest_map *lists, *queues; // by handle
static struct ze_list *_Atomic all_lists;
static struct ze_spares spare_queues;

bool ze_lists_begin(void)
{
	guest_lock_register(&spare_queues.lock);
	lists = guest_map_new();
	queues = guest_map_new();
	return lists != NULL && queues != NULL;
}

struct ze_list *ze_lists(void)
{
	return atomic_load(&all_lists);
}

static uint64_t properties_of(uint32_t ordinal, uint32_t index, bool out_of_order)
{
	return (uint64_t)(ordinal & 0xffff) << 32 | (uint64_t)(index & 0xffff) << 48 |
	       (out_of_order ? OUT_OF_ORDER : 0) | (guest_options.count_only ? 0 : PROFILING);
}

// ---- queues

struct ze_queue *ze_queue_find(ze_command_queue_handle_t handle)
{
	return (struct ze_queue *)(uintptr_t)guest_map_find(queues, handle, 0);
}

void ze_after_zeCommandQueueCreate(struct guest_thread *thread, const struct ze_driver *driver,
                                   ze_context_handle_t context, ze_device_handle_t device,
                                   const ze_command_queue_desc_t *desc,
                                   ze_command_queue_handle_t *made, ze_result_t result)
{
	struct ze_queue *queue =
	    result == ZE_RESULT_SUCCESS ? ze_take(&spare_queues, sizeof *queue) : NULL;
	if (queue == NULL)
		return;
	queue->handle = *made;
	queue->device = ze_device_find(driver, device);
	queue->number = guest_queue_number();
	guest_map_put(queues, *made, (uintptr_t)queue);
	ze_define(TARE_OBJECT_QUEUE, *made, context, device,
	          properties_of(desc->ordinal, desc->index, false), 0, 0, queue->number);
	if (queue->device != NULL)
		ze_clock_pair(thread, queue->device);
}

void ze_before_zeCommandQueueDestroy(struct guest_thread *thread, const struct ze_driver *driver,
                                     ze_command_queue_handle_t handle)
{
	struct ze_queue *queue = ze_queue_find(handle);
	ze_harvest_all(thread);
	if (queue == NULL)
		return;
	if (queue->device != NULL && ze_may_call())
		ze_clock_pair_behind(thread, queue->device);
	guest_map_remove(queues, handle);
	ze_give(&spare_queues, queue);
}

// ---- lists

// One that nothing is to come from any more, or a new one.
static struct ze_list *take_list(void)
{
	for (struct ze_list *list = ze_lists(); list != NULL; list = list->following) {
		uint32_t free = ZE_LIST_FREE;
		if (atomic_load_explicit(&list->state, memory_order_relaxed) == ZE_LIST_FREE &&
		    atomic_compare_exchange_strong(&list->state, &free, ZE_LIST_MADE))
			return list;
	}
	struct ze_list *list = guest_memory(sizeof *list);
	if (list == NULL)
		return NULL;
	atomic_store(&list->state, ZE_LIST_MADE);
	guest_lock_register(&list->push);
	guest_lock_register(&list->harvesting);
	list->following = ze_lists();
	while (!atomic_compare_exchange_weak(&all_lists, &list->following, list))
		;
	return list;
}

static void define(const struct ze_list *list, uint32_t index)
{
	const void *device = list->device != NULL ? list->device->handle : NULL;
	if (list->immediate)
		ze_define(TARE_OBJECT_QUEUE, list->handle, list->context, device,
		          properties_of(list->ordinal, index, !list->in_order), 0, 0, list->number);
	else
		ze_define(TARE_OBJECT_GRAPH, list->handle, list->context, device,
		          properties_of(list->ordinal, 0, !list->in_order), 0, 0,
		          list->content->number);
}

static struct ze_list *made(struct guest_thread *thread, const struct ze_driver *driver,
                            const struct ze_list *like, uint32_t index)
{
	struct ze_list *list = take_list();
	if (list == NULL)
		return NULL;
	list->handle = like->handle;
	list->driver = driver;
	list->context = like->context;
	list->device = like->device;
	list->own = ze_own_events_of(driver, like->context);
	list->ordinal = like->ordinal;
	const struct ze_device *device = like->device;
	list->copies =
	    device != NULL && like->ordinal < 32 && (device->copying >> like->ordinal & 1) != 0;
	list->immediate = like->immediate;
	list->in_order = like->in_order;
	list->waits = like->waits;
	list->executions = 0;
	list->told_queries = false;
	list->next_mutable = 0;
	atomic_store(&list->capturing, false);
	atomic_store(&list->told, false);
	atomic_store(&list->process, thread->process);
	if (list->immediate)
		list->number = guest_queue_number();
	else if (ze_content_new(list) == NULL) {
		list->handle = NULL;
		atomic_store(&list->state, ZE_LIST_FREE);
		return NULL;
	}
	define(list, index);
	atomic_store(&list->state, ZE_LIST_USED);
	guest_map_put(lists, list->handle, (uintptr_t)list);
	if (list->device != NULL)
		ze_clock_pair(thread, list->device);
	ze_driver_cost_first(thread, list);
	return list;
}

void ze_after_zeCommandListCreate(struct guest_thread *thread, const struct ze_driver *driver,
                                  ze_context_handle_t context, ze_device_handle_t device,
                                  const ze_command_list_desc_t *desc,
                                  ze_command_list_handle_t *list, ze_result_t result)
{
	if (result == ZE_RESULT_SUCCESS)
		made(thread, driver,
		     &(struct ze_list){ .handle = *list,
		                        .context = context,
		                        .device = ze_device_find(driver, device),
		                        .ordinal = desc->commandQueueGroupOrdinal,
		                        .in_order = (desc->flags & FLAG_LIST_IN_ORDER) != 0 },
		     0);
}

void ze_list_cloned(struct guest_thread *thread, const struct ze_list *list,
                    ze_command_list_handle_t handle)
{
	const struct ze_list *clone = made(thread, list->driver,
	                                   &(struct ze_list){ .handle = handle,
	                                                      .context = list->context,
	                                                      .device = list->device,
	                                                      .ordinal = list->ordinal,
	                                                      .in_order = list->in_order },
	                                   0);
	if (clone == NULL)
		return;
	clone->content->shared = true;
	clone->content->appended = list->content->appended;
}

void ze_after_zeCommandListCreateImmediate(struct guest_thread *thread,
                                           const struct ze_driver *driver,
                                           ze_context_handle_t context, ze_device_handle_t device,
                                           const ze_command_queue_desc_t *desc,
                                           ze_command_list_handle_t *list, ze_result_t result)
{
	if (result == ZE_RESULT_SUCCESS)
		made(thread, driver,
		     &(struct ze_list){ .handle = *list,
		                        .context = context,
		                        .device = ze_device_find(driver, device),
		                        .ordinal = desc->ordinal,
		                        .immediate = true,
		                        .in_order = (desc->flags & FLAG_QUEUE_IN_ORDER) != 0,
		                        .waits = desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS },
		     desc->index);
}

struct ze_list *ze_list_find(struct guest_thread *thread, ze_command_list_handle_t handle)
{
	struct ze_thread *mine = ze_of(thread);
	struct ze_list *list = mine->list;
	if (list == NULL || list->handle != handle || atomic_load(&list->state) != ZE_LIST_USED)
		list = (struct ze_list *)(uintptr_t)guest_map_find(lists, handle, 0);
	// What was made before a fork is the parent's.
	if (list != NULL &&
	    atomic_load_explicit(&list->process, memory_order_relaxed) != thread->process)
		return NULL;
	return mine->list = list;
}

void ze_before_zeCommandListReset(struct guest_thread *thread, const struct ze_driver *driver,
                                  ze_command_list_handle_t handle)
{
	struct ze_list *list = ze_list_find(thread, handle);
	if (list == NULL || list->immediate)
		return;
	ze_of(thread)->ends = true;
	ze_harvest_list(thread, list);
	if (ZE_UNLIKELY(ze_counts))
		ze_count_drop_slow(list->content);
	ze_content_drop(list);
	// Else what was not in flight would be given back by no harvest.
	if (ze_may_call() && guest_try(&list->harvesting)) {
		ze_contents_harvest(thread, list);
		guest_release(&list->harvesting);
	}
	ze_of(thread)->ends = false;
	if (ze_content_new(list) != NULL)
		define(list, 0);
}

// The last chance at a time that the program has chosen: who is at it is given a little patience.
void ze_before_zeCommandListDestroy(struct guest_thread *thread, const struct ze_driver *driver,
                                    ze_command_list_handle_t handle)
{
	struct ze_list *list = ze_list_find(thread, handle);
	if (list != NULL && list->device != NULL && ze_may_call())
		ze_clock_pair_behind(thread, list->device);
	ze_of(thread)->ends = true;
	for (int turns = 0; list != NULL && turns < 50 && !ze_harvest_list(thread, list); turns++)
		sched_yield();
	ze_of(thread)->ends = false;
	if (ZE_UNLIKELY(ze_counts) && list != NULL && list->immediate)
		ze_count_list_ends_slow(thread, list);
	// As soon as the driver has it, its handle may be another list's.
	if (list != NULL)
		guest_map_remove(lists, handle);
}

void ze_after_zeCommandListDestroy(struct guest_thread *thread, const struct ze_driver *driver,
                                   ze_command_list_handle_t handle, ze_result_t result)
{
	struct ze_list *list = ze_of(thread)->list; // that was found before
	if (list == NULL || list->handle != handle || atomic_load(&list->state) != ZE_LIST_USED)
		return;
	if (result != ZE_RESULT_SUCCESS) {
		guest_map_put(lists, handle, (uintptr_t)list);
		return;
	}
	ze_of(thread)->list = NULL;
	if (ZE_UNLIKELY(ze_counts) && !list->immediate)
		ze_count_drop_slow(list->content);
	if (!list->immediate)
		ze_content_drop(list);
	atomic_store(&list->state, ZE_LIST_ENDED);
	ze_harvest_list(thread, list);
}

// Those that the program has, or that something is still to come from.
static bool lives_in(const struct ze_list *list, const struct ze_driver *driver,
                     ze_context_handle_t context)
{
	// In this order: what it is made for is told before it is used.
	return atomic_load(&list->state) >= ZE_LIST_USED && list->context == context &&
	       list->driver == driver;
}

// Nothing may be asked any more of what lived in its context. Who harvests is at its last question.
// With the right it is certain that it is not another context's list by now.
static void retire(struct ze_list *list, const struct ze_driver *driver,
                   ze_context_handle_t context)
{
	bool mine = ze_take_right_patiently(list);
	if (lives_in(list, driver, context))
		atomic_store(&list->process, 0);
	if (mine)
		guest_release(&list->harvesting);
}

void ze_before_zeContextDestroy(struct guest_thread *thread, const struct ze_driver *driver,
                                ze_context_handle_t context)
{
	ze_of(thread)->ends = true;
	ze_harvest_all(thread);
	for (struct ze_list *list = ze_lists(); list != NULL; list = list->following) {
		if (!lives_in(list, driver, context))
			continue;
		for (int turns = 0; turns < 50 && !ze_harvest_list(thread, list); turns++)
			sched_yield();
		retire(list, driver, context);
	}
	ze_of(thread)->ends = false;
	ze_events_destroy_due();
	ze_count_context_ends(thread, driver, context);
	ze_own_end(driver, context);
}
