// SPDX-License-Identifier: Apache-2.0
// A few commands through the loader that this program is linked with, or (built without LINKED)
// through the one that it opens by a name or a path:  loads NAME [deep]
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LINKED
#define CALL(name) name
#else
static void *loader;

static void *function(const char *name)
{
	void *found = dlsym(loader, name);

	if (!found) {
		fprintf(stderr, "no %s\n", name);
		exit(1);
	}
	return found;
}
#define CALL(name) ((__typeof__(&(name)))function(#name))
#endif

static void check(cl_int status)
{
	if (status != CL_SUCCESS) {
		fprintf(stderr, "OpenCL error %d\n", status);
		exit(1);
	}
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
int main(int count, char **arguments)
{
	static const char text[1000] = "written";
	cl_platform_id platform;
	cl_device_id device;
	cl_int status;

#ifdef LINKED
	(void)count, (void)arguments;
#else
	int how = RTLD_NOW | (count > 2 && strcmp(arguments[2], "deep") == 0 ? RTLD_DEEPBIND : 0);
	loader = dlopen(count > 1 ? arguments[1] : "libOpenCL.so.1", how);
	if (!loader) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
#endif
	check(CALL(clGetPlatformIDs)(1, &platform, NULL));
	check(CALL(clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
	cl_context context = CALL(clCreateContext)(NULL, 1, &device, NULL, NULL, &status);
	check(status);
	cl_command_queue queue = CALL(clCreateCommandQueue)(context, device, 0, &status);
	check(status);
	cl_mem memory =
	    CALL(clCreateBuffer)(context, CL_MEM_READ_WRITE, sizeof text, NULL, &status);
	check(status);
	for (int i = 0; i < 5; i++)
		check(CALL(clEnqueueWriteBuffer)(queue, memory, CL_TRUE, 0, sizeof text, text, 0,
		                                 NULL, NULL));
	puts("five commands");
	return 0;
}
