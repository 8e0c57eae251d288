// SPDX-License-Identifier: Apache-2.0
// Lists that a queue executes, or an immediate list: each is an execution, with a list of ours
// behind it (query.c) that reads its times.
#include "guest/contents.h"
#include "guest/levelzero/ze.h"

enum { LISTS_ON_STACK = 64, MOST_LISTS = 1 << 16 };

// A list's execution.
struct list_run {
	struct ze_list *list; // NULL: not known
	struct ze_query *query;
	uint64_t execution;
	bool compared;
};

// A call that executes lists, on a queue or, where `immediate` is known, on that.
struct batch {
	const struct ze_driver *driver;
	uint32_t function, queue; // queue: its number in the trace
	uint32_t count;
	ze_command_list_handle_t *lists;
	ze_result_t (*submit)(const struct batch *batch, uint32_t count,
	                      ze_command_list_handle_t *lists);
	ze_command_queue_handle_t on;
	ze_fence_handle_t fence;
	ze_command_list_handle_t onto;
	const void *next;
	ze_event_handle_t signal;
	ze_event_handle_t *waits;
	uint32_t wait_count;
	struct ze_list *immediate;
	bool blocks;
	uint64_t enter, exit;
};

static void run_begin(struct guest_thread *thread, struct list_run *run,
                      ze_command_list_handle_t handle, bool query)
{
	struct ze_list *list = ze_list_find(thread, handle);
	*run = (struct list_run){ .list = list };
	if (list == NULL || list->immediate || list->content == NULL)
		return;
	run->execution = ++list->executions;
	if (ZE_UNLIKELY(ze_counts))
		ze_count_execute_slow(thread, list, run->execution);
	if (!query || list->content->timed == 0 || list->content->shared || !ze_may_change() ||
	    !atomic_load_explicit(&guest_active, memory_order_relaxed))
		return;
	uint32_t aside = guest_aside_begin(thread, TARE_TRACE_LEVELZERO);
	ze_execute_cost_first(thread, list);
	// What is complete is read when a query is needed, so that none is made where one will do.
	if (list->content->idle == NULL && list->content->in_flight != 0 &&
	    guest_try(&list->harvesting)) {
		ze_contents_harvest(thread, list);
		guest_release(&list->harvesting);
	}
	run->query = ze_query_take(list, run->execution);
	guest_aside_end(thread, aside);
}

// The driver has not run it, or had nothing behind it.
static void run_unqueried(struct guest_thread *thread, struct list_run *run)
{
	if (run->query == NULL)
		return;
	ze_compare_ran(thread, run->list->content, run->execution, false);
	// Without the right it stays in flight, and is counted as pending.
	if (ze_take_right(run->list)) {
		ze_query_return(run->list, run->list->content, run->query);
		guest_release(&run->list->harvesting);
	}
	run->query = NULL;
}

// ---- records

static void write_execute(struct guest_thread *thread, uint32_t number, const struct list_run *run)
{
	union tare_trace_record *record = guest_event(thread);
	if (record == NULL)
		return;
	record->execute = (struct tare_trace_execute){ .command_track = thread->track,
		                                       .command_number = number,
		                                       .graph = (uintptr_t)run->list->handle,
		                                       .execution = run->execution,
		                                       .nodes = run->list->content->appended };
	guest_commit(record, tare_trace_head(TARE_TRACE_EXECUTE, 0, 0, thread->track));
}

static unsigned flags_of(const struct guest_thread *thread, const struct batch *batch,
                         ze_result_t status)
{
	unsigned flags = TARE_COMMAND_NO_TIMES | (thread->depth > 1 ? TARE_COMMAND_NESTED : 0) |
	                 (batch->exit - batch->enter >= UINT32_MAX ? TARE_COMMAND_LONG : 0);
	if (status != ZE_RESULT_SUCCESS)
		return flags | TARE_COMMAND_FAILED;
	return flags | (batch->blocks ? TARE_COMMAND_BLOCKING : 0) |
	       (batch->wait_count != 0 && batch->waits != NULL ? TARE_COMMAND_DEPENDS : 0);
}

static enum tare_trace_untimed why_not(const struct ze_content *content)
{
	return !ze_may_change()  ? TARE_UNTIMED_NOT_ASKED
	       : content->shared ? TARE_UNTIMED_REUSED
	                         : TARE_UNTIMED_NO_ROOM;
}

