// SPDX-License-Identifier: Apache-2.0
// Makes the columns of a table from its list, a line a column:
//
//     COLUMN(id, "title", KIND, value, "what it is", .on = ..., .flags = ...)
//
// The value is an expression over `run` (struct tare_report) and `row`. A file that includes this
// has defined COLUMNS, the file of the list, and ROW, the type of a row. It gets the array
// `columns`. docs/adding-a-column.md.
#include "report/core/run.h"
#include "table/table.h"

#define COLUMN(identity, heading, kind, expression, sentence, ...)                                 \
	static struct tare_cell_value identity##_of(const void *source, const void *one)           \
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
	  .value = identity##_of,                                                                  \
	  __VA_ARGS__ },
static const struct tare_column columns[] = {
#include COLUMNS
};
#undef COLUMN
#undef COLUMNS
#undef ROW
