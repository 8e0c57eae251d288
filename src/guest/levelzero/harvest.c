// SPDX-License-Identifier: Apache-2.0
// Device times: read when the program has waited anyway, by the helper, or when an event is about
// to be used again. Pushing takes a lock for a few stores; harvesting is done by who gets the
// try-lock.
#include "guest/levelzero/ze.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

enum { FIRST_RING = 1024, LARGEST_RING = 1 << 20, INCOMPLETE_AT_A_LOOK = 16 };

bool ze_may_call(void)
{
	return atomic_load_explicit(&guest_alive, memory_order_relaxed);
}

void ze_write_untimed(struct guest_thread *thread, uint32_t track, uint32_t number,
                      uint64_t execution, enum tare_trace_untimed why, int64_t value)
{
	// Of a command that is not recorded (0) there are no times.
	union tare_trace_record *record = number != 0 ? guest_event(thread) : NULL;
	if (record == NULL)
		return;
	record->untimed = (struct tare_trace_untimed_record){ .command_track = track,
		                                              .command_number = number,
		                                              .value = value,
		                                              .observed = guest_ticks(),
		                                              .execution = execution };
	guest_commit(record, tare_trace_head(TARE_TRACE_UNTIMED, 0, (uint16_t)why, thread->track));
}

void ze_write_times(struct guest_thread *thread, uint32_t track, uint32_t number,
                    uint64_t execution, const ze_kernel_timestamp_result_t *stamps)
{
	union tare_trace_record *record = number != 0 ? guest_event(thread) : NULL;
	if (record == NULL)
		return;
	record->times = (struct tare_trace_times){ .command_track = track,
		                                   .command_number = number,
		                                   .start = stamps->global.kernelStart,
		                                   .end = stamps->global.kernelEnd,
		                                   .queued = stamps->context.kernelStart,
		                                   .submitted = stamps->context.kernelEnd,
		                                   .observed = guest_ticks(),
		                                   .execution = execution };
	guest_commit(record, tare_trace_head(TARE_TRACE_TIMES,
	                                     TARE_TRACE_STAMP_START | TARE_TRACE_STAMP_END |
	                                         TARE_TRACE_STAMP_ACTIVE,
	                                     0, thread->track));
}

// ---- the right to harvest

bool ze_take_right(struct ze_list *list)
{
	enum { TURNS = 20000 };
	if (guest_try(&list->harvesting))
		return true;
	// Alone, it is this thread that is at it, interrupted by the signal handler that we are in.
	if (guest_alone())
		return false;
	bool taken = false;
	atomic_store_explicit(&list->wanted, 1, memory_order_relaxed);
	for (int i = 0; i < TURNS && !taken; i++) {
#if defined(__x86_64__) || defined(__i386__)
		__builtin_ia32_pause();
#endif
		taken = guest_try(&list->harvesting);
	}
	atomic_store_explicit(&list->wanted, 0, memory_order_relaxed);
	return taken;
}

bool ze_take_right_patiently(struct ze_list *list)
{
	enum { TURNS = 50 };
	for (int i = 0; i < TURNS; i++) {
		if (ze_take_right(list))
			return true;
		sched_yield();
	}
	return false;
}

// ---- immediate lists

bool ze_is_new(const struct ze_event *known, const ze_kernel_timestamp_result_t *stamps)
{
	return !atomic_load_explicit(&known->read, memory_order_acquire) || known->counts ||
	       (known->start != stamps->global.kernelStart &&
	        known->end != stamps->global.kernelEnd);
}

static bool harvest_one(struct guest_thread *thread, struct ze_list *list, uint32_t at);

// NOT_READY: it is not complete. An event that was not reset before it was signalled again says the
// old times until then.
static ze_result_t ask(struct guest_thread *thread, struct ze_list *list,
                       const struct ze_pending *pending, struct ze_told *said)
{
	said->parts.count = 0;
	if (pending->is_behind && pending->slot == NULL &&
	    !harvest_one(thread, list, pending->behind))
		return ZE_RESULT_NOT_READY;
	// The slot is read by who claims it: for others it may be another command's by then.
	if (pending->slot != NULL)
		return list->driver->call.zeEventQueryStatus(pending->event);
	ze_result_t result =
	    list->driver->call.zeEventQueryKernelTimestamp(pending->event, &said->stamps);
	if (result == ZE_RESULT_SUCCESS && pending->known != NULL &&
	    !ze_is_new(pending->known, &said->stamps))
		return ZE_RESULT_NOT_READY;
	if (result == ZE_RESULT_SUCCESS)
		ze_parts_ask(list, pending->event, &said->parts);
	return result;
}