// One record a list, of the same call. What signals the call's event is the last.
static void write_run(struct guest_thread *thread, const struct list_run *run,
                      const struct batch *batch, uint32_t at, ze_result_t status)
{
	union tare_trace_record *record = guest_command(thread);
	unsigned flags = flags_of(thread, batch, status);
	if (record == NULL)
		return;
	uint32_t number = guest_next_number(thread);
	record->command = (struct tare_trace_command){
		.enter = batch->enter,
		.call_ticks =
		    flags & TARE_COMMAND_LONG ? UINT32_MAX : (uint32_t)(batch->exit - batch->enter),
		.number = number,
		.kind = TARE_KIND_GRAPH,
		.alignment = 255,
		.queue = batch->queue,
		.object = (uintptr_t)batch->lists[at],
		.object2 = status != ZE_RESULT_SUCCESS ? (uint64_t)(int64_t)status : 0,
		.event = status == ZE_RESULT_SUCCESS && at + 1 == batch->count
		             ? (uintptr_t)batch->signal
		             : 0
	};
	guest_commit(record, tare_trace_head(TARE_TRACE_COMMAND, (uint8_t)flags,
	                                     ze_detail(batch->function), thread->track));
	if (ZE_UNLIKELY(flags & TARE_COMMAND_LONG))
		ze_write_call_end(thread, number, batch->exit);
	if (flags & TARE_COMMAND_DEPENDS)
		ze_write_depends(thread, number, batch->wait_count, batch->waits);
	if (ZE_UNLIKELY(guest_stacks))
		guest_site(thread, 0, number, guest_stack());
	if (status != ZE_RESULT_SUCCESS || run->list == NULL || run->execution == 0)
		return;
	write_execute(thread, number, run);
	if (guest_compares() && run->compared)
		ze_compare_write(thread, run->list->content, run->execution);
	// Of all that it runs; of a clone no node is known.
	const struct ze_content *content = run->list->content;
	if (run->query == NULL &&
	    (content->count != 0 || (content->shared && content->appended != 0)))
		ze_write_untimed(thread, thread->track, number, 0, why_not(run->list->content), 0);
}

// ---- the call

static void called(struct guest_thread *thread, struct batch *batch)
{
	batch->exit = guest_ticks();
	thread->left_ticks = batch->exit;
	if (batch->blocks)
		guest_waiting(thread, 0, 0);
	ze_know_function(thread, batch->function);
}

static void call(struct guest_thread *thread, struct batch *batch)
{
	batch->enter = ze_begin_ticks(thread);
	if (batch->blocks)
		guest_waiting(thread, ze_detail(batch->function), batch->enter);
}

static ze_result_t with_queries(struct guest_thread *thread, struct batch *batch,
                                struct list_run *runs, ze_command_list_handle_t *with)
{
	uint32_t used = 0;
	for (uint32_t i = 0; i < batch->count; i++) {
		run_begin(thread, &runs[i], batch->lists[i], true);
		runs[i].compared = guest_compares() && runs[i].execution != 0;
		if (runs[i].compared)
			ze_compare_run(thread, runs[i].list->content, runs[i].execution,
			               runs[i].query != NULL);
		with[used++] = batch->lists[i];
		if (runs[i].query != NULL)
			with[used++] = runs[i].query->list;
	}
	call(thread, batch);
	ze_result_t result = batch->submit(batch, used, with);
	// Whether it would have been refused without ours is to be seen.
	if (result != ZE_RESULT_SUCCESS) {
		for (uint32_t i = 0; i < batch->count; i++)
			run_unqueried(thread, &runs[i]);
		if (used != batch->count && result != ZE_RESULT_ERROR_DEVICE_LOST)
			result = batch->submit(batch, batch->count, batch->lists);
	}
	called(thread, batch);
	for (uint32_t i = 0; i < batch->count; i++)
		write_run(thread, &runs[i], batch, i, result);
	return result;
}

// Without room for so many: they are recorded, and their commands are not timed.
static ze_result_t without_queries(struct guest_thread *thread, struct batch *batch)
{
	call(thread, batch);
	ze_result_t result = batch->submit(batch, batch->count, batch->lists);
	called(thread, batch);
	// What it says of lists that the driver has refused need not be true.
	for (uint32_t i = 0; result == ZE_RESULT_SUCCESS && i < batch->count; i++) {
		struct list_run run;
		run_begin(thread, &run, batch->lists[i], false);
		write_run(thread, &run, batch, i, result);
	}
	return result;
}

// The thread's own room for the lists of one call. NULL: there is none, or a signal handler has
// come in between.
static struct list_run *arena_take(struct ze_thread *mine, uint32_t count)
{
	struct ze_arena *arena = &mine->arena;
	size_t each = sizeof(struct list_run) + 2 * sizeof(ze_command_list_handle_t);
	if (count > MOST_LISTS || arena->taken)
		return NULL;
	arena->taken = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (count > arena->room) {
		uint32_t room = arena->room != 0 ? arena->room : 2 * LISTS_ON_STACK;
		while (room < count)
			room *= 2;
		arena->memory = guest_memory(room * each);
		arena->room = arena->memory != NULL ? room : 0;
	}
	arena->taken = arena->memory != NULL;
	return arena->memory;
}

static ze_result_t execute(struct guest_thread *thread, struct batch *batch)
{
	struct list_run few[LISTS_ON_STACK];
	ze_command_list_handle_t with[2 * LISTS_ON_STACK];
	if (batch->count <= LISTS_ON_STACK)
		return with_queries(thread, batch, few, with);
	struct ze_thread *mine = ze_of(thread);
	struct list_run *runs = arena_take(mine, batch->count);
	if (runs == NULL)
		return without_queries(thread, batch);
	ze_result_t result =
	    with_queries(thread, batch, runs, (ze_command_list_handle_t *)(runs + batch->count));
	mine->arena.taken = false;
	return result;
}

