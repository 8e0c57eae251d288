// SPDX-License-Identifier: Apache-2.0
// The record of a command, written after the driver's return.
#include "guest/contents.h"
#include "guest/cuda/cuda.h"
#include "guest/region.h"
#include "guest/stack/stack.h"

#include <string.h>

_Atomic int32_t cuda_captures;
bool cuda_launches_wait;

// What a call put into a stream.
struct work {
	cu_stream stream;
	uint64_t object, amount, object2;
	uint64_t part;    // of the device's memory, where a copy of the host's begins
	const void *host; // NULL: none
	struct cuda_recorded_kernel *kernel;
	struct cuda_peers peers;
	uint8_t kind, direction, memory;
	bool many;    // pieces of work
	bool nothing; // a copy of no bytes: the driver does not put it anywhere
	bool waits;
};

// The driver's structure of a launch, and of what is said of it beside.
struct launch_attribute {
	unsigned int id, padding;
	unsigned int value[16];
};
struct launch_sizes {
	unsigned int groups[3], items[3], shared_bytes;
};
struct launch_config {
	struct launch_sizes sizes;
	cu_stream stream;
	const struct launch_attribute *attributes;
	unsigned int attribute_count;
};
enum { ATTRIBUTE_COOPERATIVE = 2, ATTRIBUTE_CLUSTER = 4 };

// The beginning of a rectangle of two dimensions; that of three is cu_memcpy3d.
struct rectangle_side {
	size_t x_bytes, y;
	int type;
	void *host;
	cu_pointer device;
	void *array;
	size_t pitch;
};
struct rectangle {
	struct rectangle_side source, destination;
	size_t width_bytes, height;
};
enum { SIDE_HOST = 1 };

// ---- where memory is

enum { OF_HOST = 1, OF_DEVICE = 2, OF_ARRAY = 3, OF_BOTH = 4 };

// What the driver says of an address that we were not told of; it knows nothing of pageable memory.
static uint8_t ask_memory(uint64_t address)
{
	enum { MEMORY_TYPE = 2, IS_MANAGED = 8 };
	int attributes[] = { MEMORY_TYPE, IS_MANAGED };
	uint32_t type = 0, managed = 0; // the second is as wide as a bool of C++
	void *values[] = { &type, &managed };
	if (!cuda_driver.cuPointerGetAttributes)
		return TARE_TRACE_MEMORY_UNKNOWN;
	if (cuda_driver.cuPointerGetAttributes(2, attributes, values, address) != ABI_SUCCESS)
		return TARE_TRACE_MEMORY_UNKNOWN;
	if (managed & 0xff)
		return TARE_TRACE_MEMORY_SHARED;
	return type == OF_HOST                         ? TARE_TRACE_MEMORY_PINNED
	       : type == OF_DEVICE || type == OF_ARRAY ? TARE_TRACE_MEMORY_BUFFER
	                                               : TARE_TRACE_MEMORY_PAGEABLE;
}

static uint8_t memory_of(uint64_t address)
{
	struct guest_region region;
	if (guest_region_find((const void *)(uintptr_t)address, &region))
		return region.memory;
	return ask_memory(address);
}

static bool is_hosts(uint8_t memory)
{
	return memory == TARE_TRACE_MEMORY_PAGEABLE || memory == TARE_TRACE_MEMORY_PINNED;
}

// Where an allocation begins, by which the trace names it; 0: none that we were told of, as a
// variable of a module.
static uint64_t object_at(uint64_t address)
{
	struct guest_region region;
	return guest_region_find((const void *)(uintptr_t)address, &region)
	           ? (uintptr_t)region.start
	           : 0;
}

// ---- what the kinds of calls say

static uint64_t number_at(const struct cupti_call *told, size_t place)
{
	return (uintptr_t)cuda_parameter(told, place);
}

static void to_device(struct work *work, uint64_t to, uint64_t from, uint64_t bytes)
{
	work->kind = TARE_KIND_WRITE;
	work->direction = TARE_DIRECTION_TO_DEVICE;
	work->object = object_at(to);
	work->part = work->object ? to - work->object : 0;
	work->object2 = from;
	work->host = (const void *)(uintptr_t)from;
	work->amount = bytes;
	work->memory = memory_of(from);
}

