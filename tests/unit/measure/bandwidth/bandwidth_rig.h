// SPDX-License-Identifier: Apache-2.0
// Runs `bandwidth` on a simulated device and finds its cells. Include after cmocka.h.
#pragma once
#include "measure/bandwidth/bandwidth.h"

#include <math.h>
#include <string.h>

#include "tests/unit/measure/core/simulated_run.h"

#define BUDGET INT64_C(5000000000)
#define KB UINT64_C(1024)
#define MB (KB * 1024)
#define SHARED                                                                                     \
	"copy shared shared fixed 1 us rate 50 GB/s\n"                                             \
	"copy pageable shared fixed 1 us rate 10 GB/s\n"                                           \
	"copy shared pageable fixed 1 us rate 10 GB/s\n"                                           \
	"migrate page 64 KiB fault 2 us fixed 5 us rate 10 GB/s\n"
#define MAPS "map fixed 4 us rate 10 GB/s\nunmap fixed 3 us rate 8 GB/s\n"
#define ZERO_COPY_MAPS "map fixed 4 us\nunmap fixed 3 us\n"

static inline int run(struct simulated_run *simulated, const char *script, const char *lines,
                      uint64_t from, uint64_t to, struct tare_error *error)
{
	struct tare_bandwidth_options options = { .from_bytes = from, .to_bytes = to };
	assert_int_equal(tare_parse_lines(lines, &options.lines, NULL), 0);
	simulated_open(simulated, script, "bandwidth", BUDGET);
	return tare_measure_bandwidth(&simulated->run, &options, error);
}

static inline void run_well(struct simulated_run *simulated, const char *script, const char *lines,
                            uint64_t from, uint64_t to)
{
	struct tare_error error = { 0 };
	if (run(simulated, script, lines, from, to, &error) < 0)
		fail_msg("%s", error.message);
}

static inline const struct tare_cell *find(const struct tare_result *result, const char *line,
                                           uint64_t bytes, const char *source)
{
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (strcmp(label_text(cell, "line"), line) == 0 &&
		    label_number(cell, "bytes") == (int64_t)bytes &&
		    strcmp(cell->source, source) == 0)
			return cell;
	}
	fail_msg("no cell %s, %llu bytes (%s)", line, (unsigned long long)bytes, source);
	return NULL;
}

static inline const struct tare_cell *find_fit(const struct tare_result *result, const char *line,
                                               const char *fit)
{
	for (size_t i = 0; i < result->cell_count; i++)
		if (strcmp(label_text(&result->cells[i], "line"), line) == 0 &&
		    strcmp(label_text(&result->cells[i], "fit"), fit) == 0)
			return &result->cells[i];
	fail_msg("no fit %s of %s", fit, line);
	return NULL;
}

static inline double time_us(const struct tare_cell *cell)
{
	if (cell->absent)
		fail_msg("%s: %s", label_text(cell, "line"), cell->absent);
	return cell->summary.median / 1e6;
}

static inline void close_to(const char *what, double got, double expected, double tolerance)
{
	if (!(fabs(got - expected) <= tolerance))
		fail_msg("%s: %.6f, not %.6f (within %.6f)", what, got, expected, tolerance);
}
