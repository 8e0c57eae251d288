// SPDX-License-Identifier: Apache-2.0
// What the files that gather facts ask a driver.
#include "backend/levelzero/facts/facts.h"

#include <stdlib.h>
#include <string.h>

int levelzero_properties(const struct levelzero_driver *driver, const struct levelzero_place *place,
                         ze_device_properties_t *properties, struct tare_error *error)
{
	// The type is an input: this one asks for the timer in cycles a second. The older one asks
	// for whole nanoseconds a cycle, which is off by 0.4 % at 12 MHz.
	*properties = (ze_device_properties_t){ .stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2 };
	ze_result_t result = driver->call.zeDeviceGetProperties(place->device, properties);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeDeviceGetProperties", error,
		                      "cannot ask a device");
	return 0;
}

enum levelzero_make levelzero_make_of(const struct levelzero_driver *driver,
                                      const struct levelzero_place *place)
{
	static const uint8_t ours[LEVELZERO_ZE_CPU_SCRIPTED] = LEVELZERO_ZE_CPU_UUID;
	ze_driver_properties_t properties = { .stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES };

	if (driver->call.zeDriverGetProperties(place->driver, &properties) != ZE_RESULT_SUCCESS ||
	    memcmp(properties.uuid.id, ours, sizeof ours) != 0)
		return LEVELZERO_VENDORS;
	return properties.uuid.id[LEVELZERO_ZE_CPU_SCRIPTED] ? LEVELZERO_SCRIPTED
	                                                     : LEVELZERO_ZE_CPU;
}

// All extensions, to free(); *count of them. NULL where the driver lists none.
static ze_driver_extension_properties_t *read_extensions(const struct levelzero_driver *driver,
                                                         const struct levelzero_place *place,
                                                         uint32_t *count)
{
	ze_driver_extension_properties_t *list;

	*count = 0;
	if (!driver->call.zeDriverGetExtensionProperties ||
	    driver->call.zeDriverGetExtensionProperties(place->driver, count, NULL) !=
	        ZE_RESULT_SUCCESS ||
	    *count == 0)
		return NULL;
	list = calloc(*count, sizeof *list);
	if (list && driver->call.zeDriverGetExtensionProperties(place->driver, count, list) !=
	                ZE_RESULT_SUCCESS) {
		free(list);
		return NULL;
	}
	return list;
}

bool levelzero_has_extension(const struct levelzero_driver *driver,
                             const struct levelzero_place *place, const char *name)
{
	uint32_t count;
	ze_driver_extension_properties_t *list = read_extensions(driver, place, &count);
	bool found = false;

	for (uint32_t i = 0; list && i < count && !found; i++)
		found = strncmp(list[i].name, name, sizeof list[i].name) == 0;
	free(list);
	return found;
}

void levelzero_count_fact(struct tare_facts *facts, enum tare_fact_id id, uint64_t value)
{
	if (value)
		tare_fact_set_count(facts, id, TARE_ORIGIN_DRIVER, value);
	else
		tare_fact_absent(facts, id, "the driver does not tell (it says 0)");
}
