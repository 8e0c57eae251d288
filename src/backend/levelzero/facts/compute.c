// SPDX-License-Identifier: Apache-2.0
// What computes: units, their lanes and widths, and the peak that follows.
#include "backend/levelzero/facts/facts.h"

#include <stdio.h>

// Generations of Intel GPUs by the number that the driver tells (bits 22 and up, 14 to 21), with
// the lanes of one execution unit in single precision; later rows of a number win.
static const struct generation {
	uint32_t major, minor; // from this one on
	uint32_t lanes;
	const char *name;
} generations[] = {
	{ 9, 0, 8, "Gen9" },      { 10, 0, 0, NULL },      { 11, 0, 8, "Gen11" },
	{ 12, 0, 8, "Xe-LP" },    { 12, 50, 8, "Xe-HP" },  { 12, 55, 8, "Xe-HPG" },
	{ 12, 60, 16, "Xe-HPC" }, { 12, 70, 8, "Xe-LPG" }, { 13, 0, 0, NULL },
	{ 20, 0, 16, "Xe2" },     { 30, 0, 16, "Xe3" },    { 31, 0, 0, NULL },
};

// Device numbers of generations that are 16 wide, for drivers that do not tell the generation.
static const struct wide_device {
	uint16_t first, last;
	const char *name;
} wide_devices[] = {
	{ 0x0b69, 0x0b6e, "Xe-HPC" }, { 0x0bd0, 0x0be5, "Xe-HPC" }, { 0x6420, 0x6420, "Xe2" },
	{ 0x64a0, 0x64a0, "Xe2" },    { 0x64b0, 0x64b0, "Xe2" },    { 0xe202, 0xe223, "Xe2" },
};

static const struct generation *generation_of(uint32_t ip_version)
{
	uint32_t number = (ip_version >> 22) << 8 | (ip_version >> 14 & 0xff);
	const struct generation *found = NULL;

	for (size_t i = 0; i < sizeof generations / sizeof *generations; i++)
		if (number >= (generations[i].major << 8 | generations[i].minor))
			found = &generations[i];
	return ip_version && found && found->name ? found : NULL;
}

static uint32_t ip_version_of(const struct levelzero_driver *driver,
                              const struct levelzero_place *place)
{
	struct levelzero_ip_version version = { .stype = LEVELZERO_TYPE_IP_VERSION };
	ze_device_properties_t properties = {
		.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2,
		.pNext = &version,
	};

	if (!levelzero_has_extension(driver, place, "ZE_extension_device_ip_version") ||
	    driver->call.zeDeviceGetProperties(place->device, &properties) != ZE_RESULT_SUCCESS)
		return 0;
	return version.version;
}

// Lanes of one execution unit in single precision, 0 where they are not known; sets the
// architecture. The generation comes first: physicalEUSimdWidth is the compiler's smallest width in
// some drivers.
static uint32_t lanes_of(const struct levelzero_driver *driver, const struct levelzero_place *place,
                         const ze_device_properties_t *properties, struct tare_facts *facts)
{
	uint32_t version = ip_version_of(driver, place), width = properties->physicalEUSimdWidth;
	const struct generation *generation = generation_of(version);
	char text[64];

	if (generation) {
		snprintf(text, sizeof text, "%s (%u.%u)", generation->name, version >> 22,
		         version >> 14 & 0xff);
		tare_fact_set_text(facts, TARE_FACT_ARCHITECTURE, TARE_ORIGIN_DRIVER, text);
		return generation->lanes;
	}
	for (size_t i = 0; i < sizeof wide_devices / sizeof *wide_devices; i++)
		if (properties->deviceId >= wide_devices[i].first &&
		    properties->deviceId <= wide_devices[i].last) {
			tare_fact_set_text(facts, TARE_FACT_ARCHITECTURE, TARE_ORIGIN_GUESS,
			                   wide_devices[i].name);
			return 16;
		}
	tare_fact_absent(facts, TARE_FACT_ARCHITECTURE,
	                 "this driver lacks the extension that tells it");
	return width == 8 || width == 16 ? width : 0;
}

// A lane does one FMA a clock, which is two operations: an execution unit does 16 a clock on Gen9
// to Xe-HPG (8 wide) and 32 on Xe-HPC and Xe2 (16 wide). Peak = 2 * lanes * units * clock.
static void peak_facts(const struct levelzero_driver *driver, const struct levelzero_place *place,
                       const ze_device_properties_t *properties, uint64_t units, uint64_t clock_hz,
                       struct tare_facts *facts)
{
	const char *unknown = NULL;
	uint32_t lanes = 0;

	tare_fact_absent(facts, TARE_FACT_ARCHITECTURE, "Level Zero does not tell");
	if (properties->type == ZE_DEVICE_TYPE_CPU)
		unknown = "no peak is told for a processor that is driven through Level Zero";
	else if (properties->vendorId != LEVELZERO_INTEL || properties->type != ZE_DEVICE_TYPE_GPU)
		unknown = "tare knows the lanes of Intel GPUs only";
	else if (!(lanes = lanes_of(driver, place, properties, facts)))
		unknown = "the driver's SIMD width is neither 8 nor 16, and it tells no generation";
	if (unknown) {
		tare_fact_absent(facts, TARE_FACT_LANES, "%s", unknown);
		tare_fact_absent(facts, TARE_FACT_PEAK_FP32, "%s", unknown);
		return;
	}
	levelzero_count_fact(facts, TARE_FACT_LANES, lanes);
	if (units && clock_hz)
		tare_fact_set_rate(facts, TARE_FACT_PEAK_FP32, TARE_ORIGIN_FORMULA,
		                   2.0 * (double)units * lanes * (double)clock_hz);
	else
		tare_fact_absent(facts, TARE_FACT_PEAK_FP32, "units or clock are not known");
}