static void from_device(struct work *work, uint64_t to, uint64_t from, uint64_t bytes)
{
	work->kind = TARE_KIND_READ;
	work->direction = TARE_DIRECTION_FROM_DEVICE;
	work->object = object_at(from);
	work->part = work->object ? from - work->object : 0;
	work->object2 = to;
	work->host = (const void *)(uintptr_t)to;
	work->amount = bytes;
	work->memory = memory_of(to);
}

static void within(struct work *work, uint64_t to, uint64_t from, uint64_t bytes)
{
	work->kind = TARE_KIND_COPY;
	work->direction = TARE_DIRECTION_LOCAL;
	work->object = object_at(from);
	work->object2 = object_at(to);
	if (!work->object2)
		work->object2 = to;
	work->amount = bytes;
	work->waits = false; // the host goes on
	work->peers = cuda_peers_of(to, from);
}

// Addresses that say themselves where they are.
static void between(struct work *work, uint64_t to, uint64_t from, uint64_t bytes)
{
	uint8_t source = memory_of(from), destination = memory_of(to);
	if (is_hosts(source) && is_hosts(destination)) {
		within(work, to, from, bytes);
		work->direction = TARE_DIRECTION_HOST;
		work->memory = source;
		work->waits = true;
	} else if (is_hosts(source)) {
		to_device(work, to, from, bytes);
	} else if (is_hosts(destination)) {
		from_device(work, to, from, bytes);
	} else {
		within(work, to, from, bytes);
	}
}

// Sides of a rectangle: addresses, or arrays, which are the device's.
struct side {
	bool host, typed; // typed: not to be found out by the address
	uint64_t address;
};

static struct side side_of(int type, const void *host, cu_pointer device, const void *array)
{
	return (struct side){ .host = type == SIDE_HOST,
		              .typed = type != OF_BOTH,
		              .address = type == SIDE_HOST  ? (uintptr_t)host
		                         : type == OF_ARRAY ? (uintptr_t)array
		                                            : device };
}

static void rectangle(struct work *work, struct side to, struct side from, uint64_t bytes)
{
	bool to_host = to.typed ? to.host : is_hosts(memory_of(to.address));
	bool from_host = from.typed ? from.host : is_hosts(memory_of(from.address));
	if (from_host && !to_host)
		to_device(work, to.address, from.address, bytes);
	else if (to_host && !from_host)
		from_device(work, to.address, from.address, bytes);
	else
		within(work, to.address, from.address, bytes);
	if (from_host && to_host)
		work->direction = TARE_DIRECTION_HOST;
}

static void rectangle_2d(struct work *work, const struct rectangle *r)
{
	rectangle(work,
	          side_of(r->destination.type, r->destination.host, r->destination.device,
	                  r->destination.array),
	          side_of(r->source.type, r->source.host, r->source.device, r->source.array),
	          (uint64_t)r->width_bytes * r->height);
}

static void rectangle_3d(struct work *work, const cu_memcpy3d *r)
{
	rectangle(work,
	          side_of(r->destination_type, r->destination_host, r->destination_device,
	                  r->destination_array),
	          side_of(r->source_type, r->source_host, r->source_device, r->source_array),
	          (uint64_t)r->width_bytes * r->height * r->depth);
}

// One command of many copies, of the direction of the first.
static void batch(struct work *work, const struct cupti_call *told)
{
	const cu_pointer *to = cuda_parameter(told, 0), *from = cuda_parameter(told, 1);
	const size_t *sizes = cuda_parameter(told, 2);
	uint64_t count = number_at(told, 3), bytes = 0;
	work->many = true;
	for (uint64_t i = 0; i < count; i++)
		bytes += sizes[i];
	if (count)
		between(work, to[0], from[0], bytes);
}

// ---- launches

