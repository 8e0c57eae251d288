// SPDX-License-Identifier: Apache-2.0
// The record of a kernel's launch. Most are like the one before: of such a one eight bytes are
// written.
#include "guest/opencl/wrap.h"
#include "guest/stack.h"

#include <string.h>

// Most launches are like the one before: the last shape of one dimension is compared as it is
// given, before one is put together.
static inline bool is_last_shape(const struct guest_thread *thread, const struct layer_shape *last,
                                 const struct layer_range *range)
{
	return last != NULL && last->dimensions == 1 && last->process == thread->process &&
	       range->dimensions == 1 && range->globals != NULL && range->offsets == NULL &&
	       last->global[0] == range->globals[0] && last->local[1] == (range->locals != NULL) &&
	       last->local[0] == (range->locals != NULL ? layer_saturated(range->locals[0]) : 0);
}

uint32_t layer_shape_of(struct guest_thread *thread, const struct layer_range *range)
{
	const struct layer_shape *last = layer_of(thread)->last_shape;
	if (LAYER_LIKELY(is_last_shape(thread, last, range)))
		return last->id;
	struct layer_shape shape = { .global = { 1, 1, 1 }, .local = { 1, 1, 1 }, .dimensions = 1 };
	if (range->globals == NULL)
		return layer_shape_id(thread, &shape);
	shape.dimensions = range->dimensions;
	for (cl_uint i = 0; i < range->dimensions && i < 3; i++) {
		shape.global[i] = range->globals[i];
		shape.local[i] = range->locals != NULL ? layer_saturated(range->locals[i]) : 0;
		if (range->offsets != NULL && range->offsets[i] != 0)
			shape.dimensions |= 16;
	}
	if (range->locals == NULL)
		memset(shape.local, 0, sizeof shape.local);
	return layer_shape_id(thread, &shape);
}

// A launch like the one before that depends on nothing: nearly all are.
static inline bool is_plain(const struct guest_thread *thread, const struct layer_command *command,
                            cl_int status, const struct layer_range *range, cl_uint wait_count,
                            uint64_t exit)
{
	const struct layer_queue *queue = command->queue;
	uint32_t defined =
	    atomic_load_explicit(&layer_defined[command->function], memory_order_relaxed);
	uint64_t rare = (uint32_t)status | wait_count | (uintptr_t)command->wanted |
	                command->waits | (exit - command->enter + 1) >> 32 |
	                (defined ^ thread->process);
	return LAYER_LIKELY(rare == 0) && queue != NULL && !guest_stacks &&
	       is_last_shape(thread, layer_of(thread)->last_shape, range) &&
	       (command->own == NULL ||
	        atomic_load_explicit(&queue->told_supply, memory_order_relaxed));
}

// Writes a launch by itself, to the record that others like it may follow.
static __attribute__((noinline)) void write_launch(const struct guest_thread *thread,
                                                   const struct layer_command *command,
                                                   union tare_trace_record *record, uint64_t head,
                                                   uint32_t number, uint64_t exit,
                                                   const struct layer_range *range)
{
	enum { NO_ADDRESS = 255 };
	struct tare_trace_command *written = &record->command;
	written->enter = command->enter;
	written->call_ticks = (uint32_t)(exit - command->enter);
	written->number = number;
	written->kind = TARE_KIND_KERNEL;
	written->direction = 0;
	written->alignment = NO_ADDRESS;
	written->memory = 0;
	written->queue = command->queue->number;
	written->object = (uintptr_t)range->kernel;
	written->amount = layer_of(thread)->last_shape->id;
	written->event = (uintptr_t)command->own;
	written->object2 = 0;
	guest_commit(record, head);
}

// Writes a launch to the record that others like it may follow. Returns its number.
static __attribute__((noinline)) uint32_t begin_run(struct guest_thread *thread,
                                                    const struct layer_command *command,
                                                    union tare_trace_record *record, uint64_t head,
                                                    uint32_t number, uint64_t exit,
                                                    const struct layer_range *range)
{
	struct layer_run *run = &layer_of(thread)->run;
	run->windows = thread->windows;
	write_launch(thread, command, record, head, number, exit, range);
	run->head = head;
	run->kernel = range->kernel;
	run->queue = command->queue->number;
	run->shape = layer_of(thread)->last_shape->id;
	run->exit = exit;
	run->number = number;
	run->room = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&run->last, record, __ATOMIC_RELAXED);
	return number;
}

