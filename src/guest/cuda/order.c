// SPDX-License-Identifier: Apache-2.0
// What a command waits for in other streams. The trace names events by handles that each command
// signals. On CUDA an event is a position in a stream, so what it stands for is the stream's last
// command when it was recorded, and that command's name is its handle. Added to it is what CUDA
// does by itself: the legacy default stream waits for all blocking streams of its context, and they
// wait for it.
#include "guest/cuda/cuda.h"

// An event that was recorded.
struct event {
	struct event *spare;
	uint32_t count;
	uint64_t ids[CUDA_MOST_WAITS];
};

static struct guest_map *events;
static struct cuda_stream *_Atomic all;
static struct event *spares;
static guest_lock lock; // of the events, and of what streams wait for

bool cuda_order_begin(void)
{
	guest_lock_register(&lock);
	events = guest_map_new();
	return events != NULL;
}

struct cuda_stream *cuda_stream_take(void)
{
	struct cuda_stream *stream;
	for (stream = atomic_load(&all); stream; stream = stream->following) {
		struct cuda_stream *following = stream->following;
		bool gone = true;
		// 'gone' once: who changes it has it.
		if (!atomic_compare_exchange_strong(&stream->gone, &gone, false))
			continue;
		*stream = (struct cuda_stream){ .following = following, .gone = false };
		return stream;
	}
	stream = guest_memory(sizeof *stream);
	if (!stream)
		return NULL;
	stream->following = atomic_load(&all);
	while (!atomic_compare_exchange_weak(&all, &stream->following, stream))
		;
	return stream;
}

// With the lock.
static void add(struct cuda_stream *stream, uint64_t id)
{
	uint32_t count = atomic_load_explicit(&stream->wait_count, memory_order_relaxed);
	for (uint32_t i = 0; i < count; i++)
		if (stream->waits[i] == id)
			return;
	if (!id || count == CUDA_MOST_WAITS)
		return;
	stream->waits[count] = id;
	atomic_store_explicit(&stream->wait_count, count + 1, memory_order_relaxed);
}

static bool of_one_context(const struct cuda_stream *a, const struct cuda_stream *b)
{
	return a != b && a->context_id == b->context_id &&
	       !atomic_load_explicit(&b->gone, memory_order_relaxed);
}

// The legacy stream's part, with the lock.
static void add_legacy(struct cuda_stream *stream)
{
	for (struct cuda_stream *other = atomic_load(&all); other; other = other->following) {
		uint64_t last = atomic_load_explicit(&other->last, memory_order_relaxed);
		if (!of_one_context(stream, other) || !last)
			continue;
		if (stream->legacy && other->blocking &&
		    atomic_exchange(&other->waited, last) != last)
			add(stream, last);
		if (stream->blocking && other->legacy && stream->legacy_waited != last) {
			stream->legacy_waited = last;
			add(stream, last);
		}
	}
}

uint32_t cuda_order_waits(struct cuda_stream *stream, uint64_t waits[CUDA_MOST_WAITS])
{
	const struct cuda_stream *first = atomic_load_explicit(&all, memory_order_relaxed);
	bool alone = !first || !first->following;
	uint32_t count;
	if (CUDA_LIKELY((alone || (!stream->legacy && !stream->blocking)) &&
	                !atomic_load_explicit(&stream->wait_count, memory_order_relaxed)))
		return 0;
	guest_hold(&lock);
	add_legacy(stream);
	count = atomic_load_explicit(&stream->wait_count, memory_order_relaxed);
	for (uint32_t i = 0; i < count; i++)
		waits[i] = stream->waits[i];
	atomic_store_explicit(&stream->wait_count, 0, memory_order_relaxed);
	guest_let_go(&lock);
	return count;
}

// ---- events

static struct event *find(const void *handle)
{
	return (struct event *)(uintptr_t)guest_map_find(events, handle, 0);
}

void cuda_order_recorded(struct cuda_stream *stream, const void *handle)
{
	struct event *event = find(handle);
	uint64_t last = atomic_load_explicit(&stream->last, memory_order_relaxed);
	guest_hold(&lock);
	if (!event) {
		event = spares;
		if (event)
			spares = event->spare;
	}
	guest_let_go(&lock);
	if (!event)
		event = guest_memory(sizeof *event);
	if (!event)
		return;
	guest_hold(&lock);
	event->count = 0;
	if (last)
		event->ids[event->count++] = last;
	// What the stream waits for and no command has taken yet.
	for (uint32_t i = 0; i < atomic_load(&stream->wait_count) && event->count < CUDA_MOST_WAITS;
	     i++)
		event->ids[event->count++] = stream->waits[i];
	guest_let_go(&lock);
	if (find(handle) != event)
		guest_map_put(events, handle, (uintptr_t)event);
}

void cuda_order_awaited(struct cuda_stream *stream, const void *handle)
{
	uint64_t ids[CUDA_MOST_WAITS];
	uint32_t count = cuda_order_of_event(handle, ids);
	uint64_t last = atomic_load_explicit(&stream->last, memory_order_relaxed);
	guest_hold(&lock);
	for (uint32_t i = 0; i < count; i++)
		if (ids[i] != last) // that is behind it anyway
			add(stream, ids[i]);
	guest_let_go(&lock);
}

uint32_t cuda_order_of_event(const void *handle, uint64_t ids[CUDA_MOST_WAITS])
{
	const struct event *event = find(handle);
	uint32_t count;
	if (!event)
		return 0;
	guest_hold(&lock);
	count = event->count;
	for (uint32_t i = 0; i < count; i++)
		ids[i] = event->ids[i];
	guest_let_go(&lock);
	return count;
}

void cuda_order_forget(const void *handle)
{
	struct event *event = find(handle);
	if (!event)
		return;
	guest_map_remove(events, handle);
	guest_hold(&lock);
	event->spare = spares;
	spares = event;
	guest_let_go(&lock);
}

// ---- records

void cuda_write_depends(struct guest_thread *thread, uint8_t flags, uint64_t of, uint32_t count,
                        const uint64_t *waits)
{
	enum { IN_ONE = 6 };
	flags |= TARE_TRACE_CUDA << TARE_DEPENDS_API_SHIFT;
	for (uint32_t done = 0; done < count;) {
		union tare_trace_record *record = guest_event(thread);
		uint32_t part = count - done < IN_ONE ? count - done : IN_ONE;
		if (!record)
			return;
		record->depends = (struct tare_trace_depends){ .of = of };
		for (uint32_t i = 0; i < part; i++)
			record->depends.event[i] = waits[done + i];
		guest_commit(record, tare_trace_head(TARE_TRACE_DEPENDS, flags, (uint16_t)part,
		                                     thread->track));
		done += part;
	}
}
