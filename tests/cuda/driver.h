// SPDX-License-Identifier: Apache-2.0
// What CUDA programs for the stand-ins share: the driver's functions, and an end where one fails.
#pragma once
#include "backend/cuda/abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
#define X(name, parameters) cu_result(*name) parameters;
	CUDA_FUNCTIONS(X, X)
#undef X
	cu_result (*cuCtxSynchronize)(void);
} cuda;

static inline void check(cu_result result, const char *what)
{
	if (result) {
		printf("%s: %d\n", what, result);
		exit(3);
	}
}
#define DO(name, ...) check(cuda.name(__VA_ARGS__), #name)

// A stream of the first device, whose primary context is current from then on; without a driver
// the program ends with 4.
static inline cu_stream open_stream(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	cu_context context;
	cu_device device;
	cu_stream stream;
	if (!driver)
		exit(4);
#define X(name, parameters) *(void **)&cuda.name = dlsym(driver, #name);
	CUDA_FUNCTIONS(X, X)
#undef X
	*(void **)&cuda.cuCtxSynchronize = dlsym(driver, "cuCtxSynchronize");
	DO(cuInit, 0);
	DO(cuDeviceGet, &device, 0);
	DO(cuDevicePrimaryCtxRetain, &context, device);
	DO(cuCtxSetCurrent, context);
	DO(cuStreamCreate, &stream, ABI_STREAM_NON_BLOCKING);
	return stream;
}
