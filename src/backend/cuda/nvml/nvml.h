// SPDX-License-Identifier: Apache-2.0
// NVML: what the CUDA driver library does not tell. It may be missing.
#pragma once
#include "backend/backend.h"
#include "backend/cuda/nvml/nvml_abi.h"
#include "base/library.h"

#include <pthread.h>

#define CUDA_NVML_KNOWN 16

struct cuda_nvml {
	struct nvml_functions call;
	struct tare_library *library; // NULL: not there
	char reason[256];             // why not
	pthread_mutex_t lock;         // of what follows: telemetry is asked from any thread
	struct {
		char pci_address[32];
		nvml_device device;
	} known[CUDA_NVML_KNOWN];
	size_t known_count;
};

// Opens NVML if it is there; otherwise nvml->reason says why it is not. Never fails.
void cuda_nvml_open(struct cuda_nvml *nvml);
void cuda_nvml_close(struct cuda_nvml *nvml);

// The device at a PCI address. Returns 0, or -ENOTSUP with the reason in `reason`.
int cuda_nvml_find(struct cuda_nvml *nvml, const char *pci_address, nvml_device *device,
                   char *reason, size_t size);
// Whether an optional getter of NVML (of `nvml` in scope) is there and answers.
#define CUDA_NVML_ASK(function, ...)                                                               \
	(nvml->call.function && nvml->call.function(__VA_ARGS__) == ABI_NVML_SUCCESS)
// Why the clock is not the highest now, in bits (1 << enum tare_throttle). False: not told.
bool cuda_nvml_throttle(const struct cuda_nvml *nvml, nvml_device device,
                        unsigned long long *reasons);

// Fills in what NVML knows of the device at the PCI address (nvml_facts.c): driver, link, clocks,
// power, heat, throttling, errors, modes. What it does not tell is marked absent with the reason.
void cuda_nvml_facts(struct cuda_nvml *nvml, const char *pci_address, struct tare_facts *facts);
// Returns 0, or -ENOTSUP with the reason when NVML is not there or does not know the device.
int cuda_nvml_telemetry(struct cuda_nvml *nvml, const char *pci_address,
                        struct tare_telemetry *telemetry, struct tare_error *error);
