// SPDX-License-Identifier: Apache-2.0
// Counted kernels by hand.
#pragma once
#include "analysis/hotspots/counted.h"

enum made_kernel {
	MADE_COPY,     // bound by device memory
	MADE_NAIVE,    // by L1
	MADE_SHARED,   // by L2
	MADE_FMA,      // by single precision
	MADE_MATRIX,   // by the matrix engines, which issue little
	MADE_CHASE,    // latency
	MADE_ONE,      // one group: too small
	MADE_FEW,      // fewer groups than cores
	MADE_CAPTURED, // not counted
	MADE_KERNELS,
};

// A device as large as the made kernels: 100 cores, 1 TB/s on paper, 0.9 measured.
extern const struct tare_counted_device made_device;

// A kernel with figures; `counter`: nothing counted.
struct tare_counted_kernel made_kernel(enum made_kernel which);
struct tare_counted_kernel made_uncounted(const char *name);

// Sets a role, the same in all of its 4 launches.
void made_set(struct tare_counted_kernel *kernel, enum tare_counter_role role, double mean);
// The spread of a role's launches.
void made_spread(struct tare_counted_kernel *kernel, enum tare_counter_role role, double least,
                 double most);
// Takes a role away.
void made_unset(struct tare_counted_kernel *kernel, enum tare_counter_role role,
                enum tare_counter_state state);

// All made kernels as a run, largest first. `kernels` has room for MADE_KERNELS.
struct tare_counted_run made_run(struct tare_counted_kernel *kernels);
