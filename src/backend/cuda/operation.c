// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/internal.h"

#include <errno.h>
#include <string.h>

// Where a copy finds a memory, in CUDA's terms.
enum side { SIDE_HOST, SIDE_DEVICE, SIDE_MANAGED };

static enum side side_of(const struct tare_memory *memory)
{
	if (memory->kind == TARE_MEMORY_DEVICE)
		return SIDE_DEVICE;
	return memory->kind == TARE_MEMORY_SHARED ? SIDE_MANAGED : SIDE_HOST;
}

// The span's start as the unified address space knows it.
static cu_pointer unified_address(const struct tare_span *span)
{
	return side_of(span->memory) == SIDE_HOST ? (cu_pointer)(uintptr_t)cuda_host_address(span)
	                                          : cuda_device_address(span);
}

static struct cuda_device *device_of(const struct cuda_queue *queue)
{
	return cuda_device_of(queue->base.device);
}

static int copy(struct cuda_queue *queue, const struct tare_operation *operation,
                struct tare_error *error)
{
	const struct cuda_functions *call = &device_of(queue)->driver->call;
	const struct tare_span *from = &operation->source, *to = &operation->destination;
	enum side source = side_of(from->memory), destination = side_of(to->memory);
	// The legacy stream has blocking forms of its own; another stream's is to synchronise it.
	bool native = operation->blocking && queue->legacy;
	const char *name;
	cu_result result;

	if (cuda_is_array(from->memory) || cuda_is_array(to->memory))
		return cuda_copy_array(device_of(queue), operation, queue->stream, error);
	if (from->bytes != to->bytes)
		return tare_fail(error, EINVAL, "a copy of %llu bytes into %llu",
		                 (unsigned long long)from->bytes, (unsigned long long)to->bytes);
	if (source == SIDE_DEVICE && destination == SIDE_DEVICE &&
	    from->memory->device != to->memory->device)
		return cuda_peer_copy(device_of(queue), from, to, queue->stream, error);
	if (source == SIDE_HOST && destination == SIDE_DEVICE) {
		name = native ? "cuMemcpyHtoD_v2" : "cuMemcpyHtoDAsync_v2";
		result = native ? call->cuMemcpyHtoD_v2(cuda_device_address(to),
		                                        cuda_host_address(from), to->bytes)
		                : call->cuMemcpyHtoDAsync_v2(cuda_device_address(to),
		                                             cuda_host_address(from), to->bytes,
		                                             queue->stream);
	} else if (source == SIDE_DEVICE && destination == SIDE_HOST) {
		name = native ? "cuMemcpyDtoH_v2" : "cuMemcpyDtoHAsync_v2";
		result = native ? call->cuMemcpyDtoH_v2(cuda_host_address(to),
		                                        cuda_device_address(from), to->bytes)
		                : call->cuMemcpyDtoHAsync_v2(cuda_host_address(to),
		                                             cuda_device_address(from), to->bytes,
		                                             queue->stream);
	} else if (source == SIDE_DEVICE && destination == SIDE_DEVICE && !native) {
		name = "cuMemcpyDtoDAsync_v2";
		result = call->cuMemcpyDtoDAsync_v2(
		    cuda_device_address(to), cuda_device_address(from), to->bytes, queue->stream);
	} else {
		name = native ? "cuMemcpy" : "cuMemcpyAsync";
		result = native
		             ? call->cuMemcpy(unified_address(to), unified_address(from), to->bytes)
		             : call->cuMemcpyAsync(unified_address(to), unified_address(from),
		                                   to->bytes, queue->stream);
	}
	if (result != ABI_SUCCESS)
		return cuda_fail(device_of(queue)->driver, result, name, error,
		                 "cannot copy %llu bytes", (unsigned long long)to->bytes);
	return 0;
}

static int memory_type(const struct tare_memory *memory)
{
	static const int types[] = {
		[SIDE_HOST] = ABI_MEMORYTYPE_HOST,
		[SIDE_DEVICE] = ABI_MEMORYTYPE_DEVICE,
		[SIDE_MANAGED] = ABI_MEMORYTYPE_UNIFIED,
	};
	return types[side_of(memory)];
}

