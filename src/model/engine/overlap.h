// SPDX-License-Identifier: Apache-2.0
// What copies and kernels can gain from running beside each other: the bound that holds for any
// schedule, and the engines that measured modes reveal. Nothing here knows a device.
//
// The work has three stages, each of a whole (all bytes in, all items, all bytes out). A mode is a
// set of stages that run at once. In each mode each stage goes at some speed, as a share of its
// speed alone.
#pragma once
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tare_stage { TARE_STAGE_TO_DEVICE, TARE_STAGE_KERNEL, TARE_STAGE_TO_HOST, TARE_STAGE_COUNT };

// Bits (1 << enum tare_stage). Mode 0 is empty.
#define TARE_MODE_COUNT 8u

// The words: "to-device", "kernel", "to-host"; and of a mode, joined by '+': "to-device+kernel".
const char *tare_stage_name(enum tare_stage stage);
const char *tare_mode_name(uint32_t mode);

struct tare_overlap_modes {
	// Time of each stage's whole work, alone. 0: there is no such work (a kernel without
	// output).
	double alone_ns[TARE_STAGE_COUNT];
	// speed[mode][stage]: share of its speed alone at which a stage goes while exactly the
	// stages of the mode run; 1 in the modes of one stage, 0 for a stage that is not in the
	// mode.
	double speed[TARE_MODE_COUNT][TARE_STAGE_COUNT];
	bool known[TARE_MODE_COUNT]; // measured; the modes of one stage always are
	// together[mode]: operations of these stages were seen in progress at one moment, by their
	// stamps or by a probe (docs/method.md). Speeds alone cannot tell two engines that halve
	// each other from one that takes turns.
	bool together[TARE_MODE_COUNT];
	// How many times the kernel's work of one launch alone gets done while launches of chunks
	// run beside each other; below 1 (or not set): one launch fills the device.
	double side_by_side;
};

// The least time of a stage's whole work: alone, or the kernel's with launches side by side.
double tare_overlap_stage_ns(const struct tare_overlap_modes *modes, enum tare_stage stage);

struct tare_overlap_bound {
	double ns;                          // no schedule is faster
	double serial_ns;                   // one stage after the other
	double in_mode_ns[TARE_MODE_COUNT]; // how long the optimum stays in each mode
	enum tare_stage longest;            // by tare_overlap_stage_ns
};

// The smallest total time over the modes such that every stage gets its work done:
//   minimise sum_m t_m   subject to   sum_m t_m * speed[m][i] >= stage_ns(i) for each i,  t_m >= 0
// (design: three works, seven modes; solved exactly over the basic solutions). Modes that are not
// known are not used. Returns 0, or -EDOM when it has no solution (a stage with work and no speed
// in any mode) or an input is no number, with a sentence that names the stage.
int tare_overlap_bound(const struct tare_overlap_modes *modes, struct tare_overlap_bound *bound,
                       struct tare_error *error);

// What Amdahl's law with two processors says of the same work, the Handbook's idealised curve:
// serial / (r_s + r_p / 2), where r_p, the share that runs in parallel, is twice the smaller of
// copies and kernel over the whole. Returns the speed-up.
double tare_overlap_amdahl(const struct tare_overlap_modes *modes);

// Time of a pipeline of n equal chunks that cost nothing each, at the stages' speeds alone: what n
// chunks leave attainable of the bound. With an engine for each stage
//   T = (H + K + D) / n + (n - 1) / n * max(H, K, D)
// With kernels side by side, which take S for all and K / n for each, max(H, D) in place of
// max(H, K, D), and at least (H + D) / n + max(S, K / n). With `copies_share` (both copies on one
// engine; breadth-first reaches it), at least H + D.
double tare_overlap_attainable_ns(const struct tare_overlap_modes *modes, uint32_t chunks,
                                  bool copies_share);

struct tare_engines_revealed {
	uint32_t count;        // 1 to 3: as many stages as were ever seen in progress at once
	uint32_t largest_mode; // a mode that shows it
	uint32_t apart[3];     // pairs of stages (as modes) that are known and never ran together
	size_t apart_count;
};

// The number of engines that the modes reveal; a mode that is not known counts as not together.
void tare_engines_reveal(const struct tare_overlap_modes *modes,
                         struct tare_engines_revealed *revealed);