// Puts a launch into the record of those before it, if it is like them, or behind them. Returns its
// number; 0: there was no room. A signal handler may do the same at any moment: meanwhile it finds
// no run, what it writes lies behind, and numbers and places tell us.
static inline uint32_t write_plain(struct guest_thread *thread, const struct layer_command *command,
                                   const struct layer_range *range, uint64_t head, uint64_t exit)
{
	struct layer_run *run = &layer_of(thread)->run;
	union tare_trace_record *last = run->last, *record = last;
	__atomic_store_n(&run->last, NULL, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	// Before anything is taken: a handler leaves the numbers of its own run here.
	const uint64_t after = command->enter - run->exit;
	const uint32_t expected = run->number + 1, windows = run->windows;
	const uint64_t unlike = (run->head ^ head) |
	                        ((uintptr_t)run->kernel ^ (uintptr_t)range->kernel) |
	                        (run->queue ^ command->queue->number) |
	                        (run->shape ^ layer_of(thread)->last_shape->id) | after >> 32;
	bool more = last != NULL && unlike == 0;
	uint32_t room = more ? run->room : 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (room == 0) {
		record = guest_command(thread);
		if (LAYER_UNLIKELY(record == NULL))
			return 0;
		more = more && record == last + 1 && windows == thread->windows;
		room = TARE_LAUNCHES_MOST;
	}
	uint32_t number = guest_next_number(thread);
	more = more && number == expected;
	if (record == last && LAYER_UNLIKELY(!more || !guest_is_last(thread, last, windows))) {
		more = false;
		record = guest_command(thread);
		if (record == NULL)
			return 0;
	}
	if (!more)
		return begin_run(thread, command, record, head, number, exit, range);
	uint32_t count = TARE_LAUNCHES_MOST - room;
	record->launches.ticks[2 * count] = (uint32_t)after;
	record->launches.ticks[2 * count + 1] = (uint32_t)(exit - command->enter);
	guest_commit(record,
	             tare_trace_head(TARE_TRACE_LAUNCHES, 0, (uint16_t)(count + 1), thread->track));
	run->exit = exit;
	run->number = number;
	run->room = room - 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&run->last, record, __ATOMIC_RELAXED);
	return number;
}

static inline void plain_kernel_end(struct guest_thread *thread,
                                    const struct layer_command *command,
                                    const struct layer_range *range, uint64_t exit)
{
	cl_event event = command->own;
	unsigned flags = event != NULL        ? TARE_COMMAND_OWN_EVENT
	                 : command->unsampled ? TARE_COMMAND_NO_TIMES | TARE_COMMAND_NOT_SAMPLED
	                                      : TARE_COMMAND_NO_TIMES;
	flags |= thread->depth > 1 ? TARE_COMMAND_NESTED : 0;
	uint32_t number = write_plain(thread, command, range,
	                              tare_trace_head(TARE_TRACE_COMMAND, (uint8_t)flags,
	                                              (uint16_t)command->function, thread->track),
	                              exit);
	if (LAYER_UNLIKELY(number == 0)) {
		layer_unrecorded(command, CL_SUCCESS);
	} else if (LAYER_LIKELY(event != NULL)) {
		layer_drawn(thread, command, number);
		layer_push(thread, command->queue, event, number);
	}
}

void layer_kernel_end(struct guest_thread *thread, struct layer_command *command, cl_int status,
                      const struct layer_range *range, cl_uint wait_count, const cl_event *waits)
{
	uint64_t exit = guest_ticks();
	thread->left_ticks = exit;
	if (LAYER_LIKELY(is_plain(thread, command, status, range, wait_count, exit)))
		plain_kernel_end(thread, command, range, exit);
	else
		layer_any_kernel_end(thread, command, status, range, wait_count, waits, exit);
}
