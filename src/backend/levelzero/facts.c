// SPDX-License-Identifier: Apache-2.0
#include "backend/levelzero/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define INTEL 0x8086

int levelzero_properties(const struct levelzero_driver *driver,
                         const struct levelzero_place *place, ze_device_properties_t *properties,
                         struct tare_error *error)
{
	// The type is an input: this one asks for the timer in cycles a second. The older one asks
	// for whole nanoseconds a cycle, which is off by 0.4 % at 12 MHz.
	*properties = (ze_device_properties_t){ .stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2 };
	ze_result_t result = driver->call.zeDeviceGetProperties(place->device, properties);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeDeviceGetProperties", error, "cannot ask a device");
	return 0;
}

int levelzero_rates(const struct levelzero_place *place, const ze_device_properties_t *properties,
                    struct tare_clock_rate rates[2], struct tare_error *error)
{
	uint64_t resolution = properties->timerResolution;
	// Version 1.0 knew nanoseconds only. No GPU's timer is slower than 100 kHz, so that a
	// smaller number is nanoseconds as well, whatever was asked for.
	bool nanoseconds = place->version < ZE_API_VERSION_1_1 || resolution < 100000;
	const uint32_t bits[2] = {
		[TARE_CLOCK_STAMPS] = properties->kernelTimestampValidBits,
		[TARE_CLOCK_PAIRS] = properties->timestampValidBits,
	};

	if (resolution == 0)
		return tare_fail(error, EINVAL,
		                 "the driver says that the device's timer has a rate of 0");
	for (int i = 0; i < 2; i++) {
		if (bits[i] == 0)
			return tare_fail(error, EINVAL,
			                 "the driver says that a counter has 0 valid bits");
		rates[i] = (struct tare_clock_rate){
			.hz_numerator = nanoseconds ? 1000000000 : resolution,
			.hz_denominator = nanoseconds ? resolution : 1,
			.valid_bits = bits[i] > 64 ? 64 : bits[i],
			.resolution_ticks = 1,
		};
	}
	return 0;
}

static void identity_facts(const struct levelzero_driver *driver,
                           const struct levelzero_place *place,
                           const ze_device_properties_t *properties, struct tare_facts *facts)
{
	static const char *const types[] = {
		[ZE_DEVICE_TYPE_GPU] = "GPU", [ZE_DEVICE_TYPE_CPU] = "CPU", [ZE_DEVICE_TYPE_FPGA] = "FPGA",
		[ZE_DEVICE_TYPE_MCA] = "accelerator", [ZE_DEVICE_TYPE_VPU] = "VPU",
	};
	ze_driver_properties_t version = { .stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES };
	unsigned type = properties->type;
	char text[64];
	char *at = text;

	tare_fact_set_text(facts, TARE_FACT_NAME, TARE_ORIGIN_DRIVER, properties->name);
	tare_fact_set_text(facts, TARE_FACT_TYPE, TARE_ORIGIN_DRIVER,
	                   type < sizeof types / sizeof *types && types[type] ? types[type] : "other");
	snprintf(text, sizeof text, "0x%04x", properties->vendorId);
	tare_fact_set_text(facts, TARE_FACT_VENDOR, TARE_ORIGIN_DRIVER,
	                   properties->vendorId == INTEL ? "Intel" : text);
	if (driver->call.zeDriverGetProperties(place->driver, &version) == ZE_RESULT_SUCCESS) {
		snprintf(text, sizeof text, "%u.%u.%u", version.driverVersion >> 24,
		         version.driverVersion >> 16 & 0xff, version.driverVersion & 0xffff);
		tare_fact_set_text(facts, TARE_FACT_DRIVER, TARE_ORIGIN_DRIVER, text);
	} else {
		tare_fact_absent(facts, TARE_FACT_DRIVER, "the driver does not tell");
	}
	snprintf(text, sizeof text, "Level Zero %u.%u", ZE_MAJOR_VERSION(place->version),
	         ZE_MINOR_VERSION(place->version));
	tare_fact_set_text(facts, TARE_FACT_API_VERSION, TARE_ORIGIN_DRIVER, text);
	tare_fact_set_text(facts, TARE_FACT_LOADER, TARE_ORIGIN_SYSTEM,
	                   tare_library_name(driver->library));
	for (int i = 0; i < 16; i++)
		at += sprintf(at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
		              properties->uuid.id[i]);
	tare_fact_set_text(facts, TARE_FACT_UUID, TARE_ORIGIN_DRIVER, text);
	tare_fact_absent(facts, TARE_FACT_ARCHITECTURE, "Level Zero does not tell");
}