// Whether a place is between tail and head. The tail is read once: who harvests moves it meanwhile,
// and the last entry would seem to lie outside.
static bool is_inside(const struct ze_list *list, uint32_t at)
{
	uint32_t tail = atomic_load(&list->tail);
	return at - tail < atomic_load(&list->head) - tail;
}

// The entry at a place. With `asks` its event is not destroyed until asked_enough.
static struct ze_pending look(struct ze_list *list, uint32_t at, bool asks)
{
	guest_hold(&list->push);
	struct ze_pending pending = { 0 };
	if (is_inside(list, at))
		pending = list->ring[at & list->mask];
	if (asks && pending.event != NULL && pending.known != NULL)
		atomic_fetch_add(&pending.known->asked, 1);
	guest_let_go(&list->push);
	return pending;
}

static void asked_enough(const struct ze_pending *pending)
{
	if (pending->known != NULL)
		atomic_fetch_sub(&pending->known->asked, 1);
}

void ze_keep_stamps(struct ze_event *event, const ze_kernel_timestamp_result_t *stamps)
{
	atomic_store_explicit(&event->start, stamps->global.kernelStart, memory_order_relaxed);
	atomic_store_explicit(&event->end, stamps->global.kernelEnd, memory_order_relaxed);
	atomic_store_explicit(&event->read, true, memory_order_release);
}

// Whether what the event says of the command at that place is newer than what is kept. Of two whose
// times were copied the second may be read first. With the list's lock `push`.
static bool is_later(struct ze_event *event, const struct ze_list *list, uint32_t at)
{
	bool later = atomic_load_explicit(&event->kept_list, memory_order_relaxed) != list ||
	             (int32_t)(at - event->kept_at) > 0;
	if (later) {
		atomic_store_explicit(&event->kept_list, list, memory_order_relaxed);
		atomic_store_explicit(&event->kept_at, at, memory_order_relaxed);
	}
	return later;
}

// Of those who have asked for a command's times, who gets true writes them: the thread that is
// about to reset the event need not wait for one that harvests.
static bool claim(struct ze_list *list, uint32_t at, const struct ze_pending *pending,
                  ze_result_t result, struct ze_told *told)
{
	struct ze_event *known = pending->known, *said = known != NULL ? known : pending->of;
	guest_hold(&list->push);
	struct ze_pending *entry = &list->ring[at & list->mask];
	// Its place may be another command's by now, with the same event.
	bool mine = is_inside(list, at) && entry->event != NULL && entry->event == pending->event;
	if (mine) {
		entry->event = NULL;
		if (pending->slot != NULL)
			told->stamps = *pending->slot;
		// Before the program's thread sees that nothing is pending, or the next command
		// that signals it is asked.
		if (result == ZE_RESULT_SUCCESS && said != NULL && is_later(said, list, at))
			ze_keep_stamps(said, &told->stamps);
		if (known != NULL && known->list == list && known->content == NULL &&
		    known->at == at)
			atomic_store_explicit(&known->list, NULL, memory_order_release);
	}
	guest_let_go(&list->push);
	if (mine && known == NULL && said != NULL)
		ze_event_let_go(said);
	return mine;
}

// Writes what was said of a command that was claimed.
static void settle(struct guest_thread *thread, struct ze_list *list,
                   const struct ze_pending *pending, ze_result_t result, const struct ze_told *said)
{
	struct ze_event *known = pending->known;
	if (result == ZE_RESULT_SUCCESS) {
		ze_write_parts(thread, list, &said->parts, pending->track, pending->number, 0,
		               &said->stamps);
		ze_write_times(thread, pending->track, pending->number, 0, &said->stamps);
	} else {
		ze_write_untimed(thread, pending->track, pending->number, 0,
		                 result == ZE_RESULT_NOT_READY ? TARE_UNTIMED_REUSED
		                                               : TARE_UNTIMED_FAILED,
		                 (int64_t)result);
	}
	ze_compare_come(thread, pending->track, pending->number);
	if (known == NULL)
		ze_own_give(list->own, pending->event);
	if (pending->slot != NULL) {
		ze_own_give(list->own, pending->copied);
		ze_slot_give(list->own, pending->slot);
	}
	guest_count(&guest_header->pending, (uint64_t)-1);
}

