// SPDX-License-Identifier: Apache-2.0
// What the examples share: opening a device, checking calls, and counting what a trace of the run
// must contain.
#pragma once
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stddef.h>

// Ends the program with a sentence when a call failed.
void check(cl_int status, const char *what);

struct device {
	cl_context context;
	cl_device_id id;
	char name[256];
};

// The first device of the first platform that has one; prints its name.
struct device open_device(void);
void close_device(const struct device *device);

// Builds a program; prints the build log and ends the program when it does not compile.
cl_program build(const struct device *device, const char *source, const char *options);
cl_kernel kernel_of(cl_program program, const char *name);
cl_mem buffer_of(const struct device *device, cl_mem_flags flags, size_t bytes, void *host);
void set_argument(cl_kernel kernel, cl_uint index, size_t bytes, const void *value);

enum counted { KERNELS, WRITES, READS, COPIES, FILLS, MAPS, UNMAPS, COUNTED };

// Says that the program has just enqueued one of these.
void count(enum counted what, size_t bytes);
// Prints "trace KIND COUNT BYTES" for each kind, which a trace of this run must agree with.
void print_counts(void);

// Nanoseconds on the host's clock, for the examples' own figures.
double now_ns(void);