static void pci_facts(const struct levelzero_driver *driver, const struct levelzero_place *place,
                      struct tare_facts *facts)
{
	ze_pci_ext_properties_t pci = { .stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES };
	char text[64];

	tare_fact_absent(facts, TARE_FACT_LINK_NOW,
	                 "Level Zero tells it only through its system management");
	if (!driver->call.zeDevicePciGetPropertiesExt ||
	    driver->call.zeDevicePciGetPropertiesExt(place->device, &pci) != ZE_RESULT_SUCCESS) {
		static const enum tare_fact_id ours[] = { TARE_FACT_PCI, TARE_FACT_LINK_MAX,
			                                  TARE_FACT_PEAK_LINK };
		for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
			tare_fact_absent(facts, ours[i],
			                 "this driver lacks the PCI properties extension");
		return;
	}
	snprintf(text, sizeof text, "%04x:%02x:%02x.%x", pci.address.domain, pci.address.bus,
	         pci.address.device, pci.address.function);
	tare_fact_set_text(facts, TARE_FACT_PCI, TARE_ORIGIN_DRIVER, text);
	// -1: not known, or no link at all.
	if (pci.maxSpeed.genVersion > 0 && pci.maxSpeed.width > 0) {
		snprintf(text, sizeof text, "PCIe %d.0 x%d", pci.maxSpeed.genVersion, pci.maxSpeed.width);
		tare_fact_set_text(facts, TARE_FACT_LINK_MAX, TARE_ORIGIN_DRIVER, text);
	} else {
		tare_fact_absent(facts, TARE_FACT_LINK_MAX, "the driver does not tell");
	}
	if (pci.maxSpeed.maxBandwidth > 0)
		tare_fact_set_rate(facts, TARE_FACT_PEAK_LINK, TARE_ORIGIN_DRIVER,
		                   (double)pci.maxSpeed.maxBandwidth);
	else
		tare_fact_absent(facts, TARE_FACT_PEAK_LINK, "the driver does not tell");
}

// Sets a count, or says that the driver told 0.
static void count_fact(struct tare_facts *facts, enum tare_fact_id id, uint64_t value)
{
	if (value)
		tare_fact_set_count(facts, id, TARE_ORIGIN_DRIVER, value);
	else
		tare_fact_absent(facts, id, "the driver does not tell (it says 0)");
}

// An Intel execution unit does one FMA a clock on each lane of its physical width: 16 operations
// on Gen9 to Xe-HPG (8 wide), 32 on Xe-HPC and Xe2 (16 wide).
static void peak_facts(const ze_device_properties_t *properties, uint64_t units,
                       uint64_t clock_hz, struct tare_facts *facts)
{
	static const char unknown[] = "tare knows the lanes of Intel GPUs 8 or 16 wide only";
	uint32_t width = properties->physicalEUSimdWidth;

	if (properties->vendorId != INTEL || properties->type != ZE_DEVICE_TYPE_GPU ||
	    (width != 8 && width != 16)) {
		tare_fact_absent(facts, TARE_FACT_LANES, "%s", unknown);
		tare_fact_absent(facts, TARE_FACT_PEAK_FP32, "%s", unknown);
		return;
	}
	count_fact(facts, TARE_FACT_LANES, width);
	if (units && clock_hz)
		tare_fact_set_rate(facts, TARE_FACT_PEAK_FP32, TARE_ORIGIN_FORMULA,
		                   2.0 * (double)units * width * (double)clock_hz);
	else
		tare_fact_absent(facts, TARE_FACT_PEAK_FP32, "units or clock are not known");
}

