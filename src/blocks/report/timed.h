// SPDX-License-Identifier: Apache-2.0
// Samples of the host's clock, joined with the lines and blocks that were counted.
#pragma once
#include "blocks/clock/times.h"
#include "blocks/profile.h"

#define TARE_BLOCKS_OF_PARTS "its program is of several parts"

struct tare_blocks_timed {
	bool known;
	bool parts;      // it is not, since the program is of several
	uint64_t *lines; // samples, of each line
	// Samples of each block of the module: those that can be no other block's, and those that
	// can be its own.
	uint64_t *least, *most;
	uint64_t counted;   // samples on lines that were counted
	uint64_t elsewhere; // and on others
};

// Of a kernel that was counted, whose lines are `lines`. `time`: what was sampled of kernels of its
// name; NULL or without lines: nothing is known. Nor is it of a program of parts, whose sources are
// all of one name for the driver. 0 or -ENOMEM; to free in either case.
int tare_blocks_timed_make(const struct tare_blocks_kernel *kernel,
                           const struct tare_blocks_kernel_time *time,
                           const struct tare_blocks_line *lines, size_t line_count,
                           struct tare_blocks_timed *timed);
void tare_blocks_timed_free(struct tare_blocks_timed *timed);