// False: the command is not complete.
static bool harvest_one(struct guest_thread *thread, struct ze_list *list, uint32_t at)
{
	struct ze_pending pending = look(list, at, true);
	struct ze_told said;
	if (pending.event == NULL)
		return true;
	if (!ze_may_settle(thread, pending.track, pending.number)) {
		asked_enough(&pending);
		return false;
	}
	ze_result_t result = ask(thread, list, &pending, &said);
	bool mine = result != ZE_RESULT_NOT_READY && claim(list, at, &pending, result, &said);
	if (mine)
		settle(thread, list, &pending, result, &said);
	asked_enough(&pending);
	// Who else has claimed it writes its times; but its event may be a copy's by now.
	return mine || look(list, at, false).event == NULL;
}

bool ze_is_copied_elsewhere(struct guest_thread *thread, const struct ze_event *event,
                            const struct ze_list *list)
{
	struct ze_list *by = event->copied_list;
	if (ZE_LIKELY(by == NULL) || by == list)
		return false;
	uint32_t aside = guest_aside_begin(thread, TARE_TRACE_LEVELZERO);
	bool done = ze_may_call() && harvest_one(thread, by, event->copied_at);
	guest_aside_end(thread, aside);
	return !done;
}

static void harvest_ring(struct guest_thread *thread, struct ze_list *list)
{
	uint32_t head = atomic_load_explicit(&list->head, memory_order_acquire), incomplete = 0;
	uint32_t tail = atomic_load_explicit(&list->tail, memory_order_relaxed);
	bool gap = false;
	for (uint32_t at = tail; at != head; at++) {
		if (!ze_may_call() ||
		    atomic_load_explicit(&list->wanted, memory_order_relaxed) != 0)
			return;
		if (!harvest_one(thread, list, at)) {
			gap = true;
			if (list->in_order || ++incomplete == INCOMPLETE_AT_A_LOOK)
				return;
		}
		if (!gap)
			atomic_store_explicit(&list->tail, at + 1, memory_order_release);
	}
}

// The entry of the command that signals the event; its event NULL: there is none.
static struct ze_pending entry_of(struct ze_list *list, const struct ze_event *event, uint32_t at)
{
	struct ze_pending pending = { 0 };
	guest_hold(&list->push);
	if (event->list == list && event->content == NULL && is_inside(list, at))
		pending = list->ring[at & list->mask];
	guest_let_go(&list->push);
	if (pending.known != event)
		pending.event = NULL;
	return pending;
}

static void before_in_ring(struct guest_thread *thread, struct ze_list *list,
                           struct ze_event *event)
{
	uint32_t at = event->at;
	struct ze_pending pending = entry_of(list, event, at);
	struct ze_told said;
	if (pending.event == NULL)
		return;
	ze_result_t result = ask(thread, list, &pending, &said);
	// Who has read it meanwhile has its times: to us it says nothing new then.
	if (!claim(list, at, &pending, result, &said))
		return;
	settle(thread, list, &pending, result, &said);
	// Two commands signal it then: what it says may be the first's, or the second's.
	if (result == ZE_RESULT_NOT_READY && !event->counts)
		event->doubtful = true;
}

bool ze_pending_read(struct guest_thread *thread, struct ze_event *event)
{
	struct ze_list *list = event->list;
	uint32_t at = event->at;
	struct ze_pending pending =
	    list != NULL ? entry_of(list, event, at) : (struct ze_pending){ 0 };
	struct ze_told said;
	if (pending.event == NULL)
		return true;
	ze_result_t result = ask(thread, list, &pending, &said);
	if (result == ZE_RESULT_NOT_READY)
		return false;
	if (claim(list, at, &pending, result, &said))
		settle(thread, list, &pending, result, &said);
	return true;
}

void ze_event_before_slow(struct guest_thread *thread, struct ze_event *event)
{
	struct ze_list *list = event->list;
	struct ze_content *content = list != NULL ? event->content : NULL;
	// What was pending before a fork is the parent's.
	if (!ze_may_call() ||
	    (list != NULL &&
	     atomic_load_explicit(&list->process, memory_order_relaxed) != thread->process))
		return;
	int saved = errno;
	uint32_t aside = guest_aside_begin(thread, TARE_TRACE_LEVELZERO);
	if (list != NULL && content == NULL)
		before_in_ring(thread, list, event);
	// Where it is of several lists only the last that it was appended to is known.
	if (atomic_load(&event->nodes) > (content != NULL ? 1u : 0u))
		ze_nodes_before(thread, event, NULL, NULL);
	else if (content != NULL && atomic_load(&content->in_flight) != 0)
		ze_node_before(thread, list, content, event->at, event);
	guest_aside_end(thread, aside);
	errno = saved;
}

