// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <stdio.h>
#include <stdlib.h>

// Atomic, for queues of several threads run it at once on the same numbers.
static const char source[] =
    "kernel void add_one(global int *a) { atomic_inc(a + get_global_id(0)); }";

void check(cl_int status, const char *what)
{
	if (status == CL_SUCCESS)
		return;
	fprintf(stderr, "%s: OpenCL error %d\n", what, status);
	exit(1);
}

cl_command_queue queue_of(const struct program *program, cl_command_queue_properties properties)
{
	cl_int status;
	cl_command_queue queue =
	    clCreateCommandQueue(program->context, program->device, properties, &status);

	check(status, "clCreateCommandQueue");
	return queue;
}

struct program open_device(cl_command_queue_properties properties)
{
	struct program made = { .program = NULL };
	cl_platform_id platform;
	cl_int status;

	check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
	check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &made.device, NULL),
	      "clGetDeviceIDs");
	made.context = clCreateContext(NULL, 1, &made.device, NULL, NULL, &status);
	check(status, "clCreateContext");
	made.queue = queue_of(&made, properties);
	return made;
}

struct program open_program(cl_command_queue_properties properties)
{
	const char *text = source;
	int zeros[ITEMS] = { 0 };
	struct program made = open_device(properties);
	cl_int status;

	made.program = clCreateProgramWithSource(made.context, 1, &text, NULL, &status);
	check(status, "clCreateProgramWithSource");
	check(clBuildProgram(made.program, 1, &made.device, "", NULL, NULL), "clBuildProgram");
	made.kernel = clCreateKernel(made.program, "add_one", &status);
	check(status, "clCreateKernel");
	made.memory = clCreateBuffer(made.context, CL_MEM_READ_WRITE, BYTES, NULL, &status);
	check(status, "clCreateBuffer");
	check(clSetKernelArg(made.kernel, 0, sizeof(cl_mem), &made.memory), "clSetKernelArg");
	check(
	    clEnqueueWriteBuffer(made.queue, made.memory, CL_TRUE, 0, BYTES, zeros, 0, NULL, NULL),
	    "clEnqueueWriteBuffer");
	return made;
}

void close_program(struct program *program)
{
	if (program->program) {
		clReleaseMemObject(program->memory);
		clReleaseKernel(program->kernel);
		clReleaseProgram(program->program);
	}
	clReleaseCommandQueue(program->queue);
	clReleaseContext(program->context);
}

void launch(const struct program *program, cl_command_queue queue, cl_uint count,
            const cl_event *waits, cl_event *event)
{
	size_t items = ITEMS;

	check(clEnqueueNDRangeKernel(queue, program->kernel, 1, NULL, &items, NULL, count, waits,
	                             event),
	      "clEnqueueNDRangeKernel");
}

int first_number(const struct program *program, cl_command_queue queue)
{
	int numbers[ITEMS];

	check(
	    clEnqueueReadBuffer(queue, program->memory, CL_TRUE, 0, BYTES, numbers, 0, NULL, NULL),
	    "clEnqueueReadBuffer");
	return numbers[0];
}
