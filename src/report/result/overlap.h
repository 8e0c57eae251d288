// SPDX-License-Identifier: Apache-2.0
// What the files of `overlap`'s text share: the document seen by the kernel's lengths. Internal to
// src/report.
#pragma once
#include "report/result/figure.h"
#include "report/result/parts.h"

// The label `cycles` of a cell that has none.
#define TARE_NO_CYCLES (-1)

struct overlap_view {
	struct tare_text *text;
	const struct tare_result *result;
	int64_t cycles[64]; // of the points, in order
	size_t points;
	double unit_ns; // of the tables
	const char *unit;
};

// The cell of a group at `cycles` whose label `name` says `value`; NULL: there is none.
const struct tare_cell *tare_overlap_find(const struct overlap_view *view, const char *group,
                                          int64_t cycles, const char *name, const char *value);
// What follows from the tables: of the copies, and all else, a line a subject.
void tare_overlap_copies(const struct overlap_view *view);
void tare_overlap_notes(const struct overlap_view *view);
// Why figures are missing, or with `methods` how they were measured.
void tare_overlap_reasons(const struct overlap_view *view, bool methods);
