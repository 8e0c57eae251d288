// SPDX-License-Identifier: Apache-2.0
// Modules: SPIR-V, and the device's own binaries. A Level Zero driver takes nothing else.
#include "backend/levelzero/module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct levelzero_device *device_of(struct tare_module *module)
{
	return (struct levelzero_device *)module->device;
}

// SPIR-V begins with this word, in either byte order.
static bool is_spirv(const struct tare_module_source *source)
{
	static const unsigned char little[] = { 0x03, 0x02, 0x23, 0x07 };
	static const unsigned char big[] = { 0x07, 0x23, 0x02, 0x03 };
	return source->bytes >= 20 && (memcmp(source->data, little, sizeof little) == 0 ||
	                               memcmp(source->data, big, sizeof big) == 0);
}

static int check_format(const struct tare_module_source *source, struct tare_error *error)
{
	switch (source->format) {
	case TARE_MODULE_SPIRV:
		if (!is_spirv(source))
			return tare_fail(error, EINVAL,
			                 "this is no SPIR-V, which begins with 0x07230203");
		return 0;
	case TARE_MODULE_NATIVE:
		if (is_spirv(source))
			return tare_fail(error, EINVAL,
			                 "this is SPIR-V, not the device's own binary");
		return 0;
	case TARE_MODULE_OPENCL_C:
	case TARE_MODULE_PTX:
	case TARE_MODULE_CUDA_C:
		break;
	}
	return tare_fail(error, ENOTSUP, "Level Zero takes SPIR-V or the device's own binaries");
}

// The build log as a string to free(); NULL when it is empty.
static char *read_log(const struct levelzero_functions *call, ze_module_build_log_handle_t handle)
{
	size_t bytes = 0;
	char *log;

	if (!handle || !call->zeModuleBuildLogGetString ||
	    call->zeModuleBuildLogGetString(handle, &bytes, NULL) != ZE_RESULT_SUCCESS || bytes < 2)
		return NULL;
	log = calloc(1, bytes + 1);
	if (log && call->zeModuleBuildLogGetString(handle, &bytes, log) != ZE_RESULT_SUCCESS) {
		free(log);
		return NULL;
	}
	return log;
}

// `log` may be NULL.
static int build_failed(ze_result_t result, const struct tare_module_source *source,
                        const char *log, struct tare_error *error)
{
	const char *what = "the module does not build";

	// The log of tare's own kernels is nobody's to read but for its first line.
	if (result == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE && log && source->ends)
		return levelzero_fail(result, "zeModuleCreate", error,
		                      "tare's own kernels do not build: %.*s",
		                      (int)strcspn(log, "\n"), log);

	if (result == ZE_RESULT_ERROR_INVALID_NATIVE_BINARY) {
		what = "the device does not take the binary; it is of another device or driver";
	} else if (result == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE) {
		if (source->format == TARE_MODULE_SPIRV)
			what = log ? "the SPIR-V does not build; the log says why"
			           : "the SPIR-V does not build, and the driver gives no log";
	} else if (result == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE) {
		what = "this driver builds no modules";
	}
	return levelzero_fail(result, "zeModuleCreate", error, "%s", what);
}

static int build(struct levelzero_device *device, struct levelzero_module *module,
                 const struct tare_module_source *source, char **log, struct tare_error *error)
{
	const struct levelzero_functions *call = &device->driver->call;
	const ze_module_desc_t wanted = {
		.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
		.format = source->format == TARE_MODULE_SPIRV ? ZE_MODULE_FORMAT_IL_SPIRV
		                                              : ZE_MODULE_FORMAT_NATIVE,
		.inputSize = source->bytes,
		.pInputModule = source->data,
		.pBuildFlags = source->options,
	};
	ze_module_build_log_handle_t said = NULL;
	char *text;
	int status = 0;

	if (!call->zeModuleCreate)
		return tare_fail(error, ENOTSUP, "this Level Zero loader lacks zeModuleCreate");
	if (!device->context)
		return tare_fail(error, ENOTSUP,
		                 "this driver makes no context (zeContextCreate); update it");
	ze_result_t result = call->zeModuleCreate(device->context, device->place.device, &wanted,
	                                          &module->handle, &said);
	text = read_log(call, said);
	if (result != ZE_RESULT_SUCCESS)
		status = build_failed(result, source, text, error);
	if (log && text && !source->ends) {
		*log = text;
		text = NULL;
	}
	free(text);
	if (said && call->zeModuleBuildLogDestroy)
		call->zeModuleBuildLogDestroy(said);
	return status;
}

int levelzero_module_create(struct tare_device *base, const struct tare_module_source *source,
                            struct tare_module **module, char **log, struct tare_error *error)
{
	struct levelzero_module *made;
	struct tare_error unread;
	int status = check_format(source, error);

	if (log)
		*log = NULL;
	if (status < 0)
		return status;
	made = calloc(1, sizeof *made);
	if (!made)
		return tare_fail(error, ENOMEM, "out of memory");
	made->base.device = base;
	made->ends = source->ends;
	status = build((struct levelzero_device *)base, made, source, log, error);
	// What the driver takes may still be more than tare can read; it is then built all the
	// same.
	if (status == 0 && source->format == TARE_MODULE_SPIRV &&
	    tare_spirv_read(source->data, source->bytes, &made->spirv, &unread) < 0)
		made->spirv = NULL;
	if (status < 0) {
		made->handle = NULL;
		levelzero_module_free(&made->base);
		return status;
	}
	*module = &made->base;
	return 0;
}

void levelzero_module_free(struct tare_module *base)
{
	struct levelzero_module *module = (struct levelzero_module *)base;

	if (!module)
		return;
	const struct levelzero_functions *call = &device_of(base)->driver->call;
	if (module->handle && call->zeModuleDestroy)
		call->zeModuleDestroy(module->handle);
	tare_spirv_free(module->spirv);
	free(module);
}

// Adds a name where it fits whole, with its comma.
static void add_name(const char *name, char *names, size_t size)
{
	size_t used = strlen(names);

	if (used + (used ? 2 : 0) + strlen(name) < size)
		snprintf(names + used, size - used, "%s%s", used ? ", " : "", name);
}

int levelzero_module_kernels(struct tare_module *base, char *names, size_t size,
                             struct tare_error *error)
{
	struct levelzero_module *module = (struct levelzero_module *)base;
	const struct levelzero_functions *call = &device_of(base)->driver->call;
	const char **list;
	uint32_t count = 0;

	if (size)
		names[0] = '\0';
	if (!call->zeModuleGetKernelNames ||
	    call->zeModuleGetKernelNames(module->handle, &count, NULL) != ZE_RESULT_SUCCESS) {
		if (!module->spirv)
			return tare_fail(error, ENODATA,
			                 "the driver does not list the kernels of this module");
		for (uint32_t i = 0; size && i < module->spirv->kernel_count; i++)
			add_name(module->spirv->kernels[i].name, names, size);
		return (int)module->spirv->kernel_count;
	}
	if (count == 0)
		return 0;
	list = calloc(count, sizeof *list);
	if (!list)
		return tare_fail(error, ENOMEM, "out of memory");
	ze_result_t result = call->zeModuleGetKernelNames(module->handle, &count, list);
	for (uint32_t i = 0; result == ZE_RESULT_SUCCESS && size && i < count; i++)
		if (list[i])
			add_name(list[i], names, size);
	free(list);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeModuleGetKernelNames", error,
		                      "cannot list the module's kernels");
	return (int)count;
}
