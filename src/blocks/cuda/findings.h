// SPDX-License-Identifier: Apache-2.0
// What a kernel's warps wait for that a change of its source may mend. Shares are of samples, that
// is of its warps' time.
#pragma once
#include "blocks/cuda/samples.h"

enum tare_stall_advice {
	TARE_ADVICE_LATENCY, // waits for global memory
	TARE_ADVICE_QUEUE,   // the queue of global and local memory is full
	TARE_ADVICE_SHARED,  // that of shared memory and special functions
	TARE_ADVICE_BARRIER,
	TARE_ADVICE_PIPE, // an arithmetic pipe
	TARE_ADVICE_BRANCH,
	TARE_STALL_ADVICE,
};

struct tare_stall_rule {
	const char *id;   // "memory-latency"
	const char *what; // clause: what the warps do
	const char *advice;
	enum tare_stall stalls[2]; // of which it is the share
	uint32_t stall_count;
	double least; // share from which it is raised
};
extern const struct tare_stall_rule tare_stall_rules[TARE_STALL_ADVICE];

enum { TARE_STALL_PLACES = 3, TARE_STALL_LEAST_SAMPLES = 1000 };
struct tare_stall_finding {
	enum tare_stall_advice advice;
	double share; // of its warps' cycles where the hardware counted them, else of its samples
	bool counted;
	uint32_t instructions[TARE_STALL_PLACES]; // where most of it waits
	uint32_t place_count;
};
struct tare_stall_findings {
	struct tare_stall_finding at[TARE_STALL_ADVICE];
	uint32_t count;
};
// Of a kernel with at least TARE_STALL_LEAST_SAMPLES; the largest share first. States that the
// hardware counted are believed rather than samples.
void tare_stalls_find(const struct tare_sampled_kernel *kernel,
                      struct tare_stall_findings *findings);
