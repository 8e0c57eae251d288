// SPDX-License-Identifier: Apache-2.0
// What a kernel is asked about.
#include "kernel/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUGGESTED_GROUP_SIZE 256 // what is suggested: a group's overhead is small beside it

static void read_device_limits(struct kernel_limits *limits)
{
	ze_device_compute_properties_t device = { .stype =
		                                      ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES };

	if (!cpu_zeDeviceGetComputeProperties ||
	    cpu_zeDeviceGetComputeProperties(&cpu_device, &device))
		return;
	limits->dimension_size[0] = device.maxGroupSizeX;
	limits->dimension_size[1] = device.maxGroupSizeY;
	limits->dimension_size[2] = device.maxGroupSizeZ;
	limits->group_size = device.maxTotalGroupSize;
	limits->device_local_bytes = device.maxSharedLocalMemory;
	for (uint32_t i = 0; i < device.numSubGroupSizes && i < ZE_SUBGROUPSIZE_COUNT; i++)
		if (device.subGroupSizes[i] > limits->sub_group_size)
			limits->sub_group_size = device.subGroupSizes[i];
}

ze_result_t kernel_read_limits(ze_kernel_handle_t kernel)
{
	struct kernel_limits *limits = &kernel->limits;
	const struct cpu_opencl *opencl = kernel->program->opencl;
	cl_kernel made = program_take_kernel(kernel->program, kernel->index);
	size_t group_size = 0, multiple = 0;
	cl_ulong local = 0, private = 0, device_local = 0;

	if (!made)
		return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
	const cl_icd_dispatch *cl = opencl->cl;
	cl->clGetKernelWorkGroupInfo(made, opencl->device, CL_KERNEL_WORK_GROUP_SIZE,
	                             sizeof group_size, &group_size, NULL);
	cl->clGetKernelWorkGroupInfo(made, opencl->device,
	                             CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof multiple,
	                             &multiple, NULL);
	cl->clGetKernelWorkGroupInfo(made, opencl->device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local,
	                             &local, NULL);
	cl->clGetKernelWorkGroupInfo(made, opencl->device, CL_KERNEL_PRIVATE_MEM_SIZE,
	                             sizeof private, &private, NULL);
	cl->clGetDeviceInfo(opencl->device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof device_local,
	                    &device_local, NULL);
	program_give_kernel(kernel->program, kernel->index, made);
	*limits = (struct kernel_limits){ .local_bytes = local,
		                          .private_bytes = private,
		                          .group_size = UINT32_MAX,
		                          .sub_group_size = 1,
		                          .preferred_multiple = (uint32_t)multiple,
		                          .dimension_size = { UINT32_MAX, UINT32_MAX, UINT32_MAX },
		                          .device_local_bytes = device_local };
	limits->spill_bytes = kernel_spill_bytes(kernel);
	kernel_variable_bytes(kernel, &limits->local_bytes, &limits->item_bytes);
	// PoCL 6.0 tells 0 always.
	if (limits->private_bytes < limits->item_bytes)
		limits->private_bytes = limits->item_bytes;
	read_device_limits(limits);
	if (device_local < limits->device_local_bytes)
		limits->device_local_bytes = device_local;
	if (group_size && group_size < limits->group_size)
		limits->group_size = (uint32_t)group_size;
	return ZE_RESULT_SUCCESS;
}

// SPIR-V words that hints are read from.
enum { OP_ENTRY_POINT = 15, OP_EXECUTION_MODE = 16, OP_FUNCTION = 54, MODE_LOCAL_SIZE_HINT = 18 };

// The group size that the source hints at; zeros: none. The module is one that was read before, so
// that lengths and texts are good; one of the other byte order has no hints here.
static void read_hint(const struct _ze_kernel_handle_t *kernel, uint32_t *hint)
{
	const uint32_t *words = kernel->program->il;
	size_t count = kernel->program->il_bytes / sizeof *words, length;
	uint32_t function = 0;

	if (words[0] != 0x07230203)
		return;
	for (size_t at = 5; at < count; at += length) {
		const uint32_t *word = words + at;
		length = word[0] >> 16;
		if (!length || length > count - at || (word[0] & 0xffff) == OP_FUNCTION)
			return;
		if ((word[0] & 0xffff) == OP_ENTRY_POINT && length > 3 &&
		    strncmp((const char *)(word + 3), kernel->spirv->name, (length - 3) * 4) == 0)
			function = word[2];
		if ((word[0] & 0xffff) == OP_EXECUTION_MODE && length == 6 && function &&
		    word[1] == function && word[2] == MODE_LOCAL_SIZE_HINT)
			memcpy(hint, word + 3, 3 * sizeof *hint);
	}
}

char *kernel_source_attributes(const struct _ze_kernel_handle_t *kernel)
{
	char text[256] = "";
	const uint32_t *size = kernel->spirv->required_group_size;
	uint32_t hint[3] = { 0 }, sub_group = kernel->spirv->required_sub_group_size;
	int used = 0;

	read_hint(kernel, hint);
	if (size[0])
		used += snprintf(text, sizeof text, "reqd_work_group_size(%u,%u,%u)", size[0],
		                 size[1], size[2]);
	if (hint[0])
		used += snprintf(text + used, sizeof text - (size_t)used,
		                 "%swork_group_size_hint(%u,%u,%u)", used ? " " : "", hint[0],
		                 hint[1], hint[2]);
	if (sub_group)
		snprintf(text + used, sizeof text - (size_t)used, "%sintel_reqd_sub_group_size(%u)",
		         used ? " " : "", sub_group);
	return strdup(text);
}

