// SPDX-License-Identifier: Apache-2.0
#include "model/engine/overlap.h"

#include <errno.h>
#include <math.h>

const char *tare_stage_name(enum tare_stage stage)
{
	static const char *const names[TARE_STAGE_COUNT] = {
		[TARE_STAGE_TO_DEVICE] = "to-device",
		[TARE_STAGE_KERNEL] = "kernel",
		[TARE_STAGE_TO_HOST] = "to-host",
	};
	return stage < TARE_STAGE_COUNT ? names[stage] : "";
}

const char *tare_mode_name(uint32_t mode)
{
	static const char *const names[TARE_MODE_COUNT] = {
		"",        "to-device",         "kernel",         "to-device+kernel",
		"to-host", "to-device+to-host", "kernel+to-host", "to-device+kernel+to-host",
	};
	return mode < TARE_MODE_COUNT ? names[mode] : "";
}

double tare_overlap_stage_ns(const struct tare_overlap_modes *modes, enum tare_stage stage)
{
	bool beside = stage == TARE_STAGE_KERNEL && modes->side_by_side > 1;
	return modes->alone_ns[stage] / (beside ? modes->side_by_side : 1);
}

// ---- the bound

// Columns of the programme: the modes that are known, then one of over-fulfilment a row. Rows: the
// stages that have work; what a mode does beside them does not matter.
#define COLUMNS (TARE_MODE_COUNT - 1 + TARE_STAGE_COUNT)

struct programme {
	size_t rows, columns;
	double need[TARE_STAGE_COUNT];            // in units of the longest stage's time
	double column[COLUMNS][TARE_STAGE_COUNT]; // [column][row]
	uint32_t mode[COLUMNS];                   // 0: over-fulfilment
};

static bool is_single(uint32_t mode)
{
	return (mode & (mode - 1)) == 0;
}

static bool is_used(const struct tare_overlap_modes *modes, uint32_t mode)
{
	return modes->known[mode] || is_single(mode);
}

static int check_stage(const struct tare_overlap_modes *modes, int stage, struct tare_error *error)
{
	const char *name = tare_stage_name((enum tare_stage)stage);
	bool moves = false;

	if (!isfinite(modes->alone_ns[stage]) || modes->alone_ns[stage] < 0)
		return tare_fail(error, EDOM, "the time of %s alone is no usable number", name);
	for (uint32_t mode = 1; mode < TARE_MODE_COUNT; mode++) {
		double speed = modes->speed[mode][stage];
		if (!(mode >> stage & 1) || !is_used(modes, mode))
			continue;
		if (!isfinite(speed) || speed < 0)
			return tare_fail(error, EDOM,
			                 "the speed of %s in the mode %s is no usable number", name,
			                 tare_mode_name(mode));
		moves |= speed > 0;
	}
	if (modes->alone_ns[stage] > 0 && !moves)
		return tare_fail(error, EDOM,
		                 "%s has work to do and makes no progress in any mode "
		                 "that was measured",
		                 name);
	return 0;
}

static struct programme build(const struct tare_overlap_modes *modes, double scale)
{
	struct programme p = { 0 };
	int stages[TARE_STAGE_COUNT];

	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		if (modes->alone_ns[stage] > 0) {
			stages[p.rows] = stage;
			p.need[p.rows++] =
			    tare_overlap_stage_ns(modes, (enum tare_stage)stage) / scale;
		}
	for (uint32_t mode = 1; mode < TARE_MODE_COUNT; mode++) {
		if (!is_used(modes, mode))
			continue;
		p.mode[p.columns] = mode;
		for (size_t row = 0; row < p.rows; row++)
			if (mode >> stages[row] & 1)
				p.column[p.columns][row] = modes->speed[mode][stages[row]];
		p.columns++;
	}
	for (size_t row = 0; row < p.rows; row++)
		p.column[p.columns++][row] = -1;
	return p;
}

// Solves for the columns of a basis by elimination with pivots. False: they are not independent.
static bool solve(const struct programme *p, const size_t *basis, double *x)
{
	double a[TARE_STAGE_COUNT][TARE_STAGE_COUNT + 1];
	size_t n = p->rows;

	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < n; j++)
			a[i][j] = p->column[basis[j]][i];
		a[i][n] = p->need[i];
	}
	for (size_t j = 0; j < n; j++) {
		size_t pivot = j;
		for (size_t i = j + 1; i < n; i++)
			if (fabs(a[i][j]) > fabs(a[pivot][j]))
				pivot = i;
		if (fabs(a[pivot][j]) < 1e-12)
			return false;
		for (size_t k = j; k <= n; k++) {
			double swap = a[j][k];
			a[j][k] = a[pivot][k];
			a[pivot][k] = swap;
		}
		for (size_t i = 0; i < n; i++) {
			double factor = i == j ? 0 : a[i][j] / a[j][j];
			for (size_t k = j; k <= n; k++)
				a[i][k] -= factor * a[j][k];
		}
	}
	for (size_t j = 0; j < n; j++)
		x[j] = a[j][n] / a[j][j];
	return true;
}