static uint32_t new_shape(const struct launch_sizes *sizes, const uint8_t cluster[3])
{
	const unsigned int *groups = sizes->groups, *items = sizes->items;
	struct tare_trace_shape shape = { .dimensions = 1,
		                          .local_bytes = sizes->shared_bytes,
		                          .cluster = { cluster[0], cluster[1], cluster[2] } };
	for (uint32_t i = 0; i < 3; i++) {
		shape.local[i] = items[i] ? items[i] : 1;
		shape.global[i] = (uint64_t)groups[i] * shape.local[i];
		if (shape.global[i] > 1)
			shape.dimensions = i + 1;
	}
	return guest_shape(&shape);
}

// Mostly that of the launch before.
static uint32_t shape_of(struct guest_thread *thread, const struct launch_sizes *sizes,
                         const uint8_t cluster[3])
{
	struct cuda_thread *mine = cuda_of(thread);
	_Static_assert(sizeof mine->sizes == sizeof *sizes, "");
	if (CUDA_LIKELY(mine->shape_process == thread->process &&
	                memcmp(mine->sizes, sizes, sizeof mine->sizes) == 0 &&
	                memcmp(mine->cluster, cluster, sizeof mine->cluster) == 0))
		return mine->shape;
	// A signal handler that comes meanwhile does not take a part of it for the whole.
	mine->shape_process = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	memcpy(mine->sizes, sizes, sizeof mine->sizes);
	memcpy(mine->cluster, cluster, sizeof mine->cluster);
	mine->shape = new_shape(sizes, cluster);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	mine->shape_process = thread->process;
	return mine->shape;
}

static void launched(struct guest_thread *thread, struct work *work, const struct cupti_call *told,
                     cu_function function, const struct launch_sizes *sizes,
                     const uint8_t cluster[3])
{
	work->kernel = cuda_kernel_of(thread, function, told->symbol);
	work->object = (uintptr_t)function;
	work->amount = shape_of(thread, sizes, cluster);
}

static void cluster_of(const struct launch_config *config, uint8_t cluster[3])
{
	for (unsigned int i = 0; config->attributes && i < config->attribute_count; i++)
		for (int k = 0; config->attributes[i].id == ATTRIBUTE_CLUSTER && k < 3; k++)
			cluster[k] = (uint8_t)config->attributes[i].value[k];
}

struct cuda_launch cuda_launch_of(const struct cupti_call *told,
                                  const struct cuda_function *function)
{
	const struct launch_config *config = cuda_parameter(told, 0);
	struct cuda_launch launch = { .cooperative = function->detail };
	if (function->form != CUDA_LAUNCH_EX) {
		launch.function = (cu_function)(uintptr_t)number_at(told, 0);
		launch.stream = (cu_stream)(uintptr_t)number_at(told, function->stream);
		return launch;
	}
	launch.function = (cu_function)(uintptr_t)number_at(told, 1);
	launch.stream = config->stream;
	for (unsigned int i = 0; config->attributes && i < config->attribute_count; i++)
		if (config->attributes[i].id == ATTRIBUTE_COOPERATIVE)
			launch.cooperative = config->attributes[i].value[0] != 0;
	return launch;
}

// ---- all of them

// Copies of which the call says no more than two places and a size: where among its parameters.
struct copy_call {
	void (*describe)(struct work *work, uint64_t to, uint64_t from, uint64_t bytes);
	uint8_t to, from, bytes;
};

static const struct copy_call copy_calls[] = {
	[CUDA_TO_DEVICE] = { to_device, 0, 1, 2 },
	[CUDA_FROM_DEVICE] = { from_device, 0, 1, 2 },
	[CUDA_WITHIN] = { within, 0, 1, 2 },
	[CUDA_BETWEEN] = { between, 0, 1, 2 },
	[CUDA_PEER] = { within, 0, 2, 4 },
	[CUDA_HOST_TO_ARRAY] = { to_device, 0, 2, 3 },
	[CUDA_ARRAY_TO_HOST] = { from_device, 0, 1, 3 },
};

static void copied(struct work *work, const struct cupti_call *told, enum cuda_form form)
{
	const struct copy_call *call = &copy_calls[form];
	if (form < sizeof copy_calls / sizeof copy_calls[0] && call->describe)
		call->describe(work, number_at(told, call->to), number_at(told, call->from),
		               number_at(told, call->bytes));
}

