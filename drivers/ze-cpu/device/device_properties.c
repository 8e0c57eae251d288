// SPDX-License-Identifier: Apache-2.0
// What the device is, as programs ask for it.
#include "device/device.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_bool poses_as_gpu;

void device_pose_as_gpu(void)
{
	atomic_store(&poses_as_gpu, true);
}

static ze_result_t check(ze_device_handle_t device, const void *answer)
{
	if (!device)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	return answer ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_NULL_POINTER;
}

// How many of `count` things a caller with room for *room of them gets; *room becomes that number.
static uint32_t take(uint32_t *room, const void *things, uint32_t count)
{
	if (*room == 0 || *room > count)
		*room = count;
	return things ? *room : 0;
}

ze_result_t cpu_zeDeviceGet(ze_driver_handle_t driver, uint32_t *count, ze_device_handle_t *devices)
{
	if (!driver)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!count)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (take(count, devices, 1))
		devices[0] = &cpu_device;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeDeviceGetSubDevices(ze_device_handle_t device, uint32_t *count,
                                      ze_device_handle_t *devices)
{
	ze_result_t result = check(device, count);

	if (result != ZE_RESULT_SUCCESS)
		return result;
	for (uint32_t i = 0, taken = take(count, devices, device->root ? 0 : cpu_sub_device_count);
	     i < taken; i++)
		devices[i] = &cpu_sub_devices[i];
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeDeviceGetRootDevice(ze_device_handle_t device, ze_device_handle_t *root)
{
	ze_result_t result = check(device, root);

	if (result == ZE_RESULT_SUCCESS)
		*root = device->root; // NULL: it is one itself
	return result;
}

// ---- identity

static uint32_t vendor_of(const char *name)
{
	static const struct {
		const char *part;
		uint32_t id; // of PCI-SIG
	} vendors[] = {
		{ "ntel", 0x8086 },
		{ "AMD", 0x1022 },
		{ "Advanced Micro", 0x1022 },
		{ "NVIDIA", 0x10de },
	};

	for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++)
		if (strstr(name, vendors[i].part))
			return vendors[i].id;
	return 0;
}