// Takes a basis into the bound where it is feasible and faster than the best so far.
static void consider(const struct programme *p, const size_t *basis, double scale,
                     struct tare_overlap_bound *bound)
{
	double x[TARE_STAGE_COUNT] = { 0 }, total = 0;

	if (!solve(p, basis, x))
		return;
	for (size_t j = 0; j < p->rows; j++) {
		if (!(x[j] > -1e-12))
			return;
		if (p->mode[basis[j]] && x[j] > 0)
			total += x[j];
	}
	if (!(total * scale < bound->ns))
		return;
	bound->ns = total * scale;
	for (uint32_t mode = 0; mode < TARE_MODE_COUNT; mode++)
		bound->in_mode_ns[mode] = 0;
	for (size_t j = 0; j < p->rows; j++)
		if (p->mode[basis[j]] && x[j] > 0)
			bound->in_mode_ns[p->mode[basis[j]]] = x[j] * scale;
}

int tare_overlap_bound(const struct tare_overlap_modes *modes, struct tare_overlap_bound *bound,
                       struct tare_error *error)
{
	double longest;

	*bound = (struct tare_overlap_bound){ 0 };
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		int status = check_stage(modes, stage, error);
		if (status < 0)
			return status;
		bound->serial_ns += modes->alone_ns[stage];
		if (tare_overlap_stage_ns(modes, (enum tare_stage)stage) >
		    tare_overlap_stage_ns(modes, bound->longest))
			bound->longest = (enum tare_stage)stage;
	}
	longest = tare_overlap_stage_ns(modes, bound->longest);
	if (!(longest > 0))
		return 0;
	struct programme p = build(modes, longest);
	bound->ns = INFINITY;
	// An optimum is among the basic solutions: as many columns as rows, the others 0.
	size_t basis[TARE_STAGE_COUNT] = { 0 };
	for (basis[0] = 0; basis[0] < p.columns; basis[0]++) {
		if (p.rows == 1)
			consider(&p, basis, longest, bound);
		for (basis[1] = basis[0] + 1; p.rows > 1 && basis[1] < p.columns; basis[1]++) {
			if (p.rows == 2)
				consider(&p, basis, longest, bound);
			for (basis[2] = basis[1] + 1; p.rows > 2 && basis[2] < p.columns;
			     basis[2]++)
				consider(&p, basis, longest, bound);
		}
	}
	if (!isfinite(bound->ns))
		return tare_fail(error, EDOM,
		                 "the bound for %s, the longest stage, has no solution "
		                 "that a number can hold",
		                 tare_stage_name(bound->longest));
	return 0;
}

// ---- closed forms

double tare_overlap_amdahl(const struct tare_overlap_modes *modes)
{
	double copies = modes->alone_ns[TARE_STAGE_TO_DEVICE] + modes->alone_ns[TARE_STAGE_TO_HOST];
	double kernel = modes->alone_ns[TARE_STAGE_KERNEL], whole = copies + kernel;
	double parallel = whole > 0 ? 2 * fmin(copies, kernel) / whole : 0;

	return 1 / (1 - parallel + parallel / 2);
}

double tare_overlap_attainable_ns(const struct tare_overlap_modes *modes, uint32_t chunks,
                                  bool copies_share)
{
	double h = modes->alone_ns[TARE_STAGE_TO_DEVICE], k = modes->alone_ns[TARE_STAGE_KERNEL];
	double d = modes->alone_ns[TARE_STAGE_TO_HOST], n = chunks ? (double)chunks : 1;
	double all = (h + k + d) / n, rest = (n - 1) / n;
	double beside = fmax(tare_overlap_stage_ns(modes, TARE_STAGE_KERNEL), k / n);
	double time = fmax(all + rest * fmax(h, d), (h + d) / n + beside);

	return copies_share ? fmax(time, h + d) : time;
}

// ---- engines

static int stages_in(uint32_t mode)
{
	return (int)(mode & 1) + (int)(mode >> 1 & 1) + (int)(mode >> 2 & 1);
}

void tare_engines_reveal(const struct tare_overlap_modes *modes,
                         struct tare_engines_revealed *revealed)
{
	static const uint32_t pairs[] = { 3, 5, 6 };
	bool seen[TARE_MODE_COUNT] = { false };

	*revealed = (struct tare_engines_revealed){ .count = 1, .largest_mode = 1 };
	for (uint32_t mode = 1; mode < TARE_MODE_COUNT; mode++) {
		seen[mode] = !is_single(mode) && modes->known[mode] && modes->together[mode];
		if (seen[mode] && stages_in(mode) > (int)revealed->count) {
			revealed->count = (uint32_t)stages_in(mode);
			revealed->largest_mode = mode;
		}
	}
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		if (modes->known[pairs[i]] && !seen[pairs[i]] && !seen[TARE_MODE_COUNT - 1])
			revealed->apart[revealed->apart_count++] = pairs[i];
}
