// SPDX-License-Identifier: Apache-2.0
#include "export/declared.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { MOST_TABLES = 64, MOST_COLUMNS = 64, MOST_TEXT = EXPORT_VALUE_TEXT };

static const struct tare_column *stored(const struct tare_table *table, size_t at)
{
	return tare_shown_stored(table->columns[at].shown) == TARE_STORED_NOT ||
	               table->columns[at].flags & TARE_DRAWN
	           ? NULL
	           : &table->columns[at];
}

// ---- rows

// What the declaration is of.
static const void *source_of(const struct rows *rows)
{
	return rows->table->has ? (const void *)rows : rows->run;
}

static size_t count_declared(const struct rows *rows)
{
	bool there = rows->table->has || rows->run->tables;

	return there ? rows->table->declared->count(source_of(rows)) : 0;
}

// "256x4" of sizes, and a hash in hexadecimal; `text` stays until the row is written.
static void put_words(struct rows *rows, const struct tare_column *column,
                      const struct tare_cell_value *value, char text[MOST_TEXT])
{
	int at = 0;

	if (column->shown == TARE_SHOWN_HASH)
		snprintf(text, MOST_TEXT, "%016" PRIx64, (uint64_t)value->integer);
	for (uint32_t i = 0; value->is == TARE_IS_SIZES && i < value->sizes.dimensions; i++)
		at += snprintf(text + at, MOST_TEXT - (size_t)at, "%s%" PRIu64, i ? "x" : "",
		               value->sizes.at[i]);
	if (value->is == TARE_IS_SIZES && value->sizes.dimensions == 0)
		rows_null(rows);
	else
		rows_text(rows, text);
}

void export_put_value(struct rows *rows, const struct tare_column *column,
                      const struct tare_cell_value *value, char text[EXPORT_VALUE_TEXT])
{
	if (value->is == TARE_IS_ABSENT)
		rows_null(rows);
	else if (value->is == TARE_IS_SIZES || column->shown == TARE_SHOWN_HASH)
		put_words(rows, column, value, text);
	else if (value->is == TARE_IS_INTEGER)
		rows_integer(rows, value->integer);
	else if (value->is == TARE_IS_NUMBER)
		rows_real(rows, value->number);
	else if (value->is == TARE_IS_TRUTH)
		rows_integer(rows, value->truth);
	else
		rows_text(rows, value->text);
}

static void put_declared(struct rows *rows, size_t index)
{
	const struct tare_table *table = rows->table->declared;
	const void *source = source_of(rows), *row = table->row(source, index);
	char texts[MOST_COLUMNS][MOST_TEXT];

	if (rows->table->has && !rows->table->has(rows, row))
		return;
	for (size_t i = 0; i < table->column_count; i++) {
		const struct tare_column *column = stored(table, i);
		struct tare_cell_value value;
		if (!column)
			continue;
		value = tare_column_value(column, source, row);
		export_put_value(rows, column, &value, texts[i]);
	}
	rows_end(rows);
}

// ---- the tables

enum export_type export_type_of(const struct tare_column *column)
{
	switch (tare_shown_stored(column->shown)) {
	case TARE_STORED_INTEGER:
		return EXPORT_INTEGER;
	case TARE_STORED_REAL:
		return EXPORT_REAL;
	default:
		return EXPORT_TEXT;
	}
}

const struct export_table *export_declared_table(size_t slot, const struct tare_table *declared,
                                                 bool (*has)(struct rows *, const void *))
{
	static struct export_column columns[MOST_TABLES][MOST_COLUMNS];
	static struct export_table tables[MOST_TABLES];
	static char names[MOST_TABLES][MOST_TEXT];
	size_t count = 0;

	assert(slot < MOST_TABLES && declared->column_count <= MOST_COLUMNS);
	if (tables[slot].name)
		return &tables[slot];
	for (size_t i = 0; i < declared->column_count; i++)
		if (stored(declared, i))
			columns[slot][count++] =
			    (struct export_column){ declared->columns[i].id,
				                    export_type_of(&declared->columns[i]) };
	snprintf(names[slot], sizeof names[slot], "%s%s", has ? "" : "report_", declared->id);
	tables[slot] = (struct export_table){
		.name = names[slot],
		.columns = columns[slot],
		.column_count = count,
		.keyed = strcmp(declared->columns[0].id, declared->id) == 0,
		.count = count_declared,
		.put = put_declared,
		.declared = declared,
		.has = has,
	};
	return &tables[slot];
}
