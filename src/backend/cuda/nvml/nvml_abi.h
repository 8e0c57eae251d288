// SPDX-License-Identifier: Apache-2.0
// The part of NVML (libnvidia-ml.so.1) that tare uses, in our own words; see abi.h.
// Everything is optional: without NVML the facts it would give are absent, with the reason.
#pragma once

#ifndef TARE_CUDA_ABI_CHECK // the check puts NVIDIA's types here
typedef int nvml_result;
typedef int nvml_clock;
typedef int nvml_sensor;
typedef int nvml_threshold;
typedef int nvml_state;
typedef int nvml_memory_error;
typedef int nvml_ecc_counter;
typedef int nvml_peer_ability;
typedef int nvml_peer_status;
typedef int nvml_link_end;
typedef struct nvml_device_object *nvml_device;
typedef struct {
	char short_address[16];
	unsigned int domain, bus, device, ids, subsystem_ids;
	char address[32];
} nvml_pci;
#endif

enum {
	ABI_NVML_SUCCESS = 0,
	ABI_NVML_NOT_SUPPORTED = 3,
	ABI_NVML_NO_PERMISSION = 4,
	ABI_NVML_NOT_FOUND = 6,
	ABI_NVML_DRIVER_NOT_LOADED = 9,
	ABI_NVML_GPU_IS_LOST = 15,
	ABI_NVML_RESET_REQUIRED = 16,
	ABI_NVML_VERSION_MISMATCH = 18,
	ABI_NVML_CLOCK_SM = 1,
	ABI_NVML_CLOCK_MEM = 2,
	ABI_NVML_TEMPERATURE_GPU = 0,
	ABI_NVML_THRESHOLD_SHUTDOWN = 0,
	ABI_NVML_THRESHOLD_SLOWDOWN = 1,
	ABI_NVML_ENABLED = 1,
	ABI_NVML_CORRECTED = 0,
	ABI_NVML_UNCORRECTED = 1,
	ABI_NVML_VOLATILE = 0, // since the driver was loaded
	ABI_NVML_LINKS = 18,
	ABI_NVML_PEERS_BY_NVLINK = 2,
	ABI_NVML_PEERS_OK = 0,
	ABI_NVML_LINK_TO_GPU = 0,
	ABI_NVML_LINK_TO_SWITCH = 2,
};

// One function a line.
// clang-format off
#define NVML_FUNCTIONS(required, optional) \
	required(nvmlInit_v2, (void)) \
	required(nvmlShutdown, (void)) \
	required(nvmlDeviceGetHandleByPciBusId_v2, (const char *address, nvml_device *device)) \
	optional(nvmlSystemGetDriverVersion, (char *text, unsigned int length)) \
	optional(nvmlDeviceGetClockInfo, \
	         (nvml_device device, nvml_clock clock, unsigned int *mhz)) \
	optional(nvmlDeviceGetMaxClockInfo, \
	         (nvml_device device, nvml_clock clock, unsigned int *mhz)) \
	optional(nvmlDeviceGetMaxPcieLinkGeneration, \
	         (nvml_device device, unsigned int *generation)) \
	optional(nvmlDeviceGetMaxPcieLinkWidth, (nvml_device device, unsigned int *width)) \
	optional(nvmlDeviceGetCurrPcieLinkGeneration, \
	         (nvml_device device, unsigned int *generation)) \
	optional(nvmlDeviceGetCurrPcieLinkWidth, (nvml_device device, unsigned int *width)) \
	optional(nvmlDeviceGetPowerUsage, (nvml_device device, unsigned int *milliwatts)) \
	optional(nvmlDeviceGetEnforcedPowerLimit, (nvml_device device, unsigned int *milliwatts)) \
	optional(nvmlDeviceGetTemperature, \
	         (nvml_device device, nvml_sensor sensor, unsigned int *celsius)) \
	optional(nvmlDeviceGetCurrentClocksEventReasons, \
	         (nvml_device device, unsigned long long *reasons)) \
	optional(nvmlDeviceGetCurrentClocksThrottleReasons, \
	         (nvml_device device, unsigned long long *reasons)) \
	optional(nvmlDeviceGetApplicationsClock, \
	         (nvml_device device, nvml_clock clock, unsigned int *mhz)) \
	optional(nvmlDeviceGetPowerManagementLimitConstraints, \
	         (nvml_device device, unsigned int *least_milliwatts, \
	          unsigned int *most_milliwatts)) \
	optional(nvmlDeviceGetTemperatureThreshold, \
	         (nvml_device device, nvml_threshold threshold, unsigned int *celsius)) \
	optional(nvmlDeviceGetTotalEccErrors, \
	         (nvml_device device, nvml_memory_error error, nvml_ecc_counter counter, \
	          unsigned long long *count)) \
	optional(nvmlDeviceGetPersistenceMode, (nvml_device device, nvml_state *state)) \
	optional(nvmlDeviceGetMigMode, \
	         (nvml_device device, unsigned int *now, unsigned int *pending)) \
	optional(nvmlDeviceGetNvLinkState, \
	         (nvml_device device, unsigned int link, nvml_state *state)) \
	optional(nvmlDeviceGetNvLinkRemoteDeviceType, \
	         (nvml_device device, unsigned int link, nvml_link_end *end)) \
	optional(nvmlDeviceGetNvLinkRemotePciInfo_v2, \
	         (nvml_device device, unsigned int link, nvml_pci *end)) \
	optional(nvmlDeviceGetP2PStatus, \
	         (nvml_device first, nvml_device second, nvml_peer_ability ability, \
	          nvml_peer_status *status))
// clang-format on

struct nvml_functions {
#define X(name, parameters) nvml_result(*name) parameters;
	NVML_FUNCTIONS(X, X)
#undef X
};