// The script's, else made from the name, so that it is the same each time.
static ze_device_uuid_t uuid_of(const struct tare_script_device *device)
{
	ze_device_uuid_t uuid = { { 0 } };
	uint64_t hash = UINT64_C(0xcbf29ce484222325); // FNV-1a
	size_t digits = 0;

	for (const char *at = device->uuid; *at && digits < 2 * sizeof uuid.id; at++) {
		if (!isxdigit((unsigned char)*at))
			continue;
		unsigned value = isdigit((unsigned char)*at) ? (unsigned)(*at - '0')
		                                             : (unsigned)(tolower(*at) - 'a') + 10;
		uuid.id[digits / 2] = (uint8_t)(uuid.id[digits / 2] << 4 | value);
		digits++;
	}
	if (digits == 2 * sizeof uuid.id)
		return uuid;
	for (const char *at = device->name; *at; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
	memcpy(uuid.id, "ze-cpu\0\0", 8);
	memcpy(uuid.id + 8, &hash, sizeof hash);
	return uuid;
}

// Cycles a second, or whole nanoseconds a cycle, rounded down as Intel's driver does (83 for
// 12 MHz): which of them is said by the type of the struct that asks.
static uint64_t resolution_of(const struct tare_clock_rate *rate, ze_structure_type_t type)
{
	uint64_t hz = tare_script_levelzero_hz(rate);

	if (type == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2)
		return hz;
	return hz >= 1000000000 ? 1 : 1000000000 / hz;
}

static uint32_t small(uint64_t value)
{
	return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static uint32_t flags_of(const struct tare_script_device *device, bool part)
{
	return (part ? ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE : 0u) |
	       (device->unified ? ZE_DEVICE_PROPERTY_FLAG_INTEGRATED : 0u) |
	       (device->ecc ? ZE_DEVICE_PROPERTY_FLAG_ECC : 0u) |
	       (cpu_device.scripted ? 0u : ZE_DEVICE_PROPERTY_FLAG_ONDEMANDPAGING);
}

static void extend(void *next, const struct tare_script_device *facts)
{
	for (ze_base_properties_t *at = next; at; at = at->pNext)
		if (at->stype == ZE_STRUCTURE_TYPE_EU_COUNT_EXT)
			((ze_eu_count_ext_t *)at)->numTotalEUs = small(facts->units);
}

ze_result_t cpu_zeDeviceGetProperties(ze_device_handle_t device, ze_device_properties_t *properties)
{
	ze_result_t result = check(device, properties);

	if (result != ZE_RESULT_SUCCESS)
		return result;
	const struct tare_script *script = &device->script;
	const struct tare_script_device *facts = &script->device;
	*properties = (ze_device_properties_t){
		.stype = properties->stype,
		.pNext = properties->pNext,
		.type = atomic_load(&poses_as_gpu) ? ZE_DEVICE_TYPE_GPU : ZE_DEVICE_TYPE_CPU,
		.vendorId = vendor_of(facts->vendor),
		.subdeviceId = device->number,
		.flags = flags_of(facts, device->root),
		.coreClockRate = small(facts->clock_hz / 1000000),
		.maxMemAllocSize = facts->largest_bytes,
		.maxHardwareContexts = 65536,
		.numThreadsPerEU = 1,
		.physicalEUSimdWidth = small(facts->lanes),
		.numEUsPerSubslice = small(facts->units),
		.numSubslicesPerSlice = 1,
		.numSlices = 1,
		.timerResolution = resolution_of(&script->timer.rate, properties->stype),
		.timestampValidBits = script->pair_timer.rate.valid_bits,
		.kernelTimestampValidBits = script->timer.rate.valid_bits,
		.uuid = uuid_of(facts),
	};
	// The last byte of a sub-device's: its number, from 1.
	if (device->root)
		properties->uuid.id[sizeof properties->uuid.id - 1] ^=
		    (uint8_t)(device->number + 1);
	snprintf(properties->name, sizeof properties->name, "%s (ze-cpu%s)", facts->name,
	         device->scripted ? ", scripted" : ": kernels on the CPU, for tests");
	extend(properties->pNext, facts);
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeDevicePciGetPropertiesExt(ze_device_handle_t device,
                                            ze_pci_ext_properties_t *properties)
{
	ze_result_t result = check(device, properties);

	if (result != ZE_RESULT_SUCCESS)
		return result;
	const struct tare_script *script = &device->script;
	ze_pci_address_ext_t *at = &properties->address;
	bool placed = sscanf(script->device.pci, "%x:%x:%x.%x", &at->domain, &at->bus, &at->device,
	                     &at->function) == 4;
	if (!placed && !script->link.generation)
		return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
	if (!placed)
		*at = (ze_pci_address_ext_t){ 0 };
	properties->maxSpeed = (ze_pci_speed_ext_t){
		.genVersion = script->link.generation ? (int32_t)script->link.generation : -1,
		.width = script->link.width ? (int32_t)script->link.width : -1,
		.maxBandwidth = script->link.rate ? (int64_t)script->link.rate : -1,
	};
	return ZE_RESULT_SUCCESS;
}

// ---- what it computes with

ze_result_t cpu_zeDeviceGetComputeProperties(ze_device_handle_t device,
                                             ze_device_compute_properties_t *properties)
{
	ze_result_t result = check(device, properties);

	if (result != ZE_RESULT_SUCCESS)
		return result;
	const struct tare_script_device *facts = &device->script.device;
	uint32_t group = facts->work_group ? small(facts->work_group) : 1024;
	*properties = (ze_device_compute_properties_t){
		.stype = properties->stype,
		.pNext = properties->pNext,
		.maxTotalGroupSize = group,
		.maxGroupSizeX = group,
		.maxGroupSizeY = group,
		.maxGroupSizeZ = group,
		.maxGroupCountX = UINT32_MAX,
		.maxGroupCountY = UINT32_MAX,
		.maxGroupCountZ = UINT32_MAX,
		.maxSharedLocalMemory = facts->local_bytes ? small(facts->local_bytes) : 32768,
		.numSubGroupSizes = 1,
		.subGroupSizes = { facts->sub_group ? small(facts->sub_group) : 1 },
	};
	return ZE_RESULT_SUCCESS;
}

// What kernels do is the machine's, which has them: programs that go by the flag are tried so.
static bool has_int64_atomics(void)
{
	const char *lacking = getenv("ZE_CPU_NO_INT64_ATOMICS");

	return !lacking || strcmp(lacking, "1") != 0;
}

ze_result_t cpu_zeDeviceGetModuleProperties(ze_device_handle_t device,
                                            ze_device_module_properties_t *properties)
{
	static const ze_device_fp_flags_t ieee =
	    ZE_DEVICE_FP_FLAG_DENORM | ZE_DEVICE_FP_FLAG_INF_NAN |
	    ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST | ZE_DEVICE_FP_FLAG_FMA;
	ze_result_t result = check(device, properties);

	if (result != ZE_RESULT_SUCCESS)
		return result;
	const struct tare_script_device *facts = &device->script.device;
	*properties = (ze_device_module_properties_t){
		.stype = properties->stype,
		.pNext = properties->pNext,
		.spirvVersionSupported = ZE_MAKE_VERSION(1, 2),
		.flags = (has_int64_atomics() ? ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS : 0u) |
		         (facts->fp64 ? ZE_DEVICE_MODULE_FLAG_FP64 : 0u) |
		         (facts->fp16 ? ZE_DEVICE_MODULE_FLAG_FP16 : 0u),
		.fp16flags = facts->fp16 ? ieee : 0,
		.fp32flags = ieee | ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT,
		.fp64flags = facts->fp64 ? ieee : 0,
		.maxArgumentsSize = 1024,
		.printfBufferSize = 1 << 20,
	};
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeDeviceGetCommandQueueGroupProperties(ze_device_handle_t device, uint32_t *count,
                                                       ze_command_queue_group_properties_t *groups)
{
	ze_result_t result = check(device, count);

	if (result != ZE_RESULT_SUCCESS)
		return result;
	for (uint32_t i = 0, taken = take(count, groups, device->group_count); i < taken; i++) {
		const struct cpu_group *group = &device->groups[i];
		// No COOPERATIVE_KERNELS: of several groups it is not sure that all run at once.
		groups[i].flags =
		    (group->compute ? ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE : 0u) |
		    (group->copy ? ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY : 0u);
		groups[i].maxMemoryFillPatternSize = CPU_FILL_PATTERN_BYTES;
		groups[i].numQueues = group->engine_count;
	}
	return ZE_RESULT_SUCCESS;
}

// ---- memory

ze_result_t cpu_zeDeviceGetMemoryProperties(ze_device_handle_t device, uint32_t *count,
                                            ze_device_memory_properties_t *memories)
{
	ze_result_t result = check(device, count);

	if (result != ZE_RESULT_SUCCESS)
		return result;
	const struct tare_script_device *facts = &device->script.device;
	if (take(count, memories, 1)) {
		memories->flags = 0;
		memories->maxClockRate = small(facts->memory_clock_hz / 1000000);
		memories->maxBusWidth = small(facts->memory_bus_bits);
		memories->totalSize = facts->memory_bytes;
		snprintf(memories->name, sizeof memories->name, "%s",
		         device->scripted ? "scripted" : "the host's memory");
	}
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeDeviceGetMemoryAccessProperties(ze_device_handle_t device,
                                                  ze_device_memory_access_properties_t *properties)
{
	const ze_memory_access_cap_flags_t all =
	    ZE_MEMORY_ACCESS_CAP_FLAG_RW | ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC |
	    ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT | ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC;
	ze_result_t result = check(device, properties);

	if (result != ZE_RESULT_SUCCESS)
		return result;
	properties->hostAllocCapabilities = all;
	properties->deviceAllocCapabilities = all;
	properties->sharedSingleDeviceAllocCapabilities =
	    device->script.lacks[TARE_LACK_SHARED][0] ? 0 : all;
	properties->sharedCrossDeviceAllocCapabilities = 0;
	// Kernels can use any memory of the process; the device that a script tells of need not.
	properties->sharedSystemAllocCapabilities = device->scripted ? 0 : all;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeDeviceGetCacheProperties(ze_device_handle_t device, uint32_t *count,
                                           ze_device_cache_properties_t *caches)
{
	ze_result_t result = check(device, count);

	if (result != ZE_RESULT_SUCCESS)
		return result;
	if (take(count, caches, 1)) {
		caches->flags = 0;
		caches->cacheSize = device->script.device.cache_bytes;
	}
	return ZE_RESULT_SUCCESS;
}

// Images are copied from and to memory; no kernel takes one, and there are no samplers.
ze_result_t cpu_zeDeviceGetImageProperties(ze_device_handle_t device,
                                           ze_device_image_properties_t *properties)
{
	ze_result_t result = check(device, properties);

	if (result == ZE_RESULT_SUCCESS)
		*properties = (ze_device_image_properties_t){ .stype = properties->stype,
			                                      .pNext = properties->pNext,
			                                      .maxImageDims1D = CPU_IMAGE_SIDE,
			                                      .maxImageDims2D = CPU_IMAGE_SIDE,
			                                      .maxImageDims3D = CPU_IMAGE_SIDE };
	return result;
}

ze_result_t
cpu_zeDeviceGetExternalMemoryProperties(ze_device_handle_t device,
                                        ze_device_external_memory_properties_t *properties)
{
	ze_result_t result = check(device, properties);

	if (result == ZE_RESULT_SUCCESS)
		*properties =
		    (ze_device_external_memory_properties_t){ .stype = properties->stype,
			                                      .pNext = properties->pNext };
	return result;
}

ze_result_t cpu_zeDeviceReserveCacheExt(ze_device_handle_t device, size_t level, size_t bytes)
{
	(void)level;
	(void)bytes;
	return device ? ZE_RESULT_ERROR_UNSUPPORTED_FEATURE : ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
}

ze_result_t cpu_zeDeviceSetCacheAdviceExt(ze_device_handle_t device, void *at, size_t bytes,
                                          ze_cache_ext_region_t region)
{
	ze_result_t result = check(device, at);

	(void)bytes;
	if (result != ZE_RESULT_SUCCESS)
		return result;
	return region > ZE_CACHE_EXT_REGION_ZE_CACHE_NON_RESERVED_REGION
	           ? ZE_RESULT_ERROR_INVALID_ENUMERATION
	           : ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

// ---- peers: there is one device, and its sub-devices have the same memory

ze_result_t cpu_zeDeviceGetP2PProperties(ze_device_handle_t device, ze_device_handle_t peer,
                                         ze_device_p2p_properties_t *properties)
{
	ze_result_t result = check(device, properties);

	if (!peer)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (result == ZE_RESULT_SUCCESS)
		properties->flags =
		    ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS | ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS;
	return result;
}

ze_result_t cpu_zeDeviceCanAccessPeer(ze_device_handle_t device, ze_device_handle_t peer,
                                      ze_bool_t *can)
{
	ze_result_t result = check(device, can);

	if (!peer)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (result == ZE_RESULT_SUCCESS)
		*can = true;
	return result;
}

// ---- time

ze_result_t cpu_zeDeviceGetGlobalTimestamps(ze_device_handle_t device, uint64_t *host_ns,
                                            uint64_t *ticks)
{
	ze_result_t result = check(device, host_ns);

	if (result != ZE_RESULT_SUCCESS)
		return result;
	if (!ticks)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!device->script.has_pairs)
		return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
	int64_t now_ns = tare_host_now().ns;
	*host_ns = (uint64_t)now_ns;
	*ticks = cpu_global_ticks(now_ns);
	return ZE_RESULT_SUCCESS;
}
