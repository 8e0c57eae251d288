// SPDX-License-Identifier: Apache-2.0
// The document is gone through once for each table. Rows are numbered as they come, so that a row
// has the same number each time.
#include "export/document_rows.h"

#include "export/declared.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// More than any document has: of columns, of ways to a table or value, and of names.
enum { MOST_COLUMNS = 160, MOST_WAY = 12, NAME = 96 };

// A column, and the objects that lead to it from its row.
struct leaf {
	const struct tare_column *way[MOST_WAY];
	size_t depth;
};

// A table: the columns that lead to its rows from the document's, and what its rows have.
struct flat {
	const struct tare_column *way[MOST_WAY];
	size_t depth;
	char name[NAME];
	char names[MOST_COLUMNS][NAME];
	struct export_column columns[MOST_COLUMNS];
	struct leaf leaves[MOST_COLUMNS]; // of columns that are no numbers of rows
	size_t column_count, leaf_count;
	bool numbered, parented, placed; // begins with `row`, `parent`, `position`
};

struct document_walk {
	struct rows *rows;
	const struct tare_export_document *document;
	const struct flat *flat;
	int64_t numbers[MOST_WAY + 1]; // of the last row, by how many lists it is in
};

// ---- what there is

static const struct tare_table *table_of(const struct tare_export_document *document,
                                         const struct flat *flat)
{
	return flat->depth ? flat->way[flat->depth - 1]->of : document->table;
}

static enum tare_nested_as as_of(const struct flat *flat)
{
	return flat->depth ? flat->way[flat->depth - 1]->as : TARE_AS_OBJECT;
}

static bool is_nested(const struct tare_column *column)
{
	return column->shown == TARE_SHOWN_NESTED;
}

static bool is_left_out(const struct tare_column *column)
{
	return column->flags & TARE_DRAWN || column->times ||
	       (is_nested(column) ? !column->of
	                          : tare_shown_stored(column->shown) == TARE_STORED_NOT);
}

static void add_column(struct flat *flat, const char *prefix, const char *id, enum export_type type)
{
	char *name = flat->names[flat->column_count];

	snprintf(name, NAME, "%s%s%s", prefix, prefix[0] ? "_" : "", id);
	flat->columns[flat->column_count++] = (struct export_column){ name, type };
}

// The columns of a table, and of objects in its rows, which `leaf` leads to.
static void add_leaves(struct flat *flat, const struct tare_table *table, const char *prefix,
                       struct leaf leaf)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const struct tare_column *column = &table->columns[i];
		struct leaf next = leaf;
		char name[NAME];
		if (is_left_out(column) || leaf.depth == MOST_WAY ||
		    flat->column_count == MOST_COLUMNS)
			continue;
		next.way[next.depth++] = column;
		snprintf(name, sizeof name, "%s%s%s", prefix, prefix[0] ? "_" : "", column->id);
		if (!is_nested(column)) {
			flat->leaves[flat->leaf_count++] = next;
			add_column(flat, prefix, as_of(flat) == TARE_AS_LIST ? "value" : column->id,
			           export_type_of(column));
		} else if (column->as == TARE_AS_OBJECT) {
			add_leaves(flat, column->of, name, next);
		}
	}
}

// The flat table that `way` leads to; malloc, NULL without memory.
static struct flat *flat_make(const struct tare_export_document *document,
                              const struct tare_column *const *way, size_t depth)
{
	struct flat *flat = calloc(1, sizeof *flat);
	size_t used = 0;

	if (!flat)
		return NULL;
	memcpy(flat->way, way, depth * sizeof *way);
	flat->depth = depth;
	for (size_t i = 0; i < depth; i++)
		used += (size_t)snprintf(flat->name + used, used < NAME ? NAME - used : 0, "%s%s",
		                         i ? "_" : "", way[i]->id);
	if (!depth)
		snprintf(flat->name, NAME, "%s", document->name);
	enum tare_nested_as as = as_of(flat);
	flat->numbered = as == TARE_AS_ROWS || !depth;
	flat->parented = depth > 0;
	flat->placed = as == TARE_AS_LIST;
	if (flat->numbered)
		add_column(flat, "", "row", EXPORT_INTEGER);
	if (flat->parented)
		add_column(flat, "", "parent", EXPORT_INTEGER);
	if (flat->placed)
		add_column(flat, "", "position", EXPORT_INTEGER);
	add_leaves(flat, table_of(document, flat), "", (struct leaf){ .depth = 0 });
	return flat;
}

// ---- rows

