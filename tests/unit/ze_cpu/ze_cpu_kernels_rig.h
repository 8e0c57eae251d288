// SPDX-License-Identifier: Apache-2.0
// What the tests of the CPU driver's kernels share: one device, a list that waits, modules by file.
#pragma once
#include <level_zero/ze_api.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define assert_ze(expected, call) assert_int_equal(expected, call)
#define assert_good(call) assert_ze(ZE_RESULT_SUCCESS, call)

struct rig {
	const char *folder; // of the .spv files
	ze_device_handle_t device;
	ze_context_handle_t context;
	ze_command_list_handle_t list; // immediate, synchronous
	ze_module_handle_t module;     // ze_cpu_kernels
};

struct spirv_file {
	uint8_t *data;
	size_t bytes;
};

static inline struct spirv_file read_spirv(const char *folder, const char *name)
{
	struct spirv_file file = { NULL, 0 };
	char path[1024];

	snprintf(path, sizeof path, "%s/%s.spv", folder, name);
	FILE *stream = fopen(path, "rb");
	if (!stream)
		return file;
	file.data = malloc(1 << 20);
	if (file.data)
		file.bytes = fread(file.data, 1, 1 << 20, stream);
	fclose(stream);
	return file;
}

// The result; the log's text in *log, the caller's to free, where that is not NULL.
static inline ze_result_t make_module(const struct rig *rig, ze_module_desc_t description,
                                      ze_module_handle_t *module, char **log)
{
	ze_module_build_log_handle_t handle = NULL;
	size_t bytes = 0;

	description.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
	ze_result_t result =
	    zeModuleCreate(rig->context, rig->device, &description, module, log ? &handle : NULL);
	if (!log)
		return result;
	*log = NULL;
	if (handle && zeModuleBuildLogGetString(handle, &bytes, NULL) == ZE_RESULT_SUCCESS &&
	    (*log = malloc(bytes)))
		zeModuleBuildLogGetString(handle, &bytes, *log);
	if (handle)
		zeModuleBuildLogDestroy(handle);
	return result;
}

static inline ze_module_handle_t module_of(const struct rig *rig, const char *name)
{
	struct spirv_file file = read_spirv(rig->folder, name);
	ze_module_desc_t description = { .format = ZE_MODULE_FORMAT_IL_SPIRV,
		                         .inputSize = file.bytes,
		                         .pInputModule = file.data };
	ze_module_handle_t module = NULL;
	char *log = NULL;

	assert_non_null(file.data);
	ze_result_t result = make_module(rig, description, &module, &log);
	if (result)
		print_error("%s: %s\n", name, log ? log : "no log");
	assert_good(result);
	free(log);
	free(file.data);
	return module;
}

static inline ze_kernel_handle_t kernel_of(ze_module_handle_t module, const char *name)
{
	ze_kernel_desc_t description = { .stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
		                         .pKernelName = name };
	ze_kernel_handle_t kernel = NULL;

	assert_good(zeKernelCreate(module, &description, &kernel));
	return kernel;
}

#define set(kernel, index, value)                                                                  \
	assert_good(zeKernelSetArgumentValue(kernel, index, sizeof(value), &(value)))

static inline ze_result_t launch(const struct rig *rig, ze_kernel_handle_t kernel, uint32_t x,
                                 uint32_t y)
{
	ze_group_count_t groups = { x, y, 1 };

	return zeCommandListAppendLaunchKernel(rig->list, kernel, &groups, NULL, 0, NULL);
}

// False, with the reason printed: there is no such device here, or it has nothing to run kernels
// on.
static inline bool open_rig(struct rig *rig, const char *driver, const char *folder)
{
	uint32_t count = 1;
	ze_driver_handle_t first;
	ze_context_desc_t context = { .stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC };
	ze_command_queue_desc_t queue = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		                          .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS };

	setenv("ZE_ENABLE_ALT_DRIVERS", driver, 1);
	rig->folder = folder;
	if (zeInit(0) || zeDriverGet(&count, &first) || !count) {
		printf("the loader does not load %s\n", driver);
		return false;
	}
	count = 1;
	return zeDeviceGet(first, &count, &rig->device) == ZE_RESULT_SUCCESS &&
	       zeContextCreate(first, &context, &rig->context) == ZE_RESULT_SUCCESS &&
	       zeCommandListCreateImmediate(rig->context, rig->device, &queue, &rig->list) ==
	           ZE_RESULT_SUCCESS;
}

// Builds ze_cpu_kernels. False, with the reason printed: nothing here runs or translates kernels.
static inline bool open_kernels(struct rig *rig)
{
	struct spirv_file file = read_spirv(rig->folder, "ze_cpu_kernels");
	ze_module_desc_t description = { .format = ZE_MODULE_FORMAT_IL_SPIRV,
		                         .inputSize = file.bytes,
		                         .pInputModule = file.data };
	char *log = NULL;
	bool good =
	    file.data && make_module(rig, description, &rig->module, &log) == ZE_RESULT_SUCCESS;
	bool missing = log && (strstr(log, "no OpenCL CPU device") || strstr(log, "no llvm-spirv"));

	if (!good)
		printf("%s%s\n", missing ? "1..0 # SKIP " : "", log ? log : "no SPIR-V");
	if (!good && !missing)
		exit(1);
	free(log);
	free(file.data);
	return good;
}
