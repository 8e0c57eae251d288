// SPDX-License-Identifier: Apache-2.0
#include "backend/levelzero/facts/facts.h"

#include <errno.h>
#include <stdio.h>

static void identity_facts(const struct levelzero_driver *driver,
                           const struct levelzero_place *place,
                           const ze_device_properties_t *properties, struct tare_facts *facts)
{
	static const enum tare_device_type types[] = {
		[ZE_DEVICE_TYPE_GPU] = TARE_DEVICE_GPU,
		[ZE_DEVICE_TYPE_CPU] = TARE_DEVICE_CPU,
		[ZE_DEVICE_TYPE_FPGA] = TARE_DEVICE_FPGA,
		[ZE_DEVICE_TYPE_MCA] = TARE_DEVICE_ACCELERATOR,
		[ZE_DEVICE_TYPE_VPU] = TARE_DEVICE_VPU,
	};
	ze_driver_properties_t version = { .stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES };
	enum levelzero_make make = levelzero_make_of(driver, place);
	unsigned type = properties->type;
	char text[64];
	char *at = text;

	tare_fact_set_text(facts, TARE_FACT_NAME, TARE_ORIGIN_DRIVER, properties->name);
	tare_facts_set_type(facts,
	                    type < sizeof types / sizeof *types ? types[type] : TARE_DEVICE_OTHER);
	snprintf(text, sizeof text, "0x%04x", properties->vendorId);
	if (properties->vendorId)
		tare_fact_set_text(facts, TARE_FACT_VENDOR, TARE_ORIGIN_DRIVER,
		                   properties->vendorId == LEVELZERO_INTEL ? "Intel" : text);
	else
		tare_fact_absent(facts, TARE_FACT_VENDOR, "the driver does not tell (it says 0)");
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
	snprintf(text, sizeof text, "0x%04x", properties->deviceId);
	tare_fact_set_text(facts, TARE_FACT_DEVICE_ID, TARE_ORIGIN_DRIVER, text);
	if (make != LEVELZERO_VENDORS)
		tare_facts_doubt(
		    facts, TARE_DOUBT_FOR_TESTS,
		    make == LEVELZERO_SCRIPTED
		        ? "ze-cpu is a driver for tests; its times are those of its script"
		        : "ze-cpu is a driver for tests; its speed means nothing");
}

static void extension_facts(const struct levelzero_driver *driver,
                            const struct levelzero_place *place, struct tare_facts *facts)
{
	uint32_t count = 0;

	if (driver->call.zeDriverGetExtensionProperties &&
	    driver->call.zeDriverGetExtensionProperties(place->driver, &count, NULL) ==
	        ZE_RESULT_SUCCESS)
		tare_fact_set_count(facts, TARE_FACT_EXTENSIONS, TARE_ORIGIN_DRIVER, count);
	else
		tare_fact_absent(facts, TARE_FACT_EXTENSIONS, "the driver does not list them");
}

// What Level Zero has no word for, or only in its system management.
static void unknown_facts(struct tare_facts *facts)
{
	static const char sysman[] = "Level Zero tells it only through its system management";

	tare_fact_absent(facts, TARE_FACT_LINK_NOW, "%s", sysman);
	tare_fact_absent(facts, TARE_FACT_POWER_LIMIT, "%s", sysman);
	tare_fact_absent(facts, TARE_FACT_THROTTLE, "%s", sysman);
	tare_fact_absent(facts, TARE_FACT_PACKAGE, "Level Zero does not tell");
	tare_fact_absent(facts, TARE_FACT_NUMA, "Level Zero does not tell");
}

static void pci_facts(const struct levelzero_driver *driver, const struct levelzero_place *place,
                      struct tare_facts *facts)
{
	ze_pci_ext_properties_t pci = { .stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES };
	char text[64];

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
		snprintf(text, sizeof text, "PCIe %d.0 x%d", pci.maxSpeed.genVersion,
		         pci.maxSpeed.width);
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
	extension_facts(driver, place, facts);
	pci_facts(driver, place, facts);
	levelzero_compute_facts(driver, place, &properties, facts);
	levelzero_memory_facts(driver, place, &properties, facts);
	levelzero_clock_facts(driver, place, &properties, facts);
	levelzero_engine_facts(driver, place, facts);
	unknown_facts(facts);
	return 0;
}