static void put_leaf(struct rows *rows, const struct leaf *leaf, const void *source,
                     const void *row, char text[EXPORT_VALUE_TEXT])
{
	struct tare_cell_value value = tare_absent(TARE_NOT_KNOWN);

	for (size_t i = 0; i < leaf->depth; i++) {
		const struct tare_column *column = leaf->way[i];
		value = tare_column_value(column, source, row);
		if (!is_nested(column))
			break;
		if (value.is != TARE_IS_NESTED || !column->of->count(value.nested)) {
			rows_null(rows);
			return;
		}
		source = value.nested;
		row = column->of->row(source, 0);
	}
	export_put_value(rows, leaf->way[leaf->depth - 1], &value, text);
}

// `level`: how many lists the row is in.
static void put_row(struct document_walk *walk, const void *source, const void *row, size_t level,
                    size_t position)
{
	const struct flat *flat = walk->flat;
	char texts[MOST_COLUMNS][EXPORT_VALUE_TEXT];

	if (flat->numbered)
		rows_integer(walk->rows, walk->numbers[level]);
	if (flat->parented)
		rows_integer(walk->rows, walk->numbers[level - 1]);
	if (flat->placed)
		rows_integer(walk->rows, (int64_t)position);
	for (size_t i = 0; i < flat->leaf_count; i++)
		put_leaf(walk->rows, &flat->leaves[i], source, row, texts[i]);
	rows_end(walk->rows);
}

// A pair of a map that has no value, and that the JSON has not either.
static bool has_no_value(const struct tare_table *table, enum tare_nested_as as, const void *source,
                         const void *row)
{
	const struct tare_column *value = &table->columns[1];

	return as == TARE_AS_MAP && value->flags & TARE_LEFT_OUT &&
	       tare_column_value(value, source, row).is == TARE_IS_ABSENT;
}

// Goes through the rows of a table to those that the way from `step` on leads to.
static void go(struct document_walk *walk, const struct tare_table *table, const void *source,
               enum tare_nested_as as, size_t step, size_t level)
{
	size_t count = table->count(source), position = 0;

	for (size_t i = 0; i < count && walk->rows->status == 0; i++) {
		const void *row = table->row(source, i);
		if ((table->keep && !table->keep(source, row)) ||
		    has_no_value(table, as, source, row))
			continue;
		if (as != TARE_AS_OBJECT || !level)
			walk->numbers[level]++;
		if (step == walk->flat->depth) {
			put_row(walk, source, row, level, position++);
			continue;
		}
		const struct tare_column *column = walk->flat->way[step];
		struct tare_cell_value value = tare_column_value(column, source, row);
		if (value.is == TARE_IS_NESTED)
			go(walk, column->of, value.nested, column->as, step + 1,
			   level + (column->as != TARE_AS_OBJECT));
		if (as == TARE_AS_OBJECT)
			return;
	}
}

static void write_flat(struct document_walk *walk)
{
	const struct flat *flat = walk->flat;
	const struct export_table table = { .name = flat->name,
		                            .columns = flat->columns,
		                            .column_count = flat->column_count,
		                            .keyed = flat->numbered };
	struct rows *rows = walk->rows;

	memset(walk->numbers, 0, sizeof walk->numbers);
	rows->table = &table;
	rows_keep(rows, rows->sink->begin(rows->context, &table));
	if (rows->status == 0)
		go(walk, walk->document->table, walk->document->source, TARE_AS_OBJECT, 0, 0);
	if (rows->status == 0)
		rows_keep(rows, rows->sink->end(rows->context));
}

// The table that `way` leads to, and those in its rows.
static void write_from(struct document_walk *walk, const struct tare_table *table,
                       enum tare_nested_as as, const struct tare_column **way, size_t depth)
{
	if (as != TARE_AS_OBJECT || !depth) {
		struct flat *flat = flat_make(walk->document, way, depth);
		walk->flat = flat;
		if (flat)
			write_flat(walk);
		else
			rows_keep(walk->rows, -ENOMEM);
		free(flat);
	}
	for (size_t i = 0; i < table->column_count && walk->rows->status == 0; i++) {
		const struct tare_column *column = &table->columns[i];
		if (is_left_out(column) || !is_nested(column) || depth == MOST_WAY)
			continue;
		way[depth] = column;
		write_from(walk, column->of, column->as, way, depth + 1);
	}
}

int export_document_rows(const struct tare_export_document *document,
                         const struct export_sink *sink, void *context,
                         struct tare_export_counts *counts)
{
	const struct tare_column *way[MOST_WAY];
	struct rows rows = { .sink = sink, .context = context, .counts = counts };
	struct document_walk walk = { .rows = &rows, .document = document };

	*counts = (struct tare_export_counts){ 0 };
	write_from(&walk, document->table, TARE_AS_OBJECT, way, 0);
	return rows.status;
}
