// SPDX-License-Identifier: Apache-2.0
// What is derived from the cells of `bandwidth`: a latency and a rate for each line, and charts.
#include "measure/bandwidth/internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define POINTS_MAX 160

static bool is_of(const struct tare_cell *cell, enum tare_line line, int64_t *bytes)
{
	const struct tare_label *name = tare_labels_find(&cell->labels, "line");
	const struct tare_label *size = tare_labels_find(&cell->labels, "bytes");

	if (!name || !name->text || !size || strcmp(name->text, tare_lines[line].name) != 0)
		return false;
	*bytes = size->number;
	return true;
}

const struct tare_cell *bandwidth_cell(const struct tare_result *result, enum tare_line line,
                                       uint64_t bytes, const char *source)
{
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		int64_t size;
		if (!cell->absent && is_of(cell, line, &size) && (uint64_t)size == bytes &&
		    (!source || strcmp(cell->source, source) == 0))
			return cell;
	}
	return NULL;
}

static double cell_ns(const struct tare_cell *cell, double value)
{
	return strcmp(cell->unit, "ps") == 0 ? value / 1000 : value;
}

// The clock on which a line has its figures: that of its first cell that has one.
static const char *main_source(const struct tare_result *result, enum tare_line line)
{
	int64_t bytes;

	for (size_t i = 0; i < result->cell_count; i++)
		if (!result->cells[i].absent && is_of(&result->cells[i], line, &bytes))
			return result->cells[i].source;
	return NULL;
}

// ---- fits

struct points {
	uint64_t bytes[POINTS_MAX];
	double ns[POINTS_MAX];
	size_t count;
};

static struct points points_of(const struct tare_result *result, enum tare_line line)
{
	const char *source = main_source(result, line);
	struct points points = { 0 };

	for (size_t i = 0; source && i < result->cell_count && points.count < POINTS_MAX; i++) {
		const struct tare_cell *cell = &result->cells[i];
		int64_t bytes;
		if (cell->absent || strcmp(cell->source, source) != 0 || !cell->rate.present ||
		    !is_of(cell, line, &bytes) || !(cell->summary.median > 0))
			continue;
		points.bytes[points.count] = (uint64_t)bytes;
		// For both ways together the work is twice the size; the fit is of one size to one
		// time.
		points.ns[points.count++] = cell_ns(cell, cell->summary.median);
	}
	return points;
}

static struct tare_cell *add_fit_cell(struct tare_result *result, enum tare_line line,
                                      const char *fit, const char *quantity, const char *unit,
                                      const char *method)
{
	struct tare_cell *cell = tare_result_add_cell(result, quantity, unit, "model");

	tare_labels_set_text(&cell->labels, "line", tare_lines[line].name);
	tare_labels_set_text(&cell->labels, "fit", fit);
	tare_cell_set_method(cell, method);
	return cell;
}

// Why the points are no fixed cost plus a rate.
static const char *contradiction(const struct points *points)
{
	double best = 0, last = 0;

	if (points->count < 3)
		return "needs three sizes";
	for (size_t i = 0; i < points->count; i++) {
		last = (double)points->bytes[i] / points->ns[i];
		best = last > best ? last : best;
	}
	return last < 0.8 * best
	           ? "small copies run at a higher rate than large ones (caches), which no "
	             "fixed cost plus a rate describes"
	           : "the times contradict a fixed cost plus a rate";
}

static void add_fit(struct tare_result *result, enum tare_line line, const struct points *points)
{
	static const struct {
		const char *fit, *quantity, *unit;
	} rows[3] = {
		{ "latency", "latency", "ns" },
		{ "rate", "rate", "GB/s" },
		{ "half-rate", "size", "B" },
	};
	struct tare_transfer_fit fit = { 0 };
	int fitted = tare_fit_transfer(points->bytes, points->ns, points->count, &fit);
	char method[240];

	if (fitted == -ENOMEM) {
		tare_result_fail(result);
		return;
	}
	snprintf(method, sizeof method,
	         "line through %zu medians, time = latency + bytes / rate, least "
	         "squares of relative error; the worst point lies %.0f %% off",
	         fit.points, 100 * fit.worst_relative_residual);
	for (int i = 0; i < 3; i++) {
		struct tare_cell *cell = add_fit_cell(result, line, rows[i].fit, rows[i].quantity,
		                                      rows[i].unit, fitted == 0 ? method : NULL);

		if (fitted < 0) {
			tare_cell_set_absent(cell, "%s", contradiction(points));
		} else if (i == 0) {
			tare_cell_set_model(cell, fit.latency_ns, fit.latency_low_ns,
			                    fit.latency_high_ns);
		} else if (i == 1) {
			tare_cell_set_model(cell, fit.rate_bytes_per_s / 1e9, fit.rate_low / 1e9,
			                    fit.rate_high / 1e9);
		} else if (!(fit.half_rate_bytes > 0)) {
			tare_cell_set_absent(cell, "the fitted latency is not above zero");
		} else {
			tare_cell_set_model(cell, fit.half_rate_bytes,
			                    fmax(0, fit.latency_low_ns) * fit.rate_low / 1e9,
			                    fit.latency_high_ns * fit.rate_high / 1e9);
		}
	}
}