ze_result_t cpu_zeKernelGetSourceAttributes(ze_kernel_handle_t kernel, uint32_t *size, char **text)
{
	if (!kernel)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!size)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	uint32_t bytes = (uint32_t)strlen(kernel->attributes) + 1;
	// The specification has the driver point at its own text; Intel's copies into the caller's.
	if (text && *text && *size >= bytes)
		memcpy(*text, kernel->attributes, bytes);
	else if (text)
		*text = kernel->attributes;
	*size = bytes;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeKernelGetName(ze_kernel_handle_t kernel, size_t *size, char *name)
{
	if (!kernel)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!size)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	size_t bytes = strlen(kernel->spirv->name) + 1;
	if (name && *size) {
		size_t copied = *size < bytes ? *size : bytes;
		memcpy(name, kernel->spirv->name, copied);
		name[copied - 1] = '\0';
	}
	*size = bytes;
	return ZE_RESULT_SUCCESS;
}

// FNV-1a, 64 bits.
static uint64_t hash(const void *data, size_t bytes, uint64_t start)
{
	const unsigned char *at = data;
	uint64_t value = start ^ UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < bytes; i++)
		value = (value ^ at[i]) * UINT64_C(0x100000001b3);
	return value;
}

static void fill_uuid(const struct _ze_kernel_handle_t *kernel, ze_kernel_uuid_t *uuid)
{
	const struct cpu_program *program = kernel->program;
	const char *name = kernel->spirv->name;
	uint64_t module[2] = { hash(program->il, program->il_bytes, 0),
		               hash(program->flags, strlen(program->flags), 1) };
	uint64_t own[2] = { hash(name, strlen(name), 0), hash(name, strlen(name), 1) };

	memcpy(uuid->mid, module, sizeof uuid->mid);
	memcpy(uuid->kid, own, sizeof uuid->kid);
}

ze_result_t cpu_zeKernelGetProperties(ze_kernel_handle_t kernel, ze_kernel_properties_t *properties)
{
	if (!kernel)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!properties)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	const struct kernel_limits *limits = &kernel->limits;
	properties->numKernelArgs = kernel->spirv->parameter_count;
	properties->requiredGroupSizeX = kernel->spirv->required_group_size[0];
	properties->requiredGroupSizeY = kernel->spirv->required_group_size[1];
	properties->requiredGroupSizeZ = kernel->spirv->required_group_size[2];
	properties->requiredNumSubGroups = 0;
	properties->requiredSubgroupSize = kernel->spirv->required_sub_group_size;
	properties->maxSubgroupSize = limits->sub_group_size;
	properties->maxNumSubgroups = limits->group_size / limits->sub_group_size;
	properties->localMemSize = (uint32_t)limits->local_bytes;
	properties->privateMemSize = (uint32_t)limits->private_bytes;
	properties->spillMemSize = limits->spill_bytes;
	fill_uuid(kernel, &properties->uuid);
	for (ze_base_properties_t *next = properties->pNext; next; next = next->pNext)
		if (next->stype == ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES)
			((ze_kernel_preferred_group_size_properties_t *)next)->preferredMultiple =
			    limits->preferred_multiple ? limits->preferred_multiple
			                               : limits->sub_group_size;
	return ZE_RESULT_SUCCESS;
}

static uint32_t largest_divisor(uint32_t number, uint32_t most)
{
	uint32_t divisor = number < most ? number : most;

	while (number % divisor)
		divisor--;
	return divisor;
}

ze_result_t cpu_zeKernelSuggestGroupSize(ze_kernel_handle_t kernel, uint32_t x, uint32_t y,
                                         uint32_t z, uint32_t *group_x, uint32_t *group_y,
                                         uint32_t *group_z)
{
	const uint32_t items[3] = { x, y, z };
	uint32_t *const suggested[3] = { group_x, group_y, group_z };

	if (!kernel)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!group_x || !group_y || !group_z)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!x || !y || !z)
		return ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION;
	uint32_t left = kernel->limits.group_size < SUGGESTED_GROUP_SIZE ? kernel->limits.group_size
	                                                                 : SUGGESTED_GROUP_SIZE;
	for (int i = 0; i < 3; i++) {
		uint32_t most = left < kernel->limits.dimension_size[i]
		                    ? left
		                    : kernel->limits.dimension_size[i];
		uint32_t required = kernel->spirv->required_group_size[i];
		*suggested[i] = required ? required : largest_divisor(items[i], most);
		left /= *suggested[i] ? *suggested[i] : 1;
		left = left ? left : 1;
	}
	return ZE_RESULT_SUCCESS;
}

// Groups run one after the other where there are more than processors: only one is sure to be able
// to wait for all others.
ze_result_t cpu_zeKernelSuggestMaxCooperativeGroupCount(ze_kernel_handle_t kernel, uint32_t *count)
{
	if (!kernel)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!count)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*count = 1;
	return ZE_RESULT_SUCCESS;
}
