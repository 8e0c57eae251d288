// SPDX-License-Identifier: Apache-2.0
// What NVML tells of a device that idles: facts for the listing.
#include "backend/cuda/nvml/nvml.h"
#include "backend/nvidia_peaks.h"

#include <stdio.h>

#define ASK CUDA_NVML_ASK
#define MHZ UINT64_C(1000000)

static void is_unknown(struct tare_facts *facts, enum tare_fact_id id)
{
	tare_fact_absent(facts, id, "NVML does not tell it of this device");
}

static void set_link(struct tare_facts *facts, enum tare_fact_id id, unsigned int generation,
                     unsigned int width)
{
	char text[32];
	snprintf(text, sizeof text, "PCIe %u.0 x%u", generation, width);
	tare_fact_set_text(facts, id, TARE_ORIGIN_DRIVER, text);
}

static void link_facts(const struct cuda_nvml *nvml, nvml_device device, struct tare_facts *facts)
{
	unsigned int generation = 0, width = 0;

	// A GPU that idles may lower its link: the present one is not the peak.
	if (ASK(nvmlDeviceGetCurrPcieLinkGeneration, device, &generation) &&
	    ASK(nvmlDeviceGetCurrPcieLinkWidth, device, &width) && generation && width)
		set_link(facts, TARE_FACT_LINK_NOW, generation, width);
	else
		tare_fact_absent(facts, TARE_FACT_LINK_NOW,
		                 "NVML does not tell the PCIe link of this device");
	generation = width = 0;
	if (!ASK(nvmlDeviceGetMaxPcieLinkGeneration, device, &generation) ||
	    !ASK(nvmlDeviceGetMaxPcieLinkWidth, device, &width) || !generation || !width) {
		tare_fact_absent(facts, TARE_FACT_LINK_MAX,
		                 "NVML does not tell the PCIe link of this device");
		tare_fact_absent(facts, TARE_FACT_PEAK_LINK,
		                 "NVML does not tell the PCIe link of this device");
		return;
	}
	set_link(facts, TARE_FACT_LINK_MAX, generation, width);
	double peak = cuda_peak_link(generation, width);
	if (peak > 0)
		tare_fact_set_rate(facts, TARE_FACT_PEAK_LINK, TARE_ORIGIN_FORMULA, peak);
	else
		tare_fact_absent(facts, TARE_FACT_PEAK_LINK,
		                 "the rate of PCIe generation %u is not known to tare", generation);
}

static void nvlink_fact(const struct cuda_nvml *nvml, nvml_device device, struct tare_facts *facts)
{
	unsigned int active = 0, known = 0;
	nvml_state state;
	char text[64];

	for (unsigned int link = 0; link < ABI_NVML_LINKS; link++) {
		if (!ASK(nvmlDeviceGetNvLinkState, device, link, &state))
			continue;
		known++;
		active += state == ABI_NVML_ENABLED;
	}
	if (known == 0) {
		tare_fact_absent(facts, TARE_FACT_NVLINK, "NVML tells of no NVLink of this device");
		return;
	}
	snprintf(text, sizeof text, "%u of %u links active", active, known);
	tare_fact_set_text(facts, TARE_FACT_NVLINK, TARE_ORIGIN_DRIVER, text);
}

static void clock_facts(const struct cuda_nvml *nvml, nvml_device device, struct tare_facts *facts)
{
	unsigned int mhz = 0;

	if (ASK(nvmlDeviceGetClockInfo, device, ABI_NVML_CLOCK_SM, &mhz) && mhz)
		tare_fact_set_count(facts, TARE_FACT_CLOCK_NOW, TARE_ORIGIN_DRIVER, mhz * MHZ);
	else
		is_unknown(facts, TARE_FACT_CLOCK_NOW);
	if (ASK(nvmlDeviceGetApplicationsClock, device, ABI_NVML_CLOCK_SM, &mhz) && mhz)
		tare_fact_set_count(facts, TARE_FACT_CLOCK_SETTING, TARE_ORIGIN_DRIVER, mhz * MHZ);
	else
		is_unknown(facts, TARE_FACT_CLOCK_SETTING);
	if (ASK(nvmlDeviceGetClockInfo, device, ABI_NVML_CLOCK_MEM, &mhz) && mhz)
		tare_fact_set_count(facts, TARE_FACT_MEMORY_CLOCK_NOW, TARE_ORIGIN_DRIVER,
		                    mhz * MHZ);
	else
		is_unknown(facts, TARE_FACT_MEMORY_CLOCK_NOW);
}

