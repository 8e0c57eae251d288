// SPDX-License-Identifier: Apache-2.0
// Modules and kernels: what they are called, and what they say of themselves.
#include "guest/levelzero/ze.h"

#include <string.h>

static struct guest_map *kernels, *devices; // kernels by handle; devices by the module's
static struct ze_spares spares;

bool ze_modules_begin(void)
{
	guest_lock_register(&spares.lock);
	kernels = guest_map_new();
	devices = guest_map_new();
	return kernels != NULL && devices != NULL;
}

static uint32_t text(const char *words)
{
	return words != NULL ? guest_text(words, strlen(words)) : 0;
}

// Whether it is made of several modules: then members that say what one is made of are ignored, and
// may be anything.
static bool is_of_parts(const ze_module_desc_t *desc)
{
	const ze_base_desc_t *next = desc->pNext;

	for (int i = 0; next != NULL && i < 16; i++, next = next->pNext)
		if (next->stype == ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC)
			return true;
	return false;
}

void ze_after_zeModuleCreate(struct guest_thread *thread, const struct ze_driver *driver,
                             ze_context_handle_t context, ze_device_handle_t device,
                             const ze_module_desc_t *desc, ze_module_handle_t *made,
                             ze_module_build_log_handle_t *log, ze_result_t result)
{
	if (result != ZE_RESULT_SUCCESS)
		return;
	guest_map_put(devices, *made, (uintptr_t)device);
	ze_define(TARE_OBJECT_PROGRAM, *made, context, device,
	          desc->format == ZE_MODULE_FORMAT_NATIVE ? TARE_PROGRAM_NATIVE : 0, 0, 0, 0);
	if (desc->pInputModule != NULL && !is_of_parts(desc)) {
		ze_fact(TARE_TRACE_FACT_SOURCE_HASH, *made,
		        guest_hash(GUEST_HASH_START, desc->pInputModule, desc->inputSize), NULL, 0);
		ze_fact(TARE_TRACE_FACT_SOURCE_BYTES, *made, desc->inputSize, NULL, 0);
	}
	const char *flags = is_of_parts(desc) ? NULL : desc->pBuildFlags;
	if (flags != NULL && flags[0] != '\0')
		ze_fact(TARE_TRACE_FACT_BUILD_OPTIONS, *made, 0, NULL, text(flags));
}

// ---- kernels

struct ze_kernel *ze_kernel_find(struct guest_thread *thread, ze_kernel_handle_t handle)
{
	struct ze_thread *mine = ze_of(thread);
	struct ze_kernel *kernel = mine->kernel;
	if (ZE_LIKELY(kernel != NULL && kernel->handle == handle && handle != NULL))
		return kernel;
	return mine->kernel = (struct ze_kernel *)(uintptr_t)guest_map_find(kernels, handle, 0);
}

static void kernel_facts(const struct ze_driver *driver, ze_kernel_handle_t kernel,
                         const void *device)
{
	ze_kernel_properties_t properties = { .stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES };
	if (driver->call.zeKernelGetProperties == NULL ||
	    driver->call.zeKernelGetProperties(kernel, &properties) != ZE_RESULT_SUCCESS)
		return;
	ze_fact(TARE_TRACE_FACT_LOCAL_BYTES, kernel, properties.localMemSize, device, 0);
	ze_fact(TARE_TRACE_FACT_PRIVATE_BYTES, kernel, properties.privateMemSize, device, 0);
	ze_fact(TARE_TRACE_FACT_SPILL_BYTES, kernel, properties.spillMemSize, device, 0);
	if (properties.maxSubgroupSize != 0)
		ze_fact(TARE_TRACE_FACT_SUB_GROUP, kernel, properties.maxSubgroupSize, device, 0);
	if (properties.requiredGroupSizeX != 0)
		ze_fact(TARE_TRACE_FACT_COMPILED_GROUP, kernel,
		        (uint64_t)properties.requiredGroupSizeX |
		            (uint64_t)properties.requiredGroupSizeY << 21 |
		            (uint64_t)properties.requiredGroupSizeZ << 42,
		        device, 0);
}

void ze_after_zeKernelCreate(struct guest_thread *thread, const struct ze_driver *driver,
                             ze_module_handle_t module, const ze_kernel_desc_t *desc,
                             ze_kernel_handle_t *made, ze_result_t result)
{
	struct ze_kernel *kernel =
	    result == ZE_RESULT_SUCCESS ? ze_take(&spares, sizeof *kernel) : NULL;
	if (kernel == NULL)
		return;
	kernel->handle = *made;
	kernel->counted = ze_count_kernel(desc->pKernelName);
	guest_map_put(kernels, *made, (uintptr_t)kernel);
	ze_define(TARE_OBJECT_KERNEL, *made, module, NULL, 0, 0, text(desc->pKernelName), 0);
	kernel_facts(driver, *made, (const void *)(uintptr_t)guest_map_find(devices, module, 0));
}

void ze_before_zeKernelDestroy(struct guest_thread *thread, const struct ze_driver *driver,
                               ze_kernel_handle_t handle)
{
	struct ze_kernel *kernel = ze_kernel_find(thread, handle);
	if (kernel == NULL)
		return;
	guest_map_remove(kernels, handle);
	kernel->handle = NULL;
	ze_give(&spares, kernel);
}

// Too many to be recorded each: they only say what the next launch is to be.
ze_result_t ze_own_zeKernelSetGroupSize(struct guest_thread *thread, const struct ze_driver *driver,
                                        ze_kernel_handle_t handle, uint32_t x, uint32_t y,
                                        uint32_t z)
{
	ze_result_t result = driver->call.zeKernelSetGroupSize(handle, x, y, z);
	struct ze_kernel *kernel =
	    result == ZE_RESULT_SUCCESS ? ze_kernel_find(thread, handle) : NULL;
	if (kernel != NULL) {
		kernel->group[0] = x;
		kernel->group[1] = y;
		kernel->group[2] = z;
		kernel->unsure = false;
	}
	return result;
}

// The kernel keeps the size of a group; with some drivers also where the launch was refused.
void ze_after_zeCommandListAppendLaunchKernelWithArguments(
    struct guest_thread *thread, const struct ze_driver *driver, ze_command_list_handle_t list,
    ze_kernel_handle_t handle, ze_group_count_t groups, struct ze_newer_size size, void **arguments,
    const void *next, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits,
    ze_result_t result)
{
	struct ze_kernel *kernel = ze_kernel_find(thread, handle);
	if (kernel == NULL)
		return;
	kernel->unsure = result != ZE_RESULT_SUCCESS;
	kernel->group[0] = size.x;
	kernel->group[1] = size.y;
	kernel->group[2] = size.z;
}
