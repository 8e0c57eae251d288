// SPDX-License-Identifier: Apache-2.0
// The OpenCL functions that tare calls, resolved at run time from the loader.
#pragma once
#include "base/error.h"
#include "base/library.h"

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

// OpenCL 1.2: every loader has these.
#define OPENCL_REQUIRED_FUNCTIONS(X)                                                               \
	X(clGetPlatformIDs)                                                                        \
	X(clGetPlatformInfo)                                                                       \
	X(clGetDeviceIDs)                                                                          \
	X(clGetDeviceInfo)                                                                         \
	X(clCreateContext)                                                                         \
	X(clReleaseContext)                                                                        \
	X(clCreateCommandQueue)                                                                    \
	X(clRetainCommandQueue)                                                                    \
	X(clReleaseCommandQueue)                                                                   \
	X(clGetCommandQueueInfo)                                                                   \
	X(clFlush)                                                                                 \
	X(clFinish)                                                                                \
	X(clCreateBuffer)                                                                          \
	X(clCreateSubBuffer)                                                                       \
	X(clReleaseMemObject)                                                                      \
	X(clEnqueueReadBuffer)                                                                     \
	X(clEnqueueWriteBuffer)                                                                    \
	X(clEnqueueCopyBuffer)                                                                     \
	X(clEnqueueReadBufferRect)                                                                 \
	X(clEnqueueWriteBufferRect)                                                                \
	X(clEnqueueCopyBufferRect)                                                                 \
	X(clEnqueueFillBuffer)                                                                     \
	X(clEnqueueMapBuffer)                                                                      \
	X(clEnqueueUnmapMemObject)                                                                 \
	X(clEnqueueMigrateMemObjects)                                                              \
	X(clEnqueueNDRangeKernel)                                                                  \
	X(clEnqueueMarkerWithWaitList)                                                             \
	X(clEnqueueBarrierWithWaitList)                                                            \
	X(clWaitForEvents)                                                                         \
	X(clGetEventInfo)                                                                          \
	X(clGetEventProfilingInfo)                                                                 \
	X(clSetEventCallback)                                                                      \
	X(clCreateUserEvent)                                                                       \
	X(clSetUserEventStatus)                                                                    \
	X(clReleaseEvent)                                                                          \
	X(clCreateProgramWithSource)                                                               \
	X(clCreateProgramWithBinary)                                                               \
	X(clBuildProgram)                                                                          \
	X(clGetProgramBuildInfo)                                                                   \
	X(clReleaseProgram)                                                                        \
	X(clCreateKernel)                                                                          \
	X(clReleaseKernel)                                                                         \
	X(clSetKernelArg)                                                                          \
	X(clGetKernelWorkGroupInfo)                                                                \
	X(clGetKernelInfo)                                                                         \
	X(clGetKernelArgInfo)

// Later versions. That the loader exports one says nothing of the device: call it only when the
// device's own version and capabilities allow.
#define OPENCL_OPTIONAL_FUNCTIONS(X)                                                               \
	X(clCreateCommandQueueWithProperties)                                                      \
	X(clSVMAlloc)                                                                              \
	X(clSVMFree)                                                                               \
	X(clEnqueueSVMMemcpy)                                                                      \
	X(clEnqueueSVMMemFill)                                                                     \
	X(clEnqueueSVMMap)                                                                         \
	X(clEnqueueSVMUnmap)                                                                       \
	X(clSetKernelArgSVMPointer)                                                                \
	X(clEnqueueSVMMigrateMem)                                                                  \
	X(clGetDeviceAndHostTimer)                                                                 \
	X(clCreateProgramWithIL)                                                                   \
	X(clGetKernelSubGroupInfo)                                                                 \
	X(clCreateImage)                                                                           \
	X(clEnqueueReadImage)                                                                      \
	X(clEnqueueWriteImage)

struct opencl_functions {
#define X(function) __typeof__(function) *function;
	OPENCL_REQUIRED_FUNCTIONS(X)
	OPENCL_OPTIONAL_FUNCTIONS(X)
#undef X
};

// Opens libOpenCL.so.1, or the library that TARE_OPENCL_LIBRARY names, and fills *functions.
// -ENOENT: there is none (the error says what to install). The library stays mapped for the life
// of the process even after tare_library_close.
int opencl_library_open(struct opencl_functions *functions, struct tare_library **library,
                        struct tare_error *error);
