// SPDX-License-Identifier: Apache-2.0
// The fake OpenCL's programs and kernels.
#include "fake_opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                     const size_t *lengths, cl_int *code)
{
	cl_program made = fake_create(sizeof(struct _cl_program));

	*code = CL_SUCCESS;
	made->local = strstr(texts[0], "__local") != NULL;
	return made;
}

cl_program clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices,
                                     const size_t *lengths, const unsigned char **binaries,
                                     cl_int *status, cl_int *code)
{
	*code = CL_INVALID_BINARY;
	return NULL;
}

static bool keeps_parameters; // the program built last

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                      const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                      void *data)
{
	keeps_parameters = options && strstr(options, "-cl-kernel-arg-info");
	if (fake_told("no-compiler", NULL))
		return CL_COMPILER_NOT_AVAILABLE;
	if (fake_told("build-exits", NULL))
		exit(0);
	if (fake_told("build-crashes", NULL))
		abort();
	return fake_told("build-fails", NULL) ? CL_BUILD_PROGRAM_FAILURE : CL_SUCCESS;
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id on, cl_program_build_info name,
                             size_t room, void *to, size_t *size)
{
	static const char log[] = "fake.cl:3:14: error: told to fail";
	return fake_answer(log, sizeof log, room, to, size);
}

cl_int clReleaseProgram(cl_program program)
{
	return fake_release(program);
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *code)
{
	cl_kernel made = fake_create(sizeof(struct _cl_kernel));

	*code = CL_SUCCESS;
	made->local = program->local;
	return made;
}

cl_int clReleaseKernel(cl_kernel kernel)
{
	return fake_release(kernel);
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
	return CL_SUCCESS;
}

cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id on, cl_kernel_work_group_info name,
                                size_t room, void *to, size_t *size)
{
	cl_ulong value = 64;
	if (name == CL_KERNEL_PRIVATE_MEM_SIZE)
		return CL_INVALID_VALUE;
	if (name == CL_KERNEL_LOCAL_MEM_SIZE)
		value = kernel->local && !fake_told("local-untold", NULL) ? 4096 : 0;
	return fake_answer(&value, sizeof value, room, to, size);
}

// Every kernel here has the parameters of tare's own loops, as NVIDIA's driver tells them.
cl_int clGetKernelInfo(cl_kernel kernel, cl_kernel_info name, size_t room, void *to, size_t *size)
{
	cl_uint count = 3;
	if (name != CL_KERNEL_NUM_ARGS || fake_told("no-parameters", NULL))
		return CL_INVALID_VALUE;
	return fake_answer(&count, sizeof count, room, to, size);
}

cl_int clGetKernelArgInfo(cl_kernel kernel, cl_uint index, cl_kernel_arg_info name, size_t room,
                          void *to, size_t *size)
{
	static const struct {
		cl_kernel_arg_address_qualifier address;
		cl_kernel_arg_type_qualifier qualifiers;
		const char *type, *name;
	} rows[] = {
		{ CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_CONST, "int*", "input" },
		{ CL_KERNEL_ARG_ADDRESS_LOCAL, 0, "float*", "tile" },
		{ CL_KERNEL_ARG_ADDRESS_PRIVATE, 0, "struct odd", "count" },
	};
	if (fake_told("no-parameters", NULL) || !keeps_parameters)
		return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
	if (index >= sizeof rows / sizeof *rows)
		return CL_INVALID_ARG_INDEX;
	switch (name) {
	case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
		return fake_answer(&rows[index].address, sizeof rows->address, room, to, size);
	case CL_KERNEL_ARG_TYPE_QUALIFIER:
		return fake_answer(&rows[index].qualifiers, sizeof rows->qualifiers, room, to,
		                   size);
	case CL_KERNEL_ARG_TYPE_NAME:
		return fake_answer(rows[index].type, strlen(rows[index].type) + 1, room, to, size);
	case CL_KERNEL_ARG_NAME:
		return fake_answer(rows[index].name, strlen(rows[index].name) + 1, room, to, size);
	}
	return CL_INVALID_VALUE;
}