void bandwidth_add_fits(struct bandwidth *bandwidth)
{
	for (int line = 0; line < TARE_LINE_COUNT; line++) {
		struct points points;
		if (!(bandwidth->lines >> line & 1) || tare_lines[line].group != TARE_LINES_COPY)
			continue;
		points = points_of(bandwidth->run->result, (enum tare_line)line);
		if (points.count == 0)
			continue; // the line's own cells say why there is nothing
		add_fit(bandwidth->run->result, (enum tare_line)line, &points);
	}
}

// ---- plots

static bool is_power_of_two(int64_t bytes)
{
	return bytes > 0 && (bytes & (bytes - 1)) == 0;
}

// One series: the rates of a line on one clock from `from` to `to`. Sets *any.
static void add_series(struct tare_result *result, struct tare_plot *plot, enum tare_line line,
                       const char *source, const char *name, uint64_t from, uint64_t to,
                       bool powers_only)
{
	struct tare_plot_series *series = NULL;

	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		const struct tare_rate *rate = &cell->rate;
		int64_t bytes;
		if (cell->absent || !rate->present || strcmp(cell->source, source) != 0 ||
		    !is_of(cell, line, &bytes) || (uint64_t)bytes < from || (uint64_t)bytes > to ||
		    (powers_only && !is_power_of_two(bytes)) || !(rate->median > 0))
			continue;
		if (!series)
			series = tare_plot_add_series(plot, name);
		tare_plot_series_add(series, (struct tare_point){ (double)bytes, rate->median,
		                                                  rate->ci_low, rate->ci_high });
	}
}

static bool has_rates(const struct tare_result *result, uint64_t from, uint64_t to,
                      bool copies_only)
{
	for (size_t i = 0; i < result->cell_count; i++)
		for (int line = 0; line < TARE_LINE_COUNT; line++) {
			const struct tare_cell *cell = &result->cells[i];
			int64_t bytes;
			if (!cell->absent && cell->rate.present &&
			    is_of(cell, (enum tare_line)line, &bytes) && (uint64_t)bytes >= from &&
			    (uint64_t)bytes <= to &&
			    (!copies_only || tare_lines[line].group == TARE_LINES_COPY))
				return true;
		}
	return false;
}

// The seed's figures: six bars a size.
static void add_bars(struct bandwidth *bandwidth, const char *id, const char *title, uint64_t from,
                     uint64_t to, bool logarithmic)
{
	struct tare_result *result = bandwidth->run->result;
	struct tare_plot *plot;

	if (!has_rates(result, from, to, true))
		return;
	plot = tare_result_add_plot(result, id, title, TARE_PLOT_BAR);
	tare_plot_axes(plot, "size", "B", true, "rate", "GB/s", logarithmic);
	tare_plot_set_note(plot, "Host time for lines with pageable memory (heap), device time for "
	                         "the others. Device to device counted once.");
	for (int line = TARE_LINE_SHARED_TO_SHARED; line <= TARE_LINE_DEVICE_TO_HOST; line++) {
		const char *source = main_source(result, (enum tare_line)line);
		if (source)
			add_series(result, plot, (enum tare_line)line, source,
			           tare_lines[line].title, from, to, true);
	}
}

static void add_lines(struct bandwidth *bandwidth)
{
	static const char *const sources[] = { "device", "host" };
	struct tare_result *result = bandwidth->run->result;
	struct tare_plot *plot;
	char name[96];

	if (!has_rates(result, 0, UINT64_MAX, false))
		return;
	plot = tare_result_add_plot(result, "bandwidth", "Every line, every size", TARE_PLOT_LINE);
	tare_plot_axes(plot, "size", "B", true, "rate", "GB/s", true);
	tare_plot_set_note(plot,
	                   "Medians with their intervals. Where staging by the driver counts, "
	                   "both clocks are shown.");
	for (int line = 0; line < TARE_LINE_COUNT; line++) {
		const char *source = main_source(result, (enum tare_line)line);
		for (int i = 0; source && i < 2; i++) {
			bool both_clocks = tare_lines[line].group == TARE_LINES_COPY &&
			                   tare_lines[line].host_is_main;
			if (!both_clocks && strcmp(sources[i], source) != 0)
				continue;
			snprintf(name, sizeof name, both_clocks ? "%s (%s time)" : "%s",
			         tare_lines[line].title, sources[i]);
			add_series(result, plot, (enum tare_line)line, sources[i], name, 0,
			           UINT64_MAX, false);
		}
	}
}

void bandwidth_add_plots(struct bandwidth *bandwidth)
{
	uint64_t small = UINT64_C(4) << 20;

	add_bars(bandwidth, "bandwidth-small", "Up to 4 MB", 0, small, true);
	add_bars(bandwidth, "bandwidth-large", "From 8 MB", small + 1, UINT64_MAX, false);
	add_lines(bandwidth);
}
