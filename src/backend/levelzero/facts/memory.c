// SPDX-License-Identifier: Apache-2.0
// Memories by ordinal, and caches.
#include "backend/levelzero/facts/facts.h"

#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>

// All memories, to free(); *count of them. NULL where the driver tells none. The number is asked
// for first: a count that is too large stays as it is in Intel's driver 22.43.
static ze_device_memory_properties_t *read_memories(const struct levelzero_driver *driver,
                                                    const struct levelzero_place *place,
                                                    uint32_t *count)
{
	ze_device_memory_properties_t *list;

	*count = 0;
	if (driver->call.zeDeviceGetMemoryProperties(place->device, count, NULL) !=
	        ZE_RESULT_SUCCESS ||
	    *count == 0 || !(list = calloc(*count, sizeof *list)))
		return NULL;
	for (uint32_t i = 0; i < *count; i++)
		list[i].stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
	if (driver->call.zeDeviceGetMemoryProperties(place->device, count, list) !=
	    ZE_RESULT_SUCCESS) {
		free(list);
		return NULL;
	}
	return list;
}

static void ordinal_facts(const struct levelzero_driver *driver,
                          const struct levelzero_place *place, struct tare_facts *facts)
{
	static const enum tare_fact_id ours[] = { TARE_FACT_MEMORY, TARE_FACT_MEMORY_CLOCK,
		                                  TARE_FACT_MEMORY_BUS, TARE_FACT_MEMORIES };
	uint32_t count;
	ze_device_memory_properties_t *list = read_memories(driver, place, &count);
	uint64_t bytes = 0;
	char text[250] = "", size[TARE_UNIT_TEXT];
	size_t used = 0;

	if (!list) {
		for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
			tare_fact_absent(facts, ours[i], "the driver does not tell");
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		bytes += list[i].totalSize;
		if (used < sizeof text)
			used += (size_t)snprintf(text + used, sizeof text - used, "%s%u: %s%s%.40s",
			                         i ? "; " : "", i,
			                         tare_format_bytes(list[i].totalSize, size),
			                         list[i].name[0] ? " " : "", list[i].name);
	}
	levelzero_count_fact(facts, TARE_FACT_MEMORY, bytes);
	levelzero_count_fact(facts, TARE_FACT_MEMORY_CLOCK,
	                     list[0].maxClockRate * UINT64_C(1000000));
	levelzero_count_fact(facts, TARE_FACT_MEMORY_BUS, list[0].maxBusWidth);
	tare_fact_set_text(facts, TARE_FACT_MEMORIES, TARE_ORIGIN_DRIVER, text);
	free(list);
}

static void cache_facts(const struct levelzero_driver *driver, const struct levelzero_place *place,
                        struct tare_facts *facts)
{
	uint32_t count = 0;
	uint64_t largest = 0;
	ze_device_cache_properties_t *list = NULL;

	if (driver->call.zeDeviceGetCacheProperties(place->device, &count, NULL) ==
	        ZE_RESULT_SUCCESS &&
	    count > 0)
		list = calloc(count, sizeof *list);
	for (uint32_t i = 0; list && i < count; i++)
		list[i].stype = ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES;
	if (list && driver->call.zeDeviceGetCacheProperties(place->device, &count, list) ==
	                ZE_RESULT_SUCCESS)
		for (uint32_t i = 0; i < count; i++)
			if (list[i].cacheSize > largest)
				largest = list[i].cacheSize;
	free(list);
	levelzero_count_fact(facts, TARE_FACT_CACHE, largest);
}

void levelzero_memory_facts(const struct levelzero_driver *driver,
                            const struct levelzero_place *place,
                            const ze_device_properties_t *properties, struct tare_facts *facts)
{
	ordinal_facts(driver, place, facts);
	cache_facts(driver, place, facts);
	levelzero_count_fact(facts, TARE_FACT_MEMORY_MAX_ALLOCATION, properties->maxMemAllocSize);
	tare_fact_set_count(facts, TARE_FACT_UNIFIED, TARE_ORIGIN_DRIVER,
	                    (properties->flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED) != 0);
	tare_fact_set_count(facts, TARE_FACT_ECC, TARE_ORIGIN_DRIVER,
	                    (properties->flags & ZE_DEVICE_PROPERTY_FLAG_ECC) != 0);
	tare_fact_absent(facts, TARE_FACT_PEAK_MEMORY,
	                 "Level Zero does not tell the transfers a memory clock");
}