// Doubles the ring of `mask`, unless somebody else has.
static void grow(struct ze_list *list, uint32_t mask)
{
	uint32_t capacity = mask != 0 ? (mask + 1) * 2 : FIRST_RING;
	struct ze_pending *ring =
	    capacity <= LARGEST_RING ? guest_memory(capacity * sizeof *ring) : NULL;
	if (ring == NULL)
		return;
	guest_hold(&list->push);
	if (list->mask == mask) {
		for (uint32_t at = atomic_load(&list->tail); at != atomic_load(&list->head); at++)
			ring[at & (capacity - 1)] = list->ring[at & mask];
		list->ring = ring;
		list->mask = capacity - 1;
	}
	guest_let_go(&list->push);
}

// False: there is no room. *half: it is half full.
static bool push(struct ze_list *list, const struct ze_pending *pending, bool *half)
{
	guest_hold(&list->push);
	uint32_t head = atomic_load_explicit(&list->head, memory_order_relaxed);
	uint32_t used = head - atomic_load_explicit(&list->tail, memory_order_acquire);
	bool room = list->mask != 0 && used <= list->mask;
	*half = used >= list->mask / 2 && used % 64 == 0;
	if (room) {
		list->ring[head & list->mask] = *pending;
		if (pending->known != NULL) {
			list->ring[head & list->mask].is_behind =
			    pending->known->copied_list == list;
			list->ring[head & list->mask].behind = pending->known->copied_at;
			atomic_store_explicit(&pending->known->list, list, memory_order_relaxed);
			atomic_store_explicit(&pending->known->content, NULL, memory_order_relaxed);
			atomic_store_explicit(&pending->known->at, head, memory_order_relaxed);
		}
		atomic_store_explicit(&list->head, head + 1, memory_order_release);
	}
	guest_let_go(&list->push);
	return room;
}

void ze_pending_exchange(struct ze_list *list, struct ze_event *event,
                         const struct ze_pending *copy)
{
	guest_hold(&list->push);
	struct ze_pending *entry = &list->ring[event->at & list->mask];
	// The helper may have read it meanwhile.
	bool needed = event->list == list && event->content == NULL && entry->known == event &&
	              entry->event == event->handle,
	     half;
	if (needed) {
		entry->event = copy->event;
		entry->known = NULL;
		entry->copied = copy->copied;
		entry->of = event;
		atomic_fetch_add(&event->holders, 1);
		entry->slot = copy->slot;
		event->list = NULL;
		event->copied_at = atomic_load_explicit(&event->at, memory_order_relaxed);
		event->copied_list = list;
	}
	guest_let_go(&list->push);
	// Of no command it is given back when it is made; without room for it when the context
	// goes.
	if (!needed && push(list, copy, &half))
		guest_count(&guest_header->pending, 1);
}

void ze_push(struct guest_thread *thread, struct ze_list *list, ze_event_handle_t event,
             struct ze_event *known, uint32_t number)
{
	const struct ze_pending pending = {
		.event = event, .known = known, .track = thread->track, .number = number
	};
	uint32_t mask = list->mask;
	bool half, pushed = push(list, &pending, &half);
	if (ZE_UNLIKELY(!pushed || half)) {
		ze_harvest_list(thread, list);
		if (atomic_load(&list->head) - atomic_load(&list->tail) >= mask / 2)
			grow(list, mask);
		pushed = pushed || push(list, &pending, &half);
	}
	if (pushed) {
		guest_count(&guest_header->pending, 1);
		return;
	}
	ze_write_untimed(thread, thread->track, number, 0, TARE_UNTIMED_NO_ROOM, 0);
	// The command may still be to signal it: ours is not used again.
	if (known != NULL)
		known->doubtful = !known->counts;
}

// ---- all

bool ze_harvest_list(struct guest_thread *thread, struct ze_list *list)
{
	bool ring = atomic_load_explicit(&list->head, memory_order_relaxed) !=
	            atomic_load_explicit(&list->tail, memory_order_relaxed);
	if (!ring && atomic_load_explicit(&list->in_flight, memory_order_relaxed) == 0 &&
	    (list->content == NULL || atomic_load(&list->state) != ZE_LIST_ENDED))
		return true;
	if (!ze_may_call() ||
	    atomic_load_explicit(&list->process, memory_order_relaxed) != thread->process)
		return true;
	int saved = errno;
	if (!(thread->helper ? guest_try(&list->harvesting) : ze_take_right(list)))
		return false;
	// Its context may be gone by now.
	if (atomic_load(&list->process) != thread->process) {
		guest_release(&list->harvesting);
		return true;
	}
	uint64_t from = guest_ticks();
	uint32_t before = guest_aside_begin(thread, TARE_TRACE_LEVELZERO);
	if (list->device != NULL)
		ze_clock_pair(thread, list->device);
	if (ring)
		harvest_ring(thread, list);
	ze_contents_harvest(thread, list);
	ze_events_destroy_due();
	guest_aside_end(thread, before);
	if (!thread->helper)
		guest_count(&guest_header->harvest_ticks, guest_ticks() - from);
	guest_release(&list->harvesting);
	errno = saved;
	return true;
}

