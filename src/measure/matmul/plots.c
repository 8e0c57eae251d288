// SPDX-License-Identifier: Apache-2.0
// Charts of `matmul`: speed-up over one core (the Level Zero post's figure 1), rate by size,
// roofline.
#include "measure/matmul/internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// The value of a rung at n for a series, with its interval; y is NaN where there is none.
typedef struct tare_point point_function(const struct matmul *matmul, enum tare_rung rung,
                                         uint32_t n);

static struct tare_point rate_point(const struct matmul *matmul, enum tare_rung rung, uint32_t n)
{
	const struct tare_cell *cell = matmul_kernel_cell(matmul->run->result, rung, n);

	if (!cell || !cell->rate.present || cell->verified == TARE_WRONG)
		return (struct tare_point){ n, NAN, NAN, NAN };
	return (struct tare_point){ n, cell->rate.median, cell->rate.ci_low, cell->rate.ci_high };
}

static struct tare_point kernel_point(const struct matmul *matmul, enum tare_rung rung, uint32_t n)
{
	return (struct tare_point){ n,
		                    matmul_model(matmul->run->result, rung, n, "speed-up-kernel"),
		                    NAN, NAN };
}

static struct tare_point total_point(const struct matmul *matmul, enum tare_rung rung, uint32_t n)
{
	return (struct tare_point){ n, matmul_model(matmul->run->result, rung, n, "speed-up-total"),
		                    NAN, NAN };
}

// A series of a rung over all sizes, if there is a point at all.
static void add_series(const struct matmul *matmul, struct tare_plot *plot, enum tare_rung rung,
                       const char *suffix, point_function *point_of)
{
	struct tare_plot_series *series = NULL;
	char name[64];

	snprintf(name, sizeof name, "%s%s", tare_rung_name(rung), suffix);
	for (size_t i = 0; i < matmul->n_count; i++) {
		struct tare_point point = point_of(matmul, rung, matmul->n[i]);
		if (!(point.y > 0))
			continue;
		if (!series)
			series = tare_plot_add_series(plot, name);
		tare_plot_series_add(series, point);
	}
}

static bool any_speed_up(const struct matmul *matmul)
{
	for (size_t i = 0; i < matmul->n_count; i++)
		for (int rung = 0; rung < TARE_RUNG_COUNT; rung++)
			if (total_point(matmul, (enum tare_rung)rung, matmul->n[i]).y > 0)
				return true;
	return false;
}

static void add_speed_up(struct matmul *matmul)
{
	struct tare_plot *plot;

	if (!any_speed_up(matmul))
		return;
	plot = tare_result_add_plot(matmul->run->result, "speed-up",
	                            "Speed-up over one core of the host", TARE_PLOT_LINE);
	tare_plot_axes(plot, "n", "", true, "speed-up", "", true);
	tare_plot_set_note(
	    plot, "kernel: computing alone; total: with copies, launches and waits. One core "
	          "runs an optimised loop.");
	for (int rung = 0; rung < TARE_RUNG_COUNT; rung++) {
		add_series(matmul, plot, (enum tare_rung)rung, ", total", total_point);
		add_series(matmul, plot, (enum tare_rung)rung, ", kernel", kernel_point);
	}
}

static void add_rates(struct matmul *matmul)
{
	struct tare_plot *plot =
	    tare_result_add_plot(matmul->run->result, "gflops", "Rate by size", TARE_PLOT_LINE);

	tare_plot_axes(plot, "n", "", true, "rate", "GFLOP/s", true);
	tare_plot_set_note(plot, "2 n³ over the kernel's time; for the host's rungs over "
	                         "the whole call.");
	for (int rung = 0; rung < TARE_RUNG_COUNT; rung++)
		add_series(matmul, plot, (enum tare_rung)rung, "", rate_point);
}

// ---- roofline

static void add_roof(struct tare_plot *plot, const char *name, double compute, double bytes_per_s,
                     double from, double to)
{
	struct tare_plot_series *series;
	double x[3] = { from, compute / bytes_per_s, to };

	if (!(bytes_per_s > 0) || !(compute > 0))
		return;
	series = tare_plot_add_series(plot, name);
	for (int i = 0; series && i < 3; i++) {
		double y = fmin(compute, x[i] * bytes_per_s) * 1e-9;
		if ((i == 1 && !(x[1] > from && x[1] < to)))
			continue;
		tare_plot_series_add(series, (struct tare_point){ x[i], y, NAN, NAN });
	}
}

// The rung at the largest size it has, over what its loops ask of global memory.
static void add_rung(struct matmul *matmul, struct tare_plot *plot, enum tare_rung rung)
{
	for (size_t i = matmul->n_count; i-- > 0;) {
		uint32_t n = matmul->n[i];
		struct tare_point point = rate_point(matmul, rung, n);
		double bytes = matmul_required_bytes(rung, n, MATMUL_CACHE);
		struct tare_plot_series *series;
		char name[64];
		if (!(point.y > 0) || matmul_on_host(rung))
			continue;
		if (!(bytes > 0))
			bytes = matmul_required_bytes(rung, n, MATMUL_MEMORY);
		point.x = matmul_flop(n) / bytes;
		snprintf(name, sizeof name, "%s, n = %u", tare_rung_name(rung), n);
		series = tare_plot_add_series(plot, name);
		tare_plot_series_add(series, point);
		return;
	}
}

static void add_roofline(struct matmul *matmul)
{
	const double *peaks = matmul->peaks->per_second;
	double from = 0.125, to = 1024, compute = peaks[TARE_CEILING_FP32];
	struct tare_plot *plot;

	if (!matmul->peaks->present || !(compute > 0))
		return;
	plot = tare_result_add_plot(matmul->run->result, "roofline",
	                            "Roofline of the measured ceilings", TARE_PLOT_LINE);
	tare_plot_axes(plot, "intensity", "FLOP/B", true, "rate", "GFLOP/s", true);
	tare_plot_set_note(
	    plot, "A rung lies at the bytes that its loops ask of global memory (blas: of a, "
	          "b and c once). What caches and registers keep lets it pass a roof. A "
	          "model: no counter was read.");
	add_roof(plot, "memory", compute, peaks[TARE_CEILING_MEMORY_READ], from, to);
	add_roof(plot, "cache", compute, peaks[TARE_CEILING_CACHE], from, to);
	add_roof(plot, "local memory", compute, peaks[TARE_CEILING_LOCAL], from, to);
	for (int rung = TARE_RUNG_BLAS_TF32; rung < TARE_RUNG_COUNT; rung++) {
		enum tare_ceiling ceiling = matmul_compute_ceiling((enum tare_rung)rung);
		add_roof(plot, tare_ceiling_name(ceiling), peaks[ceiling],
		         peaks[TARE_CEILING_MEMORY_READ], from, to);
	}
	for (int rung = 0; rung < TARE_RUNG_COUNT; rung++)
		add_rung(matmul, plot, (enum tare_rung)rung);
}

void matmul_add_plots(struct matmul *matmul)
{
	add_speed_up(matmul);
	add_rates(matmul);
	add_roofline(matmul);
}