// ---- on a queue

static ze_result_t submit_to_queue(const struct batch *batch, uint32_t count,
                                   ze_command_list_handle_t *lists)
{
	return batch->driver->call.zeCommandQueueExecuteCommandLists(batch->on, count, lists,
	                                                             batch->fence);
}

ze_result_t ze_own_zeCommandQueueExecuteCommandLists(
    struct guest_thread *thread, const struct ze_driver *driver, ze_command_queue_handle_t queue,
    uint32_t count, ze_command_list_handle_t *lists, ze_fence_handle_t fence)
{
	if (lists == NULL || count == 0)
		return driver->call.zeCommandQueueExecuteCommandLists(queue, count, lists, fence);
	const struct ze_queue *known = ze_queue_find(queue);
	struct batch batch = { .driver = driver,
		               .function = ZE_zeCommandQueueExecuteCommandLists,
		               .queue = known != NULL ? known->number : 0,
		               .count = count,
		               .lists = lists,
		               .submit = submit_to_queue,
		               .on = queue,
		               .fence = fence };
	return execute(thread, &batch);
}

// ---- on an immediate list

static ze_result_t submit_onto_list(const struct batch *batch, uint32_t count,
                                    ze_command_list_handle_t *lists)
{
	const struct ze_calls *call = &batch->driver->call;
	return batch->function == ZE_zeCommandListImmediateAppendCommandListsWithParameters
	           ? call->zeCommandListImmediateAppendCommandListsWithParameters(
	                 batch->onto, count, lists, batch->next, batch->signal, batch->wait_count,
	                 batch->waits)
	           : call->zeCommandListImmediateAppendCommandListsExp(
	                 batch->onto, count, lists, batch->signal, batch->wait_count, batch->waits);
}

static ze_result_t execute_onto(struct guest_thread *thread, struct batch *batch)
{
	struct ze_list *immediate = ze_list_find(thread, batch->onto);
	struct ze_event *known = batch->signal != NULL ? ze_event_find(batch->signal) : NULL;
	if (batch->lists == NULL || batch->count == 0)
		return submit_onto_list(batch, batch->count, batch->lists);
	if (immediate != NULL &&
	    atomic_load_explicit(&immediate->capturing, memory_order_relaxed)) {
		guest_count(&guest_header->passed_calls, 1);
		return submit_onto_list(batch, batch->count, batch->lists);
	}
	if (immediate != NULL && immediate->immediate) {
		batch->immediate = immediate;
		batch->queue = immediate->number;
		batch->blocks = immediate->waits;
	}
	batch->submit = submit_onto_list;
	if (known != NULL && known->timed) {
		ze_event_before(thread, known);
		if (known->counts)
			ze_node_gone(thread, known);
	}
	ze_result_t result = execute(thread, batch);
	// What the event says then is of these lists, and of nothing that is signalled by it later.
	if (result == ZE_RESULT_SUCCESS && known != NULL && known->timed && !known->doubtful &&
	    batch->immediate != NULL)
		ze_push(thread, batch->immediate, batch->signal, known, 0);
	else if (result == ZE_RESULT_SUCCESS && known != NULL && batch->immediate == NULL)
		known->doubtful = !known->counts;
	if (result == ZE_RESULT_SUCCESS && batch->blocks) {
		guest_cpu_time(thread, batch->enter, batch->exit);
		ze_harvest_all(thread);
	}
	return result;
}

ze_result_t ze_own_zeCommandListImmediateAppendCommandListsExp(
    struct guest_thread *thread, const struct ze_driver *driver, ze_command_list_handle_t onto,
    uint32_t count, ze_command_list_handle_t *lists, ze_event_handle_t signal, uint32_t wait_count,
    ze_event_handle_t *waits)
{
	struct batch batch = { .driver = driver,
		               .function = ZE_zeCommandListImmediateAppendCommandListsExp,
		               .count = count,
		               .lists = lists,
		               .onto = onto,
		               .signal = signal,
		               .waits = waits,
		               .wait_count = wait_count };
	return execute_onto(thread, &batch);
}

ze_result_t ze_own_zeCommandListImmediateAppendCommandListsWithParameters(
    struct guest_thread *thread, const struct ze_driver *driver, ze_command_list_handle_t onto,
    uint32_t count, ze_command_list_handle_t *lists, const void *next, ze_event_handle_t signal,
    uint32_t wait_count, ze_event_handle_t *waits)
{
	struct batch batch = { .driver = driver,
		               .function =
		                   ZE_zeCommandListImmediateAppendCommandListsWithParameters,
		               .count = count,
		               .lists = lists,
		               .onto = onto,
		               .next = next,
		               .signal = signal,
		               .waits = waits,
		               .wait_count = wait_count };
	return execute_onto(thread, &batch);
}
