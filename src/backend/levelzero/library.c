// SPDX-License-Identifier: Apache-2.0
#include "backend/levelzero/internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tare_symbol symbols[] = {
#define REQUIRED(name) TARE_SYMBOL(struct levelzero_functions, name),
#define OPTIONAL(name) TARE_SYMBOL_OPTIONAL(struct levelzero_functions, name),
	LEVELZERO_FUNCTIONS(REQUIRED, OPTIONAL)
#define NEWER(name, type) TARE_SYMBOL_OPTIONAL(struct levelzero_functions, name),
	    LEVELZERO_NEWER_FUNCTIONS(NEWER)
#undef REQUIRED
#undef OPTIONAL
#undef NEWER
};

static const struct result_row {
	ze_result_t result;
	int code;
	const char *name;
} results[] = {
#define ROW(result, code) { result, code, #result }
	ROW(ZE_RESULT_NOT_READY, EAGAIN),
	ROW(ZE_RESULT_ERROR_DEVICE_LOST, ENODEV),
	ROW(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, ENOMEM),
	ROW(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, ENOMEM),
	ROW(ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS, EACCES),
	ROW(ZE_RESULT_ERROR_NOT_AVAILABLE, EIO),
	ROW(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, ENODEV),
	ROW(ZE_RESULT_ERROR_UNINITIALIZED, ENODEV),
	ROW(ZE_RESULT_ERROR_UNSUPPORTED_VERSION, ENOTSUP),
	ROW(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, ENOTSUP),
	ROW(ZE_RESULT_ERROR_INVALID_ARGUMENT, EINVAL),
	ROW(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, EINVAL),
	ROW(ZE_RESULT_ERROR_INVALID_NULL_POINTER, EINVAL),
	ROW(ZE_RESULT_ERROR_INVALID_SIZE, EINVAL),
	ROW(ZE_RESULT_ERROR_INVALID_ENUMERATION, EINVAL),
	ROW(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, EINVAL),
	ROW(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION, EINVAL),
	ROW(ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION, EINVAL),
	ROW(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, EINVAL),
	ROW(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE, EINVAL),
	ROW(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE, EINVAL),
	ROW(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, ENOMEM),
	ROW(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, ENOTSUP),
	ROW(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, ENOTSUP),
	ROW(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, EINVAL),
	ROW(ZE_RESULT_ERROR_MODULE_LINK_FAILURE, EINVAL),
	ROW(ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED, EINVAL),
	ROW(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, ENOTSUP),
	ROW(ZE_RESULT_ERROR_INVALID_KERNEL_NAME, EINVAL),
	ROW(ZE_RESULT_ERROR_UNKNOWN, EIO),
#undef ROW
};

int levelzero_fail(ze_result_t result, const char *call, struct tare_error *error,
                   const char *format, ...)
{
	char message[256];
	const char *name = NULL;
	int code = EIO;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof message, format, arguments);
	va_end(arguments);
	for (size_t i = 0; i < sizeof results / sizeof *results; i++)
		if (results[i].result == result) {
			code = results[i].code;
			name = results[i].name;
		}
	bool unsupported = result == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
	int status = tare_fail_native(error, code, "levelzero", call, (long)result, name, "%s%s",
	                              message, unsupported ? "; a newer driver may do it" : "");
	return unsupported ? tare_advises(error, status) : status;
}

static const char no_driver[] =
    "the Level Zero loader finds no driver; for Intel GPUs install intel-level-zero-gpu or, on "
    "Debian 12, intel-opencl-icd; --ze-cpu does without a GPU";