static void compute_facts(const struct levelzero_driver *driver,
                          const struct levelzero_place *place,
                          const ze_device_properties_t *properties, struct tare_facts *facts)
{
	ze_device_compute_properties_t compute = {
		.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES,
	};
	ze_device_module_properties_t module = {
		.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES,
	};
	uint64_t units = (uint64_t)properties->numSlices * properties->numSubslicesPerSlice *
	                 properties->numEUsPerSubslice;
	uint64_t clock_hz = properties->coreClockRate * UINT64_C(1000000);

	count_fact(facts, TARE_FACT_UNITS, units);
	count_fact(facts, TARE_FACT_CLOCK, clock_hz);
	if (driver->call.zeDeviceGetComputeProperties(place->device, &compute) == ZE_RESULT_SUCCESS) {
		uint32_t sub_group = 0;
		for (uint32_t i = 0; i < compute.numSubGroupSizes && i < ZE_SUBGROUPSIZE_COUNT; i++)
			if (compute.subGroupSizes[i] > sub_group)
				sub_group = compute.subGroupSizes[i];
		count_fact(facts, TARE_FACT_WORK_GROUP, compute.maxTotalGroupSize);
		count_fact(facts, TARE_FACT_SUB_GROUP, sub_group);
		count_fact(facts, TARE_FACT_LOCAL_MEMORY, compute.maxSharedLocalMemory);
	} else {
		tare_fact_absent(facts, TARE_FACT_WORK_GROUP, "the driver does not tell");
		tare_fact_absent(facts, TARE_FACT_SUB_GROUP, "the driver does not tell");
		tare_fact_absent(facts, TARE_FACT_LOCAL_MEMORY, "the driver does not tell");
	}
	if (driver->call.zeDeviceGetModuleProperties(place->device, &module) == ZE_RESULT_SUCCESS) {
		tare_fact_set_count(facts, TARE_FACT_FP64, TARE_ORIGIN_DRIVER,
		                    (module.flags & ZE_DEVICE_MODULE_FLAG_FP64) != 0);
		tare_fact_set_count(facts, TARE_FACT_FP16, TARE_ORIGIN_DRIVER,
		                    (module.flags & ZE_DEVICE_MODULE_FLAG_FP16) != 0);
	} else {
		tare_fact_absent(facts, TARE_FACT_FP64, "the driver does not tell");
		tare_fact_absent(facts, TARE_FACT_FP16, "the driver does not tell");
	}
	peak_facts(properties, units, clock_hz, facts);
	tare_fact_absent(facts, TARE_FACT_PEAK_FP64, "Level Zero does not tell the FP64 lanes");
	for (int id = TARE_FACT_PEAK_TENSOR; id <= TARE_FACT_PEAK_FP64_TENSOR; id++)
		tare_fact_absent(facts, (enum tare_fact_id)id, "Level Zero does not tell the matrix units");
	tare_fact_absent(facts, TARE_FACT_PEAK_LOCAL, "Level Zero does not tell local memory's rate");
}

