// SPDX-License-Identifier: Apache-2.0
// The record of a command, written between the vendor's return and ours.
#include "guest/opencl/wrap.h"
#include "guest/stack/stack.h"

#include <string.h>

static struct tare_trace_depends *begin_depends(struct guest_thread *thread, uint64_t of,
                                                union tare_trace_record **record)
{
	*record = guest_event(thread);
	if (*record == NULL)
		return NULL;
	(*record)->depends = (struct tare_trace_depends){ .of = of };
	return &(*record)->depends;
}

// As many DEPENDS records as the events take.
static void write_depends(struct guest_thread *thread, uint8_t flags, uint64_t of, cl_uint count,
                          const cl_event *events)
{
	flags |= TARE_TRACE_OPENCL << TARE_DEPENDS_API_SHIFT;
	for (cl_uint done = 0; done < count;) {
		union tare_trace_record *record;
		struct tare_trace_depends *depends = begin_depends(thread, of, &record);
		if (depends == NULL)
			return;
		cl_uint part = count - done < 6 ? count - done : 6;
		for (cl_uint i = 0; i < part; i++)
			depends->event[i] = (uintptr_t)events[done + i];
		guest_commit(record, tare_trace_head(TARE_TRACE_DEPENDS, flags, (uint16_t)part,
		                                     thread->track));
		done += part;
	}
}

// Where a transfer begins on the device's side. An image's origin is no number of bytes: 0.
static uint64_t offset_of(const struct layer_what *what)
{
	if (what->origin == NULL || what->region == NULL || what->image != NULL)
		return what->offset;
	uint64_t row = what->memory_row != 0 ? what->memory_row : what->region[0];
	uint64_t slice = what->memory_slice != 0 ? what->memory_slice : row * what->region[1];
	return what->origin[0] + what->origin[1] * row + what->origin[2] * slice;
}

static void write_transfer(struct guest_thread *thread, uint32_t number,
                           const struct layer_what *what)
{
	union tare_trace_record *record = guest_event(thread);
	if (record == NULL)
		return;
	struct tare_trace_transfer transfer = { .number = number,
		                                .offset = offset_of(what),
		                                .row_pitch = layer_saturated(what->row_pitch),
		                                .slice_pitch = what->slice_pitch };
	for (int i = 0; what->region != NULL && i < 3; i++)
		transfer.region[i] = layer_saturated(what->region[i]);
	record->transfer = transfer;
	guest_commit(record, tare_trace_head(TARE_TRACE_TRANSFER, 0, 0, thread->track));
}

static void write_call_end(struct guest_thread *thread, uint32_t number, uint64_t exit)
{
	union tare_trace_record *record = guest_event(thread);
	if (record == NULL)
		return;
	record->call_end = (struct tare_trace_call_end){ .number = number, .exit = exit };
	guest_commit(record, tare_trace_head(TARE_TRACE_CALL_END, 0, 0, thread->track));
}

// Bytes of an element of an image; 1 where it cannot be told. Only for images of calls that
// succeeded, so that the handle is valid.
static uint64_t element_bytes(cl_mem image)
{
	const struct layer_object *object = layer_object_find(TARE_OBJECT_MEMORY, image);
	if (object != NULL && object->element_bytes != 0)
		return object->element_bytes;
	size_t bytes = 0;
	if (layer_next.clGetImageInfo == NULL ||
	    layer_next.clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof bytes, &bytes, NULL) !=
	        CL_SUCCESS ||
	    bytes == 0)
		return 1;
	return bytes;
}

static uint64_t migrated_bytes(const struct layer_what *what)
{
	uint64_t sum = 0;
	for (cl_uint i = 0; what->memories != NULL && i < what->count; i++) {
		const struct layer_object *object =
		    layer_object_find(TARE_OBJECT_MEMORY, what->memories[i]);
		sum += object != NULL ? object->bytes : 0;
	}
	for (cl_uint i = 0; what->pointers != NULL && i < what->count; i++) {
		struct guest_region region;
		if (what->sizes != NULL && what->sizes[i] != 0)
			sum += what->sizes[i];
		else if (guest_region_find(what->pointers[i], &region))
			sum += region.bytes;
	}
	return sum;
}

// What is moved where, from the arguments that only some kinds have.
struct moved {
	uint64_t bytes, object, object2;
	const void *host;
	uint8_t direction;
	uint8_t memory;
};

