// SPDX-License-Identifier: Apache-2.0
// Of a device without counters: what the kernels' code does, counted by instructions.
#pragma once
#include "analysis/hotspots/collect.h"
#include "analysis/hotspots/hierarchy.h"

// A kernel of the counted run, or one of several of its name. Sums over its counted launches.
struct tare_instruction_counts {
	const char *name;
	uint64_t launches, counted;   // in that run; those whose instructions are in the sums
	double instructions;          // by work-items
	double flop[TARE_FLOP_KINDS]; // operations; a fused multiply-add is two
	// loads and stores of global, constant and local memory, and of those whose space is known
	// at run time only
	double bytes;
	double local_loaded_bytes, local_stored_bytes;
	double special; // functions such as sin: no operations here
	// instructions that move bytes which are not in `bytes`: atomics, images, and copies whose
	// size only the run knows
	double unsized_known, unsized_unknown;
};

// Whether kernels of the recording may be counted so: all of its devices are OpenCL's or Level
// Zero's. Whether their drivers take modules is seen as it is tried.
bool tare_instructions_may(const struct tare_recording *recorded);
// Takes the counts into the rows of their names. Rows that match --kernel and have none say why.
void tare_instructions_take(const struct tare_instruction_counts *counts, size_t count,
                            const char *pattern, struct tare_collection *collection);
