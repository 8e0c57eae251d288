// SPDX-License-Identifier: Apache-2.0
// Appending: the wait list, the handle, and the operations that need few lines.
#include "backend/opencl/opencl.h"

#include <errno.h>
#include <stdlib.h>

enum { FEW_WAITS = 16 };

// Handles of the events to wait for. A command that waits for one of another queue needs that
// queue flushed first (OpenCL 5.15), or it may wait for ever.
static void gather_waits(const struct opencl_queue *queue, const struct tare_operation *operation,
                         cl_event *waits)
{
	const struct opencl_functions *cl = opencl_device(queue->base.device)->cl;

	for (uint32_t i = 0; i < operation->wait_count; i++) {
		cl_command_queue other = NULL;
		waits[i] = ((const struct opencl_event *)operation->waits[i])->event;
		cl->clGetEventInfo(waits[i], CL_EVENT_COMMAND_QUEUE, sizeof(cl_command_queue),
		                   &other, NULL);
		if (other && other != queue->queue)
			cl->clFlush(other);
	}
}

static int append_fill(const struct opencl_append *append, struct tare_error *error)
{
	const struct opencl_functions *cl = append->device->cl;
	const struct tare_span *to = &append->operation->destination;
	const struct opencl_memory *memory = (struct opencl_memory *)to->memory;
	const void *pattern = append->operation->fill.pattern;
	size_t pattern_bytes = append->operation->fill.pattern_bytes;
	cl_int code;

	if (opencl_is_image(to->memory))
		return tare_fail(error, ENOTSUP, "images are not filled");
	switch (to->memory->kind) {
	case TARE_MEMORY_SHARED:
		code = cl->clEnqueueSVMMemFill(
		    append->queue->queue, (char *)memory->svm + to->offset_bytes, pattern,
		    pattern_bytes, to->bytes, append->wait_count, append->waits, append->event);
		if (code != CL_SUCCESS)
			return opencl_fail(error, "clEnqueueSVMMemFill", code,
			                   "cannot fill memory");
		return 0;
	case TARE_MEMORY_DEVICE:
	case TARE_MEMORY_MAPPED:
		code = cl->clEnqueueFillBuffer(append->queue->queue, memory->buffer, pattern,
		                               pattern_bytes, to->offset_bytes, to->bytes,
		                               append->wait_count, append->waits, append->event);
		if (code != CL_SUCCESS)
			return opencl_fail(error, "clEnqueueFillBuffer", code,
			                   "cannot fill memory");
		return 0;
	default:
		return tare_fail(error, ENOTSUP, "OpenCL fills no host memory");
	}
}

static int append_migrate(const struct opencl_append *append, struct tare_error *error)
{
	const struct opencl_functions *cl = append->device->cl;
	const struct tare_span *span = &append->operation->destination;
	const struct opencl_memory *memory = (struct opencl_memory *)span->memory;
	cl_mem_migration_flags flags = append->operation->to_host ? CL_MIGRATE_MEM_OBJECT_HOST : 0;
	cl_int code;

	if (span->memory->kind == TARE_MEMORY_SHARED) {
		const void *pointer = (char *)memory->svm + span->offset_bytes;
		size_t bytes = span->bytes;
		if (!cl->clEnqueueSVMMigrateMem || append->device->entry.version < 210)
			return tare_fail(
			    error, ENOTSUP,
			    "moving shared memory needs OpenCL 2.1; this device has %u.%u",
			    append->device->entry.version / 100,
			    append->device->entry.version / 10 % 10);
		code = cl->clEnqueueSVMMigrateMem(append->queue->queue, 1, &pointer, &bytes, flags,
		                                  append->wait_count, append->waits, append->event);
		if (code != CL_SUCCESS)
			return opencl_fail(error, "clEnqueueSVMMigrateMem", code,
			                   "cannot move memory");
		return 0;
	}
	if (span->memory->kind != TARE_MEMORY_DEVICE && span->memory->kind != TARE_MEMORY_MAPPED)
		return tare_fail(error, ENOTSUP, "OpenCL moves buffers and shared memory only");
	if (span->offset_bytes || span->bytes != span->memory->bytes)
		return tare_fail(error, EINVAL, "OpenCL moves whole buffers only");
	if (append->operation->to_host && !append->device->moves_to_host)
		return tare_fail(
		    error, ENOTSUP,
		    "PoCL 6 hangs when its device without threads moves a buffer to the host; "
		    "its other devices do not (POCL_DEVICES=pthread)");
	code = cl->clEnqueueMigrateMemObjects(append->queue->queue, 1, &memory->buffer, flags,
	                                      append->wait_count, append->waits, append->event);
	if (code != CL_SUCCESS)
		return opencl_fail(error, "clEnqueueMigrateMemObjects", code, "cannot move memory");
	return 0;
}

