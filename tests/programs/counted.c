// SPDX-License-Identifier: Apache-2.0
// Runs kernels of a file: counted FILE OPTIONS (KERNEL N GLOBAL LOCAL [GLOBAL LOCAL])...
// Each is launched once, on numbers i % 13, and a sum of what it wrote is printed. LOCAL 0: the
// driver's choice. A kernel "KERNEL:N" is launched N times. With COUNTED_BINARY the program is
// built again from its binary, with COUNTED_SOURCE=text the file's text goes before it, with
// COUNTED_LINKED it is compiled and linked, the latter with these options, with
// COUNTED_IMAGE the first argument is an image of SIDE by SIDE such numbers.
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 1 << 16, SIDE = 64 };

struct work {
	struct program on;
	cl_program program;
	cl_mem in, out;
};

static char *read_text(const char *path)
{
	FILE *file = fopen(path, "r");
	const char *before = getenv("COUNTED_SOURCE");
	static char text[1 << 16];

	if (!file) {
		fprintf(stderr, "%s cannot be read\n", path);
		exit(1);
	}
	size_t used = before ? strlen(before) : 0;
	if (before)
		memcpy(text, before, used);
	text[used + fread(text + used, 1, sizeof text - used - 1, file)] = '\0';
	fclose(file);
	return text;
}

static cl_program from_source(const struct work *work, const char *text, const char *options)
{
	cl_int status;
	cl_program made = clCreateProgramWithSource(work->on.context, 1, &text, NULL, &status);
	const char *linking = getenv("COUNTED_LINKED"); // its options

	check(status, "clCreateProgramWithSource");
	if (!linking) {
		check(clBuildProgram(made, 1, &work->on.device, options, NULL, NULL),
		      "clBuildProgram");
		return made;
	}
	check(clCompileProgram(made, 1, &work->on.device, options, 0, NULL, NULL, NULL, NULL),
	      "clCompileProgram");
	made = clLinkProgram(work->on.context, 1, &work->on.device, linking, 1, &made, NULL, NULL,
	                     &status);
	check(status, "clLinkProgram");
	return made;
}

// As programs with a cache of kernels do: loads what is in the file, or else builds and keeps it.
static cl_program from_cache(const struct work *work, const char *path, const char *text,
                             const char *options)
{
	static unsigned char data[1 << 22];
	unsigned char *binary = data;
	const unsigned char *given = data;
	FILE *file = fopen(path, "r");
	size_t bytes = file ? fread(data, 1, sizeof data, file) : 0;
	cl_program made;
	cl_int status;

	if (file) {
		made = clCreateProgramWithBinary(work->on.context, 1, &work->on.device, &bytes,
		                                 &given, NULL, &status);
		check(status, "clCreateProgramWithBinary");
		check(clBuildProgram(made, 1, &work->on.device, options, NULL, NULL),
		      "clBuildProgram");
		fclose(file);
		return made;
	}
	made = from_source(work, text, options);
	check(clGetProgramInfo(made, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL), "size");
	check(clGetProgramInfo(made, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL), "binary");
	file = fopen(path, "w");
	if (!file || fwrite(data, 1, bytes, file) != bytes)
		check(CL_OUT_OF_HOST_MEMORY, path);
	fclose(file);
	return made;
}

static struct work open_work(const char *path, const char *options)
{
	struct work work = { .on = open_device(0) };
	static float numbers[NUMBERS];
	const char *text = read_text(path), *cache = getenv("COUNTED_CACHE");
	cl_int status;

	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = (float)(i % 13);
	work.program =
	    cache ? from_cache(&work, cache, text, options) : from_source(&work, text, options);
	work.in = clCreateBuffer(work.on.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
	                         sizeof numbers, numbers, &status);
	check(status, "clCreateBuffer");
	if (getenv("COUNTED_IMAGE")) {
		const cl_image_format format = { CL_R, CL_FLOAT };
		const cl_image_desc shape = { .image_type = CL_MEM_OBJECT_IMAGE2D,
			                      .image_width = SIDE,
			                      .image_height = SIDE };
		clReleaseMemObject(work.in);
		work.in = clCreateImage(work.on.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
		                        &format, &shape, numbers, &status);
		check(status, "clCreateImage");
	}
	work.out =
	    clCreateBuffer(work.on.context, CL_MEM_READ_WRITE, sizeof numbers, NULL, &status);
	check(status, "clCreateBuffer");
	return work;
}

static void run(const struct work *work, char *name, int n, cl_uint dimensions,
                const size_t *global, const size_t *local)
{
	static unsigned char bytes[NUMBERS * sizeof(float)];
	char *times = strchr(name, ':');
	unsigned long long sum = 0;
	cl_int status;

	if (times)
		*times++ = '\0';
	memset(bytes, 0, sizeof bytes);
	check(clEnqueueWriteBuffer(work->on.queue, work->out, CL_TRUE, 0, sizeof bytes, bytes, 0,
	                           NULL, NULL),
	      "clEnqueueWriteBuffer");
	cl_kernel kernel = clCreateKernel(work->program, name, &status);
	check(status, name);
	check(clSetKernelArg(kernel, 0, sizeof work->in, &work->in), "argument 0");
	check(clSetKernelArg(kernel, 1, sizeof work->out, &work->out), "argument 1");
	check(clSetKernelArg(kernel, 2, sizeof n, &n), "argument 2");
	cl_uint arguments = 0;
	check(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, NULL),
	      "arguments");
	for (int i = times ? atoi(times) : 1; i > 0; i--)
		check(clEnqueueNDRangeKernel(work->on.queue, kernel, dimensions, NULL, global,
		                             local[0] ? local : NULL, 0, NULL, NULL),
		      "clEnqueueNDRangeKernel");
	check(clEnqueueReadBuffer(work->on.queue, work->out, CL_TRUE, 0, sizeof bytes, bytes, 0,
	                          NULL, NULL),
	      "clEnqueueReadBuffer");
	for (size_t i = 0; i < sizeof bytes; i++)
		sum = sum * 31 + bytes[i];
	printf("%s: %u arguments, %llx\n", name, arguments, sum);
	clReleaseKernel(kernel);
}

int main(int count, char **words)
{
	if (count < 3)
		return 2;
	struct work work = open_work(words[1], words[2]);
	for (int i = 3; i + 3 < count;) {
		char *name = words[i++];
		int n = atoi(words[i++]);
		size_t global[3], local[3];
		cl_uint dimensions = 0;
		while (dimensions < 3 && i + 1 < count && words[i][0] >= '0' &&
		       words[i][0] <= '9') {
			global[dimensions] = strtoul(words[i++], NULL, 10);
			local[dimensions++] = strtoul(words[i++], NULL, 10);
		}
		run(&work, name, n, dimensions, global, local);
	}
	clReleaseMemObject(work.in);
	clReleaseMemObject(work.out);
	clReleaseProgram(work.program);
	close_program(&work.on);
	const char *status = getenv("COUNTED_STATUS");
	return status ? atoi(status) : 0;
}
