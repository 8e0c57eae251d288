// SPDX-License-Identifier: Apache-2.0
// What a wrapper does before and after the vendor's call: as little as can be, in line.
#pragma once
#include "guest/opencl/layer.h"

// A command in flight, on its wrapper's stack.
struct layer_command {
	uint64_t enter;
	struct layer_queue *queue; // NULL: not known
	cl_command_queue handle;
	cl_event *event;  // what the vendor is given: NULL or &own
	cl_event *wanted; // where the program wants it; NULL: it does not
	cl_event own;
	uint32_t function;
	uint64_t known_heads; // layer_heads of the queue, before
	bool waits;
	bool unsampled;  // its times are left out by choice
	uint32_t chance; // by which it has times, of 2^32; 0: not by chance
};

// An ND-range.
struct layer_range {
	cl_kernel kernel;
	cl_uint dimensions;
	const size_t *offsets, *globals, *locals; // globals NULL: one work-item
};

// What the arguments of any other command say; by the roles.
struct layer_what {
	uint8_t kind, direction;
	bool blocking;
	uint64_t object, object2;
	uint64_t bytes, offset;
	uint64_t flags;
	const size_t *origin, *region;
	size_t row_pitch, slice_pitch; // of the host's side
	size_t memory_row, memory_slice;
	const void *host, *svm, *from, *to;
	cl_mem image;
	cl_uint count, wait_count;
	const cl_mem *memories;
	const void *const *pointers;
	const size_t *sizes;
	const cl_event *waits;
};

// What a call that is no command says.
struct layer_said {
	cl_int status;
	bool released;
	uint64_t known_heads; // layer_heads of the queue, before
	cl_uint wait_count;
	const cl_event *waits;
	cl_command_queue queue;
	uint64_t object, bytes;
	int64_t value;
};

// Write the records of a command whose vendor's call has just returned `status`.
void layer_kernel_end(struct guest_thread *thread, struct layer_command *command, cl_int status,
                      const struct layer_range *range, cl_uint wait_count, const cl_event *waits);
// The same, but `exit`, when the vendor's call returned, is known.
void layer_kernel_ended(struct guest_thread *thread, struct layer_command *command, cl_int status,
                        const struct layer_range *range, cl_uint wait_count, const cl_event *waits,
                        uint64_t exit);
// Of any that is not like the one before; `exit`: when the vendor's call returned.
void layer_any_kernel_end(struct guest_thread *thread, struct layer_command *command, cl_int status,
                          const struct layer_range *range, cl_uint wait_count,
                          const cl_event *waits, uint64_t exit);
// The number of its shape, defined if it was not yet; 0: no memory.
uint32_t layer_shape_of(struct guest_thread *thread, const struct layer_range *range);
void layer_command_end(struct guest_thread *thread, struct layer_command *command, cl_int status,
                       const struct layer_what *what);
// What a transfer carries, once its record is written (--contents). `number`: the command's.
void layer_contents(struct guest_thread *thread, const struct layer_command *command,
                    uint32_t number, bool timed, const struct layer_what *what, uint8_t direction,
                    uint64_t bytes, const void *host);
void layer_call_end(struct guest_thread *thread, uint32_t function, uint64_t enter, bool waits,
                    const struct layer_said *said);
void layer_asked_first(struct guest_thread *thread, uint32_t function, uint64_t enter,
                       uint64_t exit, cl_int status, uint64_t object, bool poll);

