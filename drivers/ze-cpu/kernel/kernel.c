// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

void kernel_arguments_free(struct kernel_argument *arguments, uint32_t count)
{
	for (uint32_t i = 0; arguments && i < count; i++)
		if (arguments[i].kind == TARE_PARAMETER_VALUE &&
		    arguments[i].bytes > sizeof(uint64_t))
			free(arguments[i].big);
	free(arguments);
}

bool kernel_argument_copy(struct kernel_argument *to, const struct kernel_argument *from)
{
	*to = *from;
	if (from->kind != TARE_PARAMETER_VALUE || from->bytes <= sizeof from->small)
		return true;
	to->big = malloc(from->bytes);
	if (!to->big) {
		to->bytes = 0;
		return false;
	}
	memcpy(to->big, from->big, from->bytes);
	return true;
}

static void kernel_free(ze_kernel_handle_t kernel)
{
	kernel_arguments_free(kernel->arguments, kernel->spirv->parameter_count);
	program_release(kernel->program);
	free(kernel->attributes);
	free(kernel);
}

static ze_result_t make(ze_kernel_handle_t kernel)
{
	const struct tare_spirv_kernel *spirv = kernel->spirv;

	kernel->arguments = calloc(spirv->parameter_count + (size_t)1, sizeof *kernel->arguments);
	kernel->attributes = kernel_source_attributes(kernel);
	if (!kernel->arguments || !kernel->attributes)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	for (uint32_t i = 0; i < spirv->parameter_count; i++)
		kernel->arguments[i].kind = spirv->parameters[i].kind;
	for (int i = 0; i < 3; i++)
		kernel->group_size[i] =
		    spirv->required_group_size[i] ? spirv->required_group_size[i] : 1;
	return kernel_read_limits(kernel);
}

ze_result_t cpu_zeKernelCreate(ze_module_handle_t module, const ze_kernel_desc_t *description,
                               ze_kernel_handle_t *kernel)
{
	if (!module)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!description || !description->pKernelName || !kernel)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (description->flags >
	    (ZE_KERNEL_FLAG_FORCE_RESIDENCY | ZE_KERNEL_FLAG_EXPLICIT_RESIDENCY))
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	const struct tare_spirv *spirv = module->program->spirv;
	const struct tare_spirv_kernel *found = tare_spirv_kernel(spirv, description->pKernelName);
	if (!found)
		return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
	if (!program_is_built(module->program))
		return ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED;
	ze_kernel_handle_t made = calloc(1, sizeof *made);
	if (!made)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	made->module = module;
	made->program = program_hold(module->program);
	made->spirv = found;
	made->index = (uint32_t)(found - spirv->kernels);
	ze_result_t result = make(made);
	if (result)
		kernel_free(made);
	else
		*kernel = made;
	return result;
}

ze_result_t cpu_zeKernelDestroy(ze_kernel_handle_t kernel)
{
	if (!kernel)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	kernel_free(kernel);
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeKernelSetGroupSize(ze_kernel_handle_t kernel, uint32_t x, uint32_t y, uint32_t z)
{
	const uint32_t size[3] = { x, y, z };
	uint64_t total = 1;

	if (!kernel)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	for (int i = 0; i < 3; i++) {
		uint32_t required = kernel->spirv->required_group_size[i];
		if (!size[i] || size[i] > kernel->limits.dimension_size[i] ||
		    (required && size[i] != required))
			return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
		total *= size[i];
		if (total > kernel->limits.group_size)
			return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
	}
	memcpy(kernel->group_size, size, sizeof size);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t set_value(struct kernel_argument *argument, size_t bytes, const void *value)
{
	struct kernel_argument changed = { .kind = TARE_PARAMETER_VALUE,
		                           .set = true,
		                           .bytes = bytes };

	if (bytes > sizeof changed.small) {
		changed.big = calloc(1, bytes);
		if (!changed.big)
			return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	}
	if (value)
		memcpy(bytes > sizeof changed.small ? (void *)changed.big : (void *)&changed.small,
		       value, bytes);
	if (argument->bytes > sizeof argument->small)
		free(argument->big);
	*argument = changed;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeKernelSetArgumentValue(ze_kernel_handle_t kernel, uint32_t index, size_t bytes,
                                         const void *value)
{
	if (!kernel)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (index >= kernel->spirv->parameter_count)
		return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
	struct kernel_argument *argument = &kernel->arguments[index];
	int64_t wanted = kernel->spirv->parameters[index].bytes;
	// Of more bytes than the parameter has, its own are taken.
	switch (argument->kind) {
	case TARE_PARAMETER_MEMORY:
		if (bytes < sizeof argument->pointer)
			return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
		argument->pointer = NULL;
		if (value)
			memcpy(&argument->pointer, value, sizeof argument->pointer);
		argument->bytes = sizeof argument->pointer;
		break;
	case TARE_PARAMETER_LOCAL:
		if (!bytes)
			return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
		argument->bytes = bytes;
		break;
	case TARE_PARAMETER_UNKNOWN:
		// An image or a sampler, of which the device has none.
		return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
	case TARE_PARAMETER_VALUE:
		if (!bytes || (wanted > 0 && bytes < (uint64_t)wanted))
			return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
		return set_value(argument, wanted > 0 ? (size_t)wanted : bytes, value);
	}
	argument->set = true;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeKernelSetIndirectAccess(ze_kernel_handle_t kernel,
                                          ze_kernel_indirect_access_flags_t flags)
{
	if (!kernel)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (flags > 0x7)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	kernel->indirect = flags;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeKernelGetIndirectAccess(ze_kernel_handle_t kernel,
                                          ze_kernel_indirect_access_flags_t *flags)
{
	if (!kernel)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!flags)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*flags = kernel->indirect;
	return ZE_RESULT_SUCCESS;
}

// A CPU's caches have no such choice; the wish is legal.
ze_result_t cpu_zeKernelSetCacheConfig(ze_kernel_handle_t kernel, ze_cache_config_flags_t flags)
{
	if (!kernel)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	return flags > 0x3 ? ZE_RESULT_ERROR_INVALID_ENUMERATION : ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeKernelSetGlobalOffsetExp(ze_kernel_handle_t kernel, uint32_t x, uint32_t y,
                                           uint32_t z)
{
	const uint32_t offset[3] = { x, y, z };

	if (!kernel)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	memcpy(kernel->offset, offset, sizeof offset);
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeKernelSchedulingHintExp(ze_kernel_handle_t kernel,
                                          ze_scheduling_hint_exp_desc_t *hint)
{
	if (!kernel)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!hint)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	return hint->flags > 0x7 ? ZE_RESULT_ERROR_INVALID_ENUMERATION : ZE_RESULT_SUCCESS;
}
