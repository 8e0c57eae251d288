// SPDX-License-Identifier: Apache-2.0
// Makes the columns of a table from its list, a line a column:
//
//     COLUMN(id, "title", KIND, value, "what it is", .on = ..., .flags = ...)
//
// The value is an expression over `run` (struct tare_report) and `row`. A file that includes this
// has defined COLUMNS, the file of the list, and ROW, the type of a row. It gets the array
// `declared_columns`. docs/adding-a-column.md.
#include "report/core/run.h"
#include "table/table.h"

#define COLUMN(identity, heading, kind, expression, sentence, ...)                                 \
	static struct tare_cell_value column_##identity(const void *source, const void *one)       \
	{                                                                                          \
		const struct tare_report *run = source;                                            \
		const ROW *row = one;                                                              \
		(void)run, (void)row;                                                              \
		return expression;                                                                 \
	}
#include COLUMNS
#undef COLUMN

#define COLUMN(identity, heading, kind, expression, sentence, ...)                                 \
	{ .id = #identity,                                                                         \
	  .title = heading,                                                                        \
	  .shown = TARE_SHOWN_##kind,                                                              \
	  .doc = sentence,                                                                         \
	  .value = column_##identity,                                                              \
	  __VA_ARGS__ },
static const struct tare_column declared_columns[] = {
#include COLUMNS
};
#undef COLUMN
#undef COLUMNS
#undef ROW

// The declared table `tare_table_NAME` of these columns, and how many rows it has.
#ifndef TARE_RUN_TABLE
#define TARE_RUN_TABLE(name, heading, sentence, without, how_many, which)                          \
	static size_t name##_count(const void *source)                                             \
	{                                                                                          \
		const struct tare_report *run = source;                                            \
		return how_many;                                                                   \
	}                                                                                          \
	static const void *name##_row(const void *source, size_t index)                            \
	{                                                                                          \
		const struct tare_report *run = source;                                            \
		return which;                                                                      \
	}                                                                                          \
	const struct tare_table tare_table_##name = {                                              \
		.id = #name,                                                                       \
		.title = heading,                                                                  \
		.doc = sentence,                                                                   \
		.nothing = without,                                                                \
		.columns = declared_columns,                                                       \
		.column_count = sizeof declared_columns / sizeof *declared_columns,                \
		.count = name##_count,                                                             \
		.row = name##_row,                                                                 \
	};
#endif