static void describe(struct guest_thread *thread, const struct cuda_call *call, struct work *work)
{
	const struct cupti_call *told = call->told;
	const struct cuda_function *function = &cuda_functions[call->function];
	const void *first = cuda_parameter(told, 0);
	uint8_t cluster[3] = { 0 };
	switch (function->form) {
	case CUDA_LAUNCH: {
		const struct launch_sizes *sizes =
		    (const void *)((const void *const *)told->parameters + 1);
		launched(thread, work, told, (cu_function)(uintptr_t)first, sizes, cluster);
		break;
	}
	case CUDA_LAUNCH_EX: {
		const struct launch_config *config = first;
		work->stream = config->stream;
		cluster_of(config, cluster);
		launched(thread, work, told, (cu_function)(uintptr_t)number_at(told, 1),
		         &config->sizes, cluster);
		break;
	}
	case CUDA_GRAPH:
		work->object = number_at(told, 0);
		work->many = true;
		break;
	case CUDA_BATCH:
		batch(work, told);
		break;
	case CUDA_RECTANGLE_2D:
		rectangle_2d(work, first);
		break;
	case CUDA_RECTANGLE_3D:
		rectangle_3d(work, first);
		break;
	case CUDA_ARRAY: {
		// The array is followed by its offset.
		bool to_array = function->called[8] == 'D';
		within(work, number_at(told, 0), number_at(told, to_array ? 2 : 1),
		       number_at(told, 3));
		break;
	}
	case CUDA_FILL:
		work->object = object_at(number_at(told, 0));
		work->amount = number_at(told, 2) * function->detail;
		break;
	case CUDA_FILL_2D:
		work->object = object_at(number_at(told, 0));
		work->amount = number_at(told, 3) * number_at(told, 4) * function->detail;
		break;
	default:
		copied(work, told, function->form);
	}
	work->nothing =
	    work->kind != TARE_KIND_KERNEL && work->kind != TARE_KIND_GRAPH && !work->amount;
}

// What goes into a graph that is being captured is no command: the graph's launches are.
bool cuda_is_captured(cu_stream stream)
{
	int status = 0;
	return atomic_load_explicit(&cuda_captures, memory_order_relaxed) > 0 &&
	       cuda_driver.cuStreamIsCapturing &&
	       cuda_driver.cuStreamIsCapturing(stream, &status) == ABI_SUCCESS && status != 0;
}

static uint8_t alignment_of(const void *host)
{
	int bits = host ? __builtin_ctzll((uintptr_t)host) : 255;
	return (uint8_t)(!host ? 255 : bits > 12 ? 12 : bits);
}

static void write_call_end(struct guest_thread *thread, uint32_t number, uint64_t exit)
{
	union tare_trace_record *record = guest_event(thread);
	if (!record)
		return;
	record->call_end = (struct tare_trace_call_end){ .number = number, .exit = exit };
	guest_commit(record, tare_trace_head(TARE_TRACE_CALL_END, 0, 0, thread->track));
}

static unsigned flags_of(const struct cuda_call *call, const struct work *work, uint64_t exit)
{
	unsigned flags = exit - call->enter >= UINT32_MAX ? TARE_COMMAND_LONG : 0;
	flags |= call->nested ? TARE_COMMAND_NESTED : 0;
	if (call->result != ABI_SUCCESS)
		return flags | TARE_COMMAND_FAILED;
	flags |= work->waits ? TARE_COMMAND_BLOCKING : 0;
	return flags | (cuda_timed && call->told->correlation ? 0 : TARE_COMMAND_NO_TIMES);
}

