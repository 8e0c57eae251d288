// SPDX-License-Identifier: Apache-2.0
// What a kernel's parameters are: clGetKernelArgInfo, which a driver answers for programs that were
// built from OpenCL C with -cl-kernel-arg-info.
#include "backend/opencl/opencl.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t opencl_argument_count(const struct opencl_device *device, cl_kernel kernel)
{
	cl_uint count = 0;

	if (device->cl->clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL) !=
	    CL_SUCCESS)
		return -1;
	return count;
}

// Bytes of a scalar or vector type of OpenCL C; -1 for any other (a structure).
static int64_t type_bytes(const char *type)
{
	static const struct {
		const char *name;
		int64_t bytes;
	} scalars[] = {
		{ "char", 1 },  { "uchar", 1 },  { "unsigned char", 1 },
		{ "short", 2 }, { "ushort", 2 }, { "unsigned short", 2 },
		{ "int", 4 },   { "uint", 4 },   { "unsigned int", 4 },
		{ "long", 8 },  { "ulong", 8 },  { "unsigned long", 8 },
		{ "half", 2 },  { "float", 4 },  { "double", 8 },
	};
	for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
		size_t length = strlen(scalars[i].name);
		if (strncmp(scalars[i].name, type, length) != 0)
			continue;
		if (!type[length])
			return scalars[i].bytes;
		// "float4"; three elements take the room of four.
		char *end;
		long width =
		    isdigit((unsigned char)type[length]) ? strtol(type + length, &end, 10) : 0;
		if ((width == 2 || width == 3 || width == 4 || width == 8 || width == 16) && !*end)
			return scalars[i].bytes * (width == 3 ? 4 : width);
	}
	return -1;
}

// A text of clGetKernelArgInfo, cut to `size`; "" where it is not told.
static void read_text(const struct opencl_device *device, cl_kernel kernel, cl_uint index,
                      cl_kernel_arg_info name, char *text, size_t size)
{
	char whole[256] = "";

	if (device->cl->clGetKernelArgInfo(kernel, index, name, sizeof whole - 1, whole, NULL) !=
	    CL_SUCCESS)
		whole[0] = '\0';
	snprintf(text, size, "%.*s", (int)size - 1, whole);
}

static enum tare_parameter_kind kind_of(cl_kernel_arg_address_qualifier address, const char *type)
{
	switch (address) {
	case CL_KERNEL_ARG_ADDRESS_LOCAL:
		return TARE_PARAMETER_LOCAL;
	case CL_KERNEL_ARG_ADDRESS_GLOBAL:
	case CL_KERNEL_ARG_ADDRESS_CONSTANT:
		// Images are in global memory as well, but are no pointers.
		return strncmp(type, "image", 5) == 0 ? TARE_PARAMETER_UNKNOWN
		                                      : TARE_PARAMETER_MEMORY;
	case CL_KERNEL_ARG_ADDRESS_PRIVATE:
		return strcmp(type, "sampler_t") == 0 ? TARE_PARAMETER_UNKNOWN
		                                      : TARE_PARAMETER_VALUE;
	}
	return TARE_PARAMETER_UNKNOWN;
}

int opencl_kernel_parameter(struct tare_kernel *kernel, uint32_t index,
                            struct tare_parameter *parameter, struct tare_error *error)
{
	const struct opencl_device *device = opencl_device(kernel->module->device);
	cl_kernel native = ((struct opencl_kernel *)kernel)->kernel;
	cl_kernel_arg_address_qualifier address = 0;
	cl_kernel_arg_type_qualifier qualifiers = 0;
	int64_t count = opencl_argument_count(device, native);

	if (count >= 0 && index >= count)
		return tare_fail(error, EINVAL,
		                 "the kernel has %lld parameters; number %u, from 0, "
		                 "is not among them",
		                 (long long)count, index);
	cl_int code = device->cl->clGetKernelArgInfo(native, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER,
	                                             sizeof address, &address, NULL);
	if (code != CL_SUCCESS)
		return opencl_fail(error, "clGetKernelArgInfo", code,
		                   "the driver does not tell what parameter %u is", index);
	*parameter = (struct tare_parameter){ .bytes = -1 };
	read_text(device, native, index, CL_KERNEL_ARG_NAME, parameter->name,
	          sizeof parameter->name);
	read_text(device, native, index, CL_KERNEL_ARG_TYPE_NAME, parameter->type,
	          sizeof parameter->type);
	if (device->cl->clGetKernelArgInfo(native, index, CL_KERNEL_ARG_TYPE_QUALIFIER,
	                                   sizeof qualifiers, &qualifiers, NULL) != CL_SUCCESS)
		qualifiers = 0;
	parameter->kind = kind_of(address, parameter->type);
	parameter->read_only =
	    address == CL_KERNEL_ARG_ADDRESS_CONSTANT || (qualifiers & CL_KERNEL_ARG_TYPE_CONST);
	if (parameter->kind == TARE_PARAMETER_VALUE)
		parameter->bytes = type_bytes(parameter->type);
	return 0;
}
