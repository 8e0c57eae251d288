// SPDX-License-Identifier: Apache-2.0
// Device times: every timed command leaves its event in its queue's ring, from which the times are
// taken when the program has waited anyway, or by the helper thread (ring.h). Harvesting is done by
// who gets the try-lock, nobody waits for it.
#include "guest/opencl/layer.h"

#include <errno.h>
#include <string.h>

_Atomic bool layer_released_pending;
static _Atomic bool stopped;

void layer_harvest_stop(void)
{
	atomic_store(&stopped, true);
}

static bool may_call(void)
{
	return atomic_load_explicit(&guest_alive, memory_order_relaxed) &&
	       !atomic_load_explicit(&stopped, memory_order_relaxed);
}

static void write_untimed(struct guest_thread *thread, const struct layer_pending *pending,
                          enum tare_trace_untimed why, int64_t value, uint64_t observed)
{
	union tare_trace_record *record = guest_event(thread);
	if (record == NULL)
		return;
	record->untimed = (struct tare_trace_untimed_record){ .command_track = pending->track,
		                                              .command_number = pending->number,
		                                              .value = value,
		                                              .observed = observed };
	guest_commit(record, tare_trace_head(TARE_TRACE_UNTIMED, 0, (uint16_t)why, thread->track));
}

enum {
	ALL_STAMPS = TARE_TRACE_STAMP_QUEUED | TARE_TRACE_STAMP_SUBMITTED | TARE_TRACE_STAMP_START |
	             TARE_TRACE_STAMP_END
};

// The last times that a harvest has written, which those of the next command are put behind
// (MORE_TIMES).
struct times_run {
	union tare_trace_record *last; // TIMES or MORE_TIMES; NULL: none
	uint32_t track, number;        // of the command
	uint64_t queued, observed;
	uint32_t windows; // of the thread, then
	uint32_t room;    // for so many more in that record
};

struct stamps {
	cl_ulong queued, submitted, start, end;
};

static inline cl_int ask(cl_event event, cl_profiling_info name, cl_ulong *stamp)
{
	return layer_next.clGetEventProfilingInfo(event, name, sizeof *stamp, stamp, NULL);
}

// Which of the three the driver tells; the others are 0.
static __attribute__((noinline)) unsigned ask_each(cl_event event, struct stamps *stamps)
{
	const struct {
		cl_profiling_info name;
		unsigned flag;
		cl_ulong *stamp;
	} each[] = {
		{ CL_PROFILING_COMMAND_QUEUED, TARE_TRACE_STAMP_QUEUED, &stamps->queued },
		{ CL_PROFILING_COMMAND_SUBMIT, TARE_TRACE_STAMP_SUBMITTED, &stamps->submitted },
		{ CL_PROFILING_COMMAND_START, TARE_TRACE_STAMP_START, &stamps->start },
	};
	unsigned present = TARE_TRACE_STAMP_END;
	for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
		if (ask(event, each[i].name, each[i].stamp) == CL_SUCCESS)
			present |= each[i].flag;
		else
			*each[i].stamp = 0;
	}
	return present;
}

// Puts them into the record of those before, or behind it. Returns false with the record that they
// take by themselves; NULL: there is no room.
static inline bool write_more(struct guest_thread *thread, struct times_run *run,
                              const struct stamps *stamps, union tare_trace_record **record)
{
	union tare_trace_record *last = run->last;
	*record = last;
	if (run->room == 0) {
		*record = guest_event(thread);
		if (LAYER_UNLIKELY(*record != last + 1 || run->windows != thread->windows))
			return false;
		run->room = TARE_MORE_TIMES_MOST;
	} else if (LAYER_UNLIKELY(!guest_is_last(thread, last, run->windows))) {
		*record = guest_event(thread);
		return false;
	}
	uint32_t count = TARE_MORE_TIMES_MOST - run->room--;
	uint32_t *ticks = &(*record)->more_times.ticks[4 * count];
	ticks[0] = (uint32_t)(stamps->queued - run->queued);
	ticks[1] = (uint32_t)(stamps->submitted - stamps->queued);
	ticks[2] = (uint32_t)(stamps->start - stamps->submitted);
	ticks[3] = (uint32_t)(stamps->end - stamps->start);
	guest_commit(*record, tare_trace_head(TARE_TRACE_MORE_TIMES, 0, (uint16_t)(count + 1),
	                                      thread->track));
	run->last = *record;
	return true;
}

