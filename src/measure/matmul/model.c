// SPDX-License-Identifier: Apache-2.0
// What follows from the figures: least times, bytes, shares of ceilings, speed-ups. All of it is
// arithmetic on measured times; no hardware counter is read.
#include "measure/matmul/internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_of(const struct tare_cell *cell, enum tare_rung rung, uint32_t n)
{
	const struct tare_label *size = tare_labels_find(&cell->labels, "n");

	return size && !size->text && size->number == n &&
	       strcmp(tare_cell_text(cell, "rung"), tare_rung_name(rung)) == 0;
}

const struct tare_cell *matmul_cell(const struct tare_result *result, enum tare_rung rung,
                                    uint32_t n, enum tare_part part)
{
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (!cell->absent && !tare_cell_is_model(cell) && is_of(cell, rung, n) &&
		    tare_cell_has_text(cell, "part", tare_part_name(part)))
			return cell;
	}
	return NULL;
}

const struct tare_cell *matmul_kernel_cell(const struct tare_result *result, enum tare_rung rung,
                                           uint32_t n)
{
	return matmul_cell(result, rung, n,
	                   matmul_on_host(rung) ? TARE_PART_TOTAL : TARE_PART_KERNEL);
}

double matmul_cell_s(const struct tare_cell *cell)
{
	return cell && cell->verified != TARE_WRONG ? cell->summary.median * 1e-12 : NAN;
}

double matmul_model(const struct tare_result *result, enum tare_rung rung, uint32_t n,
                    const char *what)
{
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (!cell->absent && is_of(cell, rung, n) &&
		    strcmp(tare_cell_text(cell, "what"), what) == 0)
			return cell->summary.median;
	}
	return NAN;
}

// ---- bytes and ceilings

const char *matmul_level_name(enum matmul_level level)
{
	static const char *const names[] = { "memory", "cache", "local" };

	return names[level];
}

double matmul_required_bytes(enum tare_rung rung, uint32_t n, enum matmul_level level)
{
	const struct matmul_rung *row = &matmul_rungs[rung];
	double multiply_adds = matmul_flop(n) / 2;

	if (level == MATMUL_MEMORY)
		return (double)(matmul_matrix_bytes(rung, MATMUL_A, n) +
		                matmul_matrix_bytes(rung, MATMUL_B, n) + matmul_bytes(n));
	if (!row->entry)
		return 0;
	if (level == MATMUL_LOCAL)
		return row->local_uses ? 8 * multiply_adds / row->local_uses : 0;
	return 8 * multiply_adds / row->global_uses;
}

static struct matmul_roof roof_of(const struct tare_peaks *peaks, enum tare_rung rung, uint32_t n,
                                  enum tare_ceiling ceiling, enum matmul_level level)
{
	double bytes = matmul_required_bytes(rung, n, level);

	return (struct matmul_roof){
		tare_ceiling_name(ceiling),
		bytes > 0 ? peaks->per_second[ceiling] * matmul_flop(n) / bytes : NAN,
	};
}

enum tare_ceiling matmul_compute_ceiling(enum tare_rung rung)
{
	static const enum tare_ceiling ceilings[TARE_BLAS_PRECISION_COUNT] = {
		[TARE_BLAS_FP32] = TARE_CEILING_FP32,
		[TARE_BLAS_TF32] = TARE_CEILING_TENSOR_TF32,
		[TARE_BLAS_FP16] = TARE_CEILING_TENSOR_FP16,
		[TARE_BLAS_BF16] = TARE_CEILING_TENSOR_BF16,
	};
	return ceilings[matmul_rungs[rung].precision];
}

