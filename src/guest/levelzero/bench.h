// SPDX-License-Identifier: Apache-2.0
// A wrapper's two halves on a thread, a list and records that nobody else sees: what is timed to
// know what our own code costs (calibrate.c, driver_cost.c, execute_cost.c).
#pragma once
#include "guest/calibrate/bench.h"
#include "guest/levelzero/ze.h"

enum { ZE_BENCH_COMMANDS = 64, ZE_BENCH_RING = 128 };

struct ze_bench {
	struct guest_bench on;
	struct ze_thread mine;
	struct ze_driver driver; // of functions that do nothing
	struct ze_list list;
	struct ze_kernel kernel;
	struct ze_pending ring[ZE_BENCH_RING];
	union tare_trace_record records[4 * ZE_BENCH_COMMANDS];
};

// The driver's part of command `at`.
typedef ze_result_t ze_bench_vendor(void *context, uint32_t at);

// Measurements share the one of this process, and what they tell: one at a time. False: another
// thread is at one.
bool ze_bench_take(void);
void ze_bench_give(void);
// The one of this process, ready for use by who has taken it. NULL: no memory, or nothing is
// recorded.
struct ze_bench *ze_bench(void);
// Has room for ZE_BENCH_COMMANDS commands.
void ze_bench_rewind(struct ze_bench *bench);
// A launch on an immediate list, with an event of ours or without, the driver's part in between.
ze_result_t ze_bench_command(struct ze_bench *bench, bool takes_event, ze_bench_vendor *vendor,
                             void *context, uint32_t at);
// Lets go of what is pending. What harvesting takes is measured while the program runs
// (harvest_ticks).
void ze_bench_forget(struct ze_bench *bench);
