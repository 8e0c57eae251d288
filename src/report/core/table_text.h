// SPDX-License-Identifier: Apache-2.0
// Writes any declared table as text. Internal to src/report.
#pragma once
#include "report/core/figures.h"
#include "table/table.h"

// Which part of a table a text shows: some columns of some rows.
struct tare_table_part {
	unsigned on;       // the columns that are on this
	const char *title; // of the first column; NULL: its own
	size_t others;     // columns of the terminal that all but the first take
	size_t most;       // rows at most; 0: all
	bool devices;      // rows are of several devices and name theirs
	// Rows in an order of their own, `most` of them, and how deep each lies below others; NULL.
	const void *const *rows;
	const size_t *depths;
	// Which rows it is about, how each looks, and before which an empty row stands; NULL: those
	// of the table, plain, and none.
	bool (*keep)(const void *source, const void *row);
	enum tare_text_style (*style)(const void *source, const void *row);
	bool (*apart)(const void *source, const void *row);
	// At the left edge or `indent` columns from it, and names are as long as the terminal lets
	// them; of results.
	bool flush;
	size_t indent;
	// Columns that do not fit beside the first go into a table below.
	bool fold;
	// Behind each row a bar of what is TARE_BARRED, in the room that is left: the one of this
	// share is the longest. 0: none.
	double bar_whole;
	// What times without a unit of their column's are in, which the text says elsewhere; 0:
	// each has its own.
	double unit_ns;
};

// A column as it is shown; of one that is there several times, the one `at`.
struct tare_shown_column {
	const struct tare_column *column;
	size_t at;
};

// A part of a table with the rows and columns that it shows.
struct tare_table_shown {
	const struct tare_table *table;
	const void *source;
	const struct tare_table_part *part;
	const void **rows;
	size_t row_count;
	const struct tare_shown_column *columns;
	size_t column_count;
};

// Writes that part: nothing where no row is in it. Times that share a unit name it in the title of
// the first of them.
void tare_table_text(struct tare_text *text, const struct tare_table *table, const void *source,
                     const struct tare_table_part *part);
// Whether that part is not wider than the terminal.
bool tare_table_fits(struct tare_text *text, const struct tare_table *table, const void *source,
                     const struct tare_table_part *part);
// Whether a row is in that part, but for `most`.
bool tare_table_part_keeps(const struct tare_table *table, const struct tare_table_part *part,
                           const void *source, const void *row);
// Whether people see a column of these rows: TARE_IF_ANY asks that one of them says something.
bool tare_column_is_seen(const struct tare_column *column, const void *source,
                         const void *const *rows, size_t row_count);
// Rows that the part would have.
size_t tare_table_part_rows(const struct tare_table *table, const void *source,
                            const struct tare_table_part *part);
// A cell as the text has it, for who writes the table in another form; times have units of their
// own. `buffer` has room for RUN_TEXT characters; returns it.
const char *tare_table_cell(const struct tare_table *table, const void *source,
                            const struct tare_column *column, const void *row, char *buffer);