static uint8_t memory_of(const void *host)
{
	struct guest_region region;
	return guest_region_find(host, &region) ? region.memory : TARE_TRACE_MEMORY_PAGEABLE;
}

static bool is_device_visible(const void *address, uint8_t *memory)
{
	*memory = memory_of(address);
	return *memory != TARE_TRACE_MEMORY_PAGEABLE && *memory != TARE_TRACE_MEMORY_MAPPED;
}

// A copy between addresses: which of them the device sees decides what it is.
static void copied(const struct layer_what *what, struct moved *moved)
{
	uint8_t from, to;
	bool visible_from = is_device_visible(what->from, &from);
	bool visible_to = is_device_visible(what->to, &to);
	moved->object = (uintptr_t)what->from;
	moved->object2 = (uintptr_t)what->to;
	if (visible_from && visible_to) {
		moved->direction = TARE_DIRECTION_LOCAL;
		moved->memory = to;
	} else if (visible_from) {
		moved->direction = TARE_DIRECTION_FROM_DEVICE;
		moved->memory = to;
		moved->host = what->to;
	} else {
		moved->direction = visible_to ? TARE_DIRECTION_TO_DEVICE : TARE_DIRECTION_HOST;
		moved->memory = from;
		moved->host = what->from;
		moved->object = (uintptr_t)what->to;
		moved->object2 = (uintptr_t)what->from;
	}
}

static void unmapped(const struct layer_what *what, struct moved *moved)
{
	struct guest_region region;
	const void *start = what->svm != NULL ? what->svm : what->host;
	bool known = what->svm != NULL ? guest_region_find(start, &region)
	                               : guest_region_unmap(start, &region);
	if (!known)
		return;
	moved->bytes = region.bytes;
	moved->memory = region.memory;
	if (region.flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION))
		moved->direction = TARE_DIRECTION_TO_DEVICE;
}

static void mapped(const struct layer_what *what, struct moved *moved)
{
	if (what->flags & (CL_MAP_READ | CL_MAP_WRITE))
		moved->direction = TARE_DIRECTION_FROM_DEVICE;
	if (what->svm != NULL) {
		moved->memory = TARE_TRACE_MEMORY_SHARED;
		return;
	}
	moved->memory = layer_mapped_memory((const void *)(uintptr_t)what->object);
}

// Transfers of a succeeded call: bytes, direction, the host's side.
static void find_moved(const struct layer_what *what, struct moved *moved)
{
	*moved = (struct moved){ .bytes = what->bytes,
		                 .object = what->object,
		                 .object2 = what->object2,
		                 .host = what->host,
		                 .direction = what->direction };
	if (what->region != NULL)
		moved->bytes = (uint64_t)what->region[0] * what->region[1] * what->region[2] *
		               (what->image != NULL ? element_bytes(what->image) : 1);
	if (what->kind == TARE_KIND_MAP) {
		mapped(what, moved);
	} else if (what->kind == TARE_KIND_UNMAP) {
		unmapped(what, moved);
	} else if (what->kind == TARE_KIND_MIGRATE) {
		if (what->svm == NULL)
			moved->bytes = migrated_bytes(what);
		if (what->flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED)
			moved->bytes = 0;
		moved->direction = what->flags & CL_MIGRATE_MEM_OBJECT_HOST
		                       ? TARE_DIRECTION_FROM_DEVICE
		                       : TARE_DIRECTION_TO_DEVICE;
		if (what->memories != NULL && what->count != 0)
			moved->object = (uintptr_t)what->memories[0];
		else if (what->pointers != NULL && what->count != 0)
			moved->object = (uintptr_t)what->pointers[0];
	} else if (what->to != NULL) {
		copied(what, moved);
	} else if (what->host != NULL) {
		moved->memory = memory_of(what->host);
	}
	if (moved->host != NULL)
		moved->object2 = (uintptr_t)moved->host;
}

uint64_t layer_begin_ticks_slow(struct guest_thread *thread, uint64_t enter)
{
	guest_cpu_time_slow(thread, enter);
	return guest_ticks();
}

static uint8_t alignment_of(const void *host)
{
	if (host == NULL)
		return 255;
	int bits = __builtin_ctzll((uintptr_t)host);
	return (uint8_t)(bits > 12 ? 12 : bits);
}

static __attribute__((noinline)) void tell(_Atomic bool *told, enum tare_trace_change change,
                                           const struct layer_queue *queue)
{
	if (!atomic_exchange_explicit(told, true, memory_order_relaxed))
		layer_change(change, queue->object.handle, 0, 1);
}