// A layer pitch in rows, as CUDA wants it.
static int rows_a_layer(uint64_t row_pitch, uint64_t layer_pitch, uint64_t rows, size_t *height,
                        struct tare_error *error)
{
	if (row_pitch == 0)
		return tare_fail(error, EINVAL, "a rectangle without a row pitch");
	if (layer_pitch % row_pitch)
		return tare_fail(error, ENOTSUP,
		                 "CUDA copies only layers that begin a whole number of rows apart");
	*height = layer_pitch ? layer_pitch / row_pitch : rows;
	return 0;
}

static int rectangle(struct cuda_queue *queue, const struct tare_operation *operation,
                     struct tare_error *error)
{
	const struct tare_rectangle *shape = &operation->rectangle;
	const struct tare_span *from = &operation->source, *to = &operation->destination;
	cu_memcpy3d what = {
		.source_type = memory_type(from->memory),
		.source_host = cuda_host_address(from),
		.source_device = cuda_device_address(from),
		.source_pitch = shape->source_row_pitch,
		.destination_type = memory_type(to->memory),
		.destination_host = cuda_host_address(to),
		.destination_device = cuda_device_address(to),
		.destination_pitch = shape->destination_row_pitch,
		.width_bytes = shape->row_bytes,
		.height = shape->rows,
		.depth = shape->layers,
	};
	int status = rows_a_layer(shape->source_row_pitch, shape->source_layer_pitch, shape->rows,
	                          &what.source_height, error);

	if (status == 0)
		status = rows_a_layer(shape->destination_row_pitch, shape->destination_layer_pitch,
		                      shape->rows, &what.destination_height, error);
	if (status < 0)
		return status;
	cu_result result = device_of(queue)->driver->call.cuMemcpy3DAsync_v2(&what, queue->stream);
	if (result != ABI_SUCCESS)
		return cuda_fail(device_of(queue)->driver, result, "cuMemcpy3DAsync_v2", error,
		                 "cannot copy a rectangle");
	return 0;
}

// The pattern as one value of at most four bytes. A longer one must repeat itself.
static int shorten(const void *pattern, uint32_t *bytes, uint32_t *value, struct tare_error *error)
{
	const char *at = pattern;

	while (*bytes > 4) {
		if (memcmp(at, at + *bytes / 2, *bytes / 2) != 0)
			return tare_fail(error, ENOTSUP,
			                 "CUDA fills with patterns of at most 4 bytes");
		*bytes /= 2;
	}
	*value = 0;
	memcpy(value, at, *bytes);
	return 0;
}

static int fill(struct cuda_queue *queue, const struct tare_operation *operation,
                struct tare_error *error)
{
	const struct cuda_functions *call = &device_of(queue)->driver->call;
	const struct tare_span *to = &operation->destination;
	cu_pointer at = cuda_device_address(to);
	uint32_t bytes = operation->fill.pattern_bytes, value;
	const char *name;
	cu_result result;
	int status;

	if (bytes == 0 || bytes > 16 || (bytes & (bytes - 1)))
		return tare_fail(error, EINVAL, "a pattern of %u bytes; it is 1, 2, 4, 8 or 16",
		                 bytes);
	if (!at)
		return tare_fail(error, ENOTSUP,
		                 "CUDA fills only memory that the device addresses");
	if (to->bytes % bytes)
		return tare_fail(error, EINVAL, "%llu bytes are no whole number of patterns",
		                 (unsigned long long)to->bytes);
	status = shorten(operation->fill.pattern, &bytes, &value, error);
	if (status < 0)
		return status;
	if (bytes == 1) {
		name = "cuMemsetD8Async";
		result = call->cuMemsetD8Async(at, (unsigned char)value, to->bytes, queue->stream);
	} else if (bytes == 2) {
		name = "cuMemsetD16Async";
		result =
		    call->cuMemsetD16Async(at, (unsigned short)value, to->bytes / 2, queue->stream);
	} else {
		name = "cuMemsetD32Async";
		result = call->cuMemsetD32Async(at, value, to->bytes / 4, queue->stream);
	}
	if (result != ABI_SUCCESS)
		return cuda_fail(device_of(queue)->driver, result, name, error,
		                 "cannot fill %llu bytes", (unsigned long long)to->bytes);
	return 0;
}

