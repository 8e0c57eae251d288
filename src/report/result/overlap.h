// SPDX-License-Identifier: Apache-2.0
// What the files of `overlap`'s text share: the document seen by the kernel's lengths. Internal to
// src/report.
#pragma once
#include "report/result/figure.h"
#include "report/result/parts.h"

// The label `cycles` of a cell that has none.
#define TARE_NO_CYCLES (-1)

struct overlap_view {
	const struct tare_text *text;
	const struct tare_result *result;
	int64_t cycles[64]; // of the points, in order
	size_t points;
	double unit_ns; // of the tables
	const char *unit;
};

// The cell of a group at `cycles` whose label `name` says `value`; NULL: there is none.
const struct tare_cell *tare_overlap_find(const struct overlap_view *view, const char *group,
                                          int64_t cycles, const char *name, const char *value);
// A label that is a number; TARE_NO_CYCLES: there is none.
int64_t tare_overlap_number(const struct tare_cell *cell, const char *name);

// What follows from the tables, a line a subject. Returns 0 or -ENOMEM.
int tare_overlap_copies(const struct overlap_view *view);
int tare_overlap_notes(const struct overlap_view *view);
// Why figures are missing, or with `methods` how they were measured. Returns 0 or -ENOMEM.
int tare_overlap_reasons(const struct overlap_view *view, bool methods);
