// SPDX-License-Identifier: Apache-2.0
// A product of two matrices of N by N by CLBlast, in single or double precision, and its result in
// hexadecimal:
//   product N [double]
// Of CLBlast's C interface (clblast_c.h, version 1) what is called is declared here: with its
// library alone (libclblast1) no header comes.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_MAJOR = 101, NOT_TRANSPOSED = 111 };

// Layout, transpose a, transpose b, m, n, k, alpha, a, its offset and leading dimension in
// elements, b and c likewise, with beta before c.
int CLBlastSgemm(int, int, int, size_t, size_t, size_t, float, cl_mem, size_t, size_t, cl_mem,
                 size_t, size_t, float, cl_mem, size_t, size_t, cl_command_queue *, cl_event *);
int CLBlastDgemm(int, int, int, size_t, size_t, size_t, double, cl_mem, size_t, size_t, cl_mem,
                 size_t, size_t, double, cl_mem, size_t, size_t, cl_command_queue *, cl_event *);

static int say(const char *what, int status)
{
	if (status)
		fprintf(stderr, "product: %s: %d\n", what, status);
	return status;
}

static int multiply(cl_command_queue queue, const cl_mem *matrices, size_t n, bool twice)
{
	return twice ? CLBlastDgemm(ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, n, n, n, 1.0,
	                            matrices[0], 0, n, matrices[1], 0, n, 0.0, matrices[2], 0, n,
	                            &queue, NULL)
	             : CLBlastSgemm(ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, n, n, n, 1.0f,
	                            matrices[0], 0, n, matrices[1], 0, n, 0.0f, matrices[2], 0, n,
	                            &queue, NULL);
}

static double at(const void *numbers, size_t i, bool twice)
{
	return twice ? ((const double *)numbers)[i] : (double)((const float *)numbers)[i];
}

static void fill(void *numbers, size_t count, bool twice)
{
	for (size_t i = 0; i < count; i++) {
		const double number = (double)(i * 37 % 101) / 7.0;
		if (twice)
			((double *)numbers)[i] = number;
		else
			((float *)numbers)[i] = (float)number;
	}
}

int main(int count, char **words)
{
	const size_t n = count > 1 ? strtoul(words[1], NULL, 10) : 32;
	const bool twice = count > 2 && strcmp(words[2], "double") == 0;
	const size_t bytes = n * n * (twice ? sizeof(double) : sizeof(float));
	void *numbers = malloc(bytes + 1);
	cl_mem matrices[3];
	cl_platform_id platform;
	cl_device_id device;
	cl_int code;

	if (!numbers || say("platform", clGetPlatformIDs(1, &platform, NULL)) ||
	    say("device", clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)))
		return 1;
	fill(numbers, n * n, twice);
	cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
	cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
	for (int i = 0; i < 3; i++)
		matrices[i] = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
		                             bytes, numbers, &code);
	if (say("product", multiply(queue, matrices, n, twice)) ||
	    say("read",
	        clEnqueueReadBuffer(queue, matrices[2], CL_TRUE, 0, bytes, numbers, 0, NULL, NULL)))
		return 1;
	for (size_t i = 0; i < n * n; i++)
		printf("%a\n", at(numbers, i, twice));
	for (int i = 0; i < 3; i++)
		clReleaseMemObject(matrices[i]);
	clReleaseCommandQueue(queue);
	clReleaseContext(context);
	free(numbers);
	return 0;
}
