// SPDX-License-Identifier: Apache-2.0
#include "device/device.h"
#include "device/tables.h"
#include "kernel/ending.h"

#include <stdio.h>

#define VERSION_MAJOR 0u
#define VERSION_MINOR 1u

struct _ze_driver_handle_t cpu_driver = { .device = &cpu_device };

static const struct {
	const char *name;
	uint32_t version;
} extensions[] = {
	{ ZE_MEMORY_FREE_POLICIES_EXT_NAME, ZE_MEMORY_FREE_POLICIES_EXT_VERSION_1_0 },
	{ ZE_RELAXED_ALLOCATION_LIMITS_EXP_NAME, ZE_RELAXED_ALLOCATION_LIMITS_EXP_VERSION_1_0 },
	{ ZE_EVENT_QUERY_TIMESTAMPS_EXP_NAME, ZE_EVENT_QUERY_TIMESTAMPS_EXP_VERSION_1_0 },
	{ ZE_MODULE_PROGRAM_EXP_NAME, ZE_MODULE_PROGRAM_EXP_VERSION_1_0 },
	{ LEVELZERO_NAME_COUNTER_POOL, ZE_MAKE_VERSION(1, 0) },
	{ "ZE_experimental_immediate_command_list_append", ZE_MAKE_VERSION(1, 0) },
	{ "ZEX_counter_based_event", ZE_MAKE_VERSION(1, 0) },
};
#define EXTENSIONS (uint32_t)(sizeof extensions / sizeof *extensions)

// ---- start

// "Only GPUs" would be "not this one". Programs say it out of habit, though, and then take the
// first device that says it is a GPU: for them it is one. One that wants vision units only gets
// nothing.
ze_result_t cpu_zeInit(ze_init_flags_t flags)
{
	const ze_init_flags_t known = ZE_INIT_FLAG_GPU_ONLY | ZE_INIT_FLAG_VPU_ONLY;

	if (flags & ~known)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	if (flags == ZE_INIT_FLAG_VPU_ONLY)
		return ZE_RESULT_ERROR_UNINITIALIZED;
	if (flags == ZE_INIT_FLAG_GPU_ONLY)
		device_pose_as_gpu();
	ending_watch_thread();
	return cpu_device_start();
}

ze_result_t cpu_zeInitDrivers(uint32_t *count, ze_driver_handle_t *drivers,
                              struct levelzero_init_drivers *desc)
{
	ze_result_t result;

	if (!count || !desc)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!desc->flags)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	if (!(desc->flags & LEVELZERO_INIT_GPU)) {
		*count = 0;
		return ZE_RESULT_ERROR_UNINITIALIZED;
	}
	if (desc->flags == LEVELZERO_INIT_GPU)
		device_pose_as_gpu();
	result = cpu_device_start();
	return result == ZE_RESULT_SUCCESS ? cpu_zeDriverGet(count, drivers) : result;
}

ze_result_t cpu_zeDriverGet(uint32_t *count, ze_driver_handle_t *drivers)
{
	ze_result_t result = cpu_device_start();

	ending_watch_thread();
	if (!count)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (result != ZE_RESULT_SUCCESS)
		return result;
	if (*count && drivers)
		drivers[0] = &cpu_driver;
	*count = 1;
	return ZE_RESULT_SUCCESS;
}

// ---- what it is

ze_result_t cpu_zeDriverGetApiVersion(ze_driver_handle_t driver, ze_api_version_t *version)
{
	if (!driver)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!version)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*version = tables_api_version();
	return ZE_RESULT_SUCCESS;
}

static void free_policies(ze_driver_properties_t *properties)
{
	for (ze_base_properties_t *at = properties->pNext; at; at = at->pNext)
		if (at->stype == ZE_STRUCTURE_TYPE_DRIVER_MEMORY_FREE_EXT_PROPERTIES)
			((ze_driver_memory_free_ext_properties_t *)at)->freePolicies =
			    ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE |
			    ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE;
}

ze_result_t cpu_zeDriverGetProperties(ze_driver_handle_t driver, ze_driver_properties_t *properties)
{
	static const ze_driver_uuid_t uuid = { LEVELZERO_ZE_CPU_UUID };

	if (!driver)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!properties)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	properties->uuid = uuid;
	properties->uuid.id[LEVELZERO_ZE_CPU_SCRIPTED] = cpu_device.scripted;
	properties->driverVersion = VERSION_MAJOR << 24 | VERSION_MINOR << 16;
	free_policies(properties);
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeDriverGetIpcProperties(ze_driver_handle_t driver,
                                         ze_driver_ipc_properties_t *properties)
{
	if (!driver)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!properties)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	properties->flags = cpu_zeMemGetIpcHandle ? ZE_IPC_PROPERTY_FLAG_MEMORY : 0;
	if (cpu_zeEventPoolGetIpcHandle)
		properties->flags |= ZE_IPC_PROPERTY_FLAG_EVENT_POOL;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeDriverGetExtensionProperties(ze_driver_handle_t driver, uint32_t *count,
                                               ze_driver_extension_properties_t *properties)
{
	if (!driver)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!count)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	for (uint32_t i = 0; properties && i < *count && i < EXTENSIONS; i++) {
		snprintf(properties[i].name, sizeof properties[i].name, "%s", extensions[i].name);
		properties[i].version = extensions[i].version;
	}
	if (*count == 0 || *count > EXTENSIONS)
		*count = EXTENSIONS;
	return ZE_RESULT_SUCCESS;
}

// Those of the specification, also newer ones than the loader's, and those of extensions.
ze_result_t cpu_zeDriverGetExtensionFunctionAddress(ze_driver_handle_t driver, const char *name,
                                                    void **address)
{
	if (!driver)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!name || !address)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*address = tables_entry(name);
	return *address ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t cpu_zeDriverGetLastErrorDescription(ze_driver_handle_t driver, const char **text)
{
	if (!driver)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!text)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*text = "";
	return ZE_RESULT_SUCCESS;
}
