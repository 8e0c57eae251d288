// SPDX-License-Identifier: Apache-2.0
// Samples hardware counters of a whole device over time, beside a program that runs meanwhile. It
// is done by a process of its own, so that neither the program nor tare is held up or ended by what
// a driver does.
#pragma once
#include "base/error.h"

#include <stdint.h>

struct tare_sampling;

// What was sampled.
struct tare_sampling_end {
	int status;              // 0, or a negative errno: the sampling failed half-way
	uint64_t samples;        // that were taken
	uint64_t losses;         // times that there was no room for more
	uint64_t cpu_ns;         // CPU time of the process
	struct tare_error error; // with a status
};

// Samples device `index` of `backend` every so many nanoseconds from now on, into a temporary
// folder. Returns 0, -ENOTSUP where the API or the device cannot, or another negative errno;
// an error of the vendor's is in error->native and error->call. *ready_ns: how long it took.
int tare_sampling_begin(const char *backend, uint32_t index, uint64_t interval_ns,
                        struct tare_sampling **sampling, int64_t *ready_ns,
                        struct tare_error *error);
// Ends it, and moves the trace to `folder`, which is made; NULL: it is thrown away. Frees
// `sampling`. Returns 0, or a negative errno when the trace could not be moved.
int tare_sampling_end(struct tare_sampling *sampling, const char *folder,
                      struct tare_sampling_end *end, struct tare_error *error);
