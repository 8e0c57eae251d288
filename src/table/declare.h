// SPDX-License-Identifier: Apache-2.0
// Makes the columns of a table from its list, a line a column:
//
//     COLUMN(id, "title", KIND, value, "what it is", .on = ..., .flags = ...)
//     COLUMNS_BY(id, how many, title, KIND, value, "what it is", ...)
//
// The value is an expression over SOURCE_NAME, a pointer to a SOURCE, and `row`; of columns that
// are there several times also over `at`, from 0, as is their title (`text` has room for it).
// A column of the JSON that is a table itself, AS: ROWS, OBJECT, LIST or MAP (enum tare_nested_as):
//
//     WITHIN(id, AS, &its table, what that is of, "what it is", .flags = ...)
//
// A file that includes this has defined SOURCE, SOURCE_NAME, COLUMNS, the file of the list, ROW,
// the type of a row, and TABLE where it declares several. It gets the array TABLE_columns,
// `declared_columns` without one. docs/adding-a-column.md.
#include "table/table.h"

#ifndef TARE_JOINED
#define TARE_JOINED_(a, b) a##_##b
#define TARE_JOINED(a, b) TARE_JOINED_(a, b)
#endif
#ifndef TABLE
#define TABLE declared
#endif

// The table SYMBOL of an array of columns: its id, title, what a row is, what the page says without
// rows (NULL: nothing), how many rows there are and where the one `index` is, over `as`; more
// members can follow.
#ifndef TARE_TABLE
#define TARE_TABLE(linkage, symbol, name, heading, sentence, without, type, as, how_many, which,   \
                   list, ...)                                                                      \
	static size_t symbol##_count(const void *source)                                           \
	{                                                                                          \
		const type *as = source;                                                           \
		(void)as;                                                                          \
		return how_many;                                                                   \
	}                                                                                          \
	static const void *symbol##_row(const void *source, size_t index)                          \
	{                                                                                          \
		const type *as = source;                                                           \
		(void)as, (void)index;                                                             \
		return which;                                                                      \
	}                                                                                          \
	linkage const struct tare_table symbol = { .id = name,                                     \
		                                   .title = heading,                               \
		                                   .doc = sentence,                                \
		                                   .nothing = without,                             \
		                                   .columns = list,                                \
		                                   .column_count = sizeof(list) / sizeof *(list),  \
		                                   .count = symbol##_count,                        \
		                                   .row = symbol##_row,                            \
		                                   __VA_ARGS__ }
// TABLE_table, for a column that is a table itself: of the SOURCE and the TABLE_columns just made.
// Its rows are `how_many` of an array from `first` on.
#define TARE_ROWS(table, name, heading, sentence, how_many, first, ...)                            \
	TARE_TABLE(static, table##_table, name, heading, sentence, NULL, SOURCE, SOURCE_NAME,      \
	           how_many, &(first)[index], table##_columns, __VA_ARGS__)
#endif

#define TARE_COLUMN_OF                                                                             \
	const SOURCE *SOURCE_NAME = source;                                                        \
	const ROW *row = one;                                                                      \
	(void)SOURCE_NAME, (void)row;

#define COLUMN(identity, heading, kind, expression, sentence, ...)                                 \
	static struct tare_cell_value TARE_JOINED(TABLE, identity)(const void *source,             \
	                                                           const void *one)                \
	{                                                                                          \
		TARE_COLUMN_OF                                                                     \
		return expression;                                                                 \
	}
#define WITHIN(identity, stands, table, expression, sentence, ...)                                 \
	COLUMN(identity, "", NESTED, expression, sentence)
#define COLUMNS_BY(identity, count, heading, kind, expression, sentence, ...)                      \
	static size_t TARE_JOINED(TABLE, identity##_times)(const void *source)                     \
	{                                                                                          \
		const SOURCE *SOURCE_NAME = source;                                                \
		(void)SOURCE_NAME;                                                                 \
		return count;                                                                      \
	}                                                                                          \
	static const char *TARE_JOINED(TABLE, identity##_title)(const void *source, size_t at,     \
	                                                        char *text)                        \
	{                                                                                          \
		const SOURCE *SOURCE_NAME = source;                                                \
		(void)SOURCE_NAME, (void)at, (void)text;                                           \
		return heading;                                                                    \
	}                                                                                          \
	static struct tare_cell_value TARE_JOINED(TABLE, identity)(const void *source,             \
	                                                           const void *one, size_t at)     \
	{                                                                                          \
		(void)at;                                                                          \
		TARE_COLUMN_OF                                                                     \
		return expression;                                                                 \
	}
#include COLUMNS
#undef COLUMN
#undef COLUMNS_BY
#undef WITHIN

#define COLUMN(identity, heading, kind, expression, sentence, ...)                                 \
	{ .id = #identity,                                                                         \
	  .title = heading,                                                                        \
	  .shown = TARE_SHOWN_##kind,                                                              \
	  .doc = sentence,                                                                         \
	  .value = TARE_JOINED(TABLE, identity),                                                   \
	  __VA_ARGS__ },
#define WITHIN(identity, stands, table, expression, sentence, ...)                                 \
	COLUMN(identity, "", NESTED, expression, sentence, .of = table, .as = TARE_AS_##stands,    \
	       __VA_ARGS__)
#define COLUMNS_BY(identity, count, heading, kind, expression, sentence, ...)                      \
	{ .id = #identity,                                                                         \
	  .title = "",                                                                             \
	  .shown = TARE_SHOWN_##kind,                                                              \
	  .doc = sentence,                                                                         \
	  .times = TARE_JOINED(TABLE, identity##_times),                                           \
	  .title_at = TARE_JOINED(TABLE, identity##_title),                                        \
	  .value_at = TARE_JOINED(TABLE, identity),                                                \
	  __VA_ARGS__ },
static const struct tare_column TARE_JOINED(TABLE, columns)[] = {
#include COLUMNS
};
#undef COLUMN
#undef COLUMNS_BY
#undef WITHIN
#undef COLUMNS
#undef ROW
#undef TABLE
