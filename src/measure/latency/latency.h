// SPDX-License-Identifier: Apache-2.0
// `latency`: what a clock reading, a launch, a wait, a 1-byte copy, an event and a callback cost.
#pragma once
#include "measure/core/run.h"

#define TARE_LATENCY_BUDGET_NS INT64_C(20000000000)

struct tare_latency_options {
	uint32_t batch; // launches in a row where many are timed at once; 0: 256
	// a quick look: no several or default queues, nodes, rows of copies, host calls
	bool coarse;
};

// Fills run->result with cells labelled `group` ("clock", "launch", "synchronise", "copy", "event",
// "graph", "list", "queue", "host call") and `what`, plots and warnings. Where the device or its
// API lacks an ability, the cell says so. Returns as tare_run_measure.
int tare_measure_latency(struct tare_run *run, const struct tare_latency_options *options,
                         struct tare_error *error);
