// SPDX-License-Identifier: Apache-2.0
// MAP and UNMAP: a buffer or shared memory becomes visible to the host, and the device's again.
#include "backend/opencl/opencl.h"

#include <errno.h>

static cl_map_flags map_flags(enum tare_map_access access)
{
	if (access & TARE_MAP_DISCARD)
		return CL_MAP_WRITE_INVALIDATE_REGION;
	return (access & TARE_MAP_READ ? CL_MAP_READ : 0) |
	       (access & TARE_MAP_WRITE ? CL_MAP_WRITE : 0);
}

static int map_svm(const struct opencl_append *append, struct tare_error *error)
{
	const struct tare_span *span = &append->operation->destination;
	struct opencl_memory *memory = (struct opencl_memory *)span->memory;
	char *address = (char *)memory->svm + span->offset_bytes;
	cl_int code = append->device->cl->clEnqueueSVMMap(
	    append->queue->queue, append->operation->blocking, map_flags(append->operation->access),
	    address, span->bytes, append->wait_count, append->waits, append->event);

	if (code != CL_SUCCESS)
		return opencl_fail(error, "clEnqueueSVMMap", code, "cannot map shared memory");
	memory->mapped = address;
	memory->base.host = memory->svm;
	return 0;
}

int opencl_append_map(const struct opencl_append *append, struct tare_error *error)
{
	const struct tare_span *span = &append->operation->destination;
	struct opencl_memory *memory = (struct opencl_memory *)span->memory;
	cl_int code = CL_SUCCESS;

	if (memory->base.kind != TARE_MEMORY_SHARED && memory->base.kind != TARE_MEMORY_DEVICE &&
	    memory->base.kind != TARE_MEMORY_MAPPED)
		return tare_fail(error, ENOTSUP, "host memory needs no mapping");
	if (memory->mapped)
		return tare_fail(error, EINVAL, "the memory is mapped already");
	if (memory->base.kind == TARE_MEMORY_SHARED)
		return map_svm(append, error);
	void *mapped = append->device->cl->clEnqueueMapBuffer(
	    append->queue->queue, memory->buffer, append->operation->blocking,
	    map_flags(append->operation->access), span->offset_bytes, span->bytes,
	    append->wait_count, append->waits, append->event, &code);
	if (code != CL_SUCCESS)
		return opencl_fail(error, "clEnqueueMapBuffer", code, "cannot map a buffer");
	memory->mapped = mapped;
	// As everywhere, offsets count from the memory's start, also where only a part is mapped.
	memory->base.host = (void *)((uintptr_t)mapped - span->offset_bytes);
	return 0;
}

int opencl_append_unmap(const struct opencl_append *append, struct tare_error *error)
{
	struct opencl_memory *memory =
	    (struct opencl_memory *)append->operation->destination.memory;
	const struct opencl_functions *cl = append->device->cl;
	cl_int code;

	if (!memory->mapped || memory->base.kind == TARE_MEMORY_PINNED ||
	    memory->base.kind == TARE_MEMORY_REGISTERED)
		return tare_fail(error, EINVAL, "the memory was not mapped by an operation");
	if (memory->base.kind == TARE_MEMORY_SHARED) {
		code = cl->clEnqueueSVMUnmap(append->queue->queue, memory->mapped,
		                             append->wait_count, append->waits, append->event);
		if (code != CL_SUCCESS)
			return opencl_fail(error, "clEnqueueSVMUnmap", code,
			                   "cannot unmap shared memory");
		memory->base.host = memory->svm_fine ? memory->svm : NULL;
	} else {
		code = cl->clEnqueueUnmapMemObject(append->queue->queue, memory->buffer,
		                                   memory->mapped, append->wait_count,
		                                   append->waits, append->event);
		if (code != CL_SUCCESS)
			return opencl_fail(error, "clEnqueueUnmapMemObject", code,
			                   "cannot unmap a buffer");
		memory->base.host = NULL;
	}
	memory->mapped = NULL;
	return 0;
}
