// SPDX-License-Identifier: Apache-2.0
// How columns are stored: docs/page-run.md, "Columns".
#include "report/page/timeline.h"

#include <string.h>

// What the page's numbers hold exactly.
#define MOST_MAGNITUDE (INT64_C(1) << 53)
enum { NUMBER_BYTES = 8, UNKNOWN = 1, PIECE_BYTES = 4096 };

static bool is_storable(int64_t value)
{
	return value >= -MOST_MAGNITUDE && value <= MOST_MAGNITUDE;
}

static size_t put_integer(int64_t value, unsigned char bytes[NUMBER_BYTES])
{
	uint64_t magnitude = value < 0 ? (uint64_t)-value : (uint64_t)value;
	uint64_t rest = magnitude >> 6;
	size_t count = 0;

	bytes[count++] = (unsigned char)((magnitude & 63) << 1 | (value < 0) | (rest ? 0x80 : 0));
	for (; rest; rest >>= 7)
		bytes[count++] = (unsigned char)((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
	return count;
}

// How many bytes put_integer makes of it.
static size_t integer_bytes(int64_t value)
{
	uint64_t magnitude = value < 0 ? (uint64_t)-value : (uint64_t)value;
	uint64_t rest = magnitude >> 6;

	return rest ? 1 + (size_t)(64 - __builtin_clzll(rest) + 6) / 7 : 1;
}

static const struct timeline_column *column_named(const struct timeline_table *table,
                                                  const char *name)
{
	const struct timeline_column *column = table->columns;

	while (strcmp(column->name, name) != 0)
		column++;
	return column;
}

// Goes along a column of integers.
struct walk {
	const struct timeline *timeline;
	const struct timeline_column *column, *base;
	int64_t previous;
};

static struct walk walk_begin(const struct timeline *timeline, const struct timeline_table *table,
                              const struct timeline_column *column)
{
	return (struct walk){ timeline, column,
		              column->relative_to ? column_named(table, column->relative_to) : NULL,
		              0 };
}

// The value of a row less that of the column it is relative to; false: not known, or too large.
static bool walk_value(const struct walk *walk, size_t row, int64_t *value)
{
	int64_t base = 0;

	*value = walk->column->value(walk->timeline, row);
	if (walk->base)
		base = walk->base->value(walk->timeline, row);
	if (!is_storable(*value) || !is_storable(base))
		return false;
	*value -= base;
	return is_storable(*value);
}

// What is stored of it in a delta column; false: too large.
static bool walk_step(struct walk *walk, int64_t value, int64_t *delta)
{
	*delta = value - walk->previous;
	if (!is_storable(*delta))
		return false;
	walk->previous = value;
	return true;
}

// How many bytes a row takes in a column of a type, with them.
static size_t put_row(struct walk *walk, enum timeline_type type, size_t row,
                      unsigned char bytes[NUMBER_BYTES])
{
	int64_t value;
	bool known = walk_value(walk, row, &value);

	if (known && type == TIMELINE_DELTA)
		known = walk_step(walk, value, &value);
	if (known)
		return put_integer(value, bytes);
	bytes[0] = UNKNOWN;
	return 1;
}

static void lay_out_integers(const struct timeline *timeline, const struct timeline_table *table,
                             const struct timeline_column *column, struct timeline_layout *layout)
{
	struct walk walk = walk_begin(timeline, table, column);
	uint64_t plain_bytes = 0, delta_bytes = 0;
	int64_t value, delta;

	// One that is not known takes a byte.
	for (size_t row = 0; row < layout->count; row++) {
		bool known = walk_value(&walk, row, &value);
		plain_bytes += known ? integer_bytes(value) : 1;
		delta_bytes += known && walk_step(&walk, value, &delta) ? integer_bytes(delta) : 1;
	}
	layout->type = delta_bytes < plain_bytes ? TIMELINE_DELTA : TIMELINE_VARINT;
	layout->bytes = layout->type == TIMELINE_DELTA ? delta_bytes : plain_bytes;
}

uint64_t timeline_lay_out(const struct timeline *timeline, timeline_layouts layouts)
{
	uint64_t offset = 0;

	for (size_t t = 0; t < TIMELINE_TABLES; t++) {
		const struct timeline_table *table = &timeline_tables[t];
		for (size_t c = 0; c < TIMELINE_COLUMNS && table->columns[c].name; c++) {
			struct timeline_layout *layout = &layouts[t][c];
			*layout = (struct timeline_layout){ .count = table->count(timeline) };
			layout->bytes = layout->count;
			if (!table->columns[c].byte)
				lay_out_integers(timeline, table, &table->columns[c], layout);
			layout->offset = offset;
			offset += layout->bytes;
		}
	}
	return offset;
}

static bool write_column(const struct timeline *timeline, const struct timeline_table *table,
                         const struct timeline_column *column, const struct timeline_layout *layout,
                         bool (*take)(void *context, const void *bytes, size_t count),
                         void *context)
{
	struct walk walk = walk_begin(timeline, table, column);
	unsigned char piece[PIECE_BYTES];
	size_t used = 0;

	for (size_t row = 0; row < layout->count; row++) {
		if (column->byte)
			piece[used++] = (unsigned char)column->value(timeline, row);
		else
			used += put_row(&walk, layout->type, row, piece + used);
		if (used + NUMBER_BYTES < PIECE_BYTES)
			continue;
		if (!take(context, piece, used))
			return false;
		used = 0;
	}
	return take(context, piece, used);
}

void timeline_columns_write(const struct timeline *timeline, const timeline_layouts layouts,
                            bool (*take)(void *context, const void *bytes, size_t count),
                            void *context)
{
	for (size_t t = 0; t < TIMELINE_TABLES; t++) {
		const struct timeline_table *table = &timeline_tables[t];
		for (size_t c = 0; c < TIMELINE_COLUMNS && table->columns[c].name; c++)
			if (!write_column(timeline, table, &table->columns[c], &layouts[t][c], take,
			                  context))
				return;
	}
}