static void memory_facts(const struct levelzero_driver *driver,
                         const struct levelzero_place *place,
                         const ze_device_properties_t *properties, struct tare_facts *facts)
{
	ze_device_memory_properties_t memories[8];
	ze_device_cache_properties_t caches[8];
	uint32_t count = 8;
	uint64_t bytes = 0, cache_bytes = 0;

	for (int i = 0; i < 8; i++) {
		memories[i] = (ze_device_memory_properties_t){
			.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES,
		};
		caches[i] = (ze_device_cache_properties_t){
			.stype = ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES,
		};
	}
	if (driver->call.zeDeviceGetMemoryProperties(place->device, &count, memories) ==
	    ZE_RESULT_SUCCESS && count > 0) {
		for (uint32_t i = 0; i < count && i < 8; i++)
			bytes += memories[i].totalSize;
		count_fact(facts, TARE_FACT_MEMORY_CLOCK, memories[0].maxClockRate * UINT64_C(1000000));
		count_fact(facts, TARE_FACT_MEMORY_BUS, memories[0].maxBusWidth);
	} else {
		tare_fact_absent(facts, TARE_FACT_MEMORY_CLOCK, "the driver does not tell");
		tare_fact_absent(facts, TARE_FACT_MEMORY_BUS, "the driver does not tell");
	}
	count_fact(facts, TARE_FACT_MEMORY, bytes);
	count = 8;
	if (driver->call.zeDeviceGetCacheProperties(place->device, &count, caches) ==
	    ZE_RESULT_SUCCESS)
		for (uint32_t i = 0; i < count && i < 8; i++)
			if (caches[i].cacheSize > cache_bytes)
				cache_bytes = caches[i].cacheSize;
	count_fact(facts, TARE_FACT_CACHE, cache_bytes);
	count_fact(facts, TARE_FACT_MEMORY_MAX_ALLOCATION, properties->maxMemAllocSize);
	tare_fact_set_count(facts, TARE_FACT_UNIFIED, TARE_ORIGIN_DRIVER,
	                    (properties->flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED) != 0);
	tare_fact_set_count(facts, TARE_FACT_ECC, TARE_ORIGIN_DRIVER,
	                    (properties->flags & ZE_DEVICE_PROPERTY_FLAG_ECC) != 0);
	tare_fact_absent(facts, TARE_FACT_PEAK_MEMORY,
	                 "Level Zero does not tell the transfers a memory clock");
}

static void clock_facts(const struct levelzero_driver *driver, const struct levelzero_place *place,
                        const ze_device_properties_t *properties, struct tare_facts *facts)
{
	struct tare_clock_rate rates[2];
	struct tare_error error;

	if (levelzero_rates(place, properties, rates, &error) < 0) {
		tare_fact_absent(facts, TARE_FACT_TIMER_RATE, "%s", error.message);
		tare_fact_absent(facts, TARE_FACT_TIMER_RESOLUTION, "%s", error.message);
		tare_fact_absent(facts, TARE_FACT_TIMER_BITS, "%s", error.message);
	} else {
		const struct tare_clock_rate *stamps = &rates[TARE_CLOCK_STAMPS];
		tare_fact_set_count(facts, TARE_FACT_TIMER_RATE, TARE_ORIGIN_DRIVER,
		                    stamps->hz_numerator / stamps->hz_denominator);
		tare_fact_set_rate(facts, TARE_FACT_TIMER_RESOLUTION, TARE_ORIGIN_DRIVER,
		                   tare_tick_ns(stamps));
		tare_fact_set_count(facts, TARE_FACT_TIMER_BITS, TARE_ORIGIN_DRIVER, stamps->valid_bits);
	}
	if (driver->call.zeDeviceGetGlobalTimestamps) {
		char text[96];
		snprintf(text, sizeof text, "zeDeviceGetGlobalTimestamps, %u bits",
		         properties->timestampValidBits);
		tare_fact_set_text(facts, TARE_FACT_TIMER_PAIRS, TARE_ORIGIN_DRIVER, text);
	} else {
		tare_fact_absent(facts, TARE_FACT_TIMER_PAIRS,
		                 "this loader lacks zeDeviceGetGlobalTimestamps");
	}
	tare_fact_set_text(facts, TARE_FACT_PROFILING, TARE_ORIGIN_DRIVER,
	                   "kernel timestamps of events");
}