static inline void tell_once(_Atomic bool *told, enum tare_trace_change change,
                             const struct layer_queue *queue)
{
	if (LAYER_UNLIKELY(!atomic_load_explicit(told, memory_order_relaxed)))
		tell(told, change, queue);
}

// Keeps the command's event for its times.
static inline void keep_event(struct guest_thread *thread, struct layer_command *command,
                              uint32_t number)
{
	struct layer_queue *queue = command->queue;
	if (LAYER_UNLIKELY(command->wanted != NULL)) {
		if (layer_next.clRetainEvent(command->own) != CL_SUCCESS)
			return;
		tell_once(&queue->told_retain, TARE_CHANGE_EVENT_RETAINED, queue);
	} else {
		tell_once(&queue->told_supply, TARE_CHANGE_EVENT, queue);
	}
	layer_push(thread, queue, command->own, number, false);
}

static inline void keep_timed(struct guest_thread *thread, struct layer_command *command,
                              uint32_t number)
{
	layer_drawn(thread, command, number);
	keep_event(thread, command, number);
}

// What the kinds of commands differ in.
struct part {
	uint64_t object, amount, object2;
	const void *host;
	uint8_t kind, direction, alignment, memory;
};

static struct part part_of(cl_int status, const struct layer_what *what)
{
	struct moved moved = { .bytes = what->bytes,
		               .object = what->object,
		               .direction = what->direction,
		               .host = what->host };
	if (status == CL_SUCCESS)
		find_moved(what, &moved);
	return (struct part){ .object = moved.object,
		              .amount = moved.bytes,
		              .object2 = moved.object2,
		              .host = moved.host,
		              .kind = what->kind,
		              .direction = moved.direction,
		              .alignment = alignment_of(moved.host),
		              .memory = moved.memory };
}

// What all commands have in common, of one that failed, depends on others, took long, or is the
// first that is seen of its function or queue.
static __attribute__((noinline)) unsigned flags_of_any(struct guest_thread *thread,
                                                       struct layer_command *command, cl_int status,
                                                       cl_uint wait_count, const cl_event *waits,
                                                       uint64_t exit)
{
	if (command->waits)
		guest_waiting(thread, 0, 0);
	if (LAYER_UNLIKELY(command->queue == NULL && status == CL_SUCCESS))
		command->queue = layer_queue_adopt(thread, command->handle);
	layer_know_function(thread, command->function);
	unsigned flags = exit - command->enter >= UINT32_MAX ? TARE_COMMAND_LONG : 0;
	flags |= thread->depth > 1 ? TARE_COMMAND_NESTED : 0;
	if (LAYER_UNLIKELY(status != CL_SUCCESS))
		return flags | TARE_COMMAND_FAILED;
	bool has_event = command->own != NULL;
	flags |= has_event && command->wanted == NULL ? TARE_COMMAND_OWN_EVENT : 0;
	flags |= !has_event || command->queue == NULL || !command->queue->timed
	             ? TARE_COMMAND_NO_TIMES
	             : 0;
	flags |= LAYER_UNLIKELY(command->unsampled) ? TARE_COMMAND_NOT_SAMPLED : 0;
	return flags | (wait_count != 0 && waits != NULL ? TARE_COMMAND_DEPENDS : 0);
}

static inline unsigned flags_of(struct guest_thread *thread, struct layer_command *command,
                                cl_int status, cl_uint wait_count, const cl_event *waits,
                                uint64_t exit)
{
	const struct layer_queue *queue = command->queue;
	uint32_t defined =
	    atomic_load_explicit(&layer_defined[command->function], memory_order_relaxed);
	if (LAYER_UNLIKELY(command->waits | (queue == NULL) | (status != CL_SUCCESS) |
	                   (wait_count != 0) | (defined != thread->process) |
	                   (exit - command->enter >= UINT32_MAX)))
		return flags_of_any(thread, command, status, wait_count, waits, exit);
	bool has_event = command->own != NULL;
	unsigned flags = thread->depth > 1 ? TARE_COMMAND_NESTED : 0;
	flags |= has_event && command->wanted == NULL ? TARE_COMMAND_OWN_EVENT : 0;
	flags |= !has_event || !queue->timed ? TARE_COMMAND_NO_TIMES : 0;
	return flags | (LAYER_UNLIKELY(command->unsampled) ? TARE_COMMAND_NOT_SAMPLED : 0);
}

