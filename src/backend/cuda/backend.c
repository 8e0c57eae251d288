// SPDX-License-Identifier: Apache-2.0
// CUDA through its driver library, opened at run time.
#include "backend/cuda/nvrtc/nvrtc.h"
#include "backend/cuda/sampling/sampling.h"
#include "backend/cuda/trace.h"
#include "backend/host_clock.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

extern const struct tare_backend tare_backend_cuda;

static void driver_close(struct tare_driver *base)
{
	if (!base)
		return;
	struct cuda_driver *driver = (struct cuda_driver *)base;

	cuda_nvml_close(&driver->nvml);
	cuda_nvrtc_close(driver);
	tare_library_close(driver->library);
	free(driver);
}

static int driver_open(const char *option, struct tare_driver **driver, struct tare_error *error)
{
	struct cuda_driver *opened = calloc(1, sizeof *opened);
	int status;

	(void)option;
	if (!opened)
		return tare_fail(error, ENOMEM, "out of memory");
	opened->base.backend = &tare_backend_cuda;
	status = cuda_library_open(opened, error);
	if (status < 0) {
		driver_close(&opened->base);
		return status;
	}
	cuda_nvml_open(&opened->nvml);
	*driver = &opened->base;
	return 0;
}

static uint32_t device_count(const struct tare_driver *driver)
{
	return ((const struct cuda_driver *)driver)->count;
}

static void device_close(struct tare_device *base)
{
	if (!base)
		return;
	struct cuda_device *device = cuda_device_of(base);
	const struct cuda_functions *call = &device->driver->call;

	if (device->context && cuda_enter(device, NULL) == 0) {
		cuda_gates_close(device);
		cuda_trace_close(device);
		cuda_blas_close(device);
		cuda_epoch_give(device, device->epoch);
		for (int timed = 0; timed < 2; timed++)
			while (device->pooled[timed])
				call->cuEventDestroy_v2(
				    device->pool[timed][--device->pooled[timed]]);
		for (uint32_t i = 0; i < device->callback_stream_count; i++)
			call->cuStreamDestroy_v2(device->callback_streams[i]);
		if (device->clock_stream)
			call->cuStreamDestroy_v2(device->clock_stream);
		// The gates' words go with the context: a stream may be about to look at one.
		call->cuCtxSetCurrent(NULL);
	}
	cuda_leave();
	// The primary context is shared with the rest of the process; give back our use of it.
	if (device->context)
		call->cuDevicePrimaryCtxRelease_v2(device->handle);
	free(device);
}

static int device_open(struct tare_driver *base, uint32_t index, struct tare_device **device,
                       struct tare_error *error)
{
	static atomic_ullong serials;
	struct cuda_driver *driver = (struct cuda_driver *)base;
	struct cuda_device *opened;
	int status;

	if (index >= driver->count)
		return tare_fail(error, EINVAL, "CUDA has no device %u; it has %u", index,
		                 driver->count);
	opened = calloc(1, sizeof *opened);
	if (!opened)
		return tare_fail(error, ENOMEM, "out of memory");
	opened->base = (struct tare_device){ .backend = &tare_backend_cuda, .index = index };
	opened->driver = driver;
	opened->serial = atomic_fetch_add(&serials, 1) + 1;
	cu_result result = driver->call.cuDeviceGet(&opened->handle, (int)index);
	if (result == ABI_SUCCESS)
		result = driver->call.cuDevicePrimaryCtxRetain(&opened->context, opened->handle);
	if (result != ABI_SUCCESS) {
		opened->context = NULL;
		status = cuda_open_failed(driver, index, opened->handle, result, error);
		goto fail;
	}
	status = cuda_enter(opened, error);
	if (status < 0)
		goto fail;
	result = driver->call.cuStreamCreate(&opened->clock_stream, ABI_STREAM_NON_BLOCKING);
	if (result != ABI_SUCCESS) {
		opened->clock_stream = NULL;
		status = cuda_fail(driver, result, "cuStreamCreate", error,
		                   "cannot open CUDA device %u", index);
		goto fail;
	}
	opened->warp_size = cuda_attribute(opened, ABI_ATTRIBUTE_WARP_SIZE);
	opened->managed = cuda_attribute(opened, ABI_ATTRIBUTE_MANAGED_MEMORY);
	opened->concurrent_managed =
	    cuda_attribute(opened, ABI_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
	opened->pageable_access = cuda_attribute(opened, ABI_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
	opened->register_supported = cuda_attribute(opened, ABI_ATTRIBUTE_HOST_REGISTER_SUPPORTED);
	*device = &opened->base;
	return 0;
fail:
	device_close(&opened->base);
	return status;
}

static void queue_free(struct tare_queue *queue)
{
	if (queue)
		cuda_graph_leave((struct cuda_queue *)queue);
	cuda_queue_free(queue);
}

const struct tare_backend tare_backend_cuda = {
	.name = "cuda",
	.title = "CUDA",
	.driver_open = driver_open,
	.driver_close = driver_close,
	.device_count = device_count,
	.device_facts = cuda_facts,
	.device_open = device_open,
	.device_close = device_close,
	.host_now = tare_backend_host_now,
	.host_pause = tare_backend_host_pause,
	.clock_rate = cuda_clock_rate,
	.clock_pair = cuda_clock_pair,
	.engines = cuda_engines,
	.memory_create = cuda_memory_create,
	.memory_free = cuda_memory_free,
	.image_create = cuda_image_create,
	.memory_advise = cuda_memory_advise,
	.peer_enable = cuda_peer_enable,
	.queue_create = cuda_queue_create,
	.queue_free = queue_free,
	.append = cuda_append,
	.submit = cuda_submit,
	.finish = cuda_finish,
	.event_wait = cuda_event_wait,
	.event_done = cuda_event_done,
	.event_callback = cuda_event_callback,
	.event_stamps = cuda_event_stamps,
	.event_free = cuda_event_free,
	.gate_shut = cuda_gate_shut,
	.gate_open = cuda_gate_open,
	.gate_free = cuda_gate_free,
	.module_formats =
	    1u << TARE_MODULE_PTX | 1u << TARE_MODULE_CUDA_C | 1u << TARE_MODULE_NATIVE,
	.module_create = cuda_module_create,
	.module_free = cuda_module_free,
	.module_kernels = cuda_module_kernels,
	.kernel_create = cuda_kernel_create,
	.kernel_free = cuda_kernel_free,
	.kernel_facts = cuda_kernel_facts,
	.kernel_parameter = cuda_kernel_parameter,
	.sampler = &cuda_sampler,
	.blas_gemm = cuda_blas_gemm,
	.blas_name = cuda_blas_name,
	.graph_begin = cuda_graph_begin,
	.graph_end = cuda_graph_end,
	.graph_launch = cuda_graph_launch,
	.graph_stamps = cuda_graph_stamps,
	.graph_free = cuda_graph_free,
	.engine_stamps_begin = cuda_engine_stamps_begin,
	.engine_stamps_end = cuda_engine_stamps_end,
	.telemetry = cuda_telemetry,
};
