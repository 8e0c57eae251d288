// SPDX-License-Identifier: Apache-2.0
// A program that has waited for the event itself uses it again while the query, which comes behind
// the whole list, has yet to read it. Of several executions in flight the older ones have been read
// by their queries, for those hold up the next; whether the event says the last or the one before
// cannot be told.
#include "guest/levelzero/ze.h"

// The newest of a content's executions in flight.
struct newest {
	const struct ze_query *query; // NULL: there is none
	ze_event_handle_t done;       // its own, even when the query has given it back
	uint64_t execution;
	uint32_t in_flight;
};

static struct newest newest_of(struct ze_list *list, const struct ze_content *content)
{
	guest_hold(&list->push);
	struct newest newest = { .query = content->newest, .in_flight = content->in_flight };
	if (newest.query != NULL) {
		newest.execution = newest.query->execution;
		newest.done = newest.query->done;
	}
	guest_let_go(&list->push);
	return newest;
}

// What the queries have copied nobody can use again any more; each is behind those before it. What
// the sub-devices did they have not copied.
static bool is_copied(const struct ze_list *list, const struct ze_content *content,
                      const struct newest *last)
{
	bool has_parts =
	    last->in_flight == 1 && list->device != NULL && list->device->sub_devices != 0;
	return last->query == NULL ||
	       (!content->no_query && !has_parts &&
	        list->driver->call.zeEventQueryStatus(last->done) == ZE_RESULT_SUCCESS);
}

static void node_before(struct guest_thread *thread, const struct ze_list *list,
                        const struct ze_content *content, uint32_t at, struct ze_event *event,
                        const struct newest *last)
{
	struct ze_told said;
	said.parts.count = 0;
	if (at >= content->count)
		return;
	const struct ze_node node = content->nodes[at];
	if (!ze_is_queried(&node) || node.known != event ||
	    list->driver->call.zeEventQueryKernelTimestamp(node.event, &said.stamps) !=
	        ZE_RESULT_SUCCESS ||
	    !ze_is_new(event, &said.stamps))
		return;
	if (last->in_flight == 1)
		ze_parts_ask(list, node.event, &said.parts);
	if (!ze_query_settle(last->query, at, last->execution))
		return;
	if (last->in_flight == 1) {
		ze_write_parts(thread, list, &said.parts, node.track, node.number, last->execution,
		               &said.stamps);
		ze_write_times(thread, node.track, node.number, last->execution, &said.stamps);
		if (!event->counts)
			ze_keep_stamps(event, &said.stamps);
	} else {
		ze_write_untimed(thread, node.track, node.number, last->execution,
		                 TARE_UNTIMED_REUSED, 0);
	}
}

void ze_node_before(struct guest_thread *thread, struct ze_list *list, struct ze_content *content,
                    uint32_t at, struct ze_event *event)
{
	struct newest last = newest_of(list, content);
	if (is_copied(list, content, &last))
		return;
	// Older ones that are complete are read first, so that it is clear whose times it says.
	// What is dropped is emptied as soon as it is read, by who has the right.
	bool mine = (last.in_flight > 1 || content->dropped) && ze_take_right_patiently(list);
	if (mine) {
		ze_contents_harvest(thread, list);
		last = newest_of(list, content);
	}
	if (!mine && content->dropped)
		ze_node_stop(content, at, event);
	else if (!mine || !is_copied(list, content, &last))
		node_before(thread, list, content, at, event, &last);
	if (mine)
		guest_release(&list->harvesting);
}

// An event that several lists signal.
struct ze_shared {
	struct guest_thread *thread;
	struct ze_event *event;
	uint32_t nodes;   // of its own, in what is in flight
	uint32_t pending; // of these, not copied; more than 1: it is not known whose times it says
	bool doubtful;    // one of them had not told its times
	void (*found)(void *context, const struct ze_content *content);
	void *context;
};

// With the right to harvest the list, as content_before.
static void content_count(struct ze_shared *shared, struct ze_list *list,
                          const struct ze_content *content)
{
	const struct newest last = newest_of(list, content);
	bool copied = is_copied(list, content, &last), found = false;
	for (uint32_t i = 0; last.query != NULL && i < content->count; i++) {
		const struct ze_node *node = &content->nodes[i];
		if (node->known != shared->event || !ze_is_queried(node))
			continue;
		found = true;
		shared->nodes++;
		shared->pending += !copied;
	}
	if (found && shared->found != NULL)
		shared->found(shared->context, content);
}

static void content_before(struct ze_shared *shared, struct ze_list *list,
                           const struct ze_content *content)
{
	struct newest last = newest_of(list, content);
	if (is_copied(list, content, &last))
		return;
	// It may say another list's times.
	if (shared->pending > 1)
		last.in_flight++;
	for (uint32_t i = 0; i < content->count; i++)
		node_before(shared->thread, list, content, i, shared->event, &last);
}

// False: another thread has kept the right to one.
static bool all_in_flight(struct ze_shared *shared,
                          void (*each)(struct ze_shared *shared, struct ze_list *list,
                                       const struct ze_content *content))
{
	bool all = true;
	for (struct ze_list *list = ze_lists(); list != NULL; list = list->following) {
		if (atomic_load(&list->in_flight) == 0 ||
		    atomic_load_explicit(&list->process, memory_order_relaxed) !=
		        shared->thread->process)
			continue;
		if (!ze_take_right_patiently(list)) {
			all = false;
			continue;
		}
		ze_contents_harvest(shared->thread, list);
		for (const struct ze_content *content = list->content; content != NULL;
		     content = content->following)
			each(shared, list, content);
		guest_release(&list->harvesting);
	}
	return all;
}

bool ze_nodes_before(struct guest_thread *thread, struct ze_event *event,
                     void (*found)(void *context, const struct ze_content *content), void *context)
{
	struct ze_shared shared = {
		.thread = thread, .event = event, .found = found, .context = context
	};
	bool all = all_in_flight(&shared, content_count);
	// It may be in flight there, too.
	if (!all && shared.nodes < atomic_load(&event->nodes))
		shared.pending++;
	if (shared.pending != 0)
		all_in_flight(&shared, content_before);
	return all;
}

// What has not told its times yet is to signal the event, or may have.
static void content_doubt(struct ze_shared *shared, struct ze_list *list,
                          const struct ze_content *content)
{
	const struct newest last = newest_of(list, content);
	if (is_copied(list, content, &last))
		return;
	for (uint32_t i = 0; i < content->count; i++) {
		const struct ze_node *node = &content->nodes[i];
		if (node->known != shared->event || !ze_is_queried(node))
			continue;
		shared->pending += last.in_flight;
		if (!ze_query_settle(last.query, i, last.execution))
			continue;
		shared->doubtful = true;
		ze_write_untimed(shared->thread, node->track, node->number, last.execution,
		                 TARE_UNTIMED_REUSED, 0);
	}
}

void ze_nodes_doubt(struct guest_thread *thread, struct ze_event *event)
{
	struct ze_shared shared = { .thread = thread, .event = event };
	if (!ze_may_call())
		return;
	uint32_t aside = guest_aside_begin(thread, TARE_TRACE_LEVELZERO);
	all_in_flight(&shared, content_doubt);
	guest_aside_end(thread, aside);
	if (shared.doubtful || shared.pending > 1)
		event->doubtful = true;
}
