// SPDX-License-Identifier: Apache-2.0
// Runs of `matmul` on a simulated device with the ladder, and how their cells are found. Include
// after cmocka.h.
#pragma once
#include "measure/matmul/internal.h"
#include "measure/matmul/matmul.h"

#include <math.h>
#include <stdint.h>

#include "tests/unit/measure/core/simulated_run.h"
#include "tests/unit/measure/latency/native_waits.h"

#define BUDGET INT64_C(2000000000)

// Times follow from the launch: 2 us, and n steps of every work-item at 10^9 a second.
#define KERNEL(name, arguments, action)                                                            \
	"kernel matmul_" name " fixed 2 us repeat 3 repeat-rate 1 Gitem/s arguments " arguments    \
	" action " action "\n"

#define LADDER                                                                                     \
	KERNEL("element", "6", "matmul-element")                                                   \
	KERNEL("naive", "4", "matmul")                                                             \
	KERNEL("tiled", "4", "matmul")                                                             \
	KERNEL("second", "4", "matmul")                                                            \
	KERNEL("register", "4", "matmul")

#define SCRIPT SIMPLE_DEVICE SIMPLE_PAIRS LADDER

static inline int run(struct simulated_run *simulated, const char *script, const char *sizes,
                      const char *rungs, struct tare_error *error)
{
	struct tare_matmul_options options = { 0 };
	assert_int_equal(tare_parse_matmul_sizes(sizes, &options, error), 0);
	assert_int_equal(tare_parse_rungs(rungs, &options.rungs, error), 0);
	simulated_open(simulated, script, "matmul", BUDGET);
	return tare_measure_matmul(&simulated->run, &options, error);
}

static inline void run_well(struct simulated_run *simulated, const char *script, const char *sizes,
                            const char *rungs)
{
	struct tare_error error = { 0 };
	if (run(simulated, script, sizes, rungs, &error) < 0)
		fail_msg("%s", error.message);
}

static inline const struct tare_cell *find(const struct tare_result *result, const char *rung,
                                           int64_t n, const char *part)
{
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (strcmp(label_text(cell, "rung"), rung) == 0 && label_number(cell, "n") == n &&
		    strcmp(label_text(cell, "part"), part) == 0 &&
		    strcmp(cell->source, "model") != 0)
			return cell;
	}
	fail_msg("no cell %s, n = %lld, %s", rung, (long long)n, part);
	return NULL;
}

static inline const struct tare_cell *find_model(const struct tare_result *result, const char *rung,
                                                 int64_t n, const char *what, const char *level)
{
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (strcmp(label_text(cell, "rung"), rung) == 0 && label_number(cell, "n") == n &&
		    strcmp(label_text(cell, "what"), what) == 0 &&
		    strcmp(label_text(cell, "level"), level) == 0)
			return cell;
	}
	fail_msg("no %s of %s, n = %lld", what, rung, (long long)n);
	return NULL;
}

static inline double us(const struct tare_cell *cell)
{
	if (cell->absent)
		fail_msg("%s: %s", label_text(cell, "rung"), cell->absent);
	return cell->summary.median / 1e6;
}

static inline void close_to(const char *what, double got, double expected, double tolerance)
{
	if (!(fabs(got - expected) <= tolerance))
		fail_msg("%s: %.6f, not %.6f (within %.6f)", what, got, expected, tolerance);
}
