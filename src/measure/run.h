// SPDX-License-Identifier: Apache-2.0
// What every measuring command shares: a device, a budget, a seed, progress, interruption.
#pragma once
#include "backend/backend.h"
#include "base/random.h"
#include "result/result.h"

#include <signal.h>

struct tare_run;

// Called now and then while measuring; `cells` counts the cells finished of `total`. remaining_ns
// is an estimate, -1 while unknown.
typedef void tare_progress_function(void *context, const char *what, size_t cells, size_t total,
                                    int64_t remaining_ns);

struct tare_run {
	struct tare_device *device;
	const struct tare_facts *facts;
	struct tare_result *result;         // gathers what is measured
	int64_t budget_ns;                  // for the whole command
	uint64_t seed;
	struct tare_random random;
	struct tare_host_time started;      // on the device's host clock
	tare_progress_function *progress;   // NULL: none
	void *progress_context;
	const volatile sig_atomic_t *interrupted;  // set by the signal handler of the CLI; may be NULL
	size_t cells_done, cells_total;
};

// True when the user asked to stop: finish the cell's document entry and return -EINTR.
bool tare_run_interrupted(const struct tare_run *run);
// Nanoseconds of the budget that are left, on the device's host clock; never below 0.
int64_t tare_run_remaining_ns(const struct tare_run *run);

// One sample: measures once and writes the figure in the cell's unit into *sample.
// 0, or a negative errno with *error.
typedef int tare_sample_function(void *context, int64_t *sample, struct tare_error *error);

// A cell to be sampled. Several are sampled in turn by tare_run_cells.
struct tare_cell_plan {
	const char *title;               // for progress: "host to device, 64 KB"
	tare_sample_function *sample;
	void *context;
	int64_t *secondary;              // if not NULL: sample() also leaves the host's time here, which
	                                 // becomes a second cell with source "host"
	double quantum;                  // timer step in the cell's unit, already divided by the batch
	bool discard_first;              // the first call is a warm-up, not a sample
};