// Writes the record and those that follow any command. Returns its number; 0: there was no room.
static inline __attribute__((always_inline)) uint32_t write_record(
    struct guest_thread *thread, struct layer_command *command, cl_int status, unsigned flags,
    const struct part *part, uint64_t exit, cl_uint wait_count, const cl_event *waits)
{
	union tare_trace_record *record = guest_command(thread);
	if (LAYER_UNLIKELY(record == NULL)) {
		layer_unrecorded(command, status);
		return 0;
	}
	// Member by member: a record put together elsewhere would be read back before it was
	// written.
	struct tare_trace_command *written = &record->command;
	uint32_t number = guest_next_number(thread);
	bool failed = flags & TARE_COMMAND_FAILED;
	written->enter = command->enter;
	written->call_ticks =
	    flags & TARE_COMMAND_LONG ? UINT32_MAX : (uint32_t)(exit - command->enter);
	written->number = number;
	written->kind = part->kind;
	written->direction = part->direction;
	written->alignment = part->alignment;
	written->memory = part->memory;
	written->queue = command->queue != NULL ? command->queue->number : 0;
	written->object = part->object;
	written->amount = part->amount;
	written->event = !failed ? (uintptr_t)command->own : 0;
	written->object2 = failed ? (uint64_t)(int64_t)status : part->object2;
	guest_commit(record, tare_trace_head(TARE_TRACE_COMMAND, (uint8_t)flags,
	                                     (uint16_t)command->function, thread->track));
	if (LAYER_UNLIKELY(flags & TARE_COMMAND_LONG))
		write_call_end(thread, number, exit);
	if (LAYER_UNLIKELY(flags & TARE_COMMAND_DEPENDS))
		write_depends(thread, 0, number, wait_count, waits);
	// Of trials of our own (bench.h) there is none: what stacks take is measured by itself.
	if (LAYER_UNLIKELY(guest_stacks) && !thread->helper)
		guest_site(thread, 0, number, guest_stack());
	return number;
}

void layer_any_kernel_end(struct guest_thread *thread, struct layer_command *command, cl_int status,
                          const struct layer_range *range, cl_uint wait_count,
                          const cl_event *waits, uint64_t exit)
{
	unsigned flags = flags_of(thread, command, status, wait_count, waits, exit);
	struct part part = { .object = (uintptr_t)range->kernel,
		             .kind = TARE_KIND_KERNEL,
		             .alignment = 255 };
	if (LAYER_LIKELY(status == CL_SUCCESS))
		part.amount = layer_shape_of(thread, range);
	uint32_t number =
	    write_record(thread, command, status, flags, &part, exit, wait_count, waits);
	if (LAYER_UNLIKELY(number == 0))
		return;
	if (flags & (TARE_COMMAND_NO_TIMES | TARE_COMMAND_FAILED))
		layer_unrecorded(command, status);
	else
		keep_timed(thread, command, number);
}

void layer_command_end(struct guest_thread *thread, struct layer_command *command, cl_int status,
                       const struct layer_what *what)
{
	uint64_t exit = guest_ticks();
	thread->left_ticks = exit;
	unsigned flags = flags_of(thread, command, status, what->wait_count, what->waits, exit);
	bool transfer = status == CL_SUCCESS && (what->region != NULL || what->offset != 0);
	flags |=
	    (what->blocking ? TARE_COMMAND_BLOCKING : 0) | (transfer ? TARE_COMMAND_TRANSFER : 0);
	struct part part = part_of(status, what);
	uint32_t number = write_record(thread, command, status, flags, &part, exit,
	                               what->wait_count, what->waits);
	if (LAYER_UNLIKELY(number == 0))
		return;
	if (transfer)
		write_transfer(thread, number, what);
	if (guest_compares() && status == CL_SUCCESS)
		layer_contents(thread, command, number, !(flags & TARE_COMMAND_NO_TIMES), what,
		               part.direction, part.amount, part.host);
	struct layer_queue *queue = command->queue;
	if (flags & (TARE_COMMAND_NO_TIMES | TARE_COMMAND_FAILED)) {
		layer_unrecorded(command, status);
		if (!command->unsampled || flags & TARE_COMMAND_FAILED)
			return;
	} else {
		keep_timed(thread, command, number);
	}
	if (what->blocking) {
		guest_cpu_time(thread, command->enter, exit);
		layer_of(thread)->stands_by = true;
		// In order, all before it is complete now, and it may be the last call of the
		// program.
		layer_harvest_queue(thread, queue, queue->out_of_order ? 256 : UINT32_MAX - 1,
		                    command->known_heads, queue->out_of_order ? 0 : exit);
		layer_harvest_released(thread);
		layer_of(thread)->stands_by = false;
	}
}

