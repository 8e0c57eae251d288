// SPDX-License-Identifier: Apache-2.0
#include "example.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned long long counts[COUNTED], bytes_moved[COUNTED];

void check(cl_int status, const char *what)
{
	if (status == CL_SUCCESS)
		return;
	fprintf(stderr, "%s failed: OpenCL error %d\n", what, status);
	exit(1);
}

struct device open_device(void)
{
	cl_platform_id platforms[16];
	cl_uint platform_count = 0;
	struct device device = { 0 };
	cl_int status;

	clGetPlatformIDs(16, platforms, &platform_count);
	for (cl_uint i = 0; i < platform_count && i < 16 && !device.id; i++)
		clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device.id, NULL);
	if (!device.id) {
		fputs("there is no OpenCL device; on Debian, pocl-opencl-icd brings one\n", stderr);
		exit(1);
	}
	check(clGetDeviceInfo(device.id, CL_DEVICE_NAME, sizeof device.name, device.name, NULL),
	      "clGetDeviceInfo");
	device.context = clCreateContext(NULL, 1, &device.id, NULL, NULL, &status);
	check(status, "clCreateContext");
	printf("device: %s\n", device.name);
	return device;
}

void close_device(const struct device *device)
{
	clReleaseContext(device->context);
}

cl_program build(const struct device *device, const char *source, const char *options)
{
	static char log[65536];
	cl_int status;
	cl_program program = clCreateProgramWithSource(device->context, 1, &source, NULL, &status);

	check(status, "clCreateProgramWithSource");
	if (clBuildProgram(program, 1, &device->id, options, NULL, NULL) == CL_SUCCESS)
		return program;
	clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
	fprintf(stderr, "the kernel does not compile:\n%s\n", log);
	exit(1);
}

cl_kernel kernel_of(cl_program program, const char *name)
{
	cl_int status;
	cl_kernel kernel = clCreateKernel(program, name, &status);

	check(status, "clCreateKernel");
	return kernel;
}

cl_mem buffer_of(const struct device *device, cl_mem_flags flags, size_t bytes, void *host)
{
	cl_int status;
	cl_mem memory = clCreateBuffer(device->context, flags, bytes, host, &status);

	check(status, "clCreateBuffer");
	return memory;
}

void set_argument(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
	check(clSetKernelArg(kernel, index, bytes, value), "clSetKernelArg");
}

void count(enum counted what, size_t bytes)
{
	counts[what]++;
	bytes_moved[what] += bytes;
}

void print_counts(void)
{
	static const char *const names[COUNTED] = { "kernel", "write", "read", "copy",
		                                    "fill",   "map",   "unmap" };

	for (int i = 0; i < COUNTED; i++)
		if (counts[i])
			printf("trace %s %llu %llu\n", names[i], counts[i], bytes_moved[i]);
}

double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}
