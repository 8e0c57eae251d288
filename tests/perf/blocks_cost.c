// SPDX-License-Identifier: Apache-2.0
// What counting costs kernels: tare blocks -- blocks_cost ROUNDS (FILE (KERNEL N GLOBAL LOCAL
// [GLOBAL LOCAL])... ,)...
// In the run that counts, each file is built twice: as in the run before, so that its kernels are
// counted, and with a comment before it that tare has not seen, so that they are not. Both of a
// kernel are launched in turn, in one process, each first in half of the rounds. For each kernel
// the times of all rounds are printed, by the driver's stamps: "NAME OWN_NS COUNTED_NS ...".
#include "guest/blocks/shared.h"
#include "program.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 1 << 18, TEXT = 1 << 16, WARM = 2 };

static struct program on;
static cl_mem in, out;

static cl_program build(const char *path, const char *before)
{
	static char text[TEXT];
	const char *given = text;
	FILE *file = fopen(path, "r");
	size_t used = strlen(before);
	cl_int status;

	check(file ? CL_SUCCESS : CL_INVALID_VALUE, path);
	memcpy(text, before, used);
	text[used + fread(text + used, 1, sizeof text - used - 1, file)] = '\0';
	fclose(file);
	cl_program made = clCreateProgramWithSource(on.context, 1, &given, NULL, &status);
	check(status, "clCreateProgramWithSource");
	check(clBuildProgram(made, 1, &on.device, "", NULL, NULL), "clBuildProgram");
	return made;
}

static cl_kernel kernel_of(cl_program program, const char *name, int n)
{
	cl_int status;
	cl_kernel kernel = clCreateKernel(program, name, &status);

	check(status, name);
	check(clSetKernelArg(kernel, 0, sizeof in, &in), "argument 0");
	check(clSetKernelArg(kernel, 1, sizeof out, &out), "argument 1");
	check(clSetKernelArg(kernel, 2, sizeof n, &n), "argument 2");
	return kernel;
}

static unsigned long long time_of(cl_kernel kernel, cl_uint dimensions, const size_t *global,
                                  const size_t *local)
{
	cl_ulong from, to;
	cl_event event;

	check(clEnqueueNDRangeKernel(on.queue, kernel, dimensions, NULL, global, local, 0, NULL,
	                             &event),
	      "clEnqueueNDRangeKernel");
	check(clWaitForEvents(1, &event), "clWaitForEvents");
	check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof from, &from, NULL),
	      "start");
	check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof to, &to, NULL),
	      "end");
	clReleaseEvent(event);
	return to - from;
}

static void compare(cl_program counted, cl_program own, char **words, cl_uint dimensions,
                    int rounds)
{
	cl_kernel kernels[2] = { kernel_of(own, words[0], atoi(words[1])),
		                 kernel_of(counted, words[0], atoi(words[1])) };
	size_t global[3], local[3];
	unsigned long long times[2];

	for (cl_uint i = 0; i < dimensions; i++) {
		global[i] = strtoul(words[2 + 2 * i], NULL, 10);
		local[i] = strtoul(words[3 + 2 * i], NULL, 10);
	}
	printf("%s", words[0]);
	for (int round = -WARM; round < rounds; round++) {
		for (int i = 0; i < 2; i++) {
			int which = i ^ (round & 1);
			times[which] = time_of(kernels[which], dimensions, global, local);
		}
		if (round >= 0)
			printf(" %llu %llu", times[0], times[1]);
	}
	putchar('\n');
	clReleaseKernel(kernels[0]);
	clReleaseKernel(kernels[1]);
}

int main(int count, char **words)
{
	static float numbers[NUMBERS];
	const char *stage = getenv(BLOCKS_ENVIRONMENT_STAGE);
	bool counts = stage && strcmp(stage, BLOCKS_STAGE_COUNT) == 0;
	cl_int status;

	on = open_program(CL_QUEUE_PROFILING_ENABLE);
	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = (float)(i % 13);
	in = clCreateBuffer(on.context, CL_MEM_COPY_HOST_PTR, sizeof numbers, numbers, &status);
	check(status, "clCreateBuffer");
	out = clCreateBuffer(on.context, 0, sizeof numbers, NULL, &status);
	check(status, "clCreateBuffer");
	for (int i = 2; i < count; i++) {
		const char *path = words[i++];
		cl_program first = build(path, ""), second = build(path, counts ? "// own\n" : "");
		while (i < count && strcmp(words[i], ",") != 0) {
			char **kernel = &words[i];
			cl_uint dimensions = 0;
			for (i += 2; dimensions < 3 && i + 1 < count && words[i][0] >= '0' &&
			             words[i][0] <= '9';
			     i += 2)
				dimensions++;
			compare(first, second, kernel, dimensions, counts ? atoi(words[1]) : 1);
		}
	}
	return 0;
}