struct matmul_roof matmul_tightest(const struct tare_peaks *peaks, enum tare_rung rung, uint32_t n,
                                   double achieved)
{
	enum tare_ceiling compute = matmul_compute_ceiling(rung);
	struct matmul_roof tightest = { NULL, NAN };
	struct matmul_roof roofs[] = {
		{ tare_ceiling_name(compute), peaks->per_second[compute] },
		roof_of(peaks, rung, n, TARE_CEILING_MEMORY_READ, MATMUL_MEMORY),
		roof_of(peaks, rung, n, TARE_CEILING_CACHE, MATMUL_CACHE),
		roof_of(peaks, rung, n, TARE_CEILING_LOCAL, MATMUL_LOCAL),
	};

	// Without their own ceiling what is left tells nothing of matrix units.
	if (!peaks->present || (matmul_is_rounded(rung) && !(roofs[0].flops > 0)))
		return tightest;
	for (size_t i = 0; i < sizeof roofs / sizeof *roofs; i++)
		if (roofs[i].flops > 0 && (i == 0 || achieved <= MATMUL_BROKEN * roofs[i].flops) &&
		    !(roofs[i].flops >= tightest.flops))
			tightest = roofs[i];
	return tightest;
}

// ---- cells

struct models {
	struct matmul *matmul;
	enum tare_rung rung;
	uint32_t n;
	size_t size; // index of n
	// Of the kernel, because adding cells moves them.
	double seconds, low_s, high_s;
};

static struct tare_cell *add(const struct models *models, enum tare_part part, const char *what,
                             const char *unit, const char *method)
{
	struct tare_cell *cell = matmul_add_cell(models->matmul->run->result, models->rung,
	                                         models->n, part, what, unit, "model");

	tare_labels_set_text(&cell->labels, "what", what);
	tare_cell_set_method(cell, method);
	return cell;
}

// numerator / kernel's time, with the interval of the latter; absent with `reason` where it is no
// number.
static void add_over_time(const struct models *models, const char *what, const char *unit,
                          double numerator, const char *reason, const char *method)
{
	struct tare_cell *cell = add(models, TARE_PART_KERNEL, what, unit, method);

	if (!isfinite(numerator)) {
		tare_cell_set_absent(cell, "%s", reason);
		return;
	}
	tare_cell_set_model(cell, numerator / models->seconds, numerator / models->high_s,
	                    numerator / models->low_s);
}

static void add_value(const struct models *models, const char *what, const char *unit, double value,
                      const char *reason, const char *method)
{
	struct tare_cell *cell = add(models, TARE_PART_KERNEL, what, unit, method);

	if (!isfinite(value)) {
		tare_cell_set_absent(cell, "%s", reason);
		return;
	}
	tare_cell_set_model(cell, value, NAN, NAN);
}

static double paper_peak(const struct matmul *matmul, enum tare_ceiling ceiling)
{
	const struct tare_facts *facts = matmul->run->facts;
	int id = tare_ceiling_fact(ceiling);

	if (facts && facts->fact[id].present)
		return facts->fact[id].rate;
	return matmul->peaks->present ? matmul->peaks->theoretical[ceiling] : NAN;
}

// Why a rung's own ceiling of arithmetic was not measured.
static const char *no_ceiling(const struct tare_peaks *peaks, enum tare_ceiling ceiling,
                              char text[128])
{
	if (!peaks->present)
		return peaks->origin[0] ? peaks->origin : "no measured ceilings; run tare peak";
	snprintf(text, 128, "the measured ceilings have no %s; run tare peak again",
	         tare_ceiling_name(ceiling));
	return text;
}