static struct layer_device *device_of(struct guest_thread *thread, const struct layer_said *said)
{
	struct layer_queue *queue = NULL;
	if (said->queue != NULL)
		queue = layer_queue_find(thread, said->queue);
	else if (said->waits != NULL && layer_of(thread)->waited_count != 0)
		queue = layer_of(thread)->waited[0];
	return queue != NULL ? queue->device : NULL;
}

// Whether it matters from where a call is made: there are many that only let go of something.
static bool has_site(uint32_t function)
{
	enum tare_trace_role role = layer_function_names[function].role;
	return role == TARE_ROLE_WAIT || role == TARE_ROLE_BUILD || role == TARE_ROLE_ALLOCATE;
}

// Writes the record of a call that is no command.
void layer_call_end(struct guest_thread *thread, uint32_t function, uint64_t enter, bool waits,
                    const struct layer_said *said)
{
	uint64_t exit = guest_ticks();
	struct layer_thread *mine = layer_of(thread);
	mine->shared.defining_ticks = thread->left_ticks = exit;
	if (waits)
		guest_waiting(thread, 0, 0);
	layer_know_function(thread, function);
	const struct layer_device *device = device_of(thread, said);
	union tare_trace_record *record = guest_event(thread);
	if (record == NULL)
		return;
	record->call =
	    (struct tare_trace_call){ .enter = enter,
		                      .exit = exit,
		                      .result = said->status,
		                      .object = said->object,
		                      .bytes = said->bytes,
		                      .value = said->waits != NULL ? said->wait_count : said->value,
		                      .device = device != NULL ? (uintptr_t)device->handle : 0 };
	uint8_t flags = 0;
	flags |= said->status != CL_SUCCESS ? TARE_CALL_FAILED : 0;
	flags |= said->released ? TARE_CALL_RELEASED : 0;
	flags |= thread->depth > 1 ? TARE_CALL_NESTED : 0;
	guest_commit(record,
	             tare_trace_head(TARE_TRACE_CALL, flags, (uint16_t)function, thread->track));
	if (said->waits != NULL && said->wait_count != 0)
		write_depends(thread, TARE_DEPENDS_OF_CALL, enter, said->wait_count, said->waits);
	if (LAYER_UNLIKELY(guest_stacks) && has_site(function))
		guest_site(thread, TARE_SITE_OF_CALL, enter, guest_stack());
	guest_cpu_time(thread, enter, exit);
	mine->stands_by = waits;
	if (waits && said->queue != NULL && said->status == CL_SUCCESS) {
		struct layer_queue *queue = layer_queue_find(thread, said->queue);
		if (queue != NULL)
			layer_harvest_queue(thread, queue, UINT32_MAX, said->known_heads, exit);
	}
	if (waits || said->released)
		layer_harvest_released(thread);
	mine->stands_by = false;
}

// The first call of a row that only asks, or one that failed.
void layer_asked_first(struct guest_thread *thread, uint32_t function, uint64_t enter,
                       uint64_t exit, cl_int status, uint64_t object, bool poll)
{
	layer_know_function(thread, function);
	union tare_trace_record *record = guest_event(thread);
	if (record == NULL)
		return;
	uint8_t nested = thread->depth > 1 ? TARE_CALL_NESTED : 0;
	if (status != CL_SUCCESS && !poll) {
		record->call = (struct tare_trace_call){
			.enter = enter, .exit = exit, .result = status, .object = object
		};
		guest_commit(record, tare_trace_head(TARE_TRACE_CALL, TARE_CALL_FAILED | nested,
		                                     (uint16_t)function, thread->track));
		return;
	}
	record->polled = (struct tare_trace_polled){ .first_enter = enter,
		                                     .last_exit = exit,
		                                     .count = 1,
		                                     .ticks = exit - enter,
		                                     .object = object,
		                                     .failed = status != CL_SUCCESS };
	guest_commit(record,
	             tare_trace_head(TARE_TRACE_POLLED, nested, (uint16_t)function, thread->track));
	thread->polled = record;
}
