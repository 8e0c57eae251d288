// SPDX-License-Identifier: Apache-2.0
// What of a kernel's sample and findings every form of the report tells.
#pragma once
#include "blocks/gains/gains.h"

#include <stdio.h>

struct tare_blocks_told {
	struct tare_blocks_sampled sampled;
	struct tare_blocks_findings findings;
	bool gained;                                       // the following are known
	struct tare_blocks_gain gains[TARE_BLOCKS_ADVICE]; // of each finding, in their order
};

// 0, or -ENOMEM. To free in either case. Of a kernel that was counted.
int tare_blocks_told_make(const struct tare_blocks_kernel *kernel,
                          const struct tare_blocks_gains *gains, struct tare_blocks_told *told);
void tare_blocks_told_free(struct tare_blocks_told *told);

// Lanes, accesses and findings, as lines of text.
void tare_blocks_told_text(const struct tare_blocks_told *told, FILE *file);
