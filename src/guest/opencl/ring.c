// SPDX-License-Identifier: Apache-2.0
#include "guest/opencl/layer.h"

enum { FIRST_RING = 4096, FIRST_LOOK = 24 };

struct layer_ring *layer_ring_of(struct guest_thread *thread, struct layer_queue *queue)
{
	struct guest_thread *owner = atomic_load_explicit(&queue->owner, memory_order_relaxed);
	// What is looked through in any order is moved in its ring, which takes a lock.
	if (owner == NULL && !queue->out_of_order &&
	    atomic_compare_exchange_strong(&queue->owner, &owner, thread))
		owner = thread;
	return &queue->rings[owner == thread && !queue->out_of_order ? LAYER_OWNED : LAYER_SHARED];
}

static inline void ring_hold(struct guest_thread *thread, struct layer_queue *queue,
                             const struct layer_ring *ring)
{
	if (ring == &queue->rings[LAYER_OWNED])
		guest_shield(thread);
	else
		layer_lock(&queue->push);
}

static inline void ring_let_go(struct guest_thread *thread, struct layer_queue *queue,
                               const struct layer_ring *ring)
{
	if (ring == &queue->rings[LAYER_OWNED])
		guest_unshield(thread);
	else
		layer_unlock(&queue->push);
}

uint32_t layer_ring_push(struct guest_thread *thread, struct layer_queue *queue,
                         struct layer_ring *ring, const struct layer_pending *pending)
{
	ring_hold(thread, queue, ring);
	uint32_t used = layer_ring_put(ring, pending->event, pending->track, pending->number);
	ring_let_go(thread, queue, ring);
	return used;
}

static inline uint32_t look_of(const struct layer_ring *ring)
{
	return atomic_load_explicit(&ring->look, memory_order_relaxed);
}

static inline void set_look(struct layer_ring *ring, uint32_t look)
{
	atomic_store_explicit(&ring->look, look, memory_order_relaxed);
}

void layer_ring_grow(struct guest_thread *thread, struct layer_queue *queue,
                     struct layer_ring *ring)
{
	struct layer_places *before = atomic_load_explicit(&ring->places, memory_order_acquire);
	uint32_t capacity = before != NULL ? (before->mask + 1) * 2 : FIRST_RING;
	struct layer_places *places =
	    capacity <= LAYER_LARGEST_RING
	        ? guest_memory(sizeof *places + capacity * sizeof *places->at)
	        : NULL;
	if (places == NULL)
		return;
	places->mask = capacity - 1;
	ring_hold(thread, queue, ring);
	// Somebody else, or a signal handler, may have done it.
	if (atomic_load_explicit(&ring->places, memory_order_relaxed) == before) {
		uint32_t at = atomic_load_explicit(&ring->tail, memory_order_relaxed);
		for (; at != atomic_load_explicit(&ring->head, memory_order_relaxed); at++)
			places->at[at & places->mask] = before->at[at & before->mask];
		if (before == NULL)
			set_look(ring, FIRST_LOOK);
		else if (look_of(ring) > before->mask / 2)
			set_look(ring, places->mask / 2 + 1);
		atomic_store_explicit(&ring->places, places, memory_order_release);
	}
	ring_let_go(thread, queue, ring);
}

void layer_ring_looked(struct layer_ring *ring, bool complete)
{
	const struct layer_places *places =
	    atomic_load_explicit(&ring->places, memory_order_relaxed);
	const uint32_t most = places->mask / 2 + 1;
	uint32_t look = complete ? look_of(ring) / 2 : look_of(ring) * 2;
	look = look < FIRST_LOOK ? FIRST_LOOK : look;
	set_look(ring, look > most ? most : look);
}

void layer_count_pending(struct layer_queue *queue)
{
	uint32_t pending;
	do {
		pending = layer_pending_count(queue);
		// Whatever others exchange meanwhile, what all of them add is what is left there.
		uint32_t before = atomic_exchange(&queue->counted, pending);
		if (guest_header != NULL && pending != before)
			guest_count(&guest_header->pending, (uint64_t)pending - before);
		// Its owner may have pushed one while it was not 0 yet, and be about to go on.
	} while (pending == 0 && layer_pending_count(queue) != 0);
}

uint32_t layer_held(struct layer_queue *queue, cl_event event)
{
	uint32_t held = 0;
	layer_lock(&queue->push);
	for (int i = 0; i < LAYER_RINGS; i++) {
		const struct layer_ring *ring = &queue->rings[i];
		uint32_t at = atomic_load_explicit(&ring->tail, memory_order_acquire);
		uint32_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
		struct layer_places *places =
		    atomic_load_explicit(&ring->places, memory_order_acquire);
		for (; at != head; at++)
			held += __atomic_load_n(&places->at[at & places->mask].event,
			                        __ATOMIC_RELAXED) == event;
	}
	layer_unlock(&queue->push);
	return held;
}

bool layer_forget_pending(struct layer_queue *queue, uint32_t process)
{
	layer_lock(&queue->push);
	bool first = atomic_load(&queue->process) != process;
	if (first) {
		for (int i = 0; i < LAYER_RINGS; i++)
			atomic_store(&queue->rings[i].tail, atomic_load(&queue->rings[i].head));
		atomic_store(&queue->owner, NULL);
		atomic_store(&queue->wanted, 0);
		atomic_store(&queue->counted, 0);
		queue->early_ticks = 0;
		atomic_store(&queue->process, process);
	}
	layer_unlock(&queue->push);
	return first;
}
