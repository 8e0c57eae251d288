// SPDX-License-Identifier: Apache-2.0
// LAUNCH: arguments, then the kernel.
#include "backend/opencl/opencl.h"

#include <errno.h>

enum { MOST_ARGUMENTS = 64 };

// Buffer arguments that begin inside their memory need sub-buffers. The kernel does not hold them,
// an appended launch does; so they are released once it is appended.
struct sub_buffers {
	cl_mem list[MOST_ARGUMENTS];
	uint32_t count;
};

static int make_sub_buffer(const struct opencl_append *append, const struct tare_span *span,
                           uint32_t index, struct sub_buffers *made, struct tare_error *error)
{
	const struct opencl_memory *memory = (struct opencl_memory *)span->memory;
	cl_buffer_region region = {
		.origin = span->offset_bytes,
		.size = span->bytes ? span->bytes : span->memory->bytes - span->offset_bytes,
	};
	cl_int code = CL_SUCCESS;
	cl_mem sub_buffer = append->device->cl->clCreateSubBuffer(
	    memory->buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);

	if (code != CL_SUCCESS)
		return opencl_fail(error, "clCreateSubBuffer", code,
		                   "argument %u cannot begin %zu bytes into a buffer", index,
		                   (size_t)span->offset_bytes);
	made->list[made->count++] = sub_buffer;
	return 0;
}

static int set_pointer(const struct opencl_append *append, cl_kernel kernel, uint32_t index,
                       const void *pointer, struct tare_error *error)
{
	cl_int code = append->device->cl->clSetKernelArgSVMPointer(kernel, index, pointer);
	return opencl_result(error, "clSetKernelArgSVMPointer", code, "argument %u refused", index);
}

static int set_plain(const struct opencl_append *append, cl_kernel kernel, uint32_t index,
                     const void *value, size_t bytes, struct tare_error *error)
{
	cl_int code = append->device->cl->clSetKernelArg(kernel, index, bytes, value);
	return opencl_result(error, "clSetKernelArg", code, "argument %u refused", index);
}

static int set_memory(const struct opencl_append *append, cl_kernel kernel, uint32_t index,
                      const struct tare_span *span, struct sub_buffers *made,
                      struct tare_error *error)
{
	const struct opencl_memory *memory = (struct opencl_memory *)span->memory;
	const cl_mem *buffer = &memory->buffer;

	switch (span->memory->kind) {
	case TARE_MEMORY_SHARED:
		return set_pointer(append, kernel, index, (char *)memory->svm + span->offset_bytes,
		                   error);
	case TARE_MEMORY_PAGEABLE:
		if (!(append->device->svm & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM))
			return tare_fail(error, ENOTSUP,
			                 "this device's kernels cannot address plain "
			                 "host memory (argument %u)",
			                 index);
		return set_pointer(append, kernel, index,
		                   (char *)span->memory->host + span->offset_bytes, error);
	case TARE_MEMORY_DEVICE:
	case TARE_MEMORY_MAPPED:
		break;
	default:
		// Its buffer stays mapped for the host, and kernels must not write what is mapped.
		return tare_fail(error, ENOTSUP,
		                 "argument %u is pinned for the host; kernels take "
		                 "device, shared or mapped memory",
		                 index);
	}
	if (span->offset_bytes) {
		int rc = make_sub_buffer(append, span, index, made, error);
		if (rc < 0)
			return rc;
		buffer = &made->list[made->count - 1];
	}
	return set_plain(append, kernel, index, buffer, sizeof(cl_mem), error);
}

static int set_arguments(const struct opencl_append *append, cl_kernel kernel,
                         struct sub_buffers *made, struct tare_error *error)
{
	const struct tare_launch *launch = &append->operation->launch;
	int rc = 0;

	if (launch->argument_count > MOST_ARGUMENTS)
		return tare_fail(error, EINVAL, "a kernel with more than %d arguments",
		                 MOST_ARGUMENTS);
	for (uint32_t i = 0; i < launch->argument_count && rc == 0; i++) {
		const struct tare_argument *argument = &launch->arguments[i];
		switch (argument->type) {
		case TARE_ARGUMENT_MEMORY:
			rc = set_memory(append, kernel, i, &argument->span, made, error);
			break;
		case TARE_ARGUMENT_VALUE:
			rc = set_plain(append, kernel, i, argument->value, argument->bytes, error);
			break;
		case TARE_ARGUMENT_LOCAL:
			rc = set_plain(append, kernel, i, NULL, argument->bytes, error);
			break;
		}
	}
	return rc;
}

static int enqueue(const struct opencl_append *append, const struct opencl_kernel *kernel,
                   struct tare_error *error)
{
	const struct tare_launch *launch = &append->operation->launch;
	bool ends = ((const struct opencl_module *)kernel->base.module)->ends;
	cl_int code = CL_SUCCESS;
	int rc = 0;
	struct opencl_launch_call call = {
		.queue = append->queue->queue,
		.kernel = kernel->kernel,
		.dimensions = 1,
		.wait_count = append->wait_count,
		.waits = append->waits,
		.event = append->event,
	};

	for (cl_uint i = 0; i < 3; i++) {
		call.local[i] = launch->group_size[i];
		call.global[i] = (size_t)launch->groups[i] * launch->group_size[i];
		if (!call.global[i])
			return tare_fail(error, EINVAL, "a launch without work in dimension %u", i);
		if (call.global[i] > 1)
			call.dimensions = i + 1;
	}
	if (append->device->runs_inside_calls && !ends)
		rc = opencl_launch_aside(append->device, &call, &code, error);
	else
		code = opencl_launch_now(append->device->cl, &call);
	if (rc < 0)
		return rc;
	return opencl_result(error, "clEnqueueNDRangeKernel", code, "cannot launch a kernel");
}

int opencl_append_launch(const struct opencl_append *append, struct tare_error *error)
{
	const struct opencl_kernel *kernel =
	    (struct opencl_kernel *)append->operation->launch.kernel;
	struct sub_buffers made;

	made.count = 0;
	int rc = set_arguments(append, kernel->kernel, &made, error);
	if (rc == 0)
		rc = enqueue(append, kernel, error);
	while (made.count)
		append->device->cl->clReleaseMemObject(made.list[--made.count]);
	return rc;
}