static inline uint32_t layer_saturated(uint64_t value)
{
	return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

// Behind the record of a command that has times.
void layer_write_drawn(struct guest_thread *thread, uint32_t number, uint32_t chance);
static inline void layer_drawn(struct guest_thread *thread, const struct layer_command *command,
                               uint32_t number)
{
	if (LAYER_UNLIKELY(command->chance != 0))
		layer_write_drawn(thread, number, command->chance);
}

// The recorder has no record for it: an event of ours is let go of.
static inline void layer_unrecorded(const struct layer_command *command, cl_int status)
{
	if (status == CL_SUCCESS && command->wanted == NULL && command->own != NULL)
		layer_next.clReleaseEvent(command->own);
}

// Begins a call: this thread, or NULL when nothing is recorded. Ends with layer_leave.
static inline __attribute__((always_inline)) struct guest_thread *layer_enter(void)
{
	struct guest_thread *thread = layer_thread();
	if (LAYER_UNLIKELY(thread == NULL))
		return NULL;
	struct layer_thread *mine = layer_of(thread);
	if (LAYER_UNLIKELY(mine == NULL)) {
		if (!layer_thread_make(thread))
			return NULL;
		mine = layer_of(thread);
	}
	thread->depth++;
	guest_count_call(&mine->shared);
	return thread;
}

static inline void layer_know_function(const struct guest_thread *thread, uint32_t function)
{
	if (LAYER_UNLIKELY(atomic_load_explicit(&layer_defined[function], memory_order_relaxed) !=
	                   thread->process))
		layer_define_function(function, thread->process);
}

static inline void layer_leave(struct guest_thread *thread)
{
	// In the child of a fork from within a call it has begun anew.
	thread->depth -= thread->depth != 0;
}

// Host ticks at the beginning of a call, after the thread's CPU clock was read if it was time.
uint64_t layer_begin_ticks_slow(struct guest_thread *thread, uint64_t enter);
static inline __attribute__((always_inline)) uint64_t layer_begin_ticks(struct guest_thread *thread)
{
	uint64_t enter = guest_ticks();
	if (LAYER_UNLIKELY(guest_cpu_time_is_due(thread, thread->left_ticks, enter)))
		return layer_begin_ticks_slow(thread, enter);
	return enter;
}

// Whether a command is to have device times: by the kind that its kernel and size, or its function
// and bytes, make it. `chance` is 0 before; what it was drawn by is stored there.
void layer_sample_look(struct guest_thread *thread);
static inline void layer_sample_count(struct guest_thread *thread, struct layer_sampler *sampler)
{
	// The first look comes before there is anything to count down from.
	if (LAYER_UNLIKELY(sampler->look_in-- <= 1))
		layer_sample_look(thread);
}
bool layer_sample_draw(struct guest_thread *thread, uint32_t function,
                       const struct layer_range *range, size_t bytes, uint32_t *chance);
static inline __attribute__((always_inline)) bool layer_is_sampled(struct guest_thread *thread,
                                                                   uint32_t function,
                                                                   const struct layer_range *range,
                                                                   size_t bytes, uint32_t *chance)
{
	struct layer_sampler *sampler = &layer_of(thread)->sampler;
	if (LAYER_UNLIKELY(sampler->on))
		return layer_sample_draw(thread, function, range, bytes, chance);
	layer_sample_count(thread, sampler);
	return true;
}

static inline __attribute__((always_inline)) void
layer_command_begin(struct guest_thread *thread, struct layer_command *command, uint32_t function,
                    cl_command_queue handle, cl_event *event, bool takes_event, bool waits,
                    const struct layer_range *range, size_t bytes)
{
	struct layer_queue *queue = layer_of(thread)->queue;
	if (LAYER_UNLIKELY(queue == NULL || queue->object.handle != handle ||
	                   atomic_load_explicit(&queue->process, memory_order_relaxed) !=
	                       thread->process))
		queue = layer_queue_find(thread, handle);
	command->queue = queue;
	command->handle = handle;
	// Never the program's own place: that may be in its wait list, too, and whether the vendor
	// has written to it could not be seen.
	command->event = event != NULL ? &command->own : NULL;
	command->wanted = event;
	command->known_heads = 0;
	command->unsampled = false;
	command->chance = 0;
	command->own = NULL;
	command->function = function;
	command->waits = waits;
	if (queue != NULL) {
		command->known_heads = layer_heads(queue);
		if (takes_event && queue->timed &&
		    atomic_load_explicit(&guest_active, memory_order_relaxed)) {
			command->unsampled =
			    !layer_is_sampled(thread, function, range, bytes, &command->chance);
			if (event == NULL && queue->supply && LAYER_LIKELY(!command->unsampled))
				command->event = &command->own;
		}
	}
	command->enter = layer_begin_ticks(thread);
	if (waits)
		guest_waiting(thread, function, command->enter);
}

// Hands the program the event that it asked for, after its wait list was read.
static inline void layer_give_event(const struct layer_command *command)
{
	if (command->wanted != NULL && command->own != NULL)
		*command->wanted = command->own;
}

static inline uint64_t layer_call_begin(struct guest_thread *thread, uint32_t function, bool waits)
{
	if (!waits)
		return guest_ticks();
	uint64_t enter = layer_begin_ticks(thread);
	guest_waiting(thread, function, enter);
	return enter;
}

// How many commands were ever put into a queue that is about to be waited for.
static inline uint64_t layer_mark(struct guest_thread *thread, cl_command_queue handle)
{
	struct layer_queue *queue = layer_queue_find(thread, handle);
	return queue != NULL ? layer_heads(queue) : 0;
}

// Ends a call that only asks. Calls of one function in a row are one record.
static inline void layer_asked(struct guest_thread *thread, uint32_t function, uint64_t enter,
                               cl_int status, uint64_t object, bool poll)
{
	uint64_t exit = guest_ticks();
	union tare_trace_record *last = thread->polled;
	if (last != NULL && tare_trace_detail(last->head) == function &&
	    (poll || status == CL_SUCCESS)) {
		struct tare_trace_polled *polled = &last->polled;
		polled->failed += status != CL_SUCCESS;
		polled->ticks += exit - enter;
		polled->last_exit = exit;
		__atomic_store_n(&polled->count, polled->count + 1, __ATOMIC_RELEASE);
		return;
	}
	layer_asked_first(thread, function, enter, exit, status, object, poll);
}