// Returns the record, if others may be put behind it, else NULL.
static __attribute__((noinline)) union tare_trace_record *
write_alone(struct guest_thread *thread, union tare_trace_record *record,
            const struct layer_pending *pending, const struct stamps *stamps, unsigned present,
            uint64_t observed)
{
	if (record == NULL)
		return NULL;
	struct tare_trace_times *times = &record->times;
	times->command_track = pending->track;
	times->command_number = pending->number;
	times->queued = stamps->queued;
	times->submitted = stamps->submitted;
	times->start = stamps->start;
	times->end = stamps->end;
	times->observed = observed;
	times->execution = 0;
	guest_commit(record, tare_trace_head(TARE_TRACE_TIMES, (uint8_t)present, 0, thread->track));
	return present == ALL_STAMPS ? record : NULL;
}

// A run begins with a record of its own, as far as there is one.
static inline void begin_times(const struct guest_thread *thread, struct times_run *run,
                               union tare_trace_record *last, const struct layer_pending *pending,
                               uint64_t observed)
{
	run->last = last;
	run->track = pending->track;
	run->observed = observed;
	run->windows = thread->windows;
	run->room = 0;
}

// Writes the times of a command whose end is known.
static inline __attribute__((always_inline)) void
write_times(struct guest_thread *thread, struct times_run *run, const struct layer_pending *pending,
            struct stamps *stamps, uint64_t observed)
{
	unsigned present = ALL_STAMPS;
	cl_int refused = ask(pending->event, CL_PROFILING_COMMAND_QUEUED, &stamps->queued);
	refused |= ask(pending->event, CL_PROFILING_COMMAND_SUBMIT, &stamps->submitted);
	refused |= ask(pending->event, CL_PROFILING_COMMAND_START, &stamps->start);
	if (LAYER_UNLIKELY(refused != CL_SUCCESS))
		present = ask_each(pending->event, stamps);
	uint64_t far = (stamps->queued - run->queued) | (stamps->submitted - stamps->queued) |
	               (stamps->start - stamps->submitted) | (stamps->end - stamps->start);
	uint64_t unlike = (present ^ ALL_STAMPS) | (observed ^ run->observed) |
	                  (pending->track ^ run->track) | (pending->number ^ (run->number + 1)) |
	                  far >> 32;
	union tare_trace_record *record = NULL;
	const bool row = LAYER_LIKELY(unlike == 0 && run->last != NULL);
	if (LAYER_UNLIKELY(!row || !write_more(thread, run, stamps, &record))) {
		record = row ? record : guest_event(thread);
		begin_times(thread, run,
		            write_alone(thread, record, pending, stamps, present, observed),
		            pending, observed);
	}
	run->number = pending->number;
	run->queued = stamps->queued;
}

static inline cl_int read_end(cl_event event, cl_ulong *end)
{
	cl_int code = ask(event, CL_PROFILING_COMMAND_END, end);
	return code == CL_SUCCESS && *end == 0 ? CL_PROFILING_INFO_NOT_AVAILABLE : code;
}

// The driver does not tell the end of the command. False: it is not complete.
static __attribute__((noinline)) bool harvest_untold(struct guest_thread *thread,
                                                     struct times_run *run,
                                                     const struct layer_pending *pending,
                                                     uint64_t known)
{
	cl_int status = CL_QUEUED;
	struct stamps stamps = { 0 };
	cl_int asked = layer_next.clGetEventInfo(pending->event, CL_EVENT_COMMAND_EXECUTION_STATUS,
	                                         sizeof status, &status, NULL);
	if (asked == CL_SUCCESS && status > CL_COMPLETE)
		return false;
	cl_int code = asked != CL_SUCCESS ? asked : read_end(pending->event, &stamps.end);
	uint64_t now = guest_ticks();
	if (asked == CL_SUCCESS && status < CL_COMPLETE)
		write_untimed(thread, pending, TARE_UNTIMED_FAILED, status, now);
	else if (code != CL_SUCCESS)
		write_untimed(thread, pending, TARE_UNTIMED_REFUSED, code, now);
	if (code == CL_SUCCESS)
		write_times(thread, run, pending, &stamps, known != 0 ? known : guest_ticks());
	layer_next.clReleaseEvent(pending->event);
	if (guest_compares())
		layer_contents_come(thread, pending);
	return true;
}

