// SPDX-License-Identifier: Apache-2.0
// The times of each execution of a regular list. A list may be executed again before anybody has
// read what its events said of the last time. So behind each, in the same call, goes a list of ours
// that copies what they say into a place of this execution's: nothing waits for anything.
#include "guest/levelzero/ze.h"

// ---- queries

static void query_end(const struct ze_list *list, struct ze_query *query)
{
	const struct ze_calls *call = &list->driver->call;
	if (query->list != NULL)
		call->zeCommandListDestroy(query->list);
	if (query->results != NULL)
		call->zeMemFree(list->context, query->results);
	if (query->begun != NULL)
		ze_own_give(list->own, query->begun);
	if (query->done != NULL)
		ze_own_give(list->own, query->done);
	query->list = NULL;
	query->results = NULL;
	query->begun = query->done = NULL;
	query->count = 0;
}

// What the list itself has copied of events that it resets goes behind what is queried.
static bool copy_slots(const struct ze_list *list, const struct ze_content *content,
                       const struct ze_query *query, uint32_t queried)
{
	bool copied = true;
	for (uint32_t i = 0; i < content->count && copied && query->results != NULL; i++) {
		const struct ze_node *node = &content->nodes[i];
		if (!node->lost && node->slot != NULL)
			copied = list->driver->call.zeCommandListAppendMemoryCopy(
			             query->list, &query->results[queried++], node->slot,
			             sizeof *node->slot, NULL, 0, NULL) == ZE_RESULT_SUCCESS;
	}
	return copied;
}

// Commands of a list may overlap: the barriers keep what is read from being too early, or too late.
static bool query_append(const struct ze_list *list, struct ze_content *content,
                         const struct ze_query *query)
{
	const struct ze_calls *call = &list->driver->call;
	uint32_t count = 0;
	for (uint32_t i = 0; i < content->count; i++)
		if (ze_is_queried(&content->nodes[i]))
			content->handles[count++] = content->nodes[i].event;
	return call->zeCommandListAppendBarrier(query->list, query->begun, 0, NULL) ==
	           ZE_RESULT_SUCCESS &&
	       copy_slots(list, content, query, count) &&
	       (content->no_query || count == 0 ||
	        call->zeCommandListAppendQueryKernelTimestamps(query->list, count, content->handles,
	                                                       query->results, NULL, NULL, 0,
	                                                       NULL) == ZE_RESULT_SUCCESS) &&
	       call->zeCommandListAppendBarrier(query->list, query->done, 0, NULL) ==
	           ZE_RESULT_SUCCESS &&
	       call->zeCommandListClose(query->list) == ZE_RESULT_SUCCESS;
}

static bool query_make(const struct ze_list *list, struct ze_content *content,
                       struct ze_query *query)
{
	const struct ze_calls *call = &list->driver->call;
	const ze_command_list_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
		                              .commandQueueGroupOrdinal = list->ordinal };
	const ze_host_mem_alloc_desc_t host = { .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC };
	void *results = NULL;
	query->begun = ze_own_take(list->own);
	query->done = ze_own_take(list->own);
	if (query->begun == NULL || query->done == NULL || list->device == NULL ||
	    call->zeCommandListCreate(list->context, list->device->handle, &desc, &query->list) !=
	        ZE_RESULT_SUCCESS)
		query->list = NULL;
	if (query->list != NULL && !content->no_query &&
	    call->zeMemAllocHost(list->context, &host, content->timed * sizeof *query->results, 64,
	                         &results) == ZE_RESULT_SUCCESS)
		query->results = results;
	if (query->list != NULL && (query->results != NULL || content->no_query) &&
	    query_append(list, content, query)) {
		query->count = content->timed;
		return true;
	}
	query_end(list, query);
	return false;
}

// Where the driver refuses, the events are read from the host. What this takes is a part of asking
// for times.
static bool query_ready(const struct ze_list *list, struct ze_content *content,
                        struct ze_query *query)
{
	uint64_t from = guest_ticks();
	bool ready = query_make(list, content, query);
	if (!ready) {
		content->no_query = true;
		ready = query_make(list, content, query);
	}
	if (!list->ours)
		guest_count(&guest_header->harvest_ticks, guest_ticks() - from);
	return ready;
}

