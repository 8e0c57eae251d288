// SPDX-License-Identifier: Apache-2.0
// Charts of `latency`: all medians as bars, and how each group's samples are distributed.
#include "measure/latency/internal.h"

#include "base/cleanup.h"
#include "model/statistics/order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUANTILES 40

static bool drawable(const struct tare_cell *cell)
{
	return !cell->absent && !tare_cell_is_model(cell) && cell->summary.n > 0 &&
	       cell->summary.median > 0;
}

static double unit_ns(const struct tare_cell *cell)
{
	return strcmp(cell->unit, "ps") == 0 ? 1e-3 : 1;
}

// A logarithmic axis has no place for what is not above zero.
static double positive(double value)
{
	return value > 0 ? value : NAN;
}

static void add_bars(struct tare_result *result)
{
	struct tare_plot *plot =
	    tare_result_add_plot(result, "latency", "What each step costs", TARE_PLOT_BAR);
	char name[192];

	tare_plot_axes(plot, "step", "", false, "time", "ns", true);
	tare_plot_set_note(plot, "Medians with their intervals; host or device says whose clock.");
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		const struct tare_summary *summary = &cell->summary;
		double unit = unit_ns(cell);
		struct tare_plot_series *series;
		if (!drawable(cell))
			continue;
		snprintf(name, sizeof name, "%s (%s)", tare_cell_text(cell, "what"), cell->source);
		series = tare_plot_add_series(plot, name);
		tare_plot_series_add(series, (struct tare_point){ 0, unit * summary->median,
		                                                  positive(unit * summary->ci_low),
		                                                  unit * summary->ci_high });
	}
}

// Share of the samples that took at most so long, at evenly spread quantiles.
static void add_distribution(struct tare_result *result, struct tare_plot *plot,
                             const struct tare_cell *cell)
{
	size_t n = cell->summary.n;
	TARE_FREE int64_t *sorted = malloc(n * sizeof *sorted);
	struct tare_plot_series *series;
	char name[192];

	snprintf(name, sizeof name, "%s (%s)", tare_cell_text(cell, "what"), cell->source);
	series = tare_plot_add_series(plot, name);
	if (!sorted) {
		tare_result_fail(result);
		return;
	}
	memcpy(sorted, cell->samples, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, tare_compare_integers);
	for (size_t q = 0; q <= QUANTILES; q++) {
		size_t rank = q * (n - 1) / QUANTILES;
		double x = positive(unit_ns(cell) * (double)sorted[rank]);
		struct tare_point point = { x, 100.0 * (double)q / QUANTILES, NAN, NAN };
		if (!isnan(x))
			tare_plot_series_add(series, point);
	}
}

static void add_group(struct tare_result *result, const char *group)
{
	struct tare_plot *plot = NULL;
	char id[64], title[96];

	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (!drawable(cell) || strcmp(tare_cell_text(cell, "group"), group) != 0)
			continue;
		if (!plot) {
			snprintf(id, sizeof id, "distribution-%s", group);
			snprintf(title, sizeof title, "How the samples spread: %s", group);
			plot = tare_result_add_plot(result, id, title, TARE_PLOT_LINE);
			tare_plot_axes(plot, "time", "ns", true,
			               "samples that took at most so long", "%", false);
		}
		add_distribution(result, plot, cell);
	}
}

void latency_add_plots(struct tare_result *result)
{
	static const char *const groups[] = { "launch",      "queue", "list",  "graph",
		                              "synchronise", "copy",  "event", "host call" };
	bool any = false;

	for (size_t i = 0; i < result->cell_count; i++)
		any = any || drawable(&result->cells[i]);
	if (!any)
		return;
	add_bars(result);
	for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
		add_group(result, groups[g]);
}
