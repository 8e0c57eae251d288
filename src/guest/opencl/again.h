// SPDX-License-Identifier: Apache-2.0
// A launch like this thread's one before it, as nearly all are: the two halves around the vendor's
// call. Whatever is not as expected is left to the wrapper that serves every launch, or, after the
// call, to what writes any launch.
#pragma once
#include "guest/opencl/wrap.h"

// A launch in flight.
struct layer_again {
	cl_command_queue handle;
	cl_kernel kernel;
	const size_t *globals, *locals; // of one dimension; locals NULL: the driver's choice
	uint64_t enter;
	struct layer_queue *queue;
	uint32_t
	    number; // that it will have if none comes between; 0: it cannot follow the one before
	uint32_t chance; // by which it has times, of 2^32; 0: not by chance
	uint8_t flags;   // of its record
};

// Whether an event of ours is to be asked for.
static inline bool layer_again_wants(const struct layer_again *again)
{
	return again->flags == TARE_COMMAND_OWN_EVENT;
}

// Where a sample is drawn: the flags, and the chance.
uint8_t layer_again_draw(struct guest_thread *thread, const struct layer_again *again,
                         uint32_t *chance);

static inline __attribute__((always_inline)) uint8_t layer_again_flags(struct guest_thread *thread,
                                                                       struct layer_thread *mine,
                                                                       struct layer_again *again)
{
	const struct layer_queue *queue = again->queue;
	if (!queue->timed ||
	    LAYER_UNLIKELY(!atomic_load_explicit(&guest_active, memory_order_relaxed)))
		return TARE_COMMAND_NO_TIMES;
	if (LAYER_UNLIKELY(mine->sampler.on)) {
		// Copies: what another function has the address of stays in no register.
		const struct layer_again copy = *again;
		uint32_t chance = 0;
		uint8_t flags = layer_again_draw(thread, &copy, &chance);
		again->chance = chance;
		return flags;
	}
	layer_sample_count(thread, &mine->sampler);
	return queue->supply ? TARE_COMMAND_OWN_EVENT : TARE_COMMAND_NO_TIMES;
}

// Begins it; `again` has the handle, the kernel and the sizes. False, with nothing done: it is for
// the other wrapper.
static inline __attribute__((always_inline)) bool layer_again_begin(struct guest_thread *thread,
                                                                    struct layer_again *again)
{
	struct layer_thread *mine = layer_of(thread);
	if (LAYER_UNLIKELY(mine == NULL || mine->run.of == NULL || again->globals == NULL))
		return false;
	const struct layer_run *run = &mine->run;
	struct layer_queue *queue = run->of;
	const uint32_t number = atomic_load_explicit(&queue->number, memory_order_relaxed);
	const uint64_t local = again->locals != NULL ? again->locals[0] : 0;
	const uint64_t unlike = ((uintptr_t)queue->object.handle ^ (uintptr_t)again->handle) |
	                        (run->row.object ^ (uintptr_t)again->kernel) |
	                        (run->row.queue ^ number) | (run->global ^ again->globals[0]) |
	                        (run->local ^ local) | thread->depth;
	if (LAYER_UNLIKELY(unlike != 0))
		return false;
	again->queue = queue;
	again->chance = 0;
	again->flags = layer_again_flags(thread, mine, again);
	again->number = LAYER_LIKELY(run->flags == again->flags) ? run->row.number + 1 : 0;
	thread->depth = 1;
	guest_count_call(&mine->shared);
	again->enter = layer_begin_ticks(thread);
	return true;
}

// Writes it by itself, whatever the vendor returned. `own`: the event of ours, NULL: none.
void layer_again_apart(struct guest_thread *thread, const struct layer_again *again, cl_event own,
                       cl_int status, uint64_t exit);

// The reading of the clock waits for what the driver did last, a bus lock as a rule: what is found
// out before it takes no time then, and what comes behind it does.
static inline __attribute__((always_inline)) void layer_again_end(struct guest_thread *thread,
                                                                  const struct layer_again *again,
                                                                  cl_event own, cl_int status)
{
	struct guest_launches *row = &layer_of(thread)->run.row;
	union tare_trace_record *place = NULL;
	uint32_t room = 0;
	if (LAYER_LIKELY(status == CL_SUCCESS && again->number != 0 &&
	                 (own != NULL) == layer_again_wants(again)))
		place = guest_launches_place(thread, row, &room);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	const uint64_t exit = guest_ticks();
	thread->left_ticks = exit;
	if (LAYER_LIKELY(place != NULL) &&
	    LAYER_LIKELY(guest_launches_put_in(thread, row, place, room, again->number,
	                                       again->enter, exit))) {
		if (LAYER_UNLIKELY(again->chance != 0))
			layer_write_drawn(thread, again->number, again->chance);
		if (own != NULL)
			layer_push(thread, again->queue, own, again->number, true);
	} else {
		const struct layer_again copy = *again;
		layer_again_apart(thread, &copy, own, status, exit);
	}
	layer_leave(thread);
}
