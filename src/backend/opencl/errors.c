// SPDX-License-Identifier: Apache-2.0
#include "backend/opencl/opencl.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

// Every code that a call of ours or a command can give, and the errno it becomes. A context or
// queue that we made and that is no longer valid died with its device: NVIDIA's driver says so
// after a fault.
static const struct {
	cl_int code;
	int error;
	const char *name;
} codes[] = {
#define ROW(code, error) { code, error, #code }
	ROW(CL_DEVICE_NOT_FOUND, ENODEV),
	ROW(CL_DEVICE_NOT_AVAILABLE, ENODEV),
	ROW(CL_COMPILER_NOT_AVAILABLE, ENOTSUP),
	ROW(CL_MEM_OBJECT_ALLOCATION_FAILURE, ENOMEM),
	ROW(CL_OUT_OF_RESOURCES, ENOMEM),
	ROW(CL_OUT_OF_HOST_MEMORY, ENOMEM),
	ROW(CL_PROFILING_INFO_NOT_AVAILABLE, ENODATA),
	ROW(CL_MEM_COPY_OVERLAP, EINVAL),
	ROW(CL_BUILD_PROGRAM_FAILURE, EINVAL),
	ROW(CL_MAP_FAILURE, EIO),
	ROW(CL_MISALIGNED_SUB_BUFFER_OFFSET, EINVAL),
	ROW(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, EIO),
	ROW(CL_COMPILE_PROGRAM_FAILURE, EINVAL),
	ROW(CL_LINKER_NOT_AVAILABLE, ENOTSUP),
	ROW(CL_LINK_PROGRAM_FAILURE, EINVAL),
	ROW(CL_KERNEL_ARG_INFO_NOT_AVAILABLE, ENODATA),
	ROW(CL_INVALID_VALUE, EINVAL),
	ROW(CL_INVALID_DEVICE_TYPE, EINVAL),
	ROW(CL_INVALID_PLATFORM, EINVAL),
	ROW(CL_INVALID_DEVICE, EINVAL),
	ROW(CL_INVALID_CONTEXT, ENODEV),
	ROW(CL_INVALID_QUEUE_PROPERTIES, ENOTSUP),
	ROW(CL_INVALID_COMMAND_QUEUE, ENODEV),
	ROW(CL_INVALID_HOST_PTR, EINVAL),
	ROW(CL_INVALID_MEM_OBJECT, EINVAL),
	ROW(CL_INVALID_BINARY, EINVAL),
	ROW(CL_INVALID_BUILD_OPTIONS, EINVAL),
	ROW(CL_INVALID_PROGRAM, EINVAL),
	ROW(CL_INVALID_PROGRAM_EXECUTABLE, EINVAL),
	ROW(CL_INVALID_KERNEL_NAME, EINVAL),
	ROW(CL_INVALID_KERNEL_DEFINITION, EINVAL),
	ROW(CL_INVALID_KERNEL, EINVAL),
	ROW(CL_INVALID_ARG_INDEX, EINVAL),
	ROW(CL_INVALID_ARG_VALUE, EINVAL),
	ROW(CL_INVALID_ARG_SIZE, EINVAL),
	ROW(CL_INVALID_KERNEL_ARGS, EINVAL),
	ROW(CL_INVALID_WORK_DIMENSION, EINVAL),
	ROW(CL_INVALID_WORK_GROUP_SIZE, EINVAL),
	ROW(CL_INVALID_WORK_ITEM_SIZE, EINVAL),
	ROW(CL_INVALID_GLOBAL_OFFSET, EINVAL),
	ROW(CL_INVALID_EVENT_WAIT_LIST, EINVAL),
	ROW(CL_INVALID_EVENT, EINVAL),
	ROW(CL_INVALID_OPERATION, EINVAL),
	ROW(CL_INVALID_BUFFER_SIZE, ENOMEM), // larger than the device's largest allocation
	ROW(CL_INVALID_GLOBAL_WORK_SIZE, EINVAL),
	ROW(CL_INVALID_PROPERTY, ENOTSUP),
	ROW(CL_INVALID_COMPILER_OPTIONS, EINVAL),
	ROW(CL_INVALID_LINKER_OPTIONS, EINVAL),
	ROW(CL_INVALID_SPEC_ID, EINVAL),
	ROW(CL_MAX_SIZE_RESTRICTION_EXCEEDED, ENOMEM),
	ROW(CL_PLATFORM_NOT_FOUND_KHR, ENODEV),
	ROW(CL_CONTEXT_TERMINATED_KHR, ENODEV),
#undef ROW
	// NVIDIA's own, when a kernel touched what it must not; the context is dead afterwards.
	{ -9999, ENODEV, "NVIDIA: illegal read or write to a buffer" },
};

static size_t find(cl_int code)
{
	size_t i = 0;
	while (i < sizeof codes / sizeof *codes && codes[i].code != code)
		i++;
	return i;
}

const char *opencl_code_name(cl_int code)
{
	size_t i = find(code);
	return i < sizeof codes / sizeof *codes ? codes[i].name : NULL;
}

int opencl_errno(cl_int code)
{
	size_t i = find(code);
	return i < sizeof codes / sizeof *codes ? codes[i].error : EIO;
}

static bool is_lost(cl_int code)
{
	return code == -9999 || code == CL_INVALID_CONTEXT || code == CL_INVALID_COMMAND_QUEUE ||
	       code == CL_CONTEXT_TERMINATED_KHR;
}

int opencl_fail(struct tare_error *error, const char *call, cl_int code, const char *format, ...)
{
	char message[400];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof message, format, arguments);
	va_end(arguments);
	return tare_fail_native(error, opencl_errno(code), "opencl", call, code,
	                        opencl_code_name(code), "%s%s", message,
	                        is_lost(code) ? ": the device is lost" : "");
}

int opencl_fail_status(struct tare_error *error, cl_int status)
{
	int code = opencl_errno(status);

	if (status == CL_OUT_OF_RESOURCES || (code != ENODEV && code != ENOMEM))
		code = EIO;
	return tare_fail_native(
	    error, code, "opencl", "command status", status, opencl_code_name(status),
	    code == ENODEV ? "the device was lost" : "an operation failed on the device");
}
