// SPDX-License-Identifier: Apache-2.0
// What a counted kernel is bound by; the rules, and where they are from, are in
// docs/hotspots-verdicts.md.
#pragma once

#include "analysis/hotspots/counted.h"

enum tare_kernel_bound {
	TARE_KERNEL_BOUND_NOT_KNOWN,
	TARE_KERNEL_BOUND_DEVICE_MEMORY,
	TARE_KERNEL_BOUND_L2,
	TARE_KERNEL_BOUND_L1, // with shared memory and the load and store units
	TARE_KERNEL_BOUND_COMPUTE,
	TARE_KERNEL_BOUND_LATENCY,
	TARE_KERNEL_BOUND_TOO_SMALL, // cores without work
	TARE_KERNEL_BOUNDS,
};

// The first and the last of the bounds that are limits of the device: how close a kernel came to
// one is a share.
#define TARE_FIRST_LIMIT TARE_KERNEL_BOUND_DEVICE_MEMORY
#define TARE_LAST_LIMIT TARE_KERNEL_BOUND_COMPUTE

// Per cent; docs/hotspots-verdicts.md says where each is from.
#define TARE_KERNEL_BOUND_FROM 60 // a limit binds from this share on
#define TARE_TOO_SMALL_BELOW 20   // of the cores' time, whatever else was counted
#define TARE_SHARE_TOLERANCE 2    // what rounding may put a share over 100
#define TARE_PAPER_TOLERANCE 1.1  // what a rate may be over the one on paper, as a factor

// How close a kernel came to a limit. Per cent of what the device sustains: of the whole time for
// device memory and L2, of the time that cores were active for L1 and arithmetic.
struct tare_limit {
	bool known;
	enum tare_counter_role role; // the counter that says so: the busiest of the limit's
	double share, low, high;     // with the spread of the launches and the counter's own error
	double of_time; // the same of the whole time: the part of it that remains when all else is
	                // gone; NaN: not known
};

enum tare_contradiction_kind {
	TARE_CONTRADICTION_NO_NUMBER,     // negative, infinite or not a number
	TARE_CONTRADICTION_OVER_MAXIMUM,  // a share over 100 %
	TARE_CONTRADICTION_OVER_POSSIBLE, // more warps resident than fit
	TARE_CONTRADICTION_OVER_PAPER,    // a rate over the one on paper
	TARE_CONTRADICTION_OVER_WHOLE,    // the traffic of L1 alone over all that L2 served
	TARE_CONTRADICTION_ORDER,         // least, mean and most of the cores in another order
	TARE_CONTRADICTIONS,
};

struct tare_contradiction {
	enum tare_contradiction_kind kind;
	enum tare_counter_role role;
	double value, most; // what was counted, and what can be
};

#define TARE_CONTRADICTIONS_KEPT 8

struct tare_kernel_verdict {
	enum tare_kernel_bound bound;
	// bit b: the figures would as well allow bound b, within their errors; decided if that is
	// `bound` alone
	unsigned possible;
	unsigned missing;            // bit b: limit b was not counted
	enum tare_kernel_bound next; // what it would be if the figures were `margin` points off
	double margin;               // NaN where nothing else is near
	struct tare_limit limits[TARE_LAST_LIMIT + 1]; // by bound
	// the busiest pipe, and the one after it where they cannot be told apart; ROLES: none
	enum tare_counter_role pipe, other_pipe;
	struct tare_contradiction contradictions[TARE_CONTRADICTIONS_KEPT];
	size_t contradiction_count; // those kept
};

// Judges a kernel. Sources: its counters alone; `device` is asked for the paper's rates, which show
// what cannot be.
void tare_hotspot_judge(const struct tare_counted_kernel *kernel,
                        const struct tare_counted_device *device,
                        struct tare_kernel_verdict *verdict);

// Whether the figures leave one bound.
bool tare_kernel_verdict_decided(const struct tare_kernel_verdict *verdict);

// The contradiction that is about a role, NULL: none. Figures with one are not used.
const struct tare_contradiction *
tare_kernel_verdict_contradiction(const struct tare_kernel_verdict *verdict,
                                  enum tare_counter_role role);

// A role's mean, NaN unless it was counted and can be.
double tare_counted_mean(const struct tare_counted_kernel *kernel, enum tare_counter_role role);
