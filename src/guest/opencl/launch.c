// SPDX-License-Identifier: Apache-2.0
// The record of a kernel's launch. Most are like the one before: of such a one eight bytes are
// written.
#include "guest/opencl/again.h"
#include "guest/stack/stack.h"

#include <string.h>

static bool same_rest(const struct layer_shape *last, const struct layer_range *range)
{
	for (uint32_t i = 1; i < last->dimensions && i < 3; i++) {
		if (last->global[i] != range->globals[i] ||
		    (range->locals != NULL && last->local[i] != range->locals[i]))
			return false;
	}
	return true;
}

// Whether an ND-range is that of the shape, as it is given, before one is put together. A shape
// without local sizes has 0 for all three, one with them 1 where there is none.
static inline bool is_range(const struct layer_shape *shape, const struct layer_range *range)
{
	const size_t *locals = range->locals;
	return shape->dimensions == range->dimensions && range->globals != NULL &&
	       range->offsets == NULL && shape->global[0] == range->globals[0] &&
	       (shape->local[2] != 0) == (locals != NULL) &&
	       (locals == NULL || shape->local[0] == locals[0]) &&
	       (LAYER_LIKELY(shape->dimensions == 1) || same_rest(shape, range));
}

// Whether it is the last shape of this thread, NULL: there is none.
static inline bool is_last_shape(const struct guest_thread *thread, const struct layer_shape *last,
                                 const struct layer_range *range)
{
	return last != NULL && last->process == thread->process && is_range(last, range);
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

// Writes a launch by itself, to the record that others like it may follow. Returns its number; 0:
// there was no room.
static uint32_t begin_run(struct guest_thread *thread, const struct layer_command *command,
                          const struct layer_range *range, uint64_t head, uint64_t exit)
{
	enum { NO_ADDRESS = 255 };
	struct layer_run *run = &layer_of(thread)->run;
	const struct layer_shape *shape = layer_of(thread)->last_shape;
	union tare_trace_record *record = guest_command(thread);
	if (LAYER_UNLIKELY(record == NULL))
		return 0;
	const uint32_t windows = thread->windows;
	struct tare_trace_command *written = &record->command;
	uint32_t number = guest_next_number(thread);
	written->enter = command->enter;
	written->call_ticks = (uint32_t)(exit - command->enter);
	written->number = number;
	written->kind = TARE_KIND_KERNEL;
	written->direction = 0;
	written->alignment = NO_ADDRESS;
	written->memory = 0;
	written->queue = command->queue->number;
	written->object = (uintptr_t)range->kernel;
	written->amount = shape->id;
	written->event = (uintptr_t)command->own;
	written->object2 = 0;
	guest_commit(record, head);
	// A signal handler that launches meanwhile finds no row that it could be taken for.
	run->of = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	guest_launches_begin(&run->row, record, windows);
	run->flags = tare_trace_record_flags(head);
	run->global = shape->global[0];
	run->local = shape->local[0];
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (command->function == LAYER_clEnqueueNDRangeKernel && range->dimensions == 1)
		run->of = command->queue;
	return number;
}

// Puts a launch behind those before it, if it is like them. Returns its number; 0: there was no
// room.
static uint32_t write_plain(struct guest_thread *thread, const struct layer_command *command,
                            const struct layer_range *range, uint64_t head, uint64_t exit)
{
	struct guest_launches *row = &layer_of(thread)->run.row;
	const uint32_t next = row->number + 1;
	if (guest_launches_like(row, head, command->queue->number, (uintptr_t)range->kernel,
	                        layer_of(thread)->last_shape->id) &&
	    guest_launches_more(thread, row, next, command->enter, exit))
		return next;
	return begin_run(thread, command, range, head, exit);
}

static void plain_kernel_end(struct guest_thread *thread, const struct layer_command *command,
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
		layer_push(thread, command->queue, event, number, false);
	}
}

void layer_kernel_ended(struct guest_thread *thread, struct layer_command *command, cl_int status,
                        const struct layer_range *range, cl_uint wait_count, const cl_event *waits,
                        uint64_t exit)
{
	if (LAYER_LIKELY(is_plain(thread, command, status, range, wait_count, exit)))
		plain_kernel_end(thread, command, range, exit);
	else
		layer_any_kernel_end(thread, command, status, range, wait_count, waits, exit);
}

void layer_kernel_end(struct guest_thread *thread, struct layer_command *command, cl_int status,
                      const struct layer_range *range, cl_uint wait_count, const cl_event *waits)
{
	uint64_t exit = guest_ticks();
	thread->left_ticks = exit;
	layer_kernel_ended(thread, command, status, range, wait_count, waits, exit);
}

static struct layer_range range_of(const struct layer_again *again)
{
	return (struct layer_range){ .kernel = again->kernel,
		                     .dimensions = 1,
		                     .globals = again->globals,
		                     .locals = again->locals };
}

uint8_t layer_again_draw(struct guest_thread *thread, const struct layer_again *again,
                         uint32_t *chance)
{
	const struct layer_range range = range_of(again);
	if (!layer_sample_draw(thread, LAYER_clEnqueueNDRangeKernel, &range, 0, chance))
		return TARE_COMMAND_NO_TIMES | TARE_COMMAND_NOT_SAMPLED;
	return again->queue->supply ? TARE_COMMAND_OWN_EVENT : TARE_COMMAND_NO_TIMES;
}

__attribute__((noinline)) void layer_again_apart(struct guest_thread *thread,
                                                 const struct layer_again *again, cl_event own,
                                                 cl_int status, uint64_t exit)
{
	const struct layer_range range = range_of(again);
	struct layer_command command = {
		.enter = again->enter,
		.queue = again->queue,
		.handle = again->handle,
		.own = own,
		.function = LAYER_clEnqueueNDRangeKernel,
		.unsampled = (again->flags & TARE_COMMAND_NOT_SAMPLED) == TARE_COMMAND_NOT_SAMPLED,
		.chance = again->chance,
	};
	layer_kernel_ended(thread, &command, status, &range, 0, NULL, exit);
}

cl_int CL_API_CALL layer_first_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                                      cl_uint dimensions, const size_t *offsets,
                                                      const size_t *globals, const size_t *locals,
                                                      cl_uint wait_count, const cl_event *waits,
                                                      cl_event *event)
{
	struct guest_thread *thread = layer_thread();
	struct layer_again again;
	cl_event own = NULL;
	again.handle = queue;
	again.kernel = kernel;
	again.globals = globals;
	again.locals = locals;
	uint64_t rare =
	    (uintptr_t)event | wait_count | (uintptr_t)offsets | (uintptr_t)(dimensions ^ 1);
	if (LAYER_UNLIKELY(thread == NULL || rare != 0) || !layer_again_begin(thread, &again))
		return layer_any_clEnqueueNDRangeKernel(queue, kernel, dimensions, offsets, globals,
		                                        locals, wait_count, waits, event);
	cl_int result =
	    layer_next.clEnqueueNDRangeKernel(queue, kernel, 1, NULL, globals, locals, 0, waits,
	                                      layer_again_wants(&again) ? &own : NULL);
	layer_again_end(thread, &again, own, result);
	return result;
}
