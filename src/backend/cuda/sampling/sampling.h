// SPDX-License-Identifier: Apache-2.0
// Sampling a device by CUPTI: sampling.c, and clock.c, which reads its clock.
#pragma once
#include "backend/cuda/internal.h"
#include "backend/cuda/sampling/cupti_abi.h"
#include "backend/sampling.h"

extern const struct tare_sampler cuda_sampler;

// ---- clock.c: %globaltimer, by a kernel of one thread

struct cuda_sampling_clock {
	cu_module module;
	cu_function function;
	volatile uint64_t *told; // the host's side of what it writes
	cu_pointer at;           // the device's
};
int cuda_sampling_clock_open(struct cuda_device *device, struct cuda_sampling_clock *clock,
                             struct tare_error *error);
int cuda_sampling_clock_read(struct cuda_device *device, struct cuda_sampling_clock *clock,
                             struct tare_clock_pair *pair, struct tare_error *error);
void cuda_sampling_clock_close(struct cuda_device *device, struct cuda_sampling_clock *clock);
