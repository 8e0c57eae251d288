// SPDX-License-Identifier: Apache-2.0
// Times of engines by the vendor's tracer, where a device's own stamps are positions in the stream.
// A tracer that was loaded once may cost what is timed later: what is measured by it comes last.
#pragma once
#include "measure/core/bench.h"

#define TARE_TRACED_MOST 16 // operations in one trace

// Whether the backend has one at all; whether it works here is known only once it is loaded.
bool tare_traced_possible(const struct tare_bench *bench);
// Loads it: 0, or why it cannot be had (-ENODATA, or the device's end).
int tare_traced_try(const struct tare_bench *bench, struct tare_error *error);
// The mean time of `count` operations that `append` gives to bench->timed, each alone there: from
// the first engine's start to the last one's end. -ENODATA as above, or where the tracer lost them.
int tare_traced_mean_ps(const struct tare_bench *bench, uint32_t count,
                        int (*append)(void *context, struct tare_event **event,
                                      struct tare_error *error),
                        void *context, int64_t *ps, struct tare_error *error);
// A figure is the tracer's: its label says so, and its method no longer speaks of positions.
void tare_traced_name(struct tare_figure *figure);
