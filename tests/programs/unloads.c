// SPDX-License-Identifier: Apache-2.0
// Opens the OpenCL library at run time, works, and closes it again before it ends, twice. Not
// linked with it. With an argument: the path or name to open.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *library;

static void *symbol(const char *name)
{
	void *found = dlsym(library, name);
	if (!found) {
		fprintf(stderr, "no %s\n", name);
		exit(1);
	}
	return found;
}

#define FIND(name) __typeof__(&name) p_##name = (__typeof__(&name))symbol(#name)

static void once(const char *path)
{
	cl_platform_id platform;
	cl_device_id device;
	char host[256] = "";
	cl_int status;

	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	FIND(clGetPlatformIDs);
	FIND(clGetDeviceIDs);
	FIND(clCreateContext);
	FIND(clCreateCommandQueue);
	FIND(clCreateBuffer);
	FIND(clEnqueueWriteBuffer);
	FIND(clEnqueueReadBuffer);
	FIND(clReleaseMemObject);
	FIND(clReleaseCommandQueue);
	FIND(clReleaseContext);
	if (p_clGetPlatformIDs(1, &platform, NULL) ||
	    p_clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
		exit(1);
	cl_context context = p_clCreateContext(NULL, 1, &device, NULL, NULL, &status);
	cl_command_queue queue = p_clCreateCommandQueue(context, device, 0, &status);
	cl_mem memory = p_clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof host, NULL, &status);
	for (int i = 0; i < 20; i++)
		p_clEnqueueWriteBuffer(queue, memory, CL_FALSE, 0, sizeof host, host, 0, NULL,
		                       NULL);
	status = p_clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL);
	p_clReleaseMemObject(memory);
	p_clReleaseCommandQueue(queue);
	p_clReleaseContext(context);
	printf("%d %d\n", status, dlclose(library));
}

int main(int count, char **arguments)
{
	const char *path = count > 1 ? arguments[1] : "libOpenCL.so.1";

	once(path);
	once(path);
	return 0;
}