// Takes the times of one command. False: it is not complete. `known` 0: when it was complete is to
// be found here.
static inline __attribute__((always_inline)) bool harvest_one(struct guest_thread *thread,
                                                              struct times_run *run,
                                                              const struct layer_pending *pending,
                                                              uint64_t known)
{
	struct stamps stamps = { 0 };
	if (guest_compares() && !layer_may_harvest(thread, pending))
		return false;
	if (LAYER_UNLIKELY(read_end(pending->event, &stamps.end) != CL_SUCCESS))
		return harvest_untold(thread, run, pending, known);
	write_times(thread, run, pending, &stamps, known != 0 ? known : guest_ticks());
	layer_next.clReleaseEvent(pending->event);
	if (guest_compares())
		layer_contents_come(thread, pending);
	return true;
}

// The ring may grow while it is harvested. What lies between tail and head changes in neither for
// who harvests alone: so what is pending is read where it lies.
struct view {
	const struct layer_pending *at;
	uint32_t mask, head;
};

static inline struct view view_of(const struct layer_ring *ring)
{
	// In this order: the places are those of that head, or later ones, which have a copy.
	uint32_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
	const struct layer_places *places =
	    atomic_load_explicit(&ring->places, memory_order_acquire);
	return (struct view){ places->at, places->mask, head };
}

// What was complete when: those pushed before `head`, by `ticks` (0: nothing is known).
struct known {
	uint32_t head;
	uint64_t ticks;
};

static inline uint64_t known_of(const struct known *known, uint32_t at)
{
	return (int32_t)(known->head - at) > 0 ? known->ticks : 0;
}

// Completed ones leave the oldest `limit`, in whatever order; the others move up.
static void harvest_any_order(struct guest_thread *thread, struct layer_queue *queue,
                              uint32_t limit, const struct known *known)
{
	struct layer_ring *ring = &queue->rings[LAYER_SHARED];
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	struct view view = view_of(ring);
	uint32_t end = view.head - tail > limit ? tail + limit : view.head;
	uint32_t kept = end;
	struct times_run run = { 0 };
	for (uint32_t at = end; at != tail;) {
		at--;
		// A copy: what is moved up may be written over it.
		const struct layer_pending pending = view.at[at & view.mask];
		if (harvest_one(thread, &run, &pending, known_of(known, at)))
			continue;
		layer_lock(&queue->push);
		struct layer_places *places =
		    atomic_load_explicit(&ring->places, memory_order_relaxed);
		places->at[--kept & places->mask] = pending;
		layer_unlock(&queue->push);
	}
	atomic_store_explicit(&ring->tail, kept, memory_order_release);
}

static void harvest_in_order(struct guest_thread *thread, const struct layer_queue *queue,
                             struct layer_ring *ring, uint32_t limit, const struct known *known)
{
	struct view view = { .head = atomic_load_explicit(&ring->tail, memory_order_relaxed) };
	struct times_run run = { 0 };
	// What is pushed meanwhile is taken too: who pushed it may have found us at it and gone on.
	for (uint32_t tail = view.head; limit-- > 0; tail++) {
		if (tail == view.head)
			view = view_of(ring);
		if (tail == view.head || !may_call() ||
		    atomic_load_explicit(&queue->wanted, memory_order_relaxed))
			break;
		if (!harvest_one(thread, &run, &view.at[tail & view.mask], known_of(known, tail)))
			break;
		// At once: harvesting may go on for long, and the room is wanted.
		atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
	}
}

// What harvesting took of a thread of the program's is the recording's cost, and on some drivers
// most of it.
static void tell_ticks(struct layer_queue *queue)
{
	if (guest_header != NULL && queue->early_ticks != 0)
		guest_count(&guest_header->harvest_ticks, queue->early_ticks);
	queue->early_ticks = 0;
}

static void harvest_locked(struct guest_thread *thread, struct layer_queue *queue, uint32_t limit,
                           uint64_t known_heads, uint64_t known_ticks)
{
	uint64_t from = guest_ticks();
	uint32_t before = guest_aside_begin(thread, TARE_TRACE_OPENCL);
	for (int i = 0; i < LAYER_RINGS; i++) {
		struct known known = { (uint32_t)(known_heads >> 32 * i), known_ticks };
		struct layer_ring *ring = &queue->rings[i];
		if (layer_ring_count(ring) == 0)
			continue;
		if (i == LAYER_SHARED && queue->out_of_order)
			harvest_any_order(thread, queue, limit, &known);
		else
			harvest_in_order(thread, queue, ring, limit, &known);
	}
	if (!thread->helper)
		queue->early_ticks += guest_ticks() - from;
	tell_ticks(queue);
	guest_aside_end(thread, before);
	layer_count_pending(queue);
}

