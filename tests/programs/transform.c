// SPDX-License-Identifier: Apache-2.0
// A transform of N complex numbers in single precision by clFFT, and its results in hexadecimal:
//   transform N
#define CL_TARGET_OPENCL_VERSION 120
#include <clFFT.h>
#include <stdio.h>
#include <stdlib.h>

static int say(const char *what, int status)
{
	if (status)
		fprintf(stderr, "transform: %s: %d\n", what, status);
	return status;
}

static int transform(cl_context context, cl_command_queue queue, cl_mem memory, size_t length)
{
	clfftSetupData setup;
	clfftPlanHandle plan;

	if (say("setup", clfftInitSetupData(&setup)) || say("setup", clfftSetup(&setup)) ||
	    say("plan", clfftCreateDefaultPlan(&plan, context, CLFFT_1D, &length)))
		return 1;
	clfftSetPlanPrecision(plan, CLFFT_SINGLE);
	clfftSetLayout(plan, CLFFT_COMPLEX_INTERLEAVED, CLFFT_COMPLEX_INTERLEAVED);
	clfftSetResultLocation(plan, CLFFT_INPLACE);
	int status = say("bake", clfftBakePlan(plan, 1, &queue, NULL, NULL)) ||
	             say("transform", clfftEnqueueTransform(plan, CLFFT_FORWARD, 1, &queue, 0, NULL,
	                                                    NULL, &memory, NULL, NULL)) ||
	             say("finish", clFinish(queue));
	clfftDestroyPlan(&plan);
	clfftTeardown();
	return status;
}

int main(int count, char **words)
{
	size_t length = count > 1 ? strtoul(words[1], NULL, 10) : 64,
	       bytes = length * 2 * sizeof(float);
	float *numbers = malloc(bytes);
	cl_platform_id platform;
	cl_device_id device;
	cl_int code;

	if (!numbers || say("platform", clGetPlatformIDs(1, &platform, NULL)) ||
	    say("device", clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)))
		return 1;
	for (size_t i = 0; i < 2 * length; i++)
		numbers[i] = (float)(i * 37 % 101) / 7.0f;
	cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
	cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
	cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes,
	                               numbers, &code);
	if (transform(context, queue, memory, length) ||
	    say("read",
	        clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, bytes, numbers, 0, NULL, NULL)))
		return 1;
	for (size_t i = 0; i < 2 * length; i++)
		printf("%a\n", (double)numbers[i]);
	clReleaseMemObject(memory);
	clReleaseCommandQueue(queue);
	clReleaseContext(context);
	free(numbers);
	return 0;
}
