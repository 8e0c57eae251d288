// SPDX-License-Identifier: Apache-2.0
// What the programs to be recorded share: the first device, a queue and a kernel. They print
// nothing that differs from run to run, so that what is printed can be compared byte by byte.
#pragma once
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#include <CL/cl.h>

#define ITEMS 64
#define BYTES (ITEMS * sizeof(int))

struct program {
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_kernel kernel; // add_one(global int *a): argument 0 is `memory`
	cl_mem memory;    // BYTES
};

// Ends the program with 1 and a line on standard error unless `status` is CL_SUCCESS.
void check(cl_int status, const char *what);
// Opens the first device with a queue of `properties`; without program, kernel and memory.
struct program open_device(cl_command_queue_properties properties);
// The same, builds the kernel, and fills memory with zeros.
struct program open_program(cl_command_queue_properties properties);
void close_program(struct program *program);
cl_command_queue queue_of(const struct program *program, cl_command_queue_properties properties);
// add_one over ITEMS; the event may be NULL.
void launch(const struct program *program, cl_command_queue queue, cl_uint count,
            const cl_event *waits, cl_event *event);
// Reads the memory, blocking, and returns its first number.
int first_number(const struct program *program, cl_command_queue queue);
