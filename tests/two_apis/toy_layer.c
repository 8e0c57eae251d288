// SPDX-License-Identifier: Apache-2.0
// An OpenCL layer below the recorder that makes an OpenCL driver on top of the toy of it: it polls
// the toy in every clFinish, and whenever somebody asks for an event's times.
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include "toy.h"

#include <CL/cl_layer.h>
#include <stdlib.h>
#include <string.h>

static struct _cl_icd_dispatch mine;
static const struct _cl_icd_dispatch *next;

static void use_toy(void)
{
	static _Thread_local toy_queue *queue;
	if (!queue && toy_queue_create(&queue))
		abort();
	toy_poll(queue);
}

static cl_int CL_API_CALL finish(cl_command_queue queue)
{
	use_toy();
	return next->clFinish(queue);
}

static cl_int CL_API_CALL profiling(cl_event event, cl_profiling_info name, size_t size,
                                    void *value, size_t *size_ret)
{
	use_toy();
	return next->clGetEventProfilingInfo(event, name, size, value, size_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t size, void *value,
                                               size_t *size_ret)
{
	static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
	static const char title[] = "toy";
	const void *from = name == CL_LAYER_API_VERSION ? (const void *)&version : title;
	size_t bytes = name == CL_LAYER_API_VERSION ? sizeof version : sizeof title;
	if (value && size < bytes)
		return CL_INVALID_VALUE;
	if (value)
		memcpy(value, from, bytes);
	if (size_ret)
		*size_ret = bytes;
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const struct _cl_icd_dispatch *target,
                                            cl_uint *entries_ret,
                                            const struct _cl_icd_dispatch **table_ret)
{
	size_t bytes = entries * sizeof(void *);
	memcpy(&mine, target, bytes < sizeof mine ? bytes : sizeof mine);
	next = target;
	mine.clFinish = finish;
	mine.clGetEventProfilingInfo = profiling;
	*table_ret = &mine;
	*entries_ret = sizeof mine / sizeof(void *);
	return CL_SUCCESS;
}