static void set_watts(struct tare_facts *facts, enum tare_fact_id id, bool known,
                      unsigned int milliwatts)
{
	char text[32];

	if (!known || milliwatts == 0) {
		is_unknown(facts, id);
		return;
	}
	snprintf(text, sizeof text, "%u W", (milliwatts + 500) / 1000);
	tare_fact_set_text(facts, id, TARE_ORIGIN_DRIVER, text);
}

static void power_facts(const struct cuda_nvml *nvml, nvml_device device, struct tare_facts *facts)
{
	unsigned int milliwatts = 0, least = 0;
	bool known = ASK(nvmlDeviceGetPowerUsage, device, &milliwatts);

	set_watts(facts, TARE_FACT_POWER_NOW, known, milliwatts);
	known = ASK(nvmlDeviceGetEnforcedPowerLimit, device, &milliwatts);
	set_watts(facts, TARE_FACT_POWER_LIMIT, known, milliwatts);
	known = ASK(nvmlDeviceGetPowerManagementLimitConstraints, device, &least, &milliwatts);
	set_watts(facts, TARE_FACT_POWER_LIMIT_MAX, known, milliwatts);
}

static void heat_facts(const struct cuda_nvml *nvml, nvml_device device, struct tare_facts *facts)
{
	unsigned int celsius = 0, slowdown = 0, shutdown = 0;
	char text[64];
	bool slows, ends;

	if (ASK(nvmlDeviceGetTemperature, device, ABI_NVML_TEMPERATURE_GPU, &celsius)) {
		snprintf(text, sizeof text, "%u C", celsius);
		tare_fact_set_text(facts, TARE_FACT_TEMPERATURE, TARE_ORIGIN_DRIVER, text);
	} else {
		is_unknown(facts, TARE_FACT_TEMPERATURE);
	}
	slows = ASK(nvmlDeviceGetTemperatureThreshold, device, ABI_NVML_THRESHOLD_SLOWDOWN,
	            &slowdown) &&
	        slowdown;
	ends = ASK(nvmlDeviceGetTemperatureThreshold, device, ABI_NVML_THRESHOLD_SHUTDOWN,
	           &shutdown) &&
	       shutdown;
	if (slows && ends)
		snprintf(text, sizeof text, "slows down at %u C, shuts down at %u C", slowdown,
		         shutdown);
	else if (slows)
		snprintf(text, sizeof text, "slows down at %u C", slowdown);
	else if (ends)
		snprintf(text, sizeof text, "shuts down at %u C", shutdown);
	if (slows || ends)
		tare_fact_set_text(facts, TARE_FACT_TEMPERATURE_LIMITS, TARE_ORIGIN_DRIVER, text);
	else
		is_unknown(facts, TARE_FACT_TEMPERATURE_LIMITS);
}

static void throttle_fact(const struct cuda_nvml *nvml, nvml_device device,
                          struct tare_facts *facts)
{
	unsigned long long reasons = 0;
	char text[256];

	if (!cuda_nvml_throttle(nvml, device, &reasons)) {
		tare_fact_absent(facts, TARE_FACT_THROTTLE,
		                 "NVML does not tell the clocks' reasons of this device");
		return;
	}
	tare_fact_set_text(facts, TARE_FACT_THROTTLE, TARE_ORIGIN_DRIVER,
	                   tare_throttle_list(reasons, text, sizeof text));
}

// Since the driver was loaded: those of the device's whole life say nothing of today's figures.
static void error_fact(const struct cuda_nvml *nvml, nvml_device device, nvml_memory_error kind,
                       struct tare_facts *facts, enum tare_fact_id id)
{
	unsigned long long count = 0;