static struct ze_query *idle_query(struct ze_list *list, struct ze_content *content)
{
	guest_hold(&list->push);
	struct ze_query *query = content->idle;
	if (query != NULL)
		content->idle = query->next;
	guest_let_go(&list->push);
	if (query != NULL)
		return query;
	query = guest_memory(sizeof *query);
	if (query != NULL) {
		query->following = content->queries;
		content->queries = query;
	}
	return query;
}

static void be_idle(struct ze_list *list, struct ze_content *content, struct ze_query *query)
{
	guest_hold(&list->push);
	query->next = content->idle;
	content->idle = query;
	guest_let_go(&list->push);
}

static bool make_settled(struct ze_query *query, const struct ze_content *content)
{
	if (query->settled_room >= content->count)
		return true;
	query->settled = guest_memory(content->room * sizeof *query->settled);
	query->settled_room = query->settled != NULL ? content->room : 0;
	return query->settled != NULL;
}

// Events are read from the host where the driver cannot do it in a list of this kind (an engine
// that only copies). What they say is then of the last execution.
static void overwrite(struct ze_content *content)
{
	for (struct ze_query *query = content->oldest; content->no_query && query != NULL;
	     query = query->next)
		query->overwritten = true;
}

static void be_in_flight(struct ze_list *list, struct ze_content *content, struct ze_query *query)
{
	guest_hold(&list->push);
	overwrite(content);
	query->overwritten = false;
	atomic_store(&query->doubtful, false);
	query->next = NULL;
	if (content->oldest == NULL)
		content->oldest = query;
	else
		content->newest->next = query;
	content->newest = query;
	content->in_flight++;
	guest_let_go(&list->push);
	atomic_fetch_add(&list->in_flight, 1);
	guest_count(&guest_header->pending, query->count);
}

struct ze_query *ze_query_take(struct ze_list *list, uint64_t execution)
{
	enum { MOST_IN_FLIGHT = 1024, MOST_BYTES = 64 << 20 };
	struct ze_content *content = list->content;
	uint64_t bytes =
	    (uint64_t)content->in_flight * content->timed * sizeof(ze_kernel_timestamp_result_t);
	// A program may be any number of executions ahead of its device.
	if (content->idle == NULL && (content->in_flight >= MOST_IN_FLIGHT || bytes > MOST_BYTES))
		return NULL;
	struct ze_query *query = idle_query(list, content);
	if (query == NULL)
		return NULL;
	if (query->count != content->timed && query->count != 0)
		query_end(list, query);
	bool ready = make_settled(query, content) &&
	             (query->count != 0 || query_ready(list, content, query));
	if (!ready) {
		be_idle(list, content, query);
		return NULL;
	}
	query->execution = execution;
	if (!list->told_queries)
		ze_change(TARE_CHANGE_LISTS, list->handle, 0, 0);
	list->told_queries = true;
	be_in_flight(list, content, query);
	return query;
}

void ze_query_return(struct ze_list *list, struct ze_content *content, struct ze_query *query)
{
	struct ze_query *before = NULL;
	guest_hold(&list->push);
	for (struct ze_query *at = content->oldest; at != query && at != NULL; at = at->next)
		before = at;
	if (before == NULL)
		content->oldest = query->next;
	else
		before->next = query->next;
	if (content->newest == query)
		content->newest = before;
	content->in_flight--;
	query->next = content->idle;
	content->idle = query;
	guest_let_go(&list->push);
	atomic_fetch_sub(&list->in_flight, 1);
	guest_count(&guest_header->pending, -(uint64_t)query->count);
}

// ---- harvest

// An event that was reset before the query came to it says nothing: zeroes, or ones in all bits,
// with Intel's driver in 32.
static bool is_given(const ze_kernel_timestamp_result_t *stamps)
{
	uint64_t start = stamps->global.kernelStart, end = stamps->global.kernelEnd;
	return start != end || (start != 0 && start != UINT32_MAX && start != UINT64_MAX);
}

// What the node's event says is known: should it not be reset, it says nothing new until it is
// signalled again. Where it is of several lists, those need not be read in the order in which they
// ran: the latest times stay.
static void node_was_read(const struct ze_content *content, const struct ze_node *node,
                          const ze_kernel_timestamp_result_t *stamps)
{
	struct ze_event *known = node->known;
	if (known == NULL || known->counts || node->slot != NULL || known->handle != node->event)
		return;
	bool last = known->content == content && known->at == (uint32_t)(node - content->nodes);
	if (last || !known->read || (int64_t)(stamps->global.kernelStart - known->start) > 0)
		ze_keep_stamps(known, stamps);
}

