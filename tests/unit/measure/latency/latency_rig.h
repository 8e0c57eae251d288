// SPDX-License-Identifier: Apache-2.0
// Runs of `latency` on a simulated device, and how its cells are found. Include after cmocka.h.
#pragma once
#include "measure/latency/latency.h"

#include <stdint.h>

#include "native_waits.h"
#include "tests/unit/measure/core/simulated_run.h"

#define BUDGET INT64_C(500000000)

// What `launch and wait` needs to converge, and little more.
#define SHORT_BUDGET INT64_C(150000000)

static inline const struct tare_cell *find(const struct tare_result *result, const char *what,
                                           const char *source)
{
	for (size_t i = 0; i < result->cell_count; i++)
		if (strcmp(label_text(&result->cells[i], "what"), what) == 0 &&
		    strcmp(result->cells[i].source, source) == 0)
			return &result->cells[i];
	fail_msg("no cell '%s' (%s)", what, source);
	return NULL;
}

static inline double median_ns(const struct tare_cell *cell)
{
	if (cell->absent)
		fail_msg("%s: %s", label_text(cell, "what"), cell->absent);
	return cell->summary.median / (strcmp(cell->unit, "ps") == 0 ? 1000 : 1);
}

static inline void measure(struct simulated_run *simulated, const char *script)
{
	struct tare_error error = { 0 };
	simulated_open(simulated, script, "latency", BUDGET);
	if (tare_measure_latency(&simulated->run, NULL, &error) < 0)
		fail_msg("%s", error.message);
}

// The simulated backend, with one member replaced.
static struct tare_backend backend, plain;

static inline void replace_backend(struct simulated_run *simulated, const char *script)
{
	simulated_open(simulated, script, "latency", BUDGET);
	plain = backend = *simulated->device->backend;
	simulated->device->backend = &backend;
}
