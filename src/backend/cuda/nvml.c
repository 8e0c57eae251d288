// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/nvml.h"

#include "backend/nvidia_peaks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const struct tare_symbol symbols[] = {
#define REQUIRED(name, parameters) TARE_SYMBOL(struct nvml_functions, name),
#define OPTIONAL(name, parameters) TARE_SYMBOL_OPTIONAL(struct nvml_functions, name),
	NVML_FUNCTIONS(REQUIRED, OPTIONAL)
#undef REQUIRED
#undef OPTIONAL
};

void cuda_nvml_open(struct cuda_nvml *nvml)
{
	const char *chosen = getenv("TARE_NVML_LIBRARY");
	const char *names[] = { chosen && *chosen ? chosen : "libnvidia-ml.so.1", NULL };
	struct tare_error error;

	if (tare_library_open(names, symbols, sizeof symbols / sizeof *symbols, &nvml->call,
	                      &nvml->library, &error) < 0) {
		nvml->library = NULL;
		snprintf(nvml->reason, sizeof nvml->reason, "NVML: %.200s", error.message);
		return;
	}
	nvml_result result = nvml->call.nvmlInit_v2();
	if (result != ABI_NVML_SUCCESS) {
		snprintf(nvml->reason, sizeof nvml->reason, "NVML does not start (nvmlInit_v2: code %d)",
		         result);
		tare_library_close(nvml->library);
		nvml->library = NULL;
	}
}

void cuda_nvml_close(struct cuda_nvml *nvml)
{
	if (!nvml->library)
		return;
	nvml->call.nvmlShutdown();
	tare_library_close(nvml->library);
	nvml->library = NULL;
}

// 0, or -ENOTSUP with the reason in `reason`.
static int find_device(const struct cuda_nvml *nvml, const char *pci_address, nvml_device *device,
                       char *reason, size_t size)
{
	if (!nvml->library) {
		snprintf(reason, size, "%s", nvml->reason[0] ? nvml->reason : "NVML is not open");
		return -ENOTSUP;
	}
	nvml_result result = nvml->call.nvmlDeviceGetHandleByPciBusId_v2(pci_address, device);
	if (result != ABI_NVML_SUCCESS) {
		snprintf(reason, size, "NVML does not know the device at %s (code %d)", pci_address, result);
		return -ENOTSUP;
	}
	return 0;
}

// Calls an optional getter of NVML. False when it is missing or fails.
#define ASK(function, ...) \
	(nvml->call.function && nvml->call.function(__VA_ARGS__) == ABI_NVML_SUCCESS)

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
		                 "the rate of PCIe generation %u is not known to tare",
		                 generation);
}

static bool throttle_reasons(const struct cuda_nvml *nvml, nvml_device device,
                             unsigned long long *reasons)
{
	// The older name says the same; either may be missing.
	return ASK(nvmlDeviceGetCurrentClocksEventReasons, device, reasons) ||
	       ASK(nvmlDeviceGetCurrentClocksThrottleReasons, device, reasons);
}

static void throttle_fact(const struct cuda_nvml *nvml, nvml_device device,
                          struct tare_facts *facts)
{
	static const char *const names[] = {
		"idle", "application clocks", "software power cap", "hardware slowdown", "sync boost",
		"software thermal slowdown", "hardware thermal slowdown", "hardware power brake",
		"display clocks",
	};
	unsigned long long reasons = 0;
	char text[256] = "";
	size_t used = 0;

	if (!throttle_reasons(nvml, device, &reasons)) {
		tare_fact_absent(facts, TARE_FACT_THROTTLE,
		                 "NVML does not tell the clocks' reasons of this device");
		return;
	}
	for (size_t bit = 0; bit < 64 && used < sizeof text; bit++) {
		if (!(reasons >> bit & 1))
			continue;
		const char *comma = used ? ", " : "";
		int written = bit < sizeof names / sizeof *names
			? snprintf(text + used, sizeof text - used, "%s%s", comma, names[bit])
			: snprintf(text + used, sizeof text - used, "%sbit %zu", comma, bit);
		used += written > 0 ? (size_t)written : 0;
	}
	tare_fact_set_text(facts, TARE_FACT_THROTTLE, TARE_ORIGIN_DRIVER, used ? text : "no");
}

