// SPDX-License-Identifier: Apache-2.0
// What the CUDA examples share: the driver API, opened at run time, so that neither a toolkit nor a
// driver is needed to build them; one device with its context; a kernel; and ending with a sentence
// where a call fails.
#pragma once
#include "backend/cuda/abi.h"

#include <stddef.h>
#include <stdint.h>

struct driver {
#define X(name, parameters) cu_result(*name) parameters;
	CUDA_FUNCTIONS(X, X)
#undef X
	cu_result (*cuCtxSynchronize)(void);
};
extern struct driver cuda;

// Ends the program with a sentence when a call failed.
void check(cu_result result, const char *what);
// DO(cuMemAlloc_v2, &pointer, bytes): calls a function of the driver and checks its result.
#define DO(name, ...) check(cuda.name(__VA_ARGS__), #name)

// Opens the driver, makes the context of the first device current, and prints the device's name.
void open_device(void);
void close_device(void);

// The kernel `steps` of kernels.h, in a module of its own.
struct kernel {
	cu_module module;
	cu_function function;
};
struct kernel load_kernel(void);
// As many work-items as a block has.
enum { BLOCK = 128 };
// Launches it: output[i] = input[i], `cycles` times multiplied by 1664525 and 1013904223 added, of
// `items` 32-bit numbers, in blocks of `block`.
void launch_steps(struct kernel kernel, cu_pointer output, cu_pointer input, uint32_t items,
                  uint32_t block, uint32_t cycles, cu_stream stream);
// What it makes of a number.
uint32_t steps_of(uint32_t value, uint32_t cycles);

cu_stream stream_new(unsigned int flags);
cu_pointer device_memory(size_t bytes);
// Page-locked.
void *pinned_memory(size_t bytes);

// Nanoseconds on the host's clock.
double now_ns(void);
