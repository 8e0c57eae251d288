// SPDX-License-Identifier: Apache-2.0
#include "measure/core/peaks.h"

#include "base/cleanup.h"
#include "measure/core/result_cache.h"
#include "result/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const struct {
	const char *name;
	const char *group, *label, *value; // the cells that it is the best of
} ceilings[TARE_CEILING_COUNT] = {
	[TARE_CEILING_FP32] = { "fp32", "compute", "type", "fp32" },
	[TARE_CEILING_FP64] = { "fp64", "compute", "type", "fp64" },
	[TARE_CEILING_FP16] = { "fp16", "compute", "type", "fp16" },
	[TARE_CEILING_INT32] = { "int32", "compute", "type", "int32" },
	[TARE_CEILING_TENSOR_TF32] = { "tensor tf32", "tensor", "type", "tf32" },
	[TARE_CEILING_TENSOR_FP16] = { "tensor fp16", "tensor", "type", "fp16" },
	[TARE_CEILING_TENSOR_BF16] = { "tensor bf16", "tensor", "type", "bf16" },
	[TARE_CEILING_MEMORY_READ] = { "memory read", "memory", "op", "read" },
	[TARE_CEILING_MEMORY_WRITE] = { "memory write", "memory", "op", "write" },
	[TARE_CEILING_MEMORY_COPY] = { "memory copy", "memory", "op", "copy" },
	[TARE_CEILING_MEMORY_TRIAD] = { "memory triad", "memory", "op", "triad" },
	[TARE_CEILING_CACHE] = { "cache", "sweep", NULL, NULL },
	[TARE_CEILING_SHARED_CACHE] = { "shared cache", "sweep", NULL, NULL },
	[TARE_CEILING_LOCAL] = { "local memory", "local", NULL, NULL },
};

const char *tare_ceiling_name(enum tare_ceiling ceiling)
{
	return ceilings[ceiling].name;
}

int tare_ceiling_fact(enum tare_ceiling ceiling)
{
	switch (ceiling) {
	case TARE_CEILING_FP32:
		return TARE_FACT_PEAK_FP32;
	case TARE_CEILING_FP64:
		return TARE_FACT_PEAK_FP64;
	case TARE_CEILING_TENSOR_TF32:
		return TARE_FACT_PEAK_TF32;
	case TARE_CEILING_TENSOR_FP16:
		return TARE_FACT_PEAK_TENSOR;
	case TARE_CEILING_TENSOR_BF16:
		return TARE_FACT_PEAK_BF16;
	case TARE_CEILING_MEMORY_READ:
	case TARE_CEILING_MEMORY_WRITE:
	case TARE_CEILING_MEMORY_COPY:
	case TARE_CEILING_MEMORY_TRIAD:
		return TARE_FACT_PEAK_MEMORY;
	case TARE_CEILING_LOCAL:
		return TARE_FACT_PEAK_LOCAL;
	default:
		return -1;
	}
}

// ---- of a document

// Per second, or NaN where the cell is no rate of this ceiling's kind.
static double rate_of(const struct tare_cell *cell, enum tare_ceiling ceiling)
{
	const char *label = ceilings[ceiling].label;

	if (cell->absent || !cell->rate.present || !cell->rate.unit ||
	    cell->verified == TARE_WRONG || !(cell->rate.median > 0) ||
	    !isfinite(cell->rate.median) || cell->rate.unit[0] != 'G')
		return NAN;
	if (!tare_cell_has_text(cell, "group", ceilings[ceiling].group) ||
	    (label && !tare_cell_has_text(cell, label, ceilings[ceiling].value)))
		return NAN;
	return 1e9 * cell->rate.median;
}

// What the cell's rate is at least, for comparing: its median once that has converged, else the
// lower end of its interval. Where the samples are too few for one, a tenth below the slowest.
static double sure_rate(const struct tare_cell *cell)
{
	if (cell->converged)
		return cell->rate.median;
	return isfinite(cell->rate.ci_low) ? cell->rate.ci_low : 0.9 * cell->rate.min;
}

// The working sets that lie in the shared cache alone: beyond the size at which the sweep has come
// down from a cache nearer to the units, up to where it falls again or the shared one must end.
static bool find_shared(const struct tare_result *result, int64_t *above, int64_t *up_to)
{
	const struct tare_fact *fact =
	    result->device_count > 0 ? &result->devices[0].facts.fact[TARE_FACT_CACHE] : NULL;
	struct tare_sweep_fall falls[TARE_SWEEP_FALLS];
	uint64_t cache = fact && fact->present ? fact->count : 0;
	size_t count = tare_sweep_falls(result, cache, falls);
	bool found = false;

	*up_to = (int64_t)(cache < INT64_MAX ? cache : INT64_MAX);
	for (size_t i = 0; i < count; i++)
		if (falls[i].cache == TARE_FALLEN_NEARER) {
			*above = falls[i].to;
			found = true;
		} else if (falls[i].cache == TARE_FALLEN_SHARED && falls[i].from < *up_to) {
			*up_to = falls[i].from;
		}
	return found;
}

