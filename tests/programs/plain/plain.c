// SPDX-License-Identifier: Apache-2.0
// A loader that knows no layers, as NVIDIA's toolkit brings one: it answers to the usual soname and
// has no more functions than loads.c needs. Behind it is the machine's own, to which the list of
// layers is hidden; its variable's name is not in this file as a text.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *real(const char *name)
{
	static void *library;

	if (!library) {
		static const char *const words[] = { "OPENCL", "LAYERS" };
		const char *const *volatile parts = words;
		char variable[32];
		snprintf(variable, sizeof variable, "%s_%s", parts[0], parts[1]);
		unsetenv(variable);
		library = dlopen(REAL_LOADER, RTLD_NOW | RTLD_LOCAL);
	}
	void *function = library ? dlsym(library, name) : NULL;
	if (!function) {
		fprintf(stderr, "%s: no %s\n", REAL_LOADER, name);
		exit(77);
	}
	return function;
}

#define REAL(name) ((__typeof__(&(name)))real(#name))

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *platforms, cl_uint *count)
{
	return REAL(clGetPlatformIDs)(room, platforms, count);
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room,
                      cl_device_id *devices, cl_uint *count)
{
	return REAL(clGetDeviceIDs)(platform, type, room, devices, count);
}

cl_context clCreateContext(const cl_context_properties *properties, cl_uint count,
                           const cl_device_id *devices,
                           void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                           void *data, cl_int *status)
{
	return REAL(clCreateContext)(properties, count, devices, notify, data, status);
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                      cl_command_queue_properties properties, cl_int *status)
{
	return REAL(clCreateCommandQueue)(context, device, properties, status);
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host,
                      cl_int *status)
{
	return REAL(clCreateBuffer)(context, flags, bytes, host, status);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset,
                            size_t bytes, const void *from, cl_uint waits, const cl_event *list,
                            cl_event *event)
{
	return REAL(clEnqueueWriteBuffer)(queue, memory, blocking, offset, bytes, from, waits, list,
	                                  event);
}
