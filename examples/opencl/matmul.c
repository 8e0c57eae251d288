// SPDX-License-Identifier: Apache-2.0
// A matrix product in three forms, as one moves a loop to a device step by step:
//   inner  only the innermost loop runs on the device: one launch for every element
//   naive  one launch, a work-item for every element
//   tiled  the same through local memory, each element read once a tile
// Record each and compare what the reports say:
//   tare record -o inner.tare -- ./matmul inner 64
#include "example.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TILE 16

static const char source[] =
    "kernel void inner(global const float *a, global const float *b, global float *c, int n,\n"
    "                  int row, int column)\n"
    "{\n"
    "	float sum = 0;\n"
    "	for (int k = 0; k < n; k++)\n"
    "		sum += a[row * n + k] * b[k * n + column];\n"
    "	c[row * n + column] = sum;\n"
    "}\n"
    "kernel void naive(global const float *a, global const float *b, global float *c, int n)\n"
    "{\n"
    "	int column = get_global_id(0), row = get_global_id(1);\n"
    "	float sum = 0;\n"
    "	for (int k = 0; k < n; k++)\n"
    "		sum += a[row * n + k] * b[k * n + column];\n"
    "	c[row * n + column] = sum;\n"
    "}\n"
    "kernel __attribute__((reqd_work_group_size(16, 16, 1)))\n"
    "void tiled(global const float *a, global const float *b, global float *c, int n)\n"
    "{\n"
    "	local float tile_a[16][16], tile_b[16][16];\n"
    "	int column = get_global_id(0), row = get_global_id(1);\n"
    "	int x = get_local_id(0), y = get_local_id(1);\n"
    "	float sum = 0;\n"
    "	for (int at = 0; at < n; at += 16) {\n"
    "		tile_a[y][x] = a[row * n + at + x];\n"
    "		tile_b[y][x] = b[(at + y) * n + column];\n"
    "		barrier(CLK_LOCAL_MEM_FENCE);\n"
    "		for (int k = 0; k < 16; k++)\n"
    "			sum += tile_a[y][k] * tile_b[k][x];\n"
    "		barrier(CLK_LOCAL_MEM_FENCE);\n"
    "	}\n"
    "	c[row * n + column] = sum;\n"
    "}\n";

static void launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                   const size_t *global, const size_t *local)
{
	check(clEnqueueNDRangeKernel(queue, kernel, dimensions, NULL, global, local, 0, NULL, NULL),
	      "clEnqueueNDRangeKernel");
	count(KERNELS, 0);
}

static void multiply(cl_command_queue queue, cl_kernel kernel, const char *form, int n)
{
	size_t one = 1, global[2] = { (size_t)n, (size_t)n }, local[2] = { TILE, TILE };

	if (strcmp(form, "inner") != 0) {
		launch(queue, kernel, 2, global, strcmp(form, "tiled") == 0 ? local : NULL);
		return;
	}
	for (int row = 0; row < n; row++)
		for (int column = 0; column < n; column++) {
			set_argument(kernel, 4, sizeof row, &row);
			set_argument(kernel, 5, sizeof column, &column);
			launch(queue, kernel, 1, &one, &one);
		}
}

// The largest difference from the product in double precision.
static double worst_error(const float *a, const float *b, const float *c, int n)
{
	double worst = 0;

	for (int row = 0; row < n; row++)
		for (int column = 0; column < n; column++) {
			double sum = 0;
			for (int k = 0; k < n; k++)
				sum += (double)a[row * n + k] * (double)b[k * n + column];
			worst = fmax(worst, fabs(sum - (double)c[row * n + column]));
		}
	return worst;
}

int main(int argument_count, char **arguments)
{
	const char *form = argument_count > 1 ? arguments[1] : "naive";
	int n = argument_count > 2 ? atoi(arguments[2]) : 64;
	size_t bytes = (size_t)n * (size_t)n * sizeof(float);

	if ((strcmp(form, "inner") != 0 && strcmp(form, "naive") != 0 &&
	     strcmp(form, "tiled") != 0) ||
	    n < TILE || n > 4096 || n % TILE != 0) {
		fprintf(stderr,
		        "usage: matmul inner|naive|tiled [N]   N: a multiple of %d, to 4096\n",
		        TILE);
		return 2;
	}
	float *a = malloc(bytes), *b = malloc(bytes), *c = malloc(bytes);
	if (!a || !b || !c) {
		fprintf(stderr, "there is no memory for three matrices of %zu bytes\n", bytes);
		return 1;
	}
	for (int i = 0; i < n * n; i++) {
		a[i] = (float)(i % 17) / 16;
		b[i] = (float)(i % 13) / 16;
	}

	struct device device = open_device();
	cl_int status;
	cl_command_queue queue = clCreateCommandQueue(device.context, device.id, 0, &status);
	check(status, "clCreateCommandQueue");
	cl_program program = build(&device, source, "");
	cl_kernel kernel = kernel_of(program, form);
	cl_mem memory[3];
	for (int i = 0; i < 3; i++) {
		memory[i] = buffer_of(&device, CL_MEM_READ_WRITE, bytes, NULL);
		set_argument(kernel, (cl_uint)i, sizeof memory[i], &memory[i]);
	}
	set_argument(kernel, 3, sizeof n, &n);

	double begin = now_ns();
	for (int i = 0; i < 2; i++) {
		check(clEnqueueWriteBuffer(queue, memory[i], CL_FALSE, 0, bytes, i ? b : a, 0, NULL,
		                           NULL),
		      "clEnqueueWriteBuffer");
		count(WRITES, bytes);
	}
	multiply(queue, kernel, form, n);
	check(clEnqueueReadBuffer(queue, memory[2], CL_TRUE, 0, bytes, c, 0, NULL, NULL),
	      "clEnqueueReadBuffer");
	count(READS, bytes);
	double end = now_ns(), error = worst_error(a, b, c, n);

	printf("%s, n = %d: %.3f ms with transfers, worst error %.2g\n", form, n,
	       (end - begin) * 1e-6, error);
	print_counts();
	for (int i = 0; i < 3; i++)
		clReleaseMemObject(memory[i]);
	clReleaseKernel(kernel);
	clReleaseProgram(program);
	clReleaseCommandQueue(queue);
	close_device(&device);
	free(a);
	free(b);
	free(c);
	return error < 1e-4 * n ? 0 : 1;
}