	if (ASK(nvmlDeviceGetTotalEccErrors, device, kind, ABI_NVML_VOLATILE, &count))
		tare_fact_set_count(facts, id, TARE_ORIGIN_DRIVER, count);
	else
		tare_fact_absent(facts, id, "NVML does not count them (ECC may be off)");
}

static void mig_fact(const struct cuda_nvml *nvml, nvml_device device, struct tare_facts *facts)
{
	unsigned int mig = 0, pending = 0;
	nvml_result result = ABI_NVML_SUCCESS;

	if (nvml->call.nvmlDeviceGetMigMode)
		result = nvml->call.nvmlDeviceGetMigMode(device, &mig, &pending);
	if (!nvml->call.nvmlDeviceGetMigMode ||
	    (result != ABI_NVML_SUCCESS && result != ABI_NVML_NOT_SUPPORTED))
		is_unknown(facts, TARE_FACT_MIG);
	else if (result == ABI_NVML_NOT_SUPPORTED)
		tare_fact_absent(facts, TARE_FACT_MIG, "this device has none");
	else
		tare_fact_set_text(facts, TARE_FACT_MIG, TARE_ORIGIN_DRIVER,
		                   mig ? "on: this is a slice, with units and memory of its own; "
		                         "clocks, power and throttling are the whole GPU's"
		                       : "off");
}

static void mode_facts(const struct cuda_nvml *nvml, nvml_device device, struct tare_facts *facts)
{
	nvml_state persistent = 0;

	mig_fact(nvml, device, facts);
	if (ASK(nvmlDeviceGetPersistenceMode, device, &persistent))
		tare_fact_set_count(facts, TARE_FACT_PERSISTENCE, TARE_ORIGIN_DRIVER,
		                    persistent == ABI_NVML_ENABLED);
	else
		is_unknown(facts, TARE_FACT_PERSISTENCE);
}

// This it tells also where it may not look at a device.
static void driver_fact(const struct cuda_nvml *nvml, struct tare_facts *facts)
{
	char version[80];

	if (nvml->library && ASK(nvmlSystemGetDriverVersion, version, sizeof version))
		tare_fact_set_text(facts, TARE_FACT_DRIVER, TARE_ORIGIN_DRIVER, version);
	else
		tare_fact_absent(facts, TARE_FACT_DRIVER, "%s",
		                 nvml->library ? "NVML does not tell the driver's version"
		                               : nvml->reason);
}

void cuda_nvml_facts(struct cuda_nvml *nvml, const char *pci_address, struct tare_facts *facts)
{
	static const enum tare_fact_id ours[] = {
		TARE_FACT_LINK_NOW,         TARE_FACT_LINK_MAX,
		TARE_FACT_PEAK_LINK,        TARE_FACT_NVLINK,
		TARE_FACT_CLOCK_NOW,        TARE_FACT_CLOCK_SETTING,
		TARE_FACT_MEMORY_CLOCK_NOW, TARE_FACT_POWER_NOW,
		TARE_FACT_POWER_LIMIT,      TARE_FACT_POWER_LIMIT_MAX,
		TARE_FACT_TEMPERATURE,      TARE_FACT_TEMPERATURE_LIMITS,
		TARE_FACT_THROTTLE,         TARE_FACT_ECC_CORRECTED,
		TARE_FACT_ECC_UNCORRECTED,  TARE_FACT_MIG,
		TARE_FACT_PERSISTENCE,
	};
	char reason[256];
	nvml_device device;

	driver_fact(nvml, facts);
	if (cuda_nvml_find(nvml, pci_address, &device, reason, sizeof reason) < 0) {
		for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
			tare_fact_absent(facts, ours[i], "%s", reason);
		return;
	}
	link_facts(nvml, device, facts);
	nvlink_fact(nvml, device, facts);
	clock_facts(nvml, device, facts);
	power_facts(nvml, device, facts);
	heat_facts(nvml, device, facts);
	throttle_fact(nvml, device, facts);
	error_fact(nvml, device, ABI_NVML_CORRECTED, facts, TARE_FACT_ECC_CORRECTED);
	error_fact(nvml, device, ABI_NVML_UNCORRECTED, facts, TARE_FACT_ECC_UNCORRECTED);
	mode_facts(nvml, device, facts);
}