// Returns the command's number; 0: there was no room.
static uint32_t write_record(struct guest_thread *thread, const struct cuda_call *call,
                             const struct work *work, struct cuda_stream *stream, unsigned flags,
                             uint64_t exit)
{
	uint64_t waits[CUDA_MOST_WAITS];
	uint32_t wait_count =
	    stream && !(flags & TARE_COMMAND_FAILED) ? cuda_order_waits(stream, waits) : 0;
	union tare_trace_record *record = guest_command(thread);
	struct tare_trace_command *written;
	uint32_t number;
	if (CUDA_UNLIKELY(!record))
		return 0;
	flags |= wait_count ? TARE_COMMAND_DEPENDS : 0;
	written = &record->command;
	number = guest_next_number(thread);
	written->enter = call->enter;
	written->call_ticks =
	    flags & TARE_COMMAND_LONG ? UINT32_MAX : (uint32_t)(exit - call->enter);
	written->number = number;
	written->kind = work->kind;
	written->direction = work->direction;
	written->alignment = alignment_of(work->host);
	written->memory = work->memory;
	written->queue = stream ? stream->number : 0;
	written->object = work->object;
	written->amount = work->amount;
	written->event = flags & TARE_COMMAND_FAILED ? 0 : cuda_event_id(thread->track, number);
	written->object2 =
	    flags & TARE_COMMAND_FAILED ? (uint64_t)(int64_t)call->result : work->object2;
	guest_commit(record, tare_trace_head(TARE_TRACE_COMMAND, (uint8_t)flags,
	                                     cuda_detail(call->name), thread->track));
	if (CUDA_UNLIKELY(flags & TARE_COMMAND_LONG))
		write_call_end(thread, number, exit);
	if (CUDA_UNLIKELY(wait_count))
		cuda_write_depends(thread, 0, number, wait_count, waits);
	if (stream && !(flags & TARE_COMMAND_FAILED))
		atomic_store_explicit(&stream->last, cuda_event_id(thread->track, number),
		                      memory_order_relaxed);
	if (CUDA_UNLIKELY(guest_stacks))
		guest_site(thread, 0, number, guest_stack());
	return number;
}

static void compare(struct guest_thread *thread, const struct cuda_function *function,
                    const struct work *work, uint32_t number)
{
	if (work->part)
		cuda_write_part(thread, number, work->part);
	cuda_compare(thread, number,
	             &(struct cuda_copied){ .host = work->host,
	                                    .bytes = work->amount,
	                                    .to_device = work->kind == TARE_KIND_WRITE,
	                                    .waits = work->waits,
	                                    .row = function->form == CUDA_TO_DEVICE ||
	                                           function->form == CUDA_FROM_DEVICE ||
	                                           function->form == CUDA_BETWEEN });
}

void cuda_command_end(struct guest_thread *thread, const struct cuda_call *call)
{
	const struct cuda_function *function = &cuda_functions[call->function];
	uint64_t exit = guest_ticks();
	struct work work = { .kind = function->kind,
		             .waits = function->waits ||
		                      (cuda_launches_wait && function->kind == TARE_KIND_KERNEL) };
	struct cuda_stream *stream;
	unsigned flags;
	uint32_t number;
	if (function->stream != CUDA_NO_STREAM)
		work.stream = (cu_stream)(uintptr_t)number_at(call->told, function->stream);
	if (call->result == ABI_SUCCESS)
		describe(thread, call, &work);
	if (CUDA_UNLIKELY(work.nothing || cuda_is_captured(work.stream))) {
		cuda_call_end(thread, call);
		return;
	}
	thread->left_ticks = exit;
	if (function->waits)
		guest_waiting(thread, 0, 0);
	cuda_know_function(thread, call->name);
	stream = cuda_stream_of(thread, call->told, work.stream, call->of_thread);
	flags = flags_of(call, &work, exit);
	bool compares = guest_compares() && work.host && !(flags & TARE_COMMAND_FAILED);
	flags |= compares && work.part ? TARE_COMMAND_TRANSFER : 0;
	number = write_record(thread, call, &work, stream, flags, exit);
	if (CUDA_UNLIKELY(work.peers.source) && number)
		cuda_write_peers(thread, number, &work.peers);
	if (compares && number)
		compare(thread, function, &work, number);
	if (number && !(flags & (TARE_COMMAND_NO_TIMES | TARE_COMMAND_FAILED)))
		cuda_pending_add(thread, call->told->correlation, number,
		                 work.many || work.peers.source, cuda_ends(&work.peers),
		                 work.kernel);
	guest_cpu_time(thread, call->enter, exit);
}
