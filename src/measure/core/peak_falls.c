// SPDX-License-Identifier: Apache-2.0
// Where the sweep of working sets falls, and which cache ends there.
#include "measure/core/peaks.h"

#include <math.h>
#include <string.h>

// A fall of the sweep below this share of what was before is one that no noise explains.
#define FALL 0.75
// A fall over more than this factor of sizes does not say where.
#define FALL_RANGE 8

// Samples that follow each other give no interval, however many they are; then all but the slowest
// twentieth stands in for it: stragglers must not hide a fall.
static double least(const struct tare_cell *cell)
{
	return isfinite(cell->rate.ci_low) ? cell->rate.ci_low : cell->rate.p95;
}

static double most(const struct tare_cell *cell)
{
	double fastest = cell->summary.min > 0
	                     ? cell->rate.median * cell->summary.median / (double)cell->summary.min
	                     : cell->rate.median;

	return isfinite(cell->rate.ci_high) ? cell->rate.ci_high : fastest;
}

static bool is_clear(const struct tare_cell *top, const struct tare_cell *bottom)
{
	return bottom->rate.median < FALL * top->rate.median &&
	       tare_cell_number(bottom, "bytes") <= FALL_RANGE * tare_cell_number(top, "bytes");
}

// What ends where the sweep falls, as far as that is known: the last-level cache, which the driver
// tells, is within a factor of two of the fall, or much larger.
static enum tare_fallen_cache which_ends(uint64_t cache_bytes, uint64_t from, uint64_t to)
{
	if (cache_bytes == 0 || from >= 2 * cache_bytes)
		return TARE_FALLEN_CACHE;
	return 2 * to > cache_bytes ? TARE_FALLEN_SHARED : TARE_FALLEN_NEARER;
}

static size_t add_fall(const struct tare_cell *top, const struct tare_cell *bottom,
                       uint64_t cache_bytes, struct tare_sweep_fall *falls, size_t count)
{
	int64_t from = tare_cell_number(top, "bytes"), to = tare_cell_number(bottom, "bytes");

	if (!is_clear(top, bottom) || count == TARE_SWEEP_FALLS)
		return count;
	falls[count] =
	    (struct tare_sweep_fall){ from, to,
		                      which_ends(cache_bytes, (uint64_t)from, (uint64_t)to) };
	return count + 1;
}

size_t tare_sweep_falls(const struct tare_result *result, uint64_t cache_bytes,
                        struct tare_sweep_fall falls[TARE_SWEEP_FALLS])
{
	const struct tare_cell *last = NULL, *top = NULL;
	size_t count = 0;
	bool falling = false;

	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (!tare_cell_has_text(cell, "group", "sweep") || cell->absent ||
		    !cell->rate.present)
			continue;
		bool lower =
		    last && most(cell) < least(last) && cell->rate.median < 0.9 * last->rate.median;
		if (lower && !falling)
			top = last;
		if (falling && !lower)
			count = add_fall(top, last, cache_bytes, falls, count);
		falling = lower;
		last = cell;
	}
	return falling ? add_fall(top, last, cache_bytes, falls, count) : count;
}
