// SPDX-License-Identifier: Apache-2.0
#include "example.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The whole file, on the heap.
static uint8_t *file_of(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = NULL;
	long end = -1;

	if (file && fseek(file, 0, SEEK_END) == 0)
		end = ftell(file);
	if (end > 0 && fseek(file, 0, SEEK_SET) == 0)
		bytes = malloc((size_t)end);
	if (!bytes || fread(bytes, (size_t)end, 1, file) != 1)
		stop("cannot read the kernels in %s; --kernels FILE names another file", path);
	fclose(file);
	*size = (size_t)end;
	return bytes;
}

ze_module_handle_t module_of(const struct device *device, const char *path)
{
	static char beside[4096];
	ssize_t length = readlink("/proc/self/exe", beside, sizeof beside - 1);
	char *slash = length > 0 ? strrchr(beside, '/') : NULL;

	if (!path && slash) {
		const size_t at = (size_t)(slash + 1 - beside);
		snprintf(slash + 1, sizeof beside - at, "levelzero-kernels.spv");
		path = beside;
	}
	ze_module_desc_t wanted = {
		.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
		.format = ZE_MODULE_FORMAT_IL_SPIRV,
	};
	uint8_t *bytes = file_of(path ? path : "levelzero-kernels.spv", &wanted.inputSize);
	ze_module_build_log_handle_t log = NULL;
	ze_module_handle_t module;

	wanted.pInputModule = bytes;
	ze_result_t result = zeModuleCreate(device->context, device->id, &wanted, &module, &log);
	if (result != ZE_RESULT_SUCCESS && log) {
		static char text[65536];
		size_t size = sizeof text - 1;
		if (zeModuleBuildLogGetString(log, &size, text) == ZE_RESULT_SUCCESS)
			fprintf(stderr, "%s\n", text);
	}
	check(result, "zeModuleCreate");
	if (log)
		check(zeModuleBuildLogDestroy(log), "zeModuleBuildLogDestroy");
	free(bytes);
	return module;
}

ze_kernel_handle_t kernel_of(ze_module_handle_t module, const char *name)
{
	ze_kernel_desc_t wanted = { .stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name };
	ze_kernel_handle_t kernel;

	check(zeKernelCreate(module, &wanted, &kernel), "zeKernelCreate");
	return kernel;
}

void set_argument(ze_kernel_handle_t kernel, uint32_t index, size_t bytes, const void *value)
{
	check(zeKernelSetArgumentValue(kernel, index, bytes, value), "zeKernelSetArgumentValue");
}
