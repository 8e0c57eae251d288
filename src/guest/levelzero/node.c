// SPDX-License-Identifier: Apache-2.0
// What was appended to regular lists: a content since the list was made or reset, with a node for
// each command that may have times.
#include "guest/levelzero/ze.h"

#include <string.h>

enum { FIRST_NODES = 64, MOST_NODES = 1 << 20 };

// For a list that has none, or whose last one was dropped. NULL: no memory.
struct ze_content *ze_content_new(struct ze_list *list)
{
	struct ze_content *content = list->content, *before = NULL;
	for (; content != NULL && !content->empty; content = content->following)
		before = content;
	if (content == NULL) {
		content = guest_memory(sizeof *content);
		if (content == NULL)
			return NULL;
	} else if (before != NULL) {
		before->following = content->following;
	} else {
		list->content = content->following;
	}
	atomic_store(&content->dropped, false);
	atomic_store(&content->empty, false);
	// Intel's driver queries by a kernel, and ends the program where the engine runs none.
	atomic_store(&content->no_query, list->copies);
	atomic_store(&content->shared, false);
	content->count = content->timed = content->appended = content->copy_count = 0;
	content->number = guest_queue_number();
	content->following = list->content;
	list->content = content;
	return content;
}

void ze_content_drop(struct ze_list *list)
{
	if (list->content != NULL)
		list->content->dropped = true;
}

// ---- nodes

static __attribute__((noinline)) bool make_room(struct ze_content *content)
{
	uint32_t room = content->room != 0 ? 2 * content->room : FIRST_NODES;
	struct ze_node *nodes = room <= MOST_NODES ? guest_memory(room * sizeof *nodes) : NULL;
	ze_event_handle_t *handles = nodes != NULL ? guest_memory(room * sizeof(*handles)) : NULL;
	if (handles == NULL)
		return false;
	if (content->count != 0)
		memcpy(nodes, content->nodes, content->count * sizeof *nodes);
	content->nodes = nodes;
	content->handles = handles;
	content->room = room;
	return true;
}

static uint64_t bit_of(const struct ze_content *content)
{
	return UINT64_C(1) << content->number % 64;
}

// Nothing is read of it.
static void lose(struct ze_content *content, struct ze_node *node)
{
	node->lost = true;
	content->timed--;
	atomic_fetch_sub(&node->known->nodes, 1);
}

// Of an event that other lists have signalled since it was appended to this one the node here is
// not known.
static __attribute__((noinline)) void lose_all(struct ze_content *content,
                                               const struct ze_event *event)
{
	for (uint32_t i = 0; i < content->count; i++)
		if (content->nodes[i].known == event && ze_is_queried(&content->nodes[i]))
			lose(content, &content->nodes[i]);
}

void ze_node_lose(struct ze_list *list, struct ze_event *event)
{
	struct ze_content *content = list->content;
	bool last = event->content == content && event->list == list;
	if (last && event->at < content->count) {
		struct ze_node *node = &content->nodes[event->at];
		if (node->known == event && ze_is_queried(node))
			lose(content, node);
	} else if (ZE_UNLIKELY(atomic_load(&event->nodes) != 0 &&
	                       (event->contents & bit_of(content)) != 0)) {
		lose_all(content, event);
	}
	if (last) {
		event->list = NULL;
		event->content = NULL;
	}
}

void ze_node_stop(struct ze_content *content, uint32_t at, const struct ze_event *event)
{
	if (at < content->count && content->nodes[at].known == event)
		__atomic_store_n(&content->nodes[at].gone, true, __ATOMIC_RELAXED);
}

void ze_node_gone(struct guest_thread *thread, struct ze_event *event)
{
	struct ze_content *content = event->content;
	struct ze_list *list = event->list;
	if (content == NULL || list == NULL)
		return;
	ze_harvest_list(thread, list);
	ze_node_stop(content, event->at, event);
	event->list = NULL;
	event->content = NULL;
}

bool ze_node_slot(struct ze_list *list, struct ze_event *event, ze_kernel_timestamp_result_t *slot)
{
	struct ze_content *content = list->content;
	if (event->at >= content->count || content->nodes[event->at].known != event ||
	    content->nodes[event->at].lost)
		return false;
	content->nodes[event->at].slot = slot;
	atomic_fetch_sub(&event->nodes, 1);
	// What signals it from here on is another node.
	event->list = NULL;
	event->content = NULL;
	return true;
}

void ze_node_add(struct guest_thread *thread, struct ze_list *list, ze_event_handle_t event,
                 struct ze_event *known, uint32_t number)
{
	struct ze_content *content = list->content;
	if (known != NULL)
		ze_node_lose(list, known);
	if (ZE_UNLIKELY(content->count == content->room) && !make_room(content)) {
		ze_write_untimed(thread, thread->track, number, 0, TARE_UNTIMED_NO_ROOM, 0);
		return;
	}
	content->nodes[content->count] = (struct ze_node){
		.event = event, .known = known, .track = thread->track, .number = number
	};
	if (known != NULL) {
		atomic_store_explicit(&known->list, list, memory_order_relaxed);
		atomic_store_explicit(&known->content, content, memory_order_relaxed);
		atomic_store_explicit(&known->at, content->count, memory_order_relaxed);
		atomic_fetch_add(&known->holders, 1);
		uint64_t others = atomic_fetch_add(&known->nodes, 1) != 0
		                      ? atomic_load_explicit(&known->contents, memory_order_relaxed)
		                      : 0;
		atomic_store_explicit(&known->contents, others | bit_of(content),
		                      memory_order_relaxed);
	}
	content->count++;
	content->timed++;
}
