// SPDX-License-Identifier: Apache-2.0
// A document with every field used, for the tests that write and read documents.
#pragma once
#include "result/result.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

// Nothing is checked on the way: a document remembers what it had no memory for.
static inline void rich_device(struct tare_result *result, uint32_t index)
{
	static const struct tare_engine engines[] = {
		{ TARE_ENGINE_COMPUTE, 0, true, "compute" },
		{ TARE_ENGINE_COPY, 1, false, "copy, guessed" },
	};
	struct tare_device_entry *device = tare_result_add_device(result);

	device->index = index;
	device->number = 7;
	tare_device_entry_name(device, "opencl", "OpenCL", index ? "PCI address" : NULL);
	tare_fact_set_text(&device->facts, TARE_FACT_NAME, TARE_ORIGIN_DRIVER, "GPU \"one\" \\ µ");
	tare_fact_set_text(&device->facts, TARE_FACT_TYPE, TARE_ORIGIN_GUESS, "GPU");
	tare_fact_set_count(&device->facts, TARE_FACT_UNITS, TARE_ORIGIN_SYSTEM, 132);
	tare_fact_set_count(&device->facts, TARE_FACT_MEMORY, TARE_ORIGIN_DRIVER,
	                    UINT64_C(150754820096));
	tare_fact_set_count(&device->facts, TARE_FACT_CLOCK, TARE_ORIGIN_DRIVER, 1980000000);
	tare_fact_set_count(&device->facts, TARE_FACT_ECC, TARE_ORIGIN_DRIVER, 1);
	tare_fact_set_count(&device->facts, TARE_FACT_UNIFIED, TARE_ORIGIN_DRIVER, 0);
	tare_fact_set_rate(&device->facts, TARE_FACT_TIMER_RESOLUTION, TARE_ORIGIN_MEASURED,
	                   1000.0 / 12);
	tare_fact_set_rate(&device->facts, TARE_FACT_PEAK_FP32, TARE_ORIGIN_FORMULA, 66.9e12);
	tare_fact_absent(&device->facts, TARE_FACT_UUID, "%s does not tell", "OpenCL");
	tare_device_entry_set_engines(device, engines, 2);
}

static inline void rich_clock(struct tare_clock_quality *clock)
{
	clock->present = true;
	clock->rate = (struct tare_clock_rate){ 25000000, 2, 36, 4 };
	clock->fitted = true;
	clock->fit = (struct tare_clock_fit){
		.rate = clock->rate,
		.origin_host = { -5 },
		.origin_ticks = UINT64_MAX,
		.drift_ppm = 49.75,
		.drift_error_ppm = 0.1 + 0.2,
		.residual_ns = 40,
		.tightest_bracket_ns = 80,
		.pairs = 64,
	};
	clock->floor_ns = 32;
}

// Samples 1000, 1003, 1006 ... with a summary that fits them.
static inline int rich_series(struct tare_series *series, size_t n)
{
	series->samples = malloc(n * sizeof *series->samples);
	if (!series->samples)
		return -ENOMEM;
	series->n = series->capacity = n;
	for (size_t i = 0; i < n; i++)
		series->samples[i] = 1000 + 3 * (int64_t)i;
	series->summary = (struct tare_summary){
		.n = n,
		.min = series->samples[0],
		.max = series->samples[n - 1],
		.median = 1000 + 1.5 * (double)(n - 1),
		.p95 = 1100.125,
		.ci_low = 1004,
		.ci_high = 1010,
		.autocorrelation = -0.25,
		.effective_n = 7.5,
		.outliers_mild = 2,
		.outliers_severe = 1,
		.drifting = true,
		.quantised = true,
	};
	return 0;
}

// A series that has no memory leaves the cell empty and fails the document.
static inline void rich_take(struct tare_result *result, struct tare_cell *cell, size_t n,
                             enum tare_verdict verdict)
{
	struct tare_series series = { 0 };

	if (rich_series(&series, n) < 0)
		result->failed = true;
	tare_cell_take_series(cell, &series, verdict);
	tare_series_clear(&series);
}

