// SPDX-License-Identifier: Apache-2.0
// What the files of `bandwidth`'s text share: the document seen as lines by sizes. Internal to
// src/report.
#pragma once
#include "report/result/parts.h"

#define TARE_PIVOT_SIZES 40
// What a cell of the table may hold.
#define TARE_PIVOT_TEXT 40

// A row: one line on one clock.
struct tare_pivot_row {
	const char *line, *source;
	size_t order; // index of the line's first cell, with a figure or without
	bool main;    // the source that stands for the line
};

struct tare_pivot {
	struct tare_text *text;
	const struct tare_result *result;
	struct tare_pivot_row *rows;
	size_t row_count;
	uint64_t sizes[TARE_PIVOT_SIZES]; // shown
	size_t size_count;
};

// What is not in the table: what figures count, lines that move nothing, and why figures are
// missing. With -v: every cell, and how the figures were measured.
void tare_pivot_write_countings(const struct tare_pivot *pivot);
void tare_pivot_write_times(const struct tare_pivot *pivot);
void tare_pivot_write_absent(const struct tare_pivot *pivot);
void tare_pivot_write_cells(const struct tare_pivot *pivot);
void tare_pivot_write_methods(const struct tare_pivot *pivot);