// Until asked_enough the event is not destroyed. False: it is, and nothing may be asked of it.
static bool may_ask(const struct ze_node *node)
{
	struct ze_event *known = node->known;
	if (known == NULL)
		return true;
	atomic_fetch_add(&known->asked, 1);
	bool lives = known->handle == node->event;
	if (!lives)
		atomic_fetch_sub(&known->asked, 1);
	return lives;
}

static void asked_enough(const struct ze_node *node)
{
	if (node->known != NULL)
		atomic_fetch_sub(&node->known->asked, 1);
}

static void ask_node(const struct ze_list *list, const struct ze_content *content,
                     const struct ze_query *query, const struct ze_node *node, uint32_t at,
                     struct ze_told *said)
{
	const struct ze_calls *call = &list->driver->call;
	said->stamps = (ze_kernel_timestamp_result_t){ 0 };
	said->parts.count = 0;
	if (__atomic_load_n(&node->gone, __ATOMIC_RELAXED) || query->doubtful)
		return;
	bool in_event = node->slot == NULL && !content->shared && may_ask(node);
	if (query->results != NULL)
		said->stamps = query->results[at];
	else if (!query->overwritten && node->slot != NULL)
		said->stamps = *node->slot;
	else if (!query->overwritten && in_event &&
	         call->zeEventQueryKernelTimestamp(node->event, &said->stamps) != ZE_RESULT_SUCCESS)
		said->stamps = (ze_kernel_timestamp_result_t){ 0 };
	if (in_event && is_given(&said->stamps))
		ze_parts_ask(list, node->event, &said->parts);
	if (in_event)
		asked_enough(node);
}

static void write_node(struct guest_thread *thread, const struct ze_list *list,
                       const struct ze_content *content, const struct ze_query *query,
                       const struct ze_node *node, const struct ze_told *said)
{
	if (is_given(&said->stamps)) {
		ze_write_parts(thread, list, &said->parts, node->track, node->number,
		               query->execution, &said->stamps);
		ze_write_times(thread, node->track, node->number, query->execution, &said->stamps);
		node_was_read(content, node, &said->stamps);
	} else {
		ze_write_untimed(thread, node->track, node->number, query->execution,
		                 TARE_UNTIMED_REUSED, 0);
	}
}

static bool is_settled(const struct ze_query *query, uint32_t node)
{
	return (int32_t)((uint32_t)query->execution - atomic_load(&query->settled[node])) <= 0;
}

bool ze_query_settle(const struct ze_query *query, uint32_t node, uint64_t execution)
{
	uint32_t mine = (uint32_t)execution, before = atomic_load(&query->settled[node]);
	while ((int32_t)(mine - before) > 0)
		if (atomic_compare_exchange_weak(&query->settled[node], &before, mine))
			return true;
	return false;
}

// What a list of ours took of the device.
static void measure(struct ze_list *list, const struct ze_query *query)
{
	const struct ze_calls *call = &list->driver->call;
	const struct ze_device *device = list->device;
	ze_kernel_timestamp_result_t begun, done;
	list->queries++;
	if (device == NULL || device->timer_hz == 0 ||
	    call->zeEventQueryKernelTimestamp(query->begun, &begun) != ZE_RESULT_SUCCESS ||
	    call->zeEventQueryKernelTimestamp(query->done, &done) != ZE_RESULT_SUCCESS)
		return;
	uint64_t ticks = done.global.kernelEnd - begun.global.kernelStart;
	if (device->stamp_bits > 0 && device->stamp_bits < 64)
		ticks &= (UINT64_C(1) << device->stamp_bits) - 1;
	// A barrier of some driver's may say anything: no list of ours takes minutes.
	if (ticks / device->timer_hz < 60)
		list->queries_ns += ticks * UINT64_C(1000000000) / device->timer_hz;
}

void ze_queries_tell(struct ze_list *list)
{
	if (list->queries == 0)
		return;
	ze_change(TARE_CHANGE_LISTS, list->handle, list->queries, list->queries_ns);
	list->queries = list->queries_ns = 0;
}

