// SPDX-License-Identifier: Apache-2.0
#include "backend/levelzero/facts/facts.h"
#include "backend/levelzero/module.h"
#include "backend/levelzero/newer.h"

#include <errno.h>
#include <stdlib.h>

static const struct levelzero_functions *calls_of(const struct tare_module *module)
{
	return &((struct levelzero_device *)module->device)->driver->call;
}

int levelzero_kernel_create(struct tare_module *base, const char *name, struct tare_kernel **kernel,
                            struct tare_error *error)
{
	struct levelzero_module *module = (struct levelzero_module *)base;
	const struct levelzero_functions *call = calls_of(base);
	const ze_kernel_desc_t wanted = { .stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
		                          .pKernelName = name };
	struct levelzero_kernel *made;
	char names[256] = "";

	if (!call->zeKernelCreate)
		return tare_fail(error, ENOTSUP, "this Level Zero loader lacks zeKernelCreate");
	made = calloc(1, sizeof *made);
	if (!made)
		return tare_fail(error, ENOMEM, "out of memory");
	made->base.module = base;
	ze_result_t result = call->zeKernelCreate(module->handle, &wanted, &made->handle);
	if (result != ZE_RESULT_SUCCESS) {
		free(made);
		if (result != ZE_RESULT_ERROR_INVALID_KERNEL_NAME)
			return levelzero_fail(result, "zeKernelCreate", error,
			                      "cannot make kernel '%.80s'", name);
		levelzero_module_kernels(base, names, sizeof names, NULL);
		return levelzero_fail(result, "zeKernelCreate", error,
		                      "the module has no kernel '%.80s'%s%s", name,
		                      names[0] ? "; it has: " : "", names);
	}
	if (module->spirv)
		made->spirv = tare_spirv_kernel(module->spirv, name);
	*kernel = &made->base;
	return 0;
}

void levelzero_kernel_free(struct tare_kernel *base)
{
	struct levelzero_kernel *kernel = (struct levelzero_kernel *)base;

	if (!kernel)
		return;
	const struct levelzero_functions *call = calls_of(base->module);
	if (call->zeKernelDestroy)
		call->zeKernelDestroy(kernel->handle);
	free(kernel);
}

// -1 for the 0 of a driver that leaves a field alone where 0 can be no answer.
static int64_t known(uint32_t value)
{
	return value ? (int64_t)value : -1;
}

// What the driver says of a kernel, with the extensions that it knows. The preferred size belongs
// to the specification (1.2); the largest is asked only of a driver that lists it: one (Intel's
// 22.43) goes round for ever on a structure that it does not know.
static ze_result_t ask(const struct levelzero_device *device, ze_kernel_handle_t kernel,
                       ze_kernel_properties_t *properties,
                       ze_kernel_preferred_group_size_properties_t *preferred,
                       struct levelzero_max_group_size *largest)
{
	const struct levelzero_functions *call = &device->driver->call;
	ze_result_t result;

	if (levelzero_has_extension(device->driver, &device->place, LEVELZERO_NAME_MAX_GROUP_SIZE))
		preferred->pNext = largest;
	properties->pNext = preferred;
	result = call->zeKernelGetProperties(kernel, properties);
	if (result == ZE_RESULT_SUCCESS)
		return result;
	*properties = (ze_kernel_properties_t){ .stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES };
	return call->zeKernelGetProperties(kernel, properties);
}

// The most work-items of a group; one that the kernel's source fixes is the only one that runs.
static int64_t group_limit(const ze_kernel_properties_t *properties, uint32_t largest)
{
	uint64_t fixed = (uint64_t)properties->requiredGroupSizeX * properties->requiredGroupSizeY *
	                 properties->requiredGroupSizeZ;
	uint64_t sub_groups = (uint64_t)properties->maxNumSubgroups * properties->maxSubgroupSize;

	if (fixed && fixed <= INT32_MAX)
		return (int64_t)fixed;
	return largest ? (int64_t)largest : sub_groups ? (int64_t)sub_groups : -1;
}

int levelzero_kernel_facts(struct tare_kernel *base, struct tare_kernel_facts *facts,
                           struct tare_error *error)
{
	struct levelzero_kernel *kernel = (struct levelzero_kernel *)base;
	const struct levelzero_functions *call = calls_of(base->module);
	struct levelzero_max_group_size largest = { .stype = LEVELZERO_TYPE_MAX_GROUP_SIZE };
	ze_kernel_preferred_group_size_properties_t preferred = {
		.stype = ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES,
	};
	ze_kernel_properties_t properties = { .stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES };

	if (!call->zeKernelGetProperties)
		return tare_fail(error, ENOTSUP,
		                 "this Level Zero loader lacks zeKernelGetProperties");
	ze_result_t result = ask((struct levelzero_device *)base->module->device, kernel->handle,
	                         &properties, &preferred, &largest);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeKernelGetProperties", error,
		                      "cannot ask a kernel");
	*facts = (struct tare_kernel_facts){
		.registers = -1, // no Level Zero driver tells
		.local_bytes = properties.localMemSize,
		.private_bytes = properties.privateMemSize,
		.spill_bytes = properties.spillMemSize,
		.simd_width = known(properties.maxSubgroupSize),
		.max_group_size = group_limit(&properties, largest.items),
		.preferred_multiple = known(preferred.preferredMultiple),
		.arguments = properties.numKernelArgs,
	};
	return 0;
}