const struct tare_cell *tare_peaks_cell(const struct tare_result *result, enum tare_ceiling ceiling)
{
	const struct tare_cell *best = NULL;
	int64_t above = -1, up_to = INT64_MAX;

	if (ceiling == TARE_CEILING_SHARED_CACHE && !find_shared(result, &above, &up_to))
		return NULL;
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (above >= 0 && (tare_cell_number(cell, "bytes") <= above ||
		                   tare_cell_number(cell, "bytes") > up_to))
			continue;
		if (isfinite(rate_of(cell, ceiling)) &&
		    (!best || sure_rate(cell) > sure_rate(best)))
			best = cell;
	}
	return best;
}

static double theory(const struct tare_facts *facts, enum tare_fact_id id)
{
	const struct tare_fact *fact = &facts->fact[id];
	return fact->present && isfinite(fact->rate) && fact->rate > 0 ? fact->rate : NAN;
}

static void add_theory(const struct tare_facts *facts, struct tare_peaks *peaks)
{
	for (int c = 0; c < TARE_CEILING_COUNT; c++) {
		int id = tare_ceiling_fact((enum tare_ceiling)c);
		if (id >= 0)
			peaks->theoretical[c] = theory(facts, (enum tare_fact_id)id);
	}
}

static void set_none(struct tare_peaks *peaks, const char *origin)
{
	*peaks = (struct tare_peaks){ .age_s = -1 };
	for (int i = 0; i < TARE_CEILING_COUNT; i++)
		peaks->per_second[i] = peaks->theoretical[i] = peaks->clock_hz[i] = NAN;
	snprintf(peaks->origin, sizeof peaks->origin, "%s", origin);
}

static int64_t age_of(const struct tare_result *result)
{
	struct tm broken = { 0 };
	const char *end =
	    result->written_at ? strptime(result->written_at, "%Y-%m-%dT%H:%M:%SZ", &broken) : NULL;
	time_t written, now = time(NULL);

	if (!end || *end)
		return -1;
	written = timegm(&broken);
	return written > 0 && written <= now ? (int64_t)(now - written) : -1;
}

static void describe_age(int64_t age_s, char *text, size_t size)
{
	static const struct {
		int64_t seconds;
		const char *name;
	} units[] = { { 86400, "day" }, { 3600, "hour" }, { 60, "minute" } };

	snprintf(text, size, age_s < 0 ? "at an unknown time" : "just now");
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		long long count = age_s / units[i].seconds;
		if (count < 1)
			continue;
		snprintf(text, size, "%lld %s%s ago", count, units[i].name, count > 1 ? "s" : "");
		return;
	}
}

// Names where the ceilings came from: "tare peak", or a file.
static void set_origin(struct tare_peaks *peaks, const char *from)
{
	char age[64];

	describe_age(peaks->age_s, age, sizeof age);
	snprintf(peaks->origin, sizeof peaks->origin, "measured %s (%.160s)", age, from);
}

// The clock under which a ceiling was measured, where telemetry told it.
static double clock_of(const struct tare_result *result, enum tare_ceiling ceiling)
{
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (!cell->absent && strcmp(cell->quantity, "clock") == 0 &&
		    strcmp(cell->unit, "MHz") == 0 &&
		    tare_cell_has_text(cell, "group", "ceiling") &&
		    tare_cell_has_text(cell, "what", ceilings[ceiling].name))
			return 1e6 * cell->summary.median;
	}
	return NAN;
}

void tare_peaks_of(const struct tare_result *result, struct tare_peaks *peaks)
{
	const struct tare_result *part = tare_result_cache_part(result, "peak");
	const double *best = peaks->per_second;

	set_none(peaks, "no result of tare peak");
	if (result->device_count > 0)
		add_theory(&result->devices[0].facts, peaks);
	if (!part)
		return;
	if (part->device_count > 0)
		add_theory(&part->devices[0].facts, peaks);
	for (int c = 0; c < TARE_CEILING_COUNT; c++) {
		const struct tare_cell *cell = tare_peaks_cell(part, (enum tare_ceiling)c);
		if (cell)
			peaks->per_second[c] = rate_of(cell, (enum tare_ceiling)c);
		peaks->clock_hz[c] = clock_of(part, (enum tare_ceiling)c);
	}
	// A sweep that is nowhere faster than memory has shown no cache.
	if (best[TARE_CEILING_CACHE] <= best[TARE_CEILING_MEMORY_READ])
		peaks->per_second[TARE_CEILING_CACHE] = NAN;
	if (best[TARE_CEILING_SHARED_CACHE] <= best[TARE_CEILING_MEMORY_READ])
		peaks->per_second[TARE_CEILING_SHARED_CACHE] = NAN;
	for (int c = 0; c < TARE_CEILING_COUNT; c++)
		peaks->present = peaks->present || isfinite(best[c]);
	peaks->age_s = age_of(part);
	if (peaks->present)
		set_origin(peaks, "tare peak");
}

