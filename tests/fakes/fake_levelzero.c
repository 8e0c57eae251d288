// SPDX-License-Identifier: Apache-2.0
// A stand-in for libze_loader.so.1 with one integrated Gen9 GPU: 24 units, 8 wide, a timer of
// 12,000,048 Hz, 36 bits of global and 32 of kernel timestamps (what Intel's driver says of one).
// TARE_FAKE_LEVELZERO, read by zeInit, holds words: init=CODE, no_driver, no_device, old (an API
// version 1.0 driver, which tells nanoseconds), no_pci, bits=N (of kernel timestamps), wide=N (bits
// of the global counter), rate=0, simd=N, id=0xN (device number), ip=0xN (generation), cpu (a
// processor; ze-cpu: ours), lost (the device's clock cannot be read).
#include "backend/levelzero/newer.h"

#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HZ UINT64_C(12000048)

static const char *words = "";
static int driver_object, device_object;

static bool scripted(const char *word)
{
	return strstr(words, word) != NULL;
}

static uint32_t number(const char *word, uint32_t otherwise)
{
	const char *at = strstr(words, word);
	return at ? (uint32_t)strtoul(at + strlen(word), NULL, 0) : otherwise;
}

ze_result_t zeInit(ze_init_flags_t flags)
{
	const char *text = getenv("TARE_FAKE_LEVELZERO");
	const char *init;

	(void)flags;
	words = text ? text : "";
	init = strstr(words, "init=");
	return init ? (ze_result_t)strtoul(init + strlen("init="), NULL, 0) : ZE_RESULT_SUCCESS;
}

// With *count 0 the number is told; otherwise at most *count handles.
static ze_result_t one(bool none, uint32_t *count, void **handles, void *object)
{
	if (none)
		*count = 0;
	else if (*count == 0)
		*count = 1;
	else {
		*count = 1;
		handles[0] = object;
	}
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGet(uint32_t *count, ze_driver_handle_t *drivers)
{
	return one(scripted("no_driver"), count, (void **)drivers, &driver_object);
}

ze_result_t zeDeviceGet(ze_driver_handle_t driver, uint32_t *count, ze_device_handle_t *devices)
{
	(void)driver;
	return one(scripted("no_device"), count, (void **)devices, &device_object);
}

ze_result_t zeDriverGetApiVersion(ze_driver_handle_t driver, ze_api_version_t *version)
{
	(void)driver;
	*version = scripted("old") ? ZE_API_VERSION_1_0 : ZE_API_VERSION_1_3;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetProperties(ze_driver_handle_t driver, ze_driver_properties_t *properties)
{
	(void)driver;
	if (properties->stype != ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	properties->driverVersion = 0x01036163;
	if (scripted("ze-cpu"))
		properties->uuid = (ze_driver_uuid_t){ LEVELZERO_ZE_CPU_UUID };
	properties->uuid.id[LEVELZERO_ZE_CPU_SCRIPTED] = scripted("by-script");
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetProperties(ze_device_handle_t device, ze_device_properties_t *properties)
{
	(void)device;
	bool cycles =
	    properties->stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2 && !scripted("old");
	if (!cycles && properties->stype != ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES && !scripted("old"))
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	for (struct levelzero_ip_version *next = properties->pNext; next; next = next->pNext)
		if (next->stype == LEVELZERO_TYPE_IP_VERSION)
			next->version = number("ip=", 0);
	properties->type = scripted("cpu") ? ZE_DEVICE_TYPE_CPU : ZE_DEVICE_TYPE_GPU;
	properties->deviceId = number("id=", 0x3e98);
	properties->vendorId = 0x8086;
	properties->flags = ZE_DEVICE_PROPERTY_FLAG_INTEGRATED;
	properties->coreClockRate = 1150;
	properties->maxMemAllocSize = UINT64_C(4294959104);
	properties->physicalEUSimdWidth = number("simd=", 8);
	properties->numThreadsPerEU = 7;
	properties->numEUsPerSubslice = 8;
	properties->numSubslicesPerSlice = 3;
	properties->numSlices = 1;
	properties->timerResolution = scripted("rate=0") ? 0 : cycles ? HZ : 83;
	properties->timestampValidBits = number("wide=", 36);
	properties->kernelTimestampValidBits = number("bits=", 32);
	for (int i = 0; i < 16; i++)
		properties->uuid.id[i] = (uint8_t)i;
	snprintf(properties->name, sizeof properties->name, "%s",
	         scripted("named") ? "ze-cpu, scripted" : "Intel(R) UHD Graphics [fake]");
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetExtensionProperties(ze_driver_handle_t driver, uint32_t *count,
                                           ze_driver_extension_properties_t *list)
{
	(void)driver;
	*count = scripted("ip=") ? 1 : 0;
	if (list && *count)
		snprintf(list[0].name, sizeof list[0].name, "ZE_extension_device_ip_version");
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetComputeProperties(ze_device_handle_t device,
                                         ze_device_compute_properties_t *properties)
{
	(void)device;
	properties->maxTotalGroupSize = 256;
	properties->maxSharedLocalMemory = 65536;
	properties->numSubGroupSizes = 3;
	properties->subGroupSizes[0] = 8;
	properties->subGroupSizes[1] = 16;
	properties->subGroupSizes[2] = 32;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetModuleProperties(ze_device_handle_t device,
                                        ze_device_module_properties_t *properties)
{
	(void)device;
	properties->flags = ZE_DEVICE_MODULE_FLAG_FP16 | ZE_DEVICE_MODULE_FLAG_FP64;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetCommandQueueGroupProperties(ze_device_handle_t device, uint32_t *count,
                                                   ze_command_queue_group_properties_t *groups)
{
	(void)device;
	if (*count == 0 || *count > 2)
		*count = 2;
	if (groups) {
		groups[0].flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE |
		                  ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
		groups[0].numQueues = 1;
		groups[1].flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
		groups[1].numQueues = 2;
	}
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetMemoryProperties(ze_device_handle_t device, uint32_t *count,
                                        ze_device_memory_properties_t *properties)
{
	(void)device;
	if (*count == 0 || *count > 1)
		*count = 1;
	if (properties)
		properties[0].totalSize = UINT64_C(8) << 30;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetCacheProperties(ze_device_handle_t device, uint32_t *count,
                                       ze_device_cache_properties_t *properties)
{
	(void)device;
	if (*count == 0 || *count > 1)
		*count = 1;
	if (properties)
		properties[0].cacheSize = 524288;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetGlobalTimestamps(ze_device_handle_t device, uint64_t *host, uint64_t *ticks)
{
	struct timespec now;

	(void)device;
	if (scripted("lost"))
		return ZE_RESULT_ERROR_DEVICE_LOST;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	*host = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	*ticks = (uint64_t)((unsigned __int128)*host * HZ / 1000000000) & ((UINT64_C(1) << 36) - 1);
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDevicePciGetPropertiesExt(ze_device_handle_t device, ze_pci_ext_properties_t *pci)
{
	(void)device;
	if (scripted("no_pci"))
		return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
	pci->address = (ze_pci_address_ext_t){ .domain = 0, .bus = 0, .device = 2, .function = 0 };
	pci->maxSpeed = (ze_pci_speed_ext_t){ -1, -1, -1 };
	return ZE_RESULT_SUCCESS;
}
