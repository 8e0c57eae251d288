// SPDX-License-Identifier: Apache-2.0
// The events of a queue's commands until their times are harvested. Who pushes first owns a ring of
// the queue, into which nobody else pushes: so it does it by plain stores, while who may harvest
// takes from the other end. All other threads, and queues that are out of order, have a second ring
// with a spinlock.
#pragma once
#include "guest/api.h"

#include <CL/cl.h>

struct layer_pending {
	cl_event event; // one reference is ours
	uint32_t track, number;
};

struct layer_places {
	uint32_t mask; // so many and one more
	struct layer_pending at[];
};

enum { LAYER_OWNED, LAYER_SHARED, LAYER_RINGS };
struct layer_ring {
	// NULL: none yet. Larger ones begin as a copy; those before stay as they are, for memory is
	// never given back.
	struct layer_places *_Atomic places;
	_Atomic uint32_t head, tail; // count up without end; tail moves for who harvests alone
	// The owner looks what is complete when so many are pending, or half as many where that
	// interrupts nothing; at most when it is more than half full.
	_Atomic uint32_t look;
};

static inline uint32_t layer_ring_count(const struct layer_ring *ring)
{
	return atomic_load_explicit(&ring->head, memory_order_relaxed) -
	       atomic_load_explicit(&ring->tail, memory_order_relaxed);
}

// By its owner, or with its lock. Returns how many are in it now; UINT32_MAX: there was no room.
static inline uint32_t layer_ring_put(struct layer_ring *ring, cl_event event, uint32_t track,
                                      uint32_t number)
{
	struct layer_places *places = atomic_load_explicit(&ring->places, memory_order_relaxed);
	uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	uint32_t used = head - atomic_load_explicit(&ring->tail, memory_order_acquire);
	if (__builtin_expect(places == NULL || used > places->mask, 0))
		return UINT32_MAX;
	struct layer_pending *pending = &places->at[head & places->mask];
	// Others may look at it (layer_held).
	__atomic_store_n(&pending->event, event, __ATOMIC_RELAXED);
	pending->track = track;
	pending->number = number;
	atomic_store_explicit(&ring->head, head + 1, memory_order_release);
	return used + 1;
}
