// SPDX-License-Identifier: Apache-2.0
#include "measure/latency/cache.h"

#include "measure/core/result_cache.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *what; // the cell's label (rows.c)
	size_t offset;
} rows[] = {
#define MEMBER(name) offsetof(struct tare_launch_times, name)
	{ "launch, many then wait", MEMBER(launch_ns) },
	{ "launch and wait", MEMBER(wait_ns) },
	{ "graph of many, per kernel", MEMBER(graph_kernel_ns) },
	{ "making a graph, per kernel", MEMBER(graph_make_ns) },
	{ "graph of one kernel", MEMBER(graph_wait_ns) },
#undef MEMBER
};
#define ROWS (sizeof rows / sizeof *rows)

static double median_ns(const struct tare_result *part, const char *what)
{
	for (size_t i = 0; i < part->cell_count; i++) {
		const struct tare_cell *cell = &part->cells[i];
		if (cell->absent || cell->summary.n == 0 || !cell->unit || !cell->source ||
		    strcmp(cell->source, "host") != 0 || !tare_cell_has_text(cell, "what", what))
			continue;
		if (strcmp(cell->unit, "ps") == 0)
			return cell->summary.median / 1e3;
		if (strcmp(cell->unit, "ns") == 0)
			return cell->summary.median;
	}
	return NAN;
}

// Those of a result of `latency` (or of a `checkup` with that part).
static void launch_times_of(const struct tare_result *result, struct tare_launch_times *times)
{
	const struct tare_result *part = tare_result_cache_part(result, "latency");

	*times = (struct tare_launch_times){ .present = part != NULL };
	for (size_t i = 0; i < ROWS; i++) {
		double ns = part ? median_ns(part, rows[i].what) : NAN;
		memcpy((char *)times + rows[i].offset, &ns, sizeof ns);
		times->present = times->present && isfinite(ns) && ns > 0;
	}
	if (part && part->written_at && strlen(part->written_at) >= 10)
		snprintf(times->measured, sizeof times->measured, "%.10s", part->written_at);
}

void tare_latency_load(const char *device_name, const char *driver_version,
                       struct tare_launch_times *times)
{
	char why[256];
	struct tare_result *result =
	    tare_result_cache_find("latency", device_name, driver_version, why, sizeof why);

	*times = (struct tare_launch_times){ .present = false };
	if (result)
		launch_times_of(result, times);
	tare_result_free(result);
}

int tare_latency_keep(const struct tare_result *result, struct tare_error *error)
{
	const struct tare_result *part = tare_result_cache_part(result, "latency");
	struct tare_launch_times times;

	if (!part || part->device_count == 0)
		return tare_fail(error, EINVAL, "no result of tare latency to keep");
	launch_times_of(part, &times);
	// The same device by another API has other costs.
	if (!part->devices[0].backend || strcmp(part->devices[0].backend, "cuda") != 0)
		return 0;
	return times.present ? tare_result_cache_keep(part, error) : 0;
}
