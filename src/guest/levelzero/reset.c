// SPDX-License-Identifier: Apache-2.0
// An event that a list resets: what it says until then is copied by the list itself, just before.
#include "guest/levelzero/ze.h"

// `copied` is what the barrier waits for, `done` what the host asks: it may be reset as soon as it
// is signalled.
static ze_result_t append(const struct ze_list *list, struct ze_event *event,
                          ze_kernel_timestamp_result_t *slot, ze_event_handle_t copied,
                          ze_event_handle_t done)
{
	const struct ze_calls *call = &list->driver->call;
	ze_event_handle_t of = event->handle;
	ze_result_t result = call->zeCommandListAppendQueryKernelTimestamps(
	    list->handle, 1, &of, slot, NULL, copied, 1, &of);
	// The reset behind it is held up until the query is done.
	if (result == ZE_RESULT_SUCCESS)
		result = call->zeCommandListAppendBarrier(list->handle, done, copied != NULL,
		                                          copied != NULL ? &copied : NULL);
	return result;
}

static void give_back(const struct ze_list *list, ze_event_handle_t event)
{
	if (event != NULL)
		ze_own_give(list->own, event);
}

// The command that signals it is in the ring of this immediate list, or was just now: the helper
// may read it at any time.
static void reset_pending(struct ze_list *list, struct ze_event *event)
{
	ze_event_handle_t copied = ze_own_take(list->own),
	                  done = copied != NULL ? ze_own_take(list->own) : NULL;
	ze_kernel_timestamp_result_t *slot = done != NULL ? ze_slot_take(list->own) : NULL;
	if (slot == NULL) {
		give_back(list, copied);
		give_back(list, done);
		return;
	}
	// What was refused half way may still be written to: all are lost then.
	if (append(list, event, slot, copied, done) == ZE_RESULT_SUCCESS)
		ze_pending_exchange(
		    list, event,
		    &(struct ze_pending){ .event = done, .copied = copied, .slot = slot });
}

void ze_before_zeCommandListAppendEventReset(struct guest_thread *thread,
                                             const struct ze_driver *driver,
                                             ze_command_list_handle_t handle,
                                             ze_event_handle_t reset)
{
	struct ze_event *event = ze_event_find(reset);
	struct ze_list *list = ze_list_find(thread, handle);
	// One that counts cannot be reset: the driver refuses it.
	if (event == NULL || list == NULL || event->counts || atomic_load(&list->capturing))
		return;
	bool may = ze_may_change() && ze_may_call() && !list->copies;
	if (list->immediate && event->list != NULL && event->content == NULL) {
		if (!ze_pending_read(thread, event) && event->list != NULL) {
			// Of another list it may be signalled only after something that stands
			// behind us: a query that waits for it could wait for ever.
			if (may && event->list == list)
				reset_pending(list, event);
			else
				ze_event_before(thread, event);
		}
	} else if (!list->immediate && event->list == list && event->content == list->content) {
		ze_kernel_timestamp_result_t *slot = may ? ze_slot_take(list->own) : NULL;
		if (slot == NULL || append(list, event, slot, NULL, NULL) != ZE_RESULT_SUCCESS ||
		    !ze_node_slot(list, event, slot))
			ze_node_lose(list, event);
	}
	// Until the list has come here the event says what it said: `read` and `doubtful` stay.
}