// The right to harvest. Where the program has waited anyway (no limit), whoever is at it is asked
// to stop, and given the time of a few of the vendor's calls.
static bool take_right(struct layer_queue *queue, uint32_t limit)
{
	enum { TURNS = 2000 };
	if (guest_try(&queue->harvesting))
		return true;
	// Alone, it is this thread that is at it, interrupted by the signal handler that we are in.
	if (limit != UINT32_MAX || guest_alone())
		return false;
	bool taken = false;
	atomic_store_explicit(&queue->wanted, 1, memory_order_relaxed);
	for (int i = 0; i < TURNS && !taken; i++) {
#if defined(__x86_64__) || defined(__i386__)
		__builtin_ia32_pause();
#endif
		taken = guest_try(&queue->harvesting);
	}
	atomic_store_explicit(&queue->wanted, 0, memory_order_relaxed);
	return taken;
}

// A callback may run on the driver's thread, under the driver's locks.
static bool may_harvest(const struct guest_thread *thread)
{
	const struct layer_thread *mine = layer_of(thread);
	return may_call() && (mine == NULL || mine->callbacks == 0);
}

bool layer_harvest_queue(struct guest_thread *thread, struct layer_queue *queue, uint32_t limit,
                         uint64_t known_heads, uint64_t known_ticks)
{
	// Nothing is pending and the header says so.
	if (layer_pending_count(queue) == 0 &&
	    atomic_load_explicit(&queue->counted, memory_order_relaxed) == 0)
		return true;
	if (!may_harvest(thread) ||
	    atomic_load_explicit(&queue->process, memory_order_relaxed) != thread->process)
		return true;
	int saved = errno;
	if (!take_right(queue, limit))
		return false;
	// While there are events there is their queue, and while there is that, its device: one
	// that is a part of another ends with the last of them.
	if (queue->device != NULL && layer_pending_count(queue) != 0)
		layer_clock_pair(thread, queue->device,
		                 known_ticks != 0 ? known_ticks : guest_ticks());
	harvest_locked(thread, queue, limit, known_heads, known_ticks);
	guest_release(&queue->harvesting);
	errno = saved;
	return true;
}

// The ring was half full: what is complete is taken, unless somebody is at it, and when that is
// little, the ring grows.
static void make_room(struct guest_thread *thread, struct layer_queue *queue,
                      struct layer_ring *ring)
{
	const struct layer_places *places =
	    atomic_load_explicit(&ring->places, memory_order_acquire);
	if (may_harvest(thread) && guest_try(&queue->harvesting)) {
		harvest_locked(thread, queue, 256, 0, 0);
		guest_release(&queue->harvesting);
	}
	if (places == NULL || layer_ring_count(ring) >= places->mask / 2)
		layer_ring_grow(thread, queue, ring);
}

// Whether the newest command in it is complete: in order, all are.
static bool all_complete(const struct layer_ring *ring)
{
	const struct view view = view_of(ring);
	cl_ulong end = 0;
	return view.head != atomic_load_explicit(&ring->tail, memory_order_relaxed) &&
	       read_end(view.at[(view.head - 1) & view.mask].event, &end) == CL_SUCCESS;
}

// Some drivers execute a command in the very call that enqueues it. There its event is taken while
// it and what belongs to it are in the cache, and few events are alive at a time. Where the newest
// command is not complete, nothing else is asked, and it is looked ever more rarely.
static void look_early(struct guest_thread *thread, struct layer_queue *queue,
                       struct layer_ring *ring)
{
	if (guest_compares() || !may_harvest(thread) || !guest_try(&queue->harvesting))
		return;
	uint32_t before = guest_aside_begin(thread, TARE_TRACE_OPENCL);
	const uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	bool complete = all_complete(ring);
	if (complete) {
		// One reading of the clock for both: the one question before it is not measured.
		const struct known known = { head, guest_ticks() };
		if (queue->device != NULL)
			layer_clock_pair(thread, queue->device, known.ticks);
		harvest_in_order(thread, queue, ring, UINT32_MAX, &known);
		if (!thread->helper)
			queue->early_ticks += guest_ticks() - known.ticks;
	}
	guest_aside_end(thread, before);
	guest_release(&queue->harvesting);
	layer_ring_looked(ring, complete);
}

