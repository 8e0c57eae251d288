// SPDX-License-Identifier: Apache-2.0
// Local memory that a kernel declares. Some drivers (PoCL 6.0) answer 0 for every kernel: that is
// told from a kernel without any by one of our own, which has some.
#include "backend/opencl/opencl.h"

#include <string.h>

#define DECLARED_BYTES 256

static const char declares[] = "__kernel void declares(__global uint *a)\n"
                               "{\n"
                               "	__local uint t[64];\n"
                               "	t[get_local_id(0) % 64] = a[0];\n"
                               "	barrier(CLK_LOCAL_MEM_FENCE);\n"
                               "	a[0] = t[1];\n"
                               "}\n";

static int64_t ask(const struct opencl_device *device, cl_kernel kernel)
{
	cl_ulong bytes = 0;

	return device->cl->clGetKernelWorkGroupInfo(kernel, device->entry.id,
	                                            CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes,
	                                            NULL) == CL_SUCCESS
	           ? (int64_t)bytes
	           : -1;
}

// What the driver tells of our kernel; -1 where that does not build.
static int64_t ask_of_ours(const struct opencl_device *device)
{
	const struct opencl_functions *cl = device->cl;
	const char *text = declares;
	size_t length = strlen(declares);
	cl_int code = CL_SUCCESS;
	int64_t bytes = -1;
	cl_program program =
	    cl->clCreateProgramWithSource(device->context, 1, &text, &length, &code);

	if (code != CL_SUCCESS || !program)
		return -1;
	if (cl->clBuildProgram(program, 1, &device->entry.id, "", NULL, NULL) == CL_SUCCESS) {
		cl_kernel kernel = cl->clCreateKernel(program, "declares", &code);
		if (code == CL_SUCCESS && kernel) {
			bytes = ask(device, kernel);
			cl->clReleaseKernel(kernel);
		}
	}
	cl->clReleaseProgram(program);
	return bytes;
}

int64_t opencl_kernel_local_bytes(struct opencl_device *device, cl_kernel kernel)
{
	int64_t bytes = ask(device, kernel);

	if (bytes)
		return bytes;
	if (!device->local_asked) {
		int64_t ours = ask_of_ours(device);
		device->local_asked = true;
		device->local_untold = ours >= 0 && ours < DECLARED_BYTES;
	}
	return device->local_untold ? -1 : 0;
}
