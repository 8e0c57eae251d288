// SPDX-License-Identifier: Apache-2.0
// What a kernel executed, counted by CUPTI in its instructions (guest/samples/exact.c): exact, and
// dear, hence of one kernel a run.
#pragma once
#include "blocks/cuda/sass.h"
#include "guest/samples/shared.h"

// Executions by warps, and by lanes of warps whose predicate was true.
struct tare_exact_counts {
	uint64_t warps, threads;
};

struct tare_exact_opcode {
	const char *name; // NULL: not known
	struct tare_exact_counts counts;
};

struct tare_exact_block {
	uint64_t executions;          // by warps: of its first instruction
	bool even;                    // all of its instructions were executed as often
	struct tare_exact_counts all; // of its instructions
};

struct tare_exact_line {
	uint32_t file, line;
	struct tare_exact_counts counts;
};

// Whether what was counted is what was launched.
enum tare_exact_whole {
	TARE_EXACT_WHOLE,   // its first instruction was executed once by each warp launched
	TARE_EXACT_DIFFERS, // it was not
	TARE_EXACT_UNKNOWN, // warps come back to it, or graphs launch the kernel too
};

struct tare_exact {
	struct tare_exact_counts *at; // by instruction
	uint64_t launches, warps;     // outside of graphs
	uint64_t graphs;              // launches of graphs meanwhile, whatever is in them
	uint64_t astray;              // executions outside of the function
	uint64_t begun;               // executions of the first instruction
	enum tare_exact_whole whole;
	struct tare_exact_counts all; // of all instructions
	struct tare_exact_counts by_class[TARE_SASS_CLASS_COUNT];
	struct tare_exact_opcode *opcodes; // the most frequent first
	size_t opcode_count;
	struct tare_exact_block *blocks; // as the kernel's split; NULL: no code
	uint32_t uneven;                 // blocks
	struct tare_exact_line *lines;   // the most frequent first
	size_t line_count;
	// Time on the device of the same launches, 0: not known; and how many.
	uint64_t plain_ns, counted_ns, timed;
	bool first; // it is the first launch, with what it took to put counters in
};

struct tare_sampled_kernel;
struct tare_pc_samples;
// Works out what follows from `at`, of a kernel whose blocks are known. 0, or -ENOMEM.
int tare_exact_work_out(const struct tare_pc_samples *samples, struct tare_sampled_kernel *kernel,
                        uint64_t name_hash);
void tare_exact_free(struct tare_exact *exact);
