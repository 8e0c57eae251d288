// SPDX-License-Identifier: Apache-2.0
// What of a kernel's sample and findings every form of the report tells.
#pragma once
#include "blocks/findings/findings.h"
#include "blocks/gains/gains.h"
#include "blocks/profile.h"
#include "report/terminal/write.h"

#include <stdio.h>

struct tare_blocks_told {
	const struct tare_blocks_kernel *kernel;
	struct tare_blocks_sampled sampled;
	struct tare_blocks_findings findings;
	bool gained;                                       // the following are known
	struct tare_blocks_gain gains[TARE_BLOCKS_ADVICE]; // of each finding, in their order
};

// 0, or -ENOMEM. To free in either case. Of a kernel that was counted.
int tare_blocks_told_make(const struct tare_blocks_kernel *kernel,
                          const struct tare_blocks_gains *gains, struct tare_blocks_told *told);
void tare_blocks_told_free(struct tare_blocks_told *told);

// A block's lines, "12-14", "12", or "12 of part 2"; "-": not known. Returns text.
const char *tare_blocks_span_words(const struct tare_blocks_build *build, uint32_t block,
                                   char *text, size_t size);

// Lanes and accesses; these and findings, as lines of text.
void tare_blocks_lanes_text(const struct tare_blocks_told *told, FILE *file);
void tare_blocks_told_text(const struct tare_blocks_told *told, FILE *file);
// What was measured of a finding's change, or why nothing was.
void tare_blocks_gain_text(const struct tare_blocks_gain *gain, FILE *file);

// Writes lines; those that are wider than the terminal go on below, further in.
void tare_blocks_lines_text(struct tare_text *text, const char *lines);
