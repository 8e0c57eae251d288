// SPDX-License-Identifier: Apache-2.0
// Runs a function within a callback of OpenCL's, as a driver of one API may use another.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

void within_opencl(void (*function)(void));

static void (*inside)(void);
static _Atomic int done;

static void CL_CALLBACK completed(cl_event event, cl_int status, void *data)
{
	(void)event, (void)status, (void)data;
	inside();
	done = 1;
}

static void check(cl_int status)
{
	if (status != CL_SUCCESS)
		exit(6);
}

void within_opencl(void (*function)(void))
{
	cl_platform_id platform;
	cl_device_id device;
	cl_int status;
	const cl_int value = 7;
	check(clGetPlatformIDs(1, &platform, NULL));
	check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
	cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
	check(status);
	cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
	check(status);
	cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE, 1 << 20, NULL, &status);
	check(status);
	check(clEnqueueFillBuffer(queue, memory, &value, sizeof value, 0, 1 << 20, 0, NULL, NULL));
	check(clFinish(queue));
	cl_event event = clCreateUserEvent(context, &status);
	check(status);
	inside = function;
	check(clSetEventCallback(event, CL_COMPLETE, completed, NULL));
	check(clSetUserEventStatus(event, CL_COMPLETE));
	while (!done)
		usleep(1000);
	check(clReleaseEvent(event));
	check(clReleaseMemObject(memory));
	check(clReleaseCommandQueue(queue));
	check(clReleaseContext(context));
}
