// SPDX-License-Identifier: Apache-2.0
// What a GPU could do on paper: NVIDIA's published lanes a multiprocessor, by compute capability.
// An unknown capability has no peak; it is never guessed.
#pragma once
#include "model/fact.h"

#include <stdbool.h>
#include <stdint.h>

struct cuda_lanes {
	int major, minor;
	const char *architecture;
	uint32_t fp32; // lanes a multiprocessor; each does one FMA a clock
	uint32_t fp64; // 0: not published
	// FP16 tensor FLOP a clock a multiprocessor, dense, FP32 accumulation; 0: not known
	uint32_t tensor;
	// GeForce boards of this capability accumulate in FP32 at half that rate
	bool halved;
	// The same, dense, FP32 accumulation for the first two; 0: the capability has no such
	// matrix units, or their rate is not known.
	uint32_t tf32, bf16, int8, fp64_tensor;
	uint32_t shared_bytes; // bytes a clock of a multiprocessor's shared memory: a bank gives 4
};

// The row of a compute capability, or NULL.
const struct cuda_lanes *cuda_lanes_find(int major, int minor);

// FP16 tensor FLOP a clock a multiprocessor for the board of that name; 0: not known.
uint32_t cuda_lanes_tensor(const struct cuda_lanes *lanes, const char *board_name);

// lanes * multiprocessors * 2 (an FMA is two operations) * clock, in FLOP/s.
double cuda_peak_flops(uint32_t lanes, uint32_t multiprocessors, uint64_t clock_hz);

// Bytes/s of the device memory: two transfers a clock on every line of the bus.
double cuda_peak_memory(uint64_t memory_clock_hz, uint32_t bus_bits);

// Bytes/s of a PCIe link one way after its line coding, before packet headers; 0: an unknown
// generation. (PCIe base specification: 8b/10b to 2.0, 128b/130b to 5.0, FLITs at 6.0.)
double cuda_peak_link(uint32_t generation, uint32_t width);

// Sets lanes and the peaks of FP32, FP64, matrix units and local memory from the compute capability
// and the facts that are there already (name, units, clock); what cannot be known is absent with
// the reason. major 0: the capability is not known, `why_not` says why.
void cuda_set_peaks(struct tare_facts *facts, int major, int minor, const char *why_not);
