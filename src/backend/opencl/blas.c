// SPDX-License-Identifier: Apache-2.0
// The matrix product of CLBlast, opened at run time. Its C interface (clblast_c.h, version 1) is
// declared here as far as it is called.
#include "backend/opencl/opencl.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

enum { ROW_MAJOR = 101, NOT_TRANSPOSED = 111 };

struct clblast {
	// layout, transpose a, transpose b, m, n, k, alpha, a, its offset and leading dimension in
	// elements, b and c likewise, with beta before c.
	int (*CLBlastSgemm)(int, int, int, size_t, size_t, size_t, float, cl_mem, size_t, size_t,
	                    cl_mem, size_t, size_t, float, cl_mem, size_t, size_t,
	                    cl_command_queue *, cl_event *);
	int (*CLBlastClearCache)(void);
};

struct opencl_blas {
	struct tare_library *library;
	struct clblast call;
	bool worked;
};

static int open_blas(struct opencl_device *device, struct tare_error *error)
{
	static const struct tare_symbol symbols[] = {
		TARE_SYMBOL(struct clblast, CLBlastSgemm),
		TARE_SYMBOL_OPTIONAL(struct clblast, CLBlastClearCache),
	};
	const char *chosen = getenv("TARE_CLBLAST_LIBRARY");
	const char *const names[] = { chosen && *chosen ? chosen : "libclblast.so.1", NULL };

	if (device->blas)
		return 0;
	struct opencl_blas *blas = calloc(1, sizeof *blas);
	if (!blas)
		return tare_fail(error, ENOMEM, "out of memory");
	int rc = tare_library_open(names, symbols, sizeof symbols / sizeof *symbols, &blas->call,
	                           &blas->library, error);
	if (rc < 0) {
		free(blas);
		if (rc != -ENOENT)
			return rc;
		return tare_fail(
		    error, ENOENT,
		    "the OpenCL matrix library CLBlast is not here (tried %s); install "
		    "libclblast1",
		    names[0]);
	}
	// It leaves handlers for the end of the process behind; its code must stay mapped.
	dlopen(names[0], RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
	device->blas = blas;
	return 0;
}

void opencl_blas_close(struct opencl_device *device)
{
	struct opencl_blas *blas = device->blas;

	if (!blas)
		return;
	// The programs that it keeps belong to this device's context.
	if (blas->call.CLBlastClearCache)
		blas->call.CLBlastClearCache();
	tare_library_close(blas->library);
	free(blas);
	device->blas = NULL;
}

static int check_matrix(const struct opencl_device *device, uint32_t n,
                        const struct tare_span *span, const char *name, struct tare_error *error)
{
	const struct opencl_memory *memory = (struct opencl_memory *)span->memory;
	uint64_t bytes = (uint64_t)n * n * sizeof(float);

	if (!memory || memory->base.device != &device->base)
		return tare_fail(error, EINVAL, "matrix %s is no memory of this device", name);
	if (!memory->buffer ||
	    (memory->base.kind != TARE_MEMORY_DEVICE && memory->base.kind != TARE_MEMORY_MAPPED))
		return tare_fail(
		    error, ENOTSUP,
		    "matrix %s is not in a buffer: CLBlast takes device or mapped memory", name);
	if (n == 0 || span->offset_bytes % sizeof(float) ||
	    span->offset_bytes > memory->base.bytes ||
	    bytes > memory->base.bytes - span->offset_bytes)
		return tare_fail(error, EINVAL, "matrix %s of %u x %u does not fit its memory",
		                 name, n, n);
	return 0;
}

// CLBlast has codes of its own from -1024 down, and OpenCL's above.
static int call_sgemm(struct opencl_queue *queue, uint32_t n, const struct tare_span spans[3],
                      cl_event *event, struct tare_error *error)
{
	struct opencl_blas *blas = opencl_device(queue->base.device)->blas;
	cl_mem buffers[3];
	size_t offsets[3];

	for (int i = 0; i < 3; i++) {
		buffers[i] = ((struct opencl_memory *)spans[i].memory)->buffer;
		offsets[i] = spans[i].offset_bytes / sizeof(float);
	}
	int code = blas->call.CLBlastSgemm(ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, n, n, n, 1,
	                                   buffers[1], offsets[1], n, buffers[2], offsets[2], n, 0,
	                                   buffers[0], offsets[0], n, &queue->queue, event);
	if (code == CL_SUCCESS) {
		blas->worked = true;
		return 0;
	}
	const char *name = opencl_code_name(code);
	return tare_fail_native(error, name ? opencl_errno(code) : EIO, "clblast", "CLBlastSgemm",
	                        code, name, "the product of %u x %u by CLBlast failed", n, n);
}

// The library may run several kernels and hands out the event of the last one. A barrier before
// them says when they could begin.
static int append_timed(struct opencl_queue *queue, uint32_t n, const struct tare_span spans[3],
                        struct opencl_event *handle, struct tare_error *error)
{
	const struct opencl_functions *cl = opencl_device(queue->base.device)->cl;

	if (queue->timed) {
		cl_int code =
		    cl->clEnqueueBarrierWithWaitList(queue->queue, 0, NULL, &handle->begun);
		if (code != CL_SUCCESS)
			return opencl_fail(error, "clEnqueueBarrierWithWaitList", code,
			                   "cannot time CLBlast");
	}
	int rc = call_sgemm(queue, n, spans, &handle->event, error);
	if (rc < 0 && handle->begun)
		cl->clReleaseEvent(handle->begun);
	return rc;
}

int opencl_blas_gemm(struct tare_queue *base, enum tare_blas_precision precision, uint32_t n,
                     struct tare_span c, struct tare_span a, struct tare_span b,
                     struct tare_event **event, struct tare_error *error)
{
	struct opencl_device *device = opencl_device(base->device);
	struct opencl_queue *queue = (struct opencl_queue *)base;
	const struct tare_span spans[3] = { c, a, b };
	static const char *const names[3] = { "c", "a", "b" };
	int rc = 0;

	if (precision != TARE_BLAS_FP32)
		return tare_fail(error, ENOTSUP, "CLBlast is used in single precision only");
	for (int i = 0; i < 3 && rc == 0; i++)
		rc = check_matrix(device, n, &spans[i], names[i], error);
	if (rc == 0)
		rc = open_blas(device, error);
	if (rc < 0)
		return rc;
	if (!event)
		return call_sgemm(queue, n, spans, NULL, error);
	struct opencl_event *handle = calloc(1, sizeof *handle);
	if (!handle)
		return tare_fail(error, ENOMEM, "out of memory");
	handle->base.device = base->device;
	handle->timed = queue->timed;
	rc = append_timed(queue, n, spans, handle, error);
	if (rc < 0) {
		free(handle);
		return rc;
	}
	*event = &handle->base;
	return 0;
}

const char *opencl_blas_name(struct tare_device *device)
{
	const struct opencl_blas *blas = opencl_device(device)->blas;

	// The interface does not tell a version.
	return blas && blas->worked ? "CLBlast" : "";
}
