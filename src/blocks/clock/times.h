// SPDX-License-Identifier: Apache-2.0
// Which of a program's kernels spend the host's CPU time, where the device is the host's CPU. For
// PoCL, which keeps each kernel as a library of its own.
#pragma once
#include "blocks/clock/clock.h"

// A line of the source.
struct tare_blocks_line_time {
	char *file; // as the compiler names it; "": the program's own source
	uint32_t line;
	uint64_t samples;
};

// A block of the machine's code: its instructions are passed equally often.
struct tare_blocks_code_time {
	const void *lines_of; // and where in them: while the library is looked at
	uint32_t section;
	uint64_t from;
	struct tare_blocks_line_time *lines; // all that its instructions are of
	size_t line_count;
	uint64_t no_line; // samples
};

struct tare_blocks_kernel_time {
	char *name;
	uint64_t samples;
	struct tare_blocks_line_time *lines; // those that were met
	size_t line_count;
	struct tare_blocks_code_time *codes; // those that were met
	size_t code_count;
	uint64_t no_line;      // samples in code of no line, a compiler's own
	uint64_t untold;       // samples whose line cannot be told
	struct tare_error why; // of the first of these
};

struct tare_blocks_times {
	bool asked;
	struct tare_error why;  // nothing was sampled
	uint64_t samples, lost; // of the program outside the system's kernel, in whatever code
	struct tare_blocks_kernel_time *kernels;
	size_t kernel_count;
};

// What lines are found with.
struct tare_blocks_times_tools {
	const char *clang;  // of the driver's LLVM; "": none
	const char *folder; // for files
};

// Finds the kernels, and the lines of what PoCL has built with -g and kept its module of (code.h).
// 0 or -ENOMEM; to free in either case.
int tare_blocks_times_make(const struct tare_blocks_ticks *ticks,
                           const struct tare_blocks_times_tools *tools,
                           struct tare_blocks_times *times);
void tare_blocks_times_free(struct tare_blocks_times *times);
// A kernel's by its name; NULL: it was not met.
const struct tare_blocks_kernel_time *tare_blocks_time_of(const struct tare_blocks_times *times,
                                                          const char *name);
// Ends of the interval of 95 % of a share, `part` of `whole` samples (Wilson's), from 0 to 1.
void tare_blocks_share_interval(uint64_t part, uint64_t whole, double *low, double *high);