static void read_query(struct guest_thread *thread, struct ze_list *list,
                       struct ze_content *content, struct ze_query *query)
{
	uint32_t queried = 0, at = 0;
	for (uint32_t i = 0; i < content->count; i++)
		queried += ze_is_queried(&content->nodes[i]);
	for (uint32_t i = 0; i < content->count; i++) {
		const struct ze_node *node = &content->nodes[i];
		uint32_t place = node->lost ? 0 : node->slot != NULL ? queried++ : at++;
		struct ze_told said;
		// Who has settled it may have let the event go.
		bool asks = !node->lost && (node->slot != NULL || !is_settled(query, i));
		if (asks)
			ask_node(list, content, query, node, place, &said);
		bool settles = ze_query_settle(query, i, query->execution);
		if (node->lost)
			ze_write_untimed(thread, node->track, node->number, query->execution,
			                 TARE_UNTIMED_REUSED, 0);
		else if (asks && (node->slot != NULL || settles))
			write_node(thread, list, content, query, node, &said);
	}
	ze_compare_ran(thread, content, query->execution, true);
	if (!list->ours)
		measure(list, query);
	list->driver->call.zeEventHostReset(query->begun);
	list->driver->call.zeEventHostReset(query->done);
	ze_query_return(list, content, query);
}

// Nothing is to come from it any more: what is ours in it goes.
static void empty(struct ze_list *list, struct ze_content *content)
{
	for (struct ze_query *query = content->queries; query != NULL; query = query->following) {
		query_end(list, query);
		// The next list here counts its executions anew.
		for (uint32_t i = 0; i < query->settled_room; i++)
			atomic_store_explicit(&query->settled[i], 0, memory_order_relaxed);
	}
	for (uint32_t i = 0; i < content->count; i++) {
		const struct ze_node *node = &content->nodes[i];
		if (node->slot != NULL)
			ze_slot_give(list->own, node->slot);
		if (node->known == NULL) {
			ze_own_give(list->own, node->event);
			continue;
		}
		if (node->known->content == content && node->known->at == i) {
			node->known->list = NULL;
			node->known->content = NULL;
		}
		if (ze_is_queried(node))
			atomic_fetch_sub(&node->known->nodes, 1);
		ze_event_let_go(node->known);
	}
	content->count = content->timed = 0;
	content->empty = true;
}

// The one in flight behind `query`; NULL: the first.
static struct ze_query *next_of(struct ze_list *list, const struct ze_content *content,
                                const struct ze_query *query)
{
	guest_hold(&list->push);
	struct ze_query *next = query == NULL ? content->oldest : query->next;
	guest_let_go(&list->push);
	return next;
}

// Whoever harvests is not waited for. A query that becomes idle meanwhile is not harmed by a mark.
void ze_content_share(struct ze_list *list, struct ze_content *content)
{
	const struct ze_calls *call = &list->driver->call;
	atomic_store(&content->shared, true);
	for (struct ze_query *query = next_of(list, content, NULL); query != NULL;
	     query = next_of(list, content, query))
		if (query->results == NULL || query->done == NULL ||
		    call->zeEventQueryStatus(query->done) != ZE_RESULT_SUCCESS)
			atomic_store(&query->doubtful, true);
}

void ze_contents_harvest(struct guest_thread *thread, struct ze_list *list)
{
	enum { INCOMPLETE_AT_A_LOOK = 4, TOLD_AT_ONCE = 4096 };
	for (struct ze_content *content = list->content; content != NULL;
	     content = content->following) {
		int incomplete = 0;
		for (struct ze_query *query = next_of(list, content, NULL), *next;
		     query != NULL && ze_may_call(); query = next) {
			if (thread->helper &&
			    atomic_load_explicit(&list->wanted, memory_order_relaxed) != 0)
				return;
			next = next_of(list, content, query);
			if (ze_may_settle_run(thread, content, query->execution) &&
			    list->driver->call.zeEventQueryStatus(query->done) !=
			        ZE_RESULT_NOT_READY)
				read_query(thread, list, content, query);
			else if (++incomplete == INCOMPLETE_AT_A_LOOK)
				break;
		}
		// In this order: who takes an empty one anew has it dropped no more first.
		if (!content->empty && content->dropped && content->in_flight == 0)
			empty(list, content);
	}
	if (list->queries >= TOLD_AT_ONCE || atomic_load(&list->state) == ZE_LIST_ENDED)
		ze_queries_tell(list);
}