void cuda_nvml_facts(const struct cuda_nvml *nvml, const char *pci_address,
                     struct tare_facts *facts)
{
	static const enum tare_fact_id ours[] = {
		TARE_FACT_DRIVER, TARE_FACT_LINK_NOW, TARE_FACT_LINK_MAX, TARE_FACT_PEAK_LINK,
		TARE_FACT_POWER_LIMIT, TARE_FACT_THROTTLE,
	};
	char reason[256], text[64];
	nvml_device device;
	unsigned int milliwatts = 0;

	if (find_device(nvml, pci_address, &device, reason, sizeof reason) < 0) {
		for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
			tare_fact_absent(facts, ours[i], "%s", reason);
		return;
	}
	if (ASK(nvmlSystemGetDriverVersion, text, sizeof text))
		tare_fact_set_text(facts, TARE_FACT_DRIVER, TARE_ORIGIN_DRIVER, text);
	else
		tare_fact_absent(facts, TARE_FACT_DRIVER, "NVML does not tell the driver's version");
	link_facts(nvml, device, facts);
	throttle_fact(nvml, device, facts);
	if (ASK(nvmlDeviceGetEnforcedPowerLimit, device, &milliwatts) && milliwatts) {
		snprintf(text, sizeof text, "%u W", (milliwatts + 500) / 1000);
		tare_fact_set_text(facts, TARE_FACT_POWER_LIMIT, TARE_ORIGIN_DRIVER, text);
	} else {
		tare_fact_absent(facts, TARE_FACT_POWER_LIMIT,
		                 "NVML does not tell the power limit of this device");
	}
}

int cuda_nvml_telemetry(const struct cuda_nvml *nvml, const char *pci_address,
                        struct tare_telemetry *telemetry, struct tare_error *error)
{
	char reason[256];
	nvml_device device;
	unsigned int value = 0, width = 0;
	unsigned long long reasons = 0;

	*telemetry = (struct tare_telemetry){ 0 };
	if (find_device(nvml, pci_address, &device, reason, sizeof reason) < 0)
		return tare_fail(error, ENOTSUP, "%s", reason);
	if (ASK(nvmlDeviceGetClockInfo, device, ABI_NVML_CLOCK_SM, &value)) {
		telemetry->clock_hz = value * UINT64_C(1000000);
		telemetry->present |= 1u << TARE_TELEMETRY_CLOCK;
	}
	if (ASK(nvmlDeviceGetClockInfo, device, ABI_NVML_CLOCK_MEM, &value)) {
		telemetry->memory_clock_hz = value * UINT64_C(1000000);
		telemetry->present |= 1u << TARE_TELEMETRY_MEMORY_CLOCK;
	}
	if (throttle_reasons(nvml, device, &reasons)) {
		telemetry->throttle = reasons;
		telemetry->present |= 1u << TARE_TELEMETRY_THROTTLE;
	}
	if (ASK(nvmlDeviceGetPowerUsage, device, &value)) {
		telemetry->power_w = value / 1000.0;
		telemetry->present |= 1u << TARE_TELEMETRY_POWER;
	}
	if (ASK(nvmlDeviceGetTemperature, device, ABI_NVML_TEMPERATURE_GPU, &value)) {
		telemetry->temperature_c = value;
		telemetry->present |= 1u << TARE_TELEMETRY_TEMPERATURE;
	}
	if (ASK(nvmlDeviceGetCurrPcieLinkGeneration, device, &value) &&
	    ASK(nvmlDeviceGetCurrPcieLinkWidth, device, &width)) {
		telemetry->link_generation = value;
		telemetry->link_width = width;
		telemetry->present |= 1u << TARE_TELEMETRY_LINK;
	}
	return 0;
}
