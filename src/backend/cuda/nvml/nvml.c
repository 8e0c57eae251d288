// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/nvml/nvml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tare_symbol symbols[] = {
#define REQUIRED(name, parameters) TARE_SYMBOL(struct nvml_functions, name),
#define OPTIONAL(name, parameters) TARE_SYMBOL_OPTIONAL(struct nvml_functions, name),
	NVML_FUNCTIONS(REQUIRED, OPTIONAL)
#undef REQUIRED
#undef OPTIONAL
};

// What a failing call's code says, for a person.
static const char *meaning(nvml_result result)
{
	switch (result) {
	case ABI_NVML_NO_PERMISSION:
		return "this process may not look at it (in a container: give it the device)";
	case ABI_NVML_NOT_FOUND:
		return "it sees no such device (in a container: give it the device)";
	case ABI_NVML_DRIVER_NOT_LOADED:
		return "the kernel's driver is not loaded";
	case ABI_NVML_GPU_IS_LOST:
		return "the device has fallen off the bus";
	case ABI_NVML_RESET_REQUIRED:
		return "the device has to be reset";
	case ABI_NVML_VERSION_MISMATCH:
		return "it is of another version than the kernel's driver: restart the machine";
	default:
		return "it does not say why";
	}
}

void cuda_nvml_open(struct cuda_nvml *nvml)
{
	const char *chosen = getenv("TARE_NVML_LIBRARY");
	const char *names[] = { chosen && *chosen ? chosen : "libnvidia-ml.so.1", NULL };
	struct tare_error error;

	pthread_mutex_init(&nvml->lock, NULL);
	if (tare_library_open(names, symbols, sizeof symbols / sizeof *symbols, &nvml->call,
	                      &nvml->library, &error) < 0) {
		nvml->library = NULL;
		snprintf(nvml->reason, sizeof nvml->reason, "NVML: %.200s", error.message);
		return;
	}
	nvml_result result = nvml->call.nvmlInit_v2();
	if (result != ABI_NVML_SUCCESS) {
		snprintf(nvml->reason, sizeof nvml->reason,
		         "NVML does not start (nvmlInit_v2: code %d): %s", result, meaning(result));
		tare_library_close(nvml->library);
		nvml->library = NULL;
	}
}

void cuda_nvml_close(struct cuda_nvml *nvml)
{
	pthread_mutex_destroy(&nvml->lock);
	nvml->known_count = 0;
	if (!nvml->library)
		return;
	nvml->call.nvmlShutdown();
	tare_library_close(nvml->library);
	nvml->library = NULL;
}

int cuda_nvml_find(struct cuda_nvml *nvml, const char *pci_address, nvml_device *device,
                   char *reason, size_t size)
{
	nvml_result result = ABI_NVML_SUCCESS;
	size_t i = 0;

	if (!nvml->library) {
		snprintf(reason, size, "%s", nvml->reason[0] ? nvml->reason : "NVML is not open");
		return -ENOTSUP;
	}
	if (!pci_address[0]) {
		snprintf(reason, size,
		         "NVML knows devices by PCI address, which CUDA does not tell");
		return -ENOTSUP;
	}
	// Finding one can take a millisecond, and telemetry asks over and over.
	pthread_mutex_lock(&nvml->lock);
	while (i < nvml->known_count && strcmp(nvml->known[i].pci_address, pci_address) != 0)
		i++;
	if (i < nvml->known_count)
		*device = nvml->known[i].device;
	else
		result = nvml->call.nvmlDeviceGetHandleByPciBusId_v2(pci_address, device);
	if (result == ABI_NVML_SUCCESS && i == nvml->known_count && i < CUDA_NVML_KNOWN) {
		snprintf(nvml->known[i].pci_address, sizeof nvml->known[i].pci_address, "%s",
		         pci_address);
		nvml->known[i].device = *device;
		nvml->known_count++;
	}
	pthread_mutex_unlock(&nvml->lock);
	if (result == ABI_NVML_SUCCESS)
		return 0;
	snprintf(reason, size, "NVML does not give the device at %s: %s (code %d)", pci_address,
	         meaning(result), result);
	return -ENOTSUP;
}

// Whether an optional getter of NVML is there and answers.
#define ASK CUDA_NVML_ASK

bool cuda_nvml_throttle(const struct cuda_nvml *nvml, nvml_device device,
                        unsigned long long *reasons)
{
	// The older name says the same; either may be missing.
	return ASK(nvmlDeviceGetCurrentClocksEventReasons, device, reasons) ||
	       ASK(nvmlDeviceGetCurrentClocksThrottleReasons, device, reasons);
}

int cuda_nvml_telemetry(struct cuda_nvml *nvml, const char *pci_address,
                        struct tare_telemetry *telemetry, struct tare_error *error)
{
	char reason[256];
	nvml_device device;
	unsigned int value = 0, width = 0;
	unsigned long long reasons = 0;

	*telemetry = (struct tare_telemetry){ 0 };
	if (cuda_nvml_find(nvml, pci_address, &device, reason, sizeof reason) < 0)
		return tare_fail(error, ENOTSUP, "%s", reason);
	if (ASK(nvmlDeviceGetClockInfo, device, ABI_NVML_CLOCK_SM, &value)) {
		telemetry->clock_hz = value * UINT64_C(1000000);
		telemetry->present |= 1u << TARE_TELEMETRY_CLOCK;
	}
	if (ASK(nvmlDeviceGetClockInfo, device, ABI_NVML_CLOCK_MEM, &value)) {
		telemetry->memory_clock_hz = value * UINT64_C(1000000);
		telemetry->present |= 1u << TARE_TELEMETRY_MEMORY_CLOCK;
	}
	if (cuda_nvml_throttle(nvml, device, &reasons)) {
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
