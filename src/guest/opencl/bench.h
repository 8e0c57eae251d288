// SPDX-License-Identifier: Apache-2.0
// A wrapper's two halves on a thread, a queue and records that nobody else sees: what is timed to
// know what our own code costs (calibrate.c, driver_cost.c).
#pragma once
#include "guest/calibrate/bench.h"
#include "guest/opencl/wrap.h"

enum { LAYER_BENCH_COMMANDS = 64, LAYER_BENCH_RING = 256 };

struct layer_bench {
	struct guest_bench on;
	struct layer_thread mine;
	struct layer_queue queue;
	union tare_trace_record records[1 + 4 * LAYER_BENCH_COMMANDS];
	uint32_t turn;    // of the commands
	uint64_t harvest; // ticks that the last commands' took
};

// The vendor's part of a command; `event` as a wrapper hands it on.
typedef cl_int layer_bench_vendor(void *context, cl_event *event);

// The one of this process, ready for use. NULL: no memory, or nothing is recorded.
struct layer_bench *layer_bench(void);
// How its commands are to be: with times, or without as `--times` leaves them out.
void layer_bench_times(struct layer_bench *bench, bool timed);
// Has room for LAYER_BENCH_COMMANDS commands with their times, begun again where there is no more.
void layer_bench_rewind(struct layer_bench *bench);
// A kernel's launch, with the vendor's part in between; returns what that returned.
cl_int layer_bench_command(struct layer_bench *bench, layer_bench_vendor *vendor, void *context);
// Takes the times of what is pending, by layer_next.
void layer_bench_harvest(struct layer_bench *bench);