static int fail_no_driver(struct tare_error *error)
{
	const char *named = getenv("ZE_ENABLE_ALT_DRIVERS");

	// By --ze-cpu, so there is nothing to unset; where its script is wrong it has said so
	// itself.
	if (named && strstr(named, "/libze_cpu.so") && !strchr(named, ','))
		return tare_fail(
		    error, ENODEV,
		    "the CPU driver does not start; where it does not say why, see that the "
		    "Level Zero loader opens '%.200s' (ldd)",
		    named);
	return tare_advises(
	    error, named && *named
	               ? tare_fail(error, ENODEV,
	                           "the Level Zero loader finds no driver that starts in what "
	                           "ZE_ENABLE_ALT_DRIVERS names, '%.200s'; unset it or mend it",
	                           named)
	               : tare_fail(error, ENODEV, "%s", no_driver));
}

static int add_devices(struct levelzero_driver *driver, ze_driver_handle_t handle,
                       struct tare_error *error)
{
	ze_device_handle_t devices[LEVELZERO_MAX_DEVICES];
	ze_api_version_t version = ZE_API_VERSION_1_0;
	uint32_t room = LEVELZERO_MAX_DEVICES - driver->count, count = 0;
	ze_result_t result = driver->call.zeDriverGetApiVersion(handle, &version);

	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeDriverGetApiVersion", error,
		                      "cannot ask a driver");
	// Asked for the number first: Intel's driver 22.43 leaves a count that is too large as it
	// is.
	result = driver->call.zeDeviceGet(handle, &count, NULL);
	if (count > room)
		count = room;
	// With a count of 0 it would tell the number and no devices.
	if (result == ZE_RESULT_SUCCESS && count > 0)
		result = driver->call.zeDeviceGet(handle, &count, devices);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeDeviceGet", error, "cannot list the devices");
	for (uint32_t i = 0; i < count; i++)
		driver->places[driver->count++] =
		    (struct levelzero_place){ handle, devices[i], version };
	return 0;
}

int levelzero_library_open(struct levelzero_driver *driver, struct tare_error *error)
{
	const char *chosen = getenv("TARE_LEVELZERO_LIBRARY");
	const char *names[] = { chosen && *chosen ? chosen : "libze_loader.so.1", NULL };
	ze_driver_handle_t handles[16];
	uint32_t room = sizeof handles / sizeof *handles, count = 0;
	int status = tare_library_open(names, symbols, sizeof symbols / sizeof *symbols,
	                               &driver->call, &driver->library, error);

	if (status == -ENOENT)
		return tare_advises(
		    error, chosen && *chosen
		               ? tare_fail(error, ENOENT,
		                           "TARE_LEVELZERO_LIBRARY names '%.200s', which cannot be "
		                           "opened; unset it for the system's loader",
		                           chosen)
		               : tare_fail(error, ENOENT,
		                           "no Level Zero loader (libze_loader.so.1); "
		                           "install libze1"));
	if (status < 0)
		return status;
	// Drivers leave threads and exit handlers behind: once open it stays mapped.
	dlopen(names[0], RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
	ze_result_t result = driver->call.zeInit(0);
	if (result == ZE_RESULT_ERROR_UNINITIALIZED)
		return fail_no_driver(error);
	if (result != ZE_RESULT_SUCCESS) {
		levelzero_fail(result, "zeInit", error, "the Level Zero driver does not start");
		if (error)
			error->code = -ENODEV;
		return -ENODEV;
	}
	// Asked for the number first, as everywhere: what is too large may be left as it is.
	result = driver->call.zeDriverGet(&count, NULL);
	if (count > room)
		count = room;
	if (result == ZE_RESULT_SUCCESS && count > 0)
		result = driver->call.zeDriverGet(&count, handles);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeDriverGet", error, "cannot list the drivers");
	for (uint32_t i = 0; i < count && status == 0; i++)
		status = add_devices(driver, handles[i], error);
	if (status == 0 && count == 0)
		return fail_no_driver(error);
	if (status == 0 && driver->count == 0)
		return tare_advises(
		    error, tare_fail(error, ENODEV,
		                     "the Level Zero driver finds no device; install its driver, "
		                     "and see that you may open /dev/dri/render*"));
	return status;
}