static void group_facts(const struct levelzero_driver *driver, const struct levelzero_place *place,
                        struct tare_facts *facts)
{
	static const enum tare_fact_id ours[] = { TARE_FACT_WORK_GROUP, TARE_FACT_SUB_GROUP,
		                                  TARE_FACT_SUB_GROUPS, TARE_FACT_LOCAL_MEMORY };
	ze_device_compute_properties_t compute = {
		.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES,
	};
	uint32_t largest = 0;
	char text[96] = "";
	size_t used = 0;

	if (driver->call.zeDeviceGetComputeProperties(place->device, &compute) !=
	    ZE_RESULT_SUCCESS) {
		for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
			tare_fact_absent(facts, ours[i], "the driver does not tell");
		return;
	}
	for (uint32_t i = 0; i < compute.numSubGroupSizes && i < ZE_SUBGROUPSIZE_COUNT; i++) {
		if (compute.subGroupSizes[i] > largest)
			largest = compute.subGroupSizes[i];
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%u", i ? ", " : "",
		                         compute.subGroupSizes[i]);
	}
	levelzero_count_fact(facts, TARE_FACT_WORK_GROUP, compute.maxTotalGroupSize);
	levelzero_count_fact(facts, TARE_FACT_SUB_GROUP, largest);
	levelzero_count_fact(facts, TARE_FACT_LOCAL_MEMORY, compute.maxSharedLocalMemory);
	if (used)
		tare_fact_set_text(facts, TARE_FACT_SUB_GROUPS, TARE_ORIGIN_DRIVER, text);
	else
		tare_fact_absent(facts, TARE_FACT_SUB_GROUPS, "the driver tells none");
}

static void precision_facts(const struct levelzero_driver *driver,
                            const struct levelzero_place *place, struct tare_facts *facts)
{
	ze_device_module_properties_t module = {
		.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES,
	};

	if (driver->call.zeDeviceGetModuleProperties(place->device, &module) != ZE_RESULT_SUCCESS) {
		tare_fact_absent(facts, TARE_FACT_FP64, "the driver does not tell");
		tare_fact_absent(facts, TARE_FACT_FP16, "the driver does not tell");
		return;
	}
	tare_fact_set_count(facts, TARE_FACT_FP64, TARE_ORIGIN_DRIVER,
	                    (module.flags & ZE_DEVICE_MODULE_FLAG_FP64) != 0);
	tare_fact_set_count(facts, TARE_FACT_FP16, TARE_ORIGIN_DRIVER,
	                    (module.flags & ZE_DEVICE_MODULE_FLAG_FP16) != 0);
}

static void sub_device_facts(const struct levelzero_driver *driver,
                             const struct levelzero_place *place, struct tare_facts *facts)
{
	uint32_t count = 0;

	if (driver->call.zeDeviceGetSubDevices &&
	    driver->call.zeDeviceGetSubDevices(place->device, &count, NULL) == ZE_RESULT_SUCCESS)
		tare_fact_set_count(facts, TARE_FACT_SUB_DEVICES, TARE_ORIGIN_DRIVER, count);
	else
		tare_fact_absent(facts, TARE_FACT_SUB_DEVICES, "the driver does not tell");
}

void levelzero_compute_facts(const struct levelzero_driver *driver,
                             const struct levelzero_place *place,
                             const ze_device_properties_t *properties, struct tare_facts *facts)
{
	uint64_t units = (uint64_t)properties->numSlices * properties->numSubslicesPerSlice *
	                 properties->numEUsPerSubslice;
	uint64_t clock_hz = properties->coreClockRate * UINT64_C(1000000);

	levelzero_count_fact(facts, TARE_FACT_UNITS, units);
	levelzero_count_fact(facts, TARE_FACT_CLOCK, clock_hz);
	levelzero_count_fact(facts, TARE_FACT_SLICES, properties->numSlices);
	levelzero_count_fact(facts, TARE_FACT_SUB_SLICES, properties->numSubslicesPerSlice);
	levelzero_count_fact(facts, TARE_FACT_EUS, properties->numEUsPerSubslice);
	levelzero_count_fact(facts, TARE_FACT_EU_THREADS, properties->numThreadsPerEU);
	group_facts(driver, place, facts);
	precision_facts(driver, place, facts);
	sub_device_facts(driver, place, facts);
	peak_facts(driver, place, properties, units, clock_hz, facts);
	tare_fact_absent(facts, TARE_FACT_PEAK_FP64, "Level Zero does not tell the FP64 lanes");
	for (int id = TARE_FACT_PEAK_TENSOR; id <= TARE_FACT_PEAK_FP64_TENSOR; id++)
		tare_fact_absent(facts, (enum tare_fact_id)id,
		                 "Level Zero does not tell the matrix units");
	tare_fact_absent(facts, TARE_FACT_PEAK_LOCAL,
	                 "Level Zero does not tell local memory's rate");
}
