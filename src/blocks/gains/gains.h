// SPDX-License-Identifier: Apache-2.0
// What doing what findings of blocks advise saves: measured where a machine can do it (change.h),
// by running the program with the changed kernels and without, in turn; else the kernel's time,
// which is the most that any change of it can save.
#pragma once
#include "blocks/gains/change.h"
#include "blocks/options/trials.h"

struct tare_blocks_gains {
	bool asked;
	bool counted;          // a kernel that may have findings
	struct tare_error why; // its runs failed
	// of each set: the first build whose changed module could not be written, and why
	struct tare_blocks_unwritten {
		uint64_t hash;
		struct tare_error why;
	} unwritten[TARE_BLOCKS_CHANGES];
	struct tare_blocks_trials trials;   // the program's own kernels, and changed ones
	uint32_t sets[TARE_BLOCKS_CHANGES]; // set of each change; 0: none was needed
	const struct tare_blocks_profile *profile;
	double *reaches; // of each kernel and each change
};

// Of all launches of one run, in nanoseconds of the device's time.
struct tare_blocks_gain {
	double kernel_ns; // what they take; 0: not known, as nothing is
	double low_ns, best_ns, high_ns;
	bool measured;   // of the changed kernel; else the most is the kernel's time
	bool best_known; // best_ns
	bool told;       // from none: all rounds agree on it
	// whether what the program reads back or prints, or how it ends, differs with the change;
	// UNKNOWN where no changed kernel was launched
	enum tare_blocks_result results;
	char why[300]; // clause: why no more is known; "": all is
};

// Runs the program for its findings. What fails is in gains->why: what was counted is reported all
// the same. 0 or -ENOMEM with a sentence. To free in either case; trying->own is what was counted,
// and outlives the gains.
int tare_blocks_gains_measure(const struct tare_blocks_trying *trying,
                              const struct tare_blocks_builds *builds,
                              struct tare_blocks_gains *gains, struct tare_error *error);
void tare_blocks_gains_free(struct tare_blocks_gains *gains);

// What a finding of a kernel can bring. False: it was not asked for.
bool tare_blocks_gain_of(const struct tare_blocks_gains *gains,
                         const struct tare_blocks_kernel *kernel, enum tare_blocks_advice advice,
                         struct tare_blocks_gain *gain);
