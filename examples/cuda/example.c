// SPDX-License-Identifier: Apache-2.0
#include "example.h"

#include "kernels.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FACTOR 1664525u
#define SUMMAND 1013904223u

struct driver cuda;
static cu_device device;
static cu_context context;

void check(cu_result result, const char *what)
{
	const char *name = NULL;

	if (result == ABI_SUCCESS)
		return;
	if (cuda.cuGetErrorName)
		cuda.cuGetErrorName(result, &name);
	fflush(stdout);
	fprintf(stderr, "%s failed: %s (%d)\n", what, name ? name : "CUDA error", result);
	exit(1);
}

static void open_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	if (!library) {
		fprintf(stderr, "there is no CUDA driver: %s\n", dlerror());
		exit(1);
	}
#define X(name, parameters) *(void **)&cuda.name = dlsym(library, #name);
	CUDA_FUNCTIONS(X, X)
#undef X
	*(void **)&cuda.cuCtxSynchronize = dlsym(library, "cuCtxSynchronize");
}

void open_device(void)
{
	char name[128] = "";

	open_driver();
	DO(cuInit, 0);
	DO(cuDeviceGet, &device, 0);
	DO(cuDeviceGetName, name, sizeof name, device);
	DO(cuDevicePrimaryCtxRetain, &context, device);
	DO(cuCtxSetCurrent, context);
	printf("%s\n", name);
}

void close_device(void)
{
	DO(cuDevicePrimaryCtxRelease_v2, device);
}

struct kernel load_kernel(void)
{
	struct kernel kernel;

	DO(cuModuleLoadDataEx, &kernel.module, kernels_ptx, 0, NULL, NULL);
	DO(cuModuleGetFunction, &kernel.function, kernel.module, "steps");
	return kernel;
}

void launch_steps(struct kernel kernel, cu_pointer output, cu_pointer input, uint32_t items,
                  uint32_t block, uint32_t cycles, cu_stream stream)
{
	uint32_t first = 0, add = SUMMAND;
	void *parameters[] = { &input, &output, &first, &items, &add, &cycles };

	DO(cuLaunchKernel, kernel.function, (items + block - 1) / block, 1, 1, block, 1, 1, 0,
	   stream, parameters, NULL);
}

uint32_t steps_of(uint32_t value, uint32_t cycles)
{
	for (uint32_t k = 0; k < cycles; k++)
		value = value * FACTOR + SUMMAND;
	return value;
}

cu_stream stream_new(unsigned int flags)
{
	cu_stream stream;

	DO(cuStreamCreate, &stream, flags);
	return stream;
}

cu_pointer device_memory(size_t bytes)
{
	cu_pointer pointer;

	DO(cuMemAlloc_v2, &pointer, bytes);
	return pointer;
}

void *pinned_memory(size_t bytes)
{
	void *memory;

	DO(cuMemHostAlloc, &memory, bytes, 0);
	return memory;
}

double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}
