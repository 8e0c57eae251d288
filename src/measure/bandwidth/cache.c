// SPDX-License-Identifier: Apache-2.0
#include "measure/bandwidth/cache.h"

#include "measure/bandwidth/bandwidth.h"
#include "measure/core/result_cache.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Up to where a result must have gone: from about there on rates no longer grow.
#define LEAST_BYTES (INT64_C(64) << 20)

static const struct {
	enum tare_line line;
	size_t offset; // of its rate
	size_t sizes;  // of its rates by size
} rows[] = {
#define MEMBER(name) offsetof(struct tare_bandwidth_peaks, name)
	{ TARE_LINE_HOST_TO_DEVICE, MEMBER(to_device_pinned), MEMBER(to_device_pinned_sizes) },
	{ TARE_LINE_HEAP_TO_DEVICE, MEMBER(to_device_pageable), MEMBER(to_device_pageable_sizes) },
	{ TARE_LINE_DEVICE_TO_HOST, MEMBER(from_device_pinned), MEMBER(from_device_pinned_sizes) },
	{ TARE_LINE_DEVICE_TO_HEAP, MEMBER(from_device_pageable),
	  MEMBER(from_device_pageable_sizes) },
};
#define ROWS (sizeof rows / sizeof *rows)

// ---- of a document

// What a cell's rate is at least, in bytes per second; NaN where it is none of this line and clock.
// One that has not converged counts with the lower end of its interval, or a tenth below its
// slowest sample.
static double sure_rate(const struct tare_cell *cell, enum tare_line line, const char *source)
{
	const struct tare_rate *rate = &cell->rate;
	double value;

	if (cell->absent || !rate->present || !rate->unit || strcmp(rate->unit, "GB/s") != 0 ||
	    cell->verified == TARE_WRONG || !cell->source || strcmp(cell->source, source) != 0 ||
	    !tare_cell_has_text(cell, "line", tare_lines[line].name))
		return NAN;
	value = cell->converged          ? rate->median
	        : isfinite(rate->ci_low) ? rate->ci_low
	                                 : 0.9 * rate->min;
	return isfinite(value) && value > 0 ? 1e9 * value : NAN;
}

static double best_rate(const struct tare_result *result, enum tare_line line)
{
	static const char *const sources[] = { "device", "host" };
	double best = NAN;

	for (size_t s = 0; s < 2 && isnan(best); s++)
		for (size_t i = 0; i < result->cell_count; i++)
			best = fmax(best, sure_rate(&result->cells[i], line, sources[s]));
	return best;
}

static void fill_curve(const struct tare_result *result, enum tare_line line,
                       struct tare_rate_curve *curve)
{
	static const char *const sources[] = { "device", "host" };

	for (size_t s = 0; s < 2 && curve->count == 0; s++)
		for (size_t i = 0; i < result->cell_count; i++)
			tare_rate_curve_add(curve,
			                    (double)tare_cell_number(&result->cells[i], "bytes"),
			                    sure_rate(&result->cells[i], line, sources[s]));
}

static void set_none(struct tare_bandwidth_peaks *peaks, const char *origin)
{
	*peaks = (struct tare_bandwidth_peaks){ 0 };
	for (size_t i = 0; i < ROWS; i++)
		*(double *)((char *)peaks + rows[i].offset) = NAN;
	snprintf(peaks->origin, sizeof peaks->origin, "%s", origin);
}

void tare_bandwidth_peaks_of(const struct tare_result *result, struct tare_bandwidth_peaks *peaks)
{
	const struct tare_result *part = tare_result_cache_part(result, "bandwidth");
	const char *title;

	set_none(peaks, "no result of tare bandwidth");
	if (!part)
		return;
	for (size_t i = 0; i < ROWS; i++) {
		double *rate = (double *)((char *)peaks + rows[i].offset);
		*rate = best_rate(part, rows[i].line);
		fill_curve(part, rows[i].line,
		           (struct tare_rate_curve *)((char *)peaks + rows[i].sizes));
		peaks->present = peaks->present || isfinite(*rate);
	}
	if (!peaks->present)
		return;
	if (part->written_at && strlen(part->written_at) >= 10)
		snprintf(peaks->measured, sizeof peaks->measured, "%.10s", part->written_at);
	title = part->device_count ? part->devices[0].backend_title : NULL;
	snprintf(peaks->origin, sizeof peaks->origin, "measured %s (tare bandwidth%s%.60s)",
	         peaks->measured[0] ? peaks->measured : "at an unknown time", title ? ", " : "",
	         title ? title : "");
}

// ---- the cache

static bool is_complete(const struct tare_result *result)
{
	int64_t largest = -1;

	for (size_t i = 0; i < ROWS; i++)
		if (isnan(best_rate(result, rows[i].line)))
			return false;
	for (size_t i = 0; i < result->cell_count; i++) {
		int64_t bytes = tare_cell_number(&result->cells[i], "bytes");
		largest = bytes > largest ? bytes : largest;
	}
	return largest >= LEAST_BYTES;
}

int tare_bandwidth_keep(const struct tare_result *result, struct tare_error *error)
{
	const struct tare_result *part = tare_result_cache_part(result, "bandwidth");

	if (!part || part->device_count == 0)
		return tare_fail(error, EINVAL, "no result of tare bandwidth to keep");
	return is_complete(part) ? tare_result_cache_keep(part, error) : 0;
}

void tare_bandwidth_load(const char *device_name, const char *driver_version,
                         struct tare_bandwidth_peaks *peaks)
{
	char why[sizeof peaks->origin];
	struct tare_result *result =
	    tare_result_cache_find("bandwidth", device_name, driver_version, why, sizeof why);

	set_none(peaks, why);
	if (result)
		tare_bandwidth_peaks_of(result, peaks);
	tare_result_free(result);
}