static void add_shares(const struct models *models)
{
	const struct matmul *matmul = models->matmul;
	enum tare_ceiling ceiling = matmul_compute_ceiling(models->rung);
	double flop = matmul_flop(models->n), paper = paper_peak(matmul, ceiling);
	double measured = matmul->peaks->present ? matmul->peaks->per_second[ceiling] : NAN;
	const char *no_paper = matmul->run->facts
	                           ? tare_fact_reason(matmul->run->facts,
	                                              (enum tare_fact_id)tare_ceiling_fact(ceiling))
	                           : "the device's peak is not known";
	char text[128], on_paper[128], by_ceiling[128];
	const char *no_measured = no_ceiling(matmul->peaks, ceiling, text);

	snprintf(on_paper, sizeof on_paper,
	         "2 n^3 floating-point operations over the device's %s peak on paper",
	         ceiling == TARE_CEILING_FP32 ? "FP32" : tare_ceiling_name(ceiling));
	snprintf(by_ceiling, sizeof by_ceiling,
	         "2 n^3 floating-point operations over the measured %s ceiling",
	         ceiling == TARE_CEILING_FP32 ? "FP32" : tare_ceiling_name(ceiling));
	add_value(models, "least-time-paper", "ns", flop / paper * 1e9, no_paper, on_paper);
	add_value(models, "least-time-measured", "ns", flop / measured * 1e9, no_measured,
	          by_ceiling);
	add_over_time(models, "share-of-paper", "%", 100 * flop / paper, no_paper,
	              "least time on paper over the kernel's time");
	add_over_time(models, "share-of-measured", "%", 100 * flop / measured, no_measured,
	              "least time by the measured ceiling over the "
	              "kernel's time");
}

double matmul_share_per_clock(const struct matmul *matmul, enum tare_rung rung, size_t size,
                              double share)
{
	double ceiling = matmul->peaks->clock_hz[matmul_compute_ceiling(rung)];
	const struct tare_clock_range *clock = &matmul->clocks[rung][size];

	return matmul->peaks->present && ceiling > 0 && clock->readings
	           ? share * ceiling / clock->median_hz
	           : NAN;
}

// The clock under the product, and what its share is where the ceiling's clock was another.
static void add_clock(const struct models *models)
{
	const struct matmul *matmul = models->matmul;
	const struct tare_clock_range *clock = &matmul->clocks[models->rung][models->size];
	double share =
	    matmul_model(matmul->run->result, models->rung, models->n, "share-of-measured");
	struct tare_cell *cell;

	if (clock->readings == 0)
		return;
	cell =
	    add(models, TARE_PART_KERNEL, "clock", "MHz",
	        "the unit's clock as telemetry told it while the product was sampled, its copies "
	        "included: median, lowest, highest");
	tare_cell_set_model(cell, clock->median_hz / 1e6, clock->low_hz / 1e6,
	                    clock->high_hz / 1e6);
	share = matmul_share_per_clock(matmul, models->rung, models->size, share);
	if (!isfinite(share))
		return;
	add_value(models, "share-per-clock", "%", share, "",
	          "share of the measured ceiling, each over the clock that it was measured at");
}

static void add_bytes(const struct models *models)
{
	for (int i = 0; i < MATMUL_LEVELS; i++) {
		enum matmul_level level = (enum matmul_level)i;
		double bytes = matmul_required_bytes(models->rung, models->n, level);
		const char *method =
		    level == MATMUL_MEMORY
		        ? (matmul_is_rounded(models->rung)
		               ? "compulsory: a, b and c moved once; no product moves less"
		               : "compulsory: a, b and c moved once, 12 n^2; no product moves less")
		    : level == MATMUL_CACHE && models->rung == TARE_RUNG_SUB_GROUPS
		        ? "what the loops ask of global memory for b: 8 n^3 over 16, for each "
		          "work-item reads it once for 8 rows; what they read of a goes by the "
		          "size of sub-groups and is not in it"
		    : level == MATMUL_CACHE
		        ? "what the loops ask of global memory: 8 n^3, over the tile's width where "
		          "tiles go through local memory; caches and registers may keep part of it"
		        : "what the loops ask of local memory: 8 n^3 over the multiply-adds that "
		          "each pair of floats is used for";
		struct tare_cell *cell;
		if (!(bytes > 0))
			continue;
		cell = add(models, TARE_PART_KERNEL, "required-bytes", "B", method);
		tare_labels_set_text(&cell->labels, "level", matmul_level_name(level));
		tare_cell_set_model(cell, bytes, NAN, NAN);
		cell = add(models, TARE_PART_KERNEL, "required-rate", "GB/s", method);
		tare_labels_set_text(&cell->labels, "level", matmul_level_name(level));
		tare_cell_set_model(cell, bytes / models->seconds * 1e-9,
		                    bytes / models->high_s * 1e-9, bytes / models->low_s * 1e-9);
	}
}

