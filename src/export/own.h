// SPDX-License-Identifier: Apache-2.0
// Makes the columns of a table of the recording from its list in columns/, a line a column:
//
//     COLUMN(id, KIND, value, "what it is", flags)
//
// The value is an expression over `rows`, `r` (the recording) and `row`. A file that includes this
// has defined COLUMNS, the file of the list, TABLE, the table's name, and ROW, the type of a row.
// It gets the array TABLE_columns, and makes the table by EXPORT_OWN.
#include "export/rows.h"
#include "export/values.h"

#define JOINED(a, b) a##_##b
#define JOIN(a, b) JOINED(a, b)

#define COLUMN(identity, kind, expression, sentence, bits)                                         \
	static struct tare_cell_value JOIN(TABLE, identity)(const void *source, const void *one)   \
	{                                                                                          \
		const struct rows *rows = source;                                                  \
		const struct tare_recording *r = rows->recording;                                  \
		const ROW *row = one;                                                              \
		(void)r, (void)row;                                                                \
		return expression;                                                                 \
	}
#include COLUMNS
#undef COLUMN

#define COLUMN(identity, kind, expression, sentence, bits)                                         \
	{ .id = #identity,                                                                         \
	  .title = #identity,                                                                      \
	  .shown = TARE_SHOWN_##kind,                                                              \
	  .doc = sentence,                                                                         \
	  .value = JOIN(TABLE, identity),                                                          \
	  .flags = bits },
static const struct tare_column JOIN(TABLE, columns)[] = {
#include COLUMNS
};
#undef COLUMN
#undef COLUMNS
#undef TABLE
#undef ROW

#ifndef EXPORT_OWN
// The table `export_NAME`: how many rows, where the one of an index is, and which are of the view.
#define EXPORT_OWN(name, type, sentence, how_many, which, is_in)                                   \
	static size_t name##_count(const void *source)                                             \
	{                                                                                          \
		const struct rows *rows = source;                                                  \
		const struct tare_recording *r = rows->recording;                                  \
		(void)r;                                                                           \
		return how_many;                                                                   \
	}                                                                                          \
	static const void *name##_row(const void *source, size_t index)                            \
	{                                                                                          \
		const struct rows *rows = source;                                                  \
		const struct tare_recording *r = rows->recording;                                  \
		(void)r;                                                                           \
		return which;                                                                      \
	}                                                                                          \
	static bool name##_has(struct rows *rows, const void *one)                                 \
	{                                                                                          \
		const struct tare_recording *r = rows->recording;                                  \
		const type *row = one;                                                             \
		(void)r, (void)row;                                                                \
		return is_in;                                                                      \
	}                                                                                          \
	const struct export_own export_##name = { { .id = #name,                                   \
		                                    .title = #name,                                \
		                                    .doc = sentence,                               \
		                                    .columns = name##_columns,                     \
		                                    .column_count = sizeof name##_columns /        \
		                                                    sizeof *name##_columns,        \
		                                    .count = name##_count,                         \
		                                    .row = name##_row },                           \
		                                  name##_has };
#endif
