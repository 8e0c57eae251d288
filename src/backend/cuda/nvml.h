// SPDX-License-Identifier: Apache-2.0
// NVML: what the CUDA driver library does not tell. It may be missing.
#pragma once
#include "backend/backend.h"
#include "backend/cuda/nvml_abi.h"
#include "base/library.h"

struct cuda_nvml {
	struct nvml_functions call;
	struct tare_library *library;  // NULL: not there
	char reason[256];              // why not
};

// Opens NVML if it is there; otherwise nvml->reason says why it is not. Never fails.
void cuda_nvml_open(struct cuda_nvml *nvml);
void cuda_nvml_close(struct cuda_nvml *nvml);

// Fills in what NVML knows of the device at the PCI address: driver, link, power, throttling,
// link peak. What it does not tell is marked absent with the reason.
void cuda_nvml_facts(const struct cuda_nvml *nvml, const char *pci_address,
                     struct tare_facts *facts);
// Returns 0, or -ENOTSUP with the reason when NVML is not there or does not know the device.
int cuda_nvml_telemetry(const struct cuda_nvml *nvml, const char *pci_address,
                        struct tare_telemetry *telemetry, struct tare_error *error);