static inline void rich_cells(struct tare_result *result)
{
	struct tare_cell *cell = tare_result_add_cell(result, "time", "ns", "device");

	tare_labels_set_text(&cell->labels, "line", "host-to-device");
	tare_labels_set_number(&cell->labels, "bytes", INT64_C(1) << 40);
	tare_cell_set_method(cell, "blocking write, own queue");
	cell->verified = TARE_VERIFIED;
	rich_take(result, cell, 12, TARE_CONVERGED);
	tare_cell_set_rate(cell, 65536, "GB/s", 1e9);
	cell = tare_result_add_cell(result, "time", "ps", "host");
	tare_labels_set_text(&cell->labels, "line", "device, \"quoted\"");
	cell->verified = TARE_WRONG;
	rich_take(result, cell, 3, TARE_NOT_CONVERGED);
	cell = tare_result_add_cell(result, "half-rate size", "B", "model");
	tare_cell_set_model(cell, 160.0 / 3, 40, INFINITY);
	tare_labels_set_number(&cell->labels, "queues", -1);
	cell = tare_result_add_cell(result, "time", "ns", "device");
	tare_labels_set_text(&cell->labels, "line", "shared");
	tare_cell_set_absent(cell, "this device has no %s memory", "shared");
}

static inline void rich_plot(struct tare_result *result, enum tare_plot_kind kind)
{
	struct tare_plot *plot =
	    tare_result_add_plot(result, "bandwidth-small", "Small sizes", kind);
	struct tare_plot_series *series;

	tare_plot_axes(plot, "size", "B", true, "rate", "GB/s", false);
	tare_plot_set_note(plot, kind == TARE_PLOT_BAR ? "Host time." : NULL);
	series = tare_plot_add_series(plot, "pinned");
	tare_plot_series_add(series, (struct tare_point){ 8192, 17.3, 17.25, 17.5 });
	tare_plot_series_add(series, (struct tare_point){ 65536, 1.0 / 3, NAN, NAN });
	tare_plot_add_series(plot, "without points");
}

static inline void rich_timeline(struct tare_result *result)
{
	struct tare_plot *plot =
	    tare_result_add_plot(result, "timeline", "Best schedule", TARE_PLOT_TIMELINE);
	struct tare_plot_series *lane;

	tare_plot_axes(plot, "time", "ns", false, "chunk", NULL, false);
	lane = tare_plot_add_series(plot, "to-device");
	tare_plot_series_add(lane, (struct tare_point){ 0, 0, 0, 125.5 });
	tare_plot_series_add(lane, (struct tare_point){ 125.5, 1, 125.5, 251 });
}

// Fills `result` for a command that measures one device, or for `devices` with two. Returns
// tare_result_status.
static inline int rich_fill(struct tare_result *result, bool list_devices)
{
	result->interrupted = true;
	tare_result_set_timeless(result);
	tare_labels_set_text(&result->host, "cpu", "a CPU");
	tare_labels_set_number(&result->host, "cores", 2);
	tare_labels_set_text(&result->parameters, "sizes", "8K..1G");
	tare_labels_set_number(&result->parameters, "seed", INT64_MAX);
	tare_result_set_text(result, &result->clock.note, "pairs are bracketed");
	rich_device(result, 0);
	if (list_devices)
		rich_device(result, 1);
	tare_result_add_absence(result, "cuda", "no libcuda.so.1", "install a driver");
	tare_result_add_absence(result, "levelzero", "no loader", NULL);
	if (list_devices)
		return tare_result_status(result);
	rich_clock(&result->clock);
	rich_cells(result);
	rich_plot(result, TARE_PLOT_LINE);
	rich_plot(result, TARE_PLOT_BAR);
	rich_timeline(result);
	tare_result_conclude(result, "worth-it", "Worth it: %.2f times. So say 3 queues.", 2.5);
	tare_result_conclude(result, "limit", "The link limits it.");
	tare_result_warn(result, "not-converged", "--budget 60 would do", "%d of %d cells", 3, 46);
	tare_result_warn(result, "no-action", NULL, "plain");
	return tare_result_status(result);
}

// Fills `result` as a command that runs others: a conclusion of its own, and two parts.
static inline int rich_fill_parts(struct tare_result *result)
{
	static const char *const commands[] = { "devices", "latency" };

	tare_result_set_timeless(result);
	rich_device(result, 0);
	tare_result_conclude(result, "whole", "Overlap pays. The rest is as it should be.");
	tare_result_warn(result, "budget", "--budget 120", "Two sizes were left out.");
	for (int i = 0; i < 2; i++) {
		struct tare_result *part = tare_result_new(commands[i]);
		if (!part)
			return -ENOMEM;
		rich_fill(part, i == 0);
		tare_result_add_part(result, part);
	}
	return tare_result_status(result);
}