// A LOCAL argument becomes a 32-bit parameter: where its bytes begin in the block's dynamic
// shared memory, of which CUDA has one piece a kernel. Each begins 16-byte aligned.
static int launch(struct cuda_queue *queue, const struct tare_operation *operation,
                  struct tare_error *error)
{
	const struct tare_launch *what = &operation->launch;
	cu_pointer addresses[CUDA_MAX_ARGUMENTS];
	uint32_t offsets[CUDA_MAX_ARGUMENTS];
	uint64_t shared_bytes = 0;
	void *parameters[CUDA_MAX_ARGUMENTS];

	if (what->argument_count > CUDA_MAX_ARGUMENTS)
		return tare_fail(error, EINVAL,
		                 "a kernel with %u arguments; tare passes at most %d",
		                 what->argument_count, CUDA_MAX_ARGUMENTS);
	for (uint32_t i = 0; i < what->argument_count; i++) {
		const struct tare_argument *argument = &what->arguments[i];
		switch (argument->type) {
		case TARE_ARGUMENT_MEMORY:
			addresses[i] = cuda_device_address(&argument->span);
			if (!addresses[i])
				return tare_fail(
				    error, EINVAL,
				    "argument %u is memory that the device cannot address", i);
			parameters[i] = &addresses[i];
			break;
		case TARE_ARGUMENT_VALUE:
			parameters[i] = (void *)(uintptr_t)argument->value;
			break;
		case TARE_ARGUMENT_LOCAL:
			offsets[i] = (uint32_t)shared_bytes;
			if (argument->bytes <= UINT32_MAX)
				shared_bytes += ((uint64_t)argument->bytes + 15) & ~UINT64_C(15);
			if (argument->bytes > UINT32_MAX || shared_bytes > UINT32_MAX)
				return tare_fail(error, EINVAL,
				                 "more than 4 GiB of local memory a work-group");
			parameters[i] = &offsets[i];
			break;
		}
	}
	cu_result result = device_of(queue)->driver->call.cuLaunchKernel(
	    ((struct cuda_kernel *)what->kernel)->handle, what->groups[0], what->groups[1],
	    what->groups[2], what->group_size[0], what->group_size[1], what->group_size[2],
	    (uint32_t)shared_bytes, queue->stream, parameters, NULL);
	if (result != ABI_SUCCESS)
		return cuda_fail(device_of(queue)->driver, result, "cuLaunchKernel", error,
		                 "cannot launch %u x %u x %u groups of %u x %u x %u",
		                 what->groups[0], what->groups[1], what->groups[2],
		                 what->group_size[0], what->group_size[1], what->group_size[2]);
	return 0;
}

static int host_call(struct cuda_queue *queue, const struct tare_operation *operation,
                     struct tare_error *error)
{
	const struct cuda_functions *call = &device_of(queue)->driver->call;

	if (!call->cuLaunchHostFunc)
		return tare_fail(error, ENOTSUP,
		                 "this CUDA driver has no host functions (it needs 10.0 or later)");
	cu_result result = call->cuLaunchHostFunc(queue->stream, operation->call.function,
	                                          operation->call.context);
	if (result != ABI_SUCCESS)
		return cuda_fail(device_of(queue)->driver, result, "cuLaunchHostFunc", error,
		                 "cannot call the host");
	return 0;
}

static int perform(struct cuda_queue *queue, const struct tare_operation *operation,
                   struct tare_error *error)
{
	switch (operation->type) {
	case TARE_OPERATION_COPY:
		return copy(queue, operation, error);
	case TARE_OPERATION_RECTANGLE:
		return rectangle(queue, operation, error);
	case TARE_OPERATION_FILL:
		return fill(queue, operation, error);
	case TARE_OPERATION_MIGRATE:
		return cuda_memory_migrate(device_of(queue), &operation->destination,
		                           operation->to_host, queue->stream, error);
	case TARE_OPERATION_LAUNCH:
		return launch(queue, operation, error);
	case TARE_OPERATION_MARKER:
		return 0; // the order of the stream and the waits do it
	case TARE_OPERATION_HOST_CALL:
		return host_call(queue, operation, error);
	case TARE_OPERATION_MAP:
	case TARE_OPERATION_UNMAP:
		return tare_fail(error, ENOTSUP,
		                 "CUDA maps no memory; its host memory is always visible");
	}
	return tare_fail(error, EINVAL, "no such operation");
}

