// SPDX-License-Identifier: Apache-2.0
// The clock that stamps samples is the device's global timer, which CUPTI 13 reads for nobody: a
// kernel of one thread does. Each reading is a launch of some µs on a stream that nothing else
// uses.
#include "backend/cuda/sampling/sampling.h"

#include <errno.h>

// Read behind the kernel's own begin: the bracket spans the launch and its end.
static const char text[] = ".version 6.0\n"
                           ".target sm_50\n"
                           ".address_size 64\n"
                           ".visible .entry tare_clock(.param .u64 tare_clock_to)\n"
                           "{\n"
                           ".reg .b64 %rd<4>;\n"
                           "ld.param.u64 %rd1, [tare_clock_to];\n"
                           "cvta.to.global.u64 %rd2, %rd1;\n"
                           "mov.u64 %rd3, %globaltimer;\n"
                           "st.global.u64 [%rd2], %rd3;\n"
                           "ret;\n"
                           "}\n";

static int fail(struct cuda_device *device, cu_result result, const char *call,
                struct tare_error *error)
{
	return cuda_fail(device->driver, result, call, error, "cannot read the device's clock");
}

int cuda_sampling_clock_open(struct cuda_device *device, struct cuda_sampling_clock *clock,
                             struct tare_error *error)
{
	const struct cuda_functions *call = &device->driver->call;
	void *told = NULL;
	cu_result result = call->cuModuleLoadDataEx(&clock->module, text, 0, NULL, NULL);

	if (result != ABI_SUCCESS)
		return fail(device, result, "cuModuleLoadDataEx", error);
	result = call->cuModuleGetFunction(&clock->function, clock->module, "tare_clock");
	if (result != ABI_SUCCESS)
		return fail(device, result, "cuModuleGetFunction", error);
	result = call->cuMemHostAlloc(&told, sizeof *clock->told, ABI_MEMHOSTALLOC_DEVICEMAP);
	if (result != ABI_SUCCESS)
		return fail(device, result, "cuMemHostAlloc", error);
	clock->told = told;
	result = call->cuMemHostGetDevicePointer_v2(&clock->at, told, 0);
	return result == ABI_SUCCESS ? 0
	                             : fail(device, result, "cuMemHostGetDevicePointer_v2", error);
}

int cuda_sampling_clock_read(struct cuda_device *device, struct cuda_sampling_clock *clock,
                             struct tare_clock_pair *pair, struct tare_error *error)
{
	const struct cuda_functions *call = &device->driver->call;
	void *parameters[] = { &clock->at };
	cu_result result;

	*clock->told = 0;
	pair->before = tare_host_now();
	result = call->cuLaunchKernel(clock->function, 1, 1, 1, 1, 1, 1, 0, device->clock_stream,
	                              parameters, NULL);
	if (result != ABI_SUCCESS)
		return fail(device, result, "cuLaunchKernel", error);
	result = call->cuStreamSynchronize(device->clock_stream);
	pair->after = tare_host_now();
	if (result != ABI_SUCCESS)
		return fail(device, result, "cuStreamSynchronize", error);
	pair->device.ticks = *clock->told;
	return pair->device.ticks
	           ? 0
	           : tare_fail(error, EIO, "the device's clock was not told by its kernel");
}

void cuda_sampling_clock_close(struct cuda_device *device, struct cuda_sampling_clock *clock)
{
	const struct cuda_functions *call = &device->driver->call;

	if (clock->told)
		call->cuMemFreeHost((void *)(uintptr_t)clock->told);
	if (clock->module)
		call->cuModuleUnload(clock->module);
	*clock = (struct cuda_sampling_clock){ 0 };
}