static int append_marker(const struct opencl_append *append, struct tare_error *error)
{
	cl_int code = append->device->cl->clEnqueueMarkerWithWaitList(
	    append->queue->queue, append->wait_count, append->waits, append->event);
	return opencl_result(error, "clEnqueueMarkerWithWaitList", code, "cannot append a marker");
}

static int dispatch(const struct opencl_append *append, struct tare_error *error)
{
	switch (append->operation->type) {
	case TARE_OPERATION_COPY:
		return opencl_append_copy(append, error);
	case TARE_OPERATION_RECTANGLE:
		return opencl_append_rectangle(append, error);
	case TARE_OPERATION_FILL:
		return append_fill(append, error);
	case TARE_OPERATION_MAP:
		return opencl_append_map(append, error);
	case TARE_OPERATION_UNMAP:
		return opencl_append_unmap(append, error);
	case TARE_OPERATION_MIGRATE:
		return append_migrate(append, error);
	case TARE_OPERATION_LAUNCH:
		return opencl_append_launch(append, error);
	case TARE_OPERATION_MARKER:
		return append_marker(append, error);
	case TARE_OPERATION_HOST_CALL:
		return opencl_append_host_call(append, error);
	}
	return tare_fail(error, EINVAL, "unknown operation %d", (int)append->operation->type);
}

// Whether OpenCL has no blocking form of the operation; the nearest is the call and a wait for its
// event. A call that can block is left to do it alone: what we add would be measured with it.
static bool block_by_waiting(const struct tare_operation *operation)
{
	if (!operation->blocking)
		return false;
	return operation->type == TARE_OPERATION_MIGRATE ||
	       ((operation->type == TARE_OPERATION_COPY ||
	         operation->type == TARE_OPERATION_RECTANGLE) &&
	        opencl_copies_between_buffers(operation));
}

static int append_waiting_for(const struct opencl_append *given, struct opencl_event *handle,
                              struct tare_error *error)
{
	struct opencl_append append = *given;
	cl_event event = NULL;
	bool wait = block_by_waiting(append.operation);

	if (handle || wait)
		append.event = &event;
	int rc = dispatch(&append, error);
	if (rc < 0)
		return rc;
	if (wait)
		rc = opencl_wait(append.device, event, TARE_LIMIT_NATIVE, "an operation", error);
	if (handle && rc == 0)
		handle->event = event;
	else if (event)
		append.device->cl->clReleaseEvent(event);
	return rc;
}

int opencl_append(struct tare_queue *queue, const struct tare_operation *operation,
                  struct tare_event **event, struct tare_error *error)
{
	struct opencl_queue *own = (struct opencl_queue *)queue;
	cl_event few[FEW_WAITS];
	cl_event *waits = few;
	struct opencl_event *handle = NULL;
	int rc;

	if (operation->wait_count > FEW_WAITS) {
		waits = calloc(operation->wait_count, sizeof(cl_event));
		if (!waits)
			return tare_fail(error, ENOMEM, "out of memory");
	}
	if (event) {
		handle = calloc(1, sizeof *handle);
		if (!handle) {
			rc = tare_fail(error, ENOMEM, "out of memory");
			goto out;
		}
		handle->base.device = queue->device;
		handle->timed = own->timed;
	}
	gather_waits(own, operation, waits);
	rc = append_waiting_for(
	    &(struct opencl_append){
	        .device = opencl_device(queue->device),
	        .queue = own,
	        .operation = operation,
	        .wait_count = operation->wait_count,
	        .waits = operation->wait_count ? waits : NULL,
	    },
	    handle, error);
	if (rc == 0 && event)
		*event = &handle->base;
	else
		free(handle);
out:
	if (waits != few)
		free(waits);
	return rc;
}