void layer_push_slow(struct guest_thread *thread, struct layer_queue *queue, cl_event event,
                     uint32_t number, uint32_t used)
{
	const struct layer_pending pending = { event, thread->track, number };
	struct layer_ring *ring = layer_ring_of(thread, queue);
	int saved = errno;
	if (used == UINT32_MAX)
		used = layer_ring_push(thread, queue, ring, &pending);
	if (used == UINT32_MAX) {
		make_room(thread, queue, ring);
		used = layer_ring_push(thread, queue, ring, &pending);
	}
	if (used == UINT32_MAX) {
		write_untimed(thread, &pending, TARE_UNTIMED_NO_ROOM, 0, guest_ticks());
		layer_next.clReleaseEvent(event);
		errno = saved;
		return;
	}
	const struct layer_places *places =
	    atomic_load_explicit(&ring->places, memory_order_acquire);
	// At its largest it is not looked through at every command.
	if (used > places->mask / 2) {
		if (places->mask + 1 < LAYER_LARGEST_RING || used % 256 == 0)
			make_room(thread, queue, ring);
	} else if (ring == &queue->rings[LAYER_OWNED] &&
	           used >= atomic_load_explicit(&ring->look, memory_order_relaxed) / 2) {
		look_early(thread, queue, ring);
	}
	if (atomic_load_explicit(&queue->counted, memory_order_relaxed) == 0)
		layer_count_pending(queue);
	errno = saved;
}

struct layer_queue *layer_queue_of_event(struct guest_thread *thread, cl_event event)
{
	cl_command_queue handle = NULL;
	if (layer_next.clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof handle, &handle,
	                              NULL) != CL_SUCCESS ||
	    handle == NULL)
		return NULL;
	return layer_queue_find(thread, handle);
}

// A queue that the program has released and from which nothing is to come may be used again.
static void use_again(struct layer_queue *queue)
{
	if (queue->object.handle != NULL || atomic_load(&queue->free) != LAYER_QUEUE_USED ||
	    layer_pending_count(queue) != 0 || !guest_try(&queue->harvesting))
		return;
	if (queue->object.handle == NULL && layer_pending_count(queue) == 0)
		atomic_store(&queue->free, LAYER_QUEUE_FREE);
	guest_release(&queue->harvesting);
}

void layer_harvest_released_slow(struct guest_thread *thread)
{
	bool left = false;
	// Within another call is a callback, perhaps under the driver's locks.
	if (thread->depth > 1)
		return;
	atomic_store(&layer_released_pending, false);
	for (struct layer_queue *queue = layer_queues(); queue != NULL; queue = queue->following) {
		if (queue->object.handle != NULL || atomic_load(&queue->free) != LAYER_QUEUE_USED)
			continue;
		layer_harvest_queue(thread, queue, UINT32_MAX - 1, 0, 0);
		left = left || layer_pending_count(queue) != 0;
		use_again(queue);
	}
	if (left)
		atomic_store(&layer_released_pending, true);
}

// The helper's turn at a queue: only while the program leaves it alone, because a driver that has
// one lock for everything would make both wait for each other at every call.
static void harvest_quiet(struct guest_thread *thread, struct layer_queue *queue)
{
	enum { AT_A_TIME = 16 };
	uint64_t heads = layer_heads(queue);
	uint32_t before = 0;
	if (heads != queue->quiet_heads) {
		queue->quiet_heads = heads;
		return;
	}
	for (uint32_t left = layer_pending_count(queue); left != 0 && left != before;) {
		if (heads != layer_heads(queue) || !may_call())
			return;
		before = left;
		layer_harvest_queue(thread, queue, AT_A_TIME, 0, 0);
		left = layer_pending_count(queue);
	}
}

// Called by the helper thread every few milliseconds, and at the end with guest_alive false.
void layer_harvest(void)
{
	struct guest_thread *thread = guest_thread();
	uint32_t process = atomic_load(&guest_process);
	if (thread != NULL)
		thread->depth++;
	for (struct layer_queue *queue = layer_queues(); queue != NULL; queue = queue->following) {
		if (atomic_load(&queue->free) != LAYER_QUEUE_USED)
			continue;
		if (atomic_load(&queue->process) != process) {
			// In the child of a fork it is the parent's until it is used.
			if (queue->object.handle != NULL)
				continue;
			layer_forget_pending(queue, process);
		}
		if (thread != NULL && may_call())
			harvest_quiet(thread, queue);
		if (guest_try(&queue->harvesting)) {
			tell_ticks(queue);
			layer_count_pending(queue);
			guest_release(&queue->harvesting);
		}
		use_again(queue);
	}
	if (thread != NULL)
		thread->depth--;
}
