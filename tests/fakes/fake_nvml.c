// SPDX-License-Identifier: Apache-2.0
// A stand-in for libnvidia-ml.so.1: an H200 at 0000:3b:00.0 on PCIe 5.0 x16 that idles at 1.0 x16.
// TARE_FAKE_NVML, read by nvmlInit_v2, holds words: init=CODE, no_link, throttle=BITS.
#include "backend/cuda/nvml_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(name, parameters) nvml_result name parameters;
NVML_FUNCTIONS(DECLARE, DECLARE)
#undef DECLARE

#define NOT_SUPPORTED 3
#define NOT_FOUND 6

static bool open_now, no_link;
static unsigned long long throttle;

nvml_result nvmlInit_v2(void)
{
	const char *text = getenv("TARE_FAKE_NVML");
	const char *word;

	text = text ? text : "";
	no_link = strstr(text, "no_link") != NULL;
	word = strstr(text, "throttle=");
	throttle = word ? strtoull(word + strlen("throttle="), NULL, 0) : 1;
	word = strstr(text, "init=");
	open_now = word == NULL;
	return word ? atoi(word + strlen("init=")) : ABI_NVML_SUCCESS;
}

nvml_result nvmlShutdown(void)
{
	open_now = false;
	return ABI_NVML_SUCCESS;
}

nvml_result nvmlDeviceGetHandleByPciBusId_v2(const char *address, nvml_device *device)
{
	if (!open_now)
		return 1;
	*device = (nvml_device)&open_now;
	return strcmp(address, "0000:3b:00.0") == 0 ? ABI_NVML_SUCCESS : NOT_FOUND;
}

nvml_result nvmlSystemGetDriverVersion(char *text, unsigned int length)
{
	snprintf(text, length, "580.159.04");
	return ABI_NVML_SUCCESS;
}

#define NUMBER(name, value) \
	nvml_result name(nvml_device device, unsigned int *out) \
	{ \
		(void)device; \
		*out = value; \
		return ABI_NVML_SUCCESS; \
	}
#define LINK(name, value) \
	nvml_result name(nvml_device device, unsigned int *out) \
	{ \
		(void)device; \
		*out = value; \
		return no_link ? NOT_SUPPORTED : ABI_NVML_SUCCESS; \
	}
LINK(nvmlDeviceGetMaxPcieLinkGeneration, 5)
LINK(nvmlDeviceGetMaxPcieLinkWidth, 16)
LINK(nvmlDeviceGetCurrPcieLinkGeneration, 1)
LINK(nvmlDeviceGetCurrPcieLinkWidth, 16)
NUMBER(nvmlDeviceGetPowerUsage, 77500)
NUMBER(nvmlDeviceGetEnforcedPowerLimit, 700000)

nvml_result nvmlDeviceGetClockInfo(nvml_device device, nvml_clock clock, unsigned int *mhz)
{
	(void)device;
	*mhz = clock == ABI_NVML_CLOCK_SM ? 345 : 3201;
	return ABI_NVML_SUCCESS;
}

nvml_result nvmlDeviceGetMaxClockInfo(nvml_device device, nvml_clock clock, unsigned int *mhz)
{
	(void)device;
	*mhz = clock == ABI_NVML_CLOCK_SM ? 1980 : 3201;
	return ABI_NVML_SUCCESS;
}

nvml_result nvmlDeviceGetTemperature(nvml_device device, nvml_sensor sensor, unsigned int *celsius)
{
	(void)device;
	(void)sensor;
	*celsius = 31;
	return ABI_NVML_SUCCESS;
}

// The newer name says that it is not supported, so that the older one has to be asked.
nvml_result nvmlDeviceGetCurrentClocksEventReasons(nvml_device device, unsigned long long *reasons)
{
	(void)device;
	(void)reasons;
	return NOT_SUPPORTED;
}

nvml_result nvmlDeviceGetCurrentClocksThrottleReasons(nvml_device device,
                                                      unsigned long long *reasons)
{
	(void)device;
	*reasons = throttle;
	return ABI_NVML_SUCCESS;
}