static bool is_pageable(const struct tare_span *span)
{
	return span->memory && span->memory->kind == TARE_MEMORY_PAGEABLE;
}

// Whether the operation waits for an event that is not done yet.
static bool waits_now(const struct cuda_queue *queue, const struct tare_operation *operation)
{
	for (uint32_t i = 0; i < operation->wait_count; i++)
		if (device_of(queue)->driver->call.cuEventQuery(
		        ((struct cuda_event *)operation->waits[i])->end) != ABI_SUCCESS)
			return true;
	return false;
}

// Behind a shut gate, its own queue's or that of a queue it waits for, the host must not be made
// to wait for the device: nobody would open the gate.
static int check_gate(struct cuda_queue *queue, const struct tare_operation *operation, bool event,
                      struct tare_error *error)
{
	// Nothing runs; and events of recorded operations must not be asked.
	if (queue->capturing)
		return 0;
	queue->depends = device_of(queue)->gates && (queue->depends || waits_now(queue, operation));
	if (!queue->gates && !queue->depends)
		return cuda_count_held(queue, 0, false, error);
	if (operation->blocking)
		return tare_fail(error, EINVAL,
		                 "a blocking operation behind a shut gate would wait for ever");
	// The driver stages pageable memory while the caller waits.
	if (is_pageable(&operation->source) || is_pageable(&operation->destination))
		return tare_fail(
		    error, EINVAL,
		    "a copy of pageable memory behind a shut gate would wait for ever");
	return cuda_count_held(queue, operation->wait_count, event, error);
}

static int wait_for_others(struct cuda_queue *queue, const struct tare_operation *operation,
                           struct tare_error *error)
{
	for (uint32_t i = 0; i < operation->wait_count; i++) {
		struct cuda_event *event = (struct cuda_event *)operation->waits[i];
		cu_result result =
		    device_of(queue)->driver->call.cuStreamWaitEvent(queue->stream, event->end, 0);
		if (result == ABI_SUCCESS)
			cuda_graph_join(queue, event);
		if (result != ABI_SUCCESS)
			return cuda_fail(device_of(queue)->driver, result, "cuStreamWaitEvent",
			                 error, "cannot wait for an event");
	}
	return 0;
}

// The blocking forms of the legacy stream wait themselves, except between two device memories.
static bool blocks_by_itself(const struct cuda_queue *queue, const struct tare_operation *operation)
{
	return queue->legacy && operation->type == TARE_OPERATION_COPY &&
	       !cuda_is_array(operation->source.memory) &&
	       !cuda_is_array(operation->destination.memory) &&
	       (side_of(operation->source.memory) == SIDE_HOST ||
	        side_of(operation->destination.memory) == SIDE_HOST);
}

int cuda_append(struct tare_queue *base, const struct tare_operation *operation,
                struct tare_event **event, struct tare_error *error)
{
	struct cuda_queue *queue = (struct cuda_queue *)base;
	struct cuda_event *made = NULL;
	int status = cuda_queue_enter(queue, error);

	if (status == 0 && operation->blocking && queue->capturing)
		status = tare_fail(error, EINVAL, "a graph cannot contain a blocking operation");
	status = status ?: check_gate(queue, operation, event != NULL, error);
	status = status ?: wait_for_others(queue, operation, error);
	if (status == 0 && event)
		status = cuda_bracket_begin(queue, &made, error);
	status = status ?: cuda_node_begin(queue, operation->type, error);
	status = status ?: perform(queue, operation, error);
	status = status ?: cuda_node_end(queue, error);
	if (status == 0 && made)
		status = cuda_bracket_end(queue, made, error);
	if (status == 0 && operation->blocking && (made || !blocks_by_itself(queue, operation)))
		status = cuda_finish(base, TARE_LIMIT_NATIVE, error);
	return cuda_bracket_give(made, status, event);
}