// One that the program has destroyed and from which nothing is to come may be used again.
static void use_again(struct ze_list *list)
{
	if (atomic_load(&list->state) != ZE_LIST_ENDED ||
	    atomic_load(&list->head) != atomic_load(&list->tail) ||
	    atomic_load(&list->in_flight) != 0 || !guest_try(&list->harvesting))
		return;
	// Somebody else may have let it go before we had the right, and it is another list by now.
	bool empty = atomic_load(&list->state) == ZE_LIST_ENDED;
	for (const struct ze_content *content = list->content; empty && content != NULL;
	     content = content->following)
		empty = content->empty;
	if (empty) {
		list->handle = NULL;
		atomic_store(&list->state, ZE_LIST_FREE);
	}
	guest_release(&list->harvesting);
}

void ze_harvest_all(struct guest_thread *thread)
{
	for (struct ze_list *list = ze_lists(); list != NULL; list = list->following) {
		if (atomic_load_explicit(&list->state, memory_order_relaxed) == ZE_LIST_FREE)
			continue;
		ze_harvest_list(thread, list);
		use_again(list);
	}
	ze_count_read(thread);
}

// At the process's end.
static void settle_accounts(void)
{
	uint32_t process = atomic_load(&guest_process);
	for (struct ze_list *list = ze_lists(); list != NULL; list = list->following) {
		if (atomic_load(&list->process) != process || !guest_try(&list->harvesting))
			continue;
		ze_queries_tell(list);
		guest_release(&list->harvesting);
	}
}

void ze_harvest(void)
{
	struct guest_thread *thread = guest_thread();
	if (thread == NULL)
		return;
	if (!ze_may_call()) {
		settle_accounts();
		return;
	}
	thread->depth++;
	ze_harvest_all(thread);
	thread->depth--;
}

// ---- after the program has waited

static void seen_all(struct guest_thread *thread)
{
	ze_of(thread)->stands_by = true;
	ze_harvest_all(thread);
	ze_of(thread)->stands_by = false;
}

void ze_after_zeCommandQueueSynchronize(struct guest_thread *thread, const struct ze_driver *driver,
                                        ze_command_queue_handle_t queue, uint64_t timeout,
                                        ze_result_t result)
{
	if (result == ZE_RESULT_SUCCESS)
		seen_all(thread);
}

void ze_after_zeFenceHostSynchronize(struct guest_thread *thread, const struct ze_driver *driver,
                                     ze_fence_handle_t fence, uint64_t timeout, ze_result_t result)
{
	if (result == ZE_RESULT_SUCCESS)
		seen_all(thread);
}

void ze_after_zeFenceQueryStatus(struct guest_thread *thread, const struct ze_driver *driver,
                                 ze_fence_handle_t fence, ze_result_t result)
{
	if (result == ZE_RESULT_SUCCESS)
		seen_all(thread);
}

void ze_after_zeDeviceSynchronize(struct guest_thread *thread, const struct ze_driver *driver,
                                  ze_device_handle_t device, ze_result_t result)
{
	if (result == ZE_RESULT_SUCCESS)
		seen_all(thread);
}

void ze_after_zeCommandListHostSynchronize(struct guest_thread *thread,
                                           const struct ze_driver *driver,
                                           ze_command_list_handle_t handle, uint64_t timeout,
                                           ze_result_t result)
{
	// It may have executed others.
	if (result == ZE_RESULT_SUCCESS)
		seen_all(thread);
}

static void event_seen(struct guest_thread *thread, ze_event_handle_t handle, ze_result_t result)
{
	struct ze_event *event = result == ZE_RESULT_SUCCESS ? ze_event_find(handle) : NULL;
	struct ze_list *list = event != NULL ? event->list : NULL;
	if (list == NULL)
		return;
	ze_of(thread)->stands_by = true;
	ze_harvest_list(thread, list);
	ze_of(thread)->stands_by = false;
	ze_count_read(thread);
}

void ze_after_zeEventHostSynchronize(struct guest_thread *thread, const struct ze_driver *driver,
                                     ze_event_handle_t event, uint64_t timeout, ze_result_t result)
{
	event_seen(thread, event, result);
}

void ze_after_zeEventQueryStatus(struct guest_thread *thread, const struct ze_driver *driver,
                                 ze_event_handle_t event, ze_result_t result)
{
	event_seen(thread, event, result);
}