// ---- the cache

// What says which device it is: some drivers give a UUID of zeros, which says nothing.
static void identify(const struct tare_device_entry *device, char *text, size_t size)
{
	const char *uuid = tare_fact_text(&device->facts, TARE_FACT_UUID);

	if (uuid[strspn(uuid, "0-")])
		snprintf(text, size, "%.120s", uuid);
	else
		snprintf(text, size, "%.255s at %.120s",
		         tare_fact_text(&device->facts, TARE_FACT_NAME),
		         tare_fact_text(&device->facts, TARE_FACT_PCI));
}

static bool same_device(const struct tare_device_entry *a, const struct tare_device_entry *b)
{
	char left[512], right[512];

	identify(a, left, sizeof left);
	identify(b, right, sizeof right);
	return strcmp(left, right) == 0;
}

static bool same_driver(const struct tare_device_entry *a, const struct tare_device_entry *b)
{
	return strcmp(tare_fact_text(&a->facts, TARE_FACT_DRIVER),
	              tare_fact_text(&b->facts, TARE_FACT_DRIVER)) == 0;
}

static char *find_path(const struct tare_device_entry *device, struct tare_error *error)
{
	char identity[512];

	identify(device, identity, sizeof identity);
	return tare_result_cache_path("peak", tare_fact_text(&device->facts, TARE_FACT_NAME),
	                              identity, tare_fact_text(&device->facts, TARE_FACT_DRIVER),
	                              error);
}

int tare_peaks_keep(const struct tare_result *result, struct tare_error *error)
{
	const struct tare_result *part = tare_result_cache_part(result, "peak");
	TARE_FREE char *path = NULL;
	int status;

	if (!part || part->device_count == 0)
		return tare_fail(error, EINVAL, "no result of tare peak to keep");
	if (part->interrupted || tare_result_cache_refuses(&part->devices[0]))
		return 0;
	struct tare_error why = { 0 };
	path = find_path(&part->devices[0], &why);
	status = path ? tare_result_cache_write(path, part, &why) : why.code;
	if (status < 0 && error)
		*error = why;
	return status;
}

// Reads the cache's file; what is wrong with it is only a reason why there is nothing.
static void load_cached(const struct tare_device_entry *device, struct tare_peaks *peaks)
{
	struct tare_error why = { 0 };
	TARE_FREE char *path = find_path(device, &why);
	struct tare_result *result = NULL;
	const struct tare_result *part;
	char origin[256];
	struct stat file;

	set_none(peaks, "no result of tare peak is kept for this device and driver");
	add_theory(&device->facts, peaks);
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
		snprintf(origin, sizeof origin, "the kept result cannot be read: %.200s",
		         why.message);
	} else {
		part = tare_result_cache_part(result, "peak");
		if (part && part->device_count > 0 && same_device(&part->devices[0], device) &&
		    same_driver(&part->devices[0], device)) {
			tare_peaks_of(part, peaks);
			add_theory(&device->facts, peaks);
			tare_result_free(result);
			return;
		}
		snprintf(origin, sizeof origin,
		         "the kept result is not one of tare peak for this device and driver");
	}
	tare_result_free(result);
	snprintf(peaks->origin, sizeof peaks->origin, "%s", origin);
}

static int load_file(const struct tare_device_entry *device, const char *path,
                     struct tare_peaks *peaks, struct tare_error *error)
{
	struct tare_result *result = NULL;
	const struct tare_result *part;
	int status = tare_result_read_file(path, &result, error);

	if (status < 0)
		return status;
	part = tare_result_cache_part(result, "peak");
	if (!part || part->device_count == 0)
		status =
		    tare_fail(error, EINVAL, "%.200s is a result of tare %.20s, not of tare peak",
		              path, result->command ? result->command : "?");
	else if (!same_device(&part->devices[0], device))
		status = tare_fail(error, EINVAL,
		                   "%.200s is of another device (%.60s); run tare peak on this one",
		                   path, tare_fact_text(&part->devices[0].facts, TARE_FACT_NAME));
	if (status == 0) {
		tare_peaks_of(part, peaks);
		add_theory(&device->facts, peaks);
		set_origin(peaks, path);
	}
	tare_result_free(result);
	return status;
}

int tare_peaks_load(const struct tare_device_entry *device, const char *from,
                    struct tare_peaks *peaks, struct tare_error *error)
{
	set_none(peaks, "not looked for");
	add_theory(&device->facts, peaks);
	if (from && strcmp(from, "none") != 0)
		return load_file(device, from, peaks, error);
	if (from)
		return 0;
	if (tare_result_cache_refuses(device)) {
		snprintf(peaks->origin, sizeof peaks->origin, "results of %s are not kept",
		         strcmp(device->backend, "simulated") == 0 ? "the simulated device"
		                                                   : "a device that is for tests");
		return 0;
	}
	load_cached(device, peaks);
	return 0;
}