static void add_ceiling(const struct models *models)
{
	const struct tare_peaks *peaks = models->matmul->peaks;
	double achieved = matmul_flop(models->n) / models->seconds;
	struct matmul_roof roof = matmul_tightest(peaks, models->rung, models->n, achieved);
	enum tare_ceiling compute = matmul_compute_ceiling(models->rung);
	char text[128];
	const char *reason = no_ceiling(peaks, compute, text);
	struct tare_cell *cell = add(
	    models, TARE_PART_KERNEL, "tightest-ceiling", "GFLOP/s",
	    "a model, no counter was read: the lowest of the measured ceilings (compute; memory, "
	    "cache and local memory at this rung's bytes) that the rung does not pass; its "
	    "arithmetic's where it is at or above that");

	if (roof.name)
		tare_labels_set_text(&cell->labels, "ceiling", roof.name);
	if (!roof.name) {
		tare_cell_set_absent(cell, "%s", reason);
		return;
	}
	tare_cell_set_model(cell, roof.flops * 1e-9, NAN, NAN);
	cell =
	    add(models, TARE_PART_KERNEL, "distance", "x",
	        "tightest ceiling over the rate achieved: how often as fast it could be at most");
	tare_cell_set_model(cell, roof.flops / achieved,
	                    roof.flops / achieved * models->low_s / models->seconds,
	                    roof.flops / achieved * models->high_s / models->seconds);
}

// Time of `of` over that of the rung's part.
static void add_speed_up(const struct models *models, enum tare_part part, const char *what)
{
	const struct tare_result *result = models->matmul->run->result;
	const struct tare_cell *base =
	    matmul_cell(result, TARE_RUNG_SEQUENTIAL, models->n, TARE_PART_TOTAL);
	const struct tare_cell *own = matmul_cell(result, models->rung, models->n, part);
	double sequential = matmul_cell_s(base), seconds = matmul_cell_s(own), low, high;
	struct tare_cell *cell;

	if (!(sequential > 0) || !(seconds > 0))
		return;
	low = base->summary.ci_low / own->summary.ci_high;
	high = base->summary.ci_high / own->summary.ci_low;
	cell = add(models, part, what, "x",
	           "time of the sequential product on one core over this one's");
	tare_cell_set_model(cell, sequential / seconds, low, high);
}

static void add_of(struct models *models)
{
	if (matmul_on_host(models->rung)) {
		if (models->rung == TARE_RUNG_HOST_BLAS)
			add_speed_up(models, TARE_PART_TOTAL, "speed-up-total");
		return;
	}
	add_shares(models);
	add_clock(models);
	add_bytes(models);
	add_ceiling(models);
	add_speed_up(models, TARE_PART_KERNEL, "speed-up-kernel");
	add_speed_up(models, TARE_PART_TOTAL, "speed-up-total");
}

void matmul_add_models(struct matmul *matmul)
{
	for (size_t i = 0; i < matmul->n_count; i++)
		for (int rung = 0; rung < TARE_RUNG_COUNT; rung++) {
			const struct tare_cell *cell = matmul_kernel_cell(
			    matmul->run->result, (enum tare_rung)rung, matmul->n[i]);
			struct models models = { .matmul = matmul,
				                 .rung = (enum tare_rung)rung,
				                 .n = matmul->n[i],
				                 .size = i,
				                 .seconds = matmul_cell_s(cell) };
			if (!(models.seconds > 0))
				continue;
			models.low_s = cell->summary.ci_low * 1e-12;
			models.high_s = cell->summary.ci_high * 1e-12;
			add_of(&models);
		}
}
