// SPDX-License-Identifier: Apache-2.0
#include "measure/bandwidth/cache.h"

#include "base/cleanup.h"
#include "measure/bandwidth/bandwidth.h"
#include "measure/core/result_cache.h"
#include "result/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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

static const struct tare_result *bandwidth_part(const struct tare_result *result)
{
	if (result->command && strcmp(result->command, "bandwidth") == 0)
		return result;
	for (size_t i = 0; i < result->part_count; i++)
		if (result->parts[i]->command &&
		    strcmp(result->parts[i]->command, "bandwidth") == 0)
			return result->parts[i];
	return NULL;
}

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
	const struct tare_result *part = bandwidth_part(result);
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

// A result names the driver as "PLATFORM VERSION" or "VERSION", by API: what they have in common is
// the last word.
static const char *last_word(const char *driver)
{
	const char *space = strrchr(driver, ' ');
	return space ? space + 1 : driver;
}

static char *find_path(const char *device_name, const char *driver, struct tare_error *error)
{
	return tare_result_cache_path("bandwidth", device_name, device_name, last_word(driver),
	                              error);
}

// Whether the driver of a result is of that version.
static bool is_version(const char *driver, const char *version)
{
	size_t whole = strlen(driver), tail = strlen(version);

	return tail > 0 && whole >= tail && strcmp(driver + whole - tail, version) == 0 &&
	       (whole == tail || driver[whole - tail - 1] == ' ');
}

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
	const struct tare_result *part = bandwidth_part(result);
	const struct tare_device_entry *device;
	struct tare_error why = { 0 };
	TARE_FREE char *path = NULL;
	int status;

	if (!part || part->device_count == 0)
		return tare_fail(error, EINVAL, "no result of tare bandwidth to keep");
	device = &part->devices[0];
	if (part->interrupted || tare_result_cache_refuses(device) ||
	    !tare_fact_text(&device->facts, TARE_FACT_NAME)[0] ||
	    !tare_fact_text(&device->facts, TARE_FACT_DRIVER)[0] || !is_complete(part))
		return 0;
	path = find_path(tare_fact_text(&device->facts, TARE_FACT_NAME),
	                 tare_fact_text(&device->facts, TARE_FACT_DRIVER), &why);
	status = path ? tare_result_cache_write(path, part, &why) : why.code;
	if (status < 0 && error)
		*error = why;
	return status;
}

void tare_bandwidth_load(const char *device_name, const char *driver_version,
                         struct tare_bandwidth_peaks *peaks)
{
	struct tare_error why = { 0 };
	TARE_FREE char *path = find_path(device_name, driver_version, &why);
	struct tare_result *result = NULL;
	const struct tare_result *part;
	struct stat file;
	bool same;

	set_none(peaks, "no result of tare bandwidth is kept for this device and driver");
	if (!path) {
		snprintf(peaks->origin, sizeof peaks->origin, "%.255s", why.message);
		return;
	}
	if (stat(path, &file) < 0)
		return;
	if (!S_ISREG(file.st_mode)) {
		snprintf(peaks->origin, sizeof peaks->origin, "the kept result is no file: %.200s",
		         path);
		return;
	}
	if (tare_result_read_file(path, &result, &why) < 0) {
		snprintf(peaks->origin, sizeof peaks->origin,
		         "the kept result cannot be read: %.200s", why.message);
		return;
	}
	part = bandwidth_part(result);
	same =
	    part && part->device_count > 0 &&
	    strcmp(tare_fact_text(&part->devices[0].facts, TARE_FACT_NAME), device_name) == 0 &&
	    is_version(tare_fact_text(&part->devices[0].facts, TARE_FACT_DRIVER), driver_version);
	if (same)
		tare_bandwidth_peaks_of(part, peaks);
	tare_result_free(result);
}