int levelzero_engines_of(const struct levelzero_driver *driver,
                         const struct levelzero_place *place, struct tare_engine *engines,
                         uint32_t capacity, struct tare_error *error)
{
	ze_command_queue_group_properties_t groups[16];
	uint32_t count = 16, found = 0, of_class[2] = { 0, 0 };

	for (int i = 0; i < 16; i++)
		groups[i] = (ze_command_queue_group_properties_t){
			.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES,
		};
	ze_result_t result =
		driver->call.zeDeviceGetCommandQueueGroupProperties(place->device, &count, groups);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeDeviceGetCommandQueueGroupProperties", error,
		                      "cannot list the engines");
	for (uint32_t ordinal = 0; ordinal < count && ordinal < 16; ordinal++) {
		bool compute = groups[ordinal].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE;
		enum tare_engine_class class = compute ? TARE_ENGINE_COMPUTE : TARE_ENGINE_COPY;
		for (uint32_t i = 0; i < groups[ordinal].numQueues; i++, found++) {
			uint32_t index = of_class[compute]++;
			if (found >= capacity)
				continue;
			engines[found] = (struct tare_engine){ .class = class, .index = index, .known = true };
			snprintf(engines[found].title, sizeof engines[found].title, "ordinal %u, %s %u",
			         ordinal, compute ? "compute" : "copy", i);
		}
	}
	return (int)found;
}

static void engine_facts(const struct levelzero_driver *driver,
                         const struct levelzero_place *place, struct tare_facts *facts)
{
	struct tare_engine engines[64];
	struct tare_error error;
	uint32_t copies = 0;
	char text[64];
	int count = levelzero_engines_of(driver, place, engines, 64, &error);

	tare_fact_absent(facts, TARE_FACT_OUT_OF_ORDER, "Level Zero orders by events, not by queue");
	tare_fact_absent(facts, TARE_FACT_PACKAGE, "Level Zero does not tell");
	tare_fact_absent(facts, TARE_FACT_NUMA, "Level Zero does not tell");
	tare_fact_absent(facts, TARE_FACT_POWER_LIMIT,
	                 "Level Zero tells it only through its system management");
	tare_fact_absent(facts, TARE_FACT_THROTTLE,
	                 "Level Zero tells it only through its system management");
	if (count < 0) {
		tare_fact_absent(facts, TARE_FACT_ENGINES, "%s", error.message);
		tare_fact_absent(facts, TARE_FACT_COPY_ENGINES, "%s", error.message);
		return;
	}
	for (int i = 0; i < count && i < 64; i++)
		copies += engines[i].class == TARE_ENGINE_COPY;
	snprintf(text, sizeof text, "%u compute, %u copy", (uint32_t)count - copies, copies);
	tare_fact_set_text(facts, TARE_FACT_ENGINES, TARE_ORIGIN_DRIVER, text);
	tare_fact_set_count(facts, TARE_FACT_COPY_ENGINES, TARE_ORIGIN_DRIVER, copies);
}

int levelzero_facts(struct tare_driver *base, uint32_t index, struct tare_facts *facts,
                    struct tare_error *error)
{
	struct levelzero_driver *driver = (struct levelzero_driver *)base;
	ze_device_properties_t properties;
	int status;

	if (index >= driver->count)
		return tare_fail(error, EINVAL, "Level Zero has no device %u; it has %u", index,
		                 driver->count);
	const struct levelzero_place *place = &driver->places[index];
	status = levelzero_properties(driver, place, &properties, error);
	if (status < 0)
		return status;
	identity_facts(driver, place, &properties, facts);
	pci_facts(driver, place, facts);
	compute_facts(driver, place, &properties, facts);
	memory_facts(driver, place, &properties, facts);
	clock_facts(driver, place, &properties, facts);
	engine_facts(driver, place, facts);
	return 0;
}
