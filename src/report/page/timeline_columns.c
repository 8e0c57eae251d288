// SPDX-License-Identifier: Apache-2.0
// How columns are stored: docs/page-run.md, "Columns".
#include "report/page/timeline.h"

#include <string.h>

// What the page's numbers hold exactly.
#define MOST_MAGNITUDE (INT64_C(1) << 53)
enum { NUMBER_BYTES = 8, UNKNOWN = 1, PIECE_BYTES = 4096 };
// Such a number takes a byte, and so does the difference of two.
#define SMALL 64
// Rows whose values are asked for at once: those of all columns stay in the nearest cache.
enum { BLOCK_ROWS = 128 };

static inline bool is_storable(int64_t value)
{
	return (uint64_t)value + MOST_MAGNITUDE <= 2 * (uint64_t)MOST_MAGNITUDE;
}

static inline size_t put_integer(int64_t value, unsigned char *bytes)
{
	uint64_t magnitude = value < 0 ? (uint64_t)-value : (uint64_t)value;
	uint64_t rest = magnitude >> 6;
	size_t count = 0;

	if (!rest) {
		bytes[0] = (unsigned char)(magnitude << 1 | (value < 0));
		return 1;
	}
	bytes[count++] = (unsigned char)((magnitude & 63) << 1 | (value < 0) | 0x80);
	for (; rest; rest >>= 7)
		bytes[count++] = (unsigned char)((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
	return count;
}

// How many bytes put_integer makes of it.
static inline size_t integer_bytes(int64_t value)
{
	uint64_t magnitude = value < 0 ? (uint64_t)-value : (uint64_t)value;

	// 6 bits in the first byte, 7 in each other. Of numbers up to 71, times 37 / 256 is a
	// seventh.
	return (8 + (63U ^ (unsigned)__builtin_clzll(magnitude | 1))) * 37 >> 8;
}

// The values less those of the column they are relative to, NULL: none; TARE_NO_TIME where one is
// not known, or too large.
static void make_relative(int64_t *values, const int64_t *bases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int64_t base = bases ? bases[i] : 0;
		bool known =
		    is_storable(values[i]) && is_storable(base) && is_storable(values[i] - base);
		values[i] = known ? values[i] - base : TARE_NO_TIME;
	}
}

// What is stored of a value in a delta column; false: not known, or too large.
static inline bool step(int64_t value, int64_t *previous, int64_t *delta)
{
	if (value == TARE_NO_TIME)
		return false;
	*delta = value - *previous;
	if (!is_storable(*delta))
		return false;
	*previous = value;
	return true;
}

// The values of a column in some rows that follow each other; behind the last the first again.
struct block {
	size_t count;
	bool constant; // all are the first, as most columns have it for long
	bool small;    // and their differences: those that are known take a byte
	int64_t values[BLOCK_ROWS];
};

// The bits that any of them has: the highest where one is negative, or not known.
static uint64_t bits_of(const int64_t values[BLOCK_ROWS])
{
	uint64_t bits = 0;

	for (size_t i = 0; i < BLOCK_ROWS; i++)
		bits |= (uint64_t)values[i];
	return bits;
}

static bool are_small(const int64_t values[BLOCK_ROWS])
{
	uint64_t bits = 0;

	for (size_t i = 0; i < BLOCK_ROWS; i++)
		bits |= values[i] == TARE_NO_TIME ? 0 : (uint64_t)values[i];
	return bits < SMALL;
}

static bool are_the_same(const int64_t values[BLOCK_ROWS])
{
	int64_t differing = 0;

	if (values[0] != values[1] || values[0] != values[BLOCK_ROWS - 1])
		return false;
	for (size_t i = 0; i < BLOCK_ROWS; i++)
		differing |= values[i] ^ values[0];
	return differing == 0;
}

static void fill(int64_t values[BLOCK_ROWS], size_t count)
{
	for (size_t i = count; i < BLOCK_ROWS; i++)
		values[i] = values[0];
}

// Of as many rows as there are from `row` on, or fit.
static void read_block(const struct timeline *timeline, const struct timeline_column *column,
                       size_t row, size_t rows, struct block *block)
{
	int64_t bases[BLOCK_ROWS];
	bool relative = column->relative_to != NULL;
	uint64_t bits;

	block->count = rows - row < BLOCK_ROWS ? rows - row : BLOCK_ROWS;
	column->values(timeline, row, block->count, block->values, bases);
	fill(block->values, block->count);
	block->small = block->constant = false;
	if (column->byte)
		return;
	block->constant =
	    are_the_same(block->values) && (!relative || block->values[0] == TARE_NO_TIME);
	if (block->constant) {
		make_relative(block->values, NULL, 1);
		return;
	}
	bits = bits_of(block->values);
	if (relative) {
		fill(bases, block->count);
		bits |= bits_of(bases);
	}
	if (bits >= (uint64_t)MOST_MAGNITUDE) {
		make_relative(block->values, relative ? bases : NULL, BLOCK_ROWS);
		block->small = are_small(block->values);
		return;
	}
	for (size_t i = 0; i < BLOCK_ROWS && relative; i++)
		block->values[i] -= bases[i];
	block->small = !relative && bits < SMALL;
}

// How many bytes a column takes as either type.
struct measured {
	uint64_t plain_bytes, delta_bytes;
	int64_t previous;
};

static void measure(struct measured *measured, const struct block *block)
{
	const int64_t *values = block->values;
	int64_t previous = measured->previous, delta;
	uint64_t plain_bytes = 0, delta_bytes = 0;
	size_t count = block->constant ? 1 : block->count;

	// One that is not known takes a byte.
	if (block->small && previous >= 0 && previous < SMALL) {
		size_t known = block->count;
		while (known > 0 && values[known - 1] == TARE_NO_TIME)
			known--;
		measured->plain_bytes += block->count;
		measured->delta_bytes += block->count;
		measured->previous = known > 0 ? values[known - 1] : previous;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		plain_bytes += values[i] != TARE_NO_TIME ? integer_bytes(values[i]) : 1;
		delta_bytes += step(values[i], &previous, &delta) ? integer_bytes(delta) : 1;
	}
	// As a difference the same again is 0.
	if (block->constant) {
		plain_bytes *= block->count;
		delta_bytes += block->count - 1;
	}
	measured->plain_bytes += plain_bytes;
	measured->delta_bytes += delta_bytes;
	measured->previous = previous;
}

// Measures all columns of integers of a table, some rows of all of them at a time: the rows are
// read once so.
static void measure_table(const struct timeline *timeline, const struct timeline_table *table,
                          size_t rows, struct measured measured[TIMELINE_COLUMNS])
{
	struct block block;

	for (size_t row = 0; row < rows; row += BLOCK_ROWS)
		for (size_t c = 0; c < TIMELINE_COLUMNS && table->columns[c].name; c++) {
			if (table->columns[c].byte)
				continue;
			read_block(timeline, &table->columns[c], row, rows, &block);
			measure(&measured[c], &block);
		}
}

uint64_t timeline_lay_out(const struct timeline *timeline, timeline_layouts layouts)
{
	uint64_t offset = 0;

	for (size_t t = 0; t < TIMELINE_TABLES; t++) {
		const struct timeline_table *table = &timeline_tables[t];
		struct measured measured[TIMELINE_COLUMNS] = { 0 };
		size_t count = table->count(timeline);
		measure_table(timeline, table, count, measured);
		for (size_t c = 0; c < TIMELINE_COLUMNS && table->columns[c].name; c++) {
			struct timeline_layout *layout = &layouts[t][c];
			uint64_t plain_bytes = measured[c].plain_bytes,
			         delta_bytes = measured[c].delta_bytes;
			*layout = (struct timeline_layout){ .offset = offset, .count = count };
			if (table->columns[c].byte) {
				layout->bytes = count;
			} else {
				bool delta = delta_bytes < plain_bytes;
				layout->type = delta ? TIMELINE_DELTA : TIMELINE_VARINT;
				layout->bytes = delta ? delta_bytes : plain_bytes;
			}
			offset += layout->bytes;
		}
	}
	return offset;
}

// What is to be given on.
struct piece {
	bool (*take)(void *context, const void *bytes, size_t count);
	void *context;
	size_t used;
	unsigned char bytes[PIECE_BYTES];
};

// Gives it on where there is no room for another block; false: to stop.
static inline bool give_full(struct piece *piece)
{
	if (piece->used + BLOCK_ROWS * NUMBER_BYTES < PIECE_BYTES)
		return true;
	bool more = piece->take(piece->context, piece->bytes, piece->used);
	piece->used = 0;
	return more;
}

static void put_same(struct piece *piece, unsigned char byte, size_t count)
{
	memset(piece->bytes + piece->used, byte, count);
	piece->used += count;
}

// Of a block that there is room for.
static void put_bytes(struct piece *piece, const struct block *block)
{
	unsigned char *bytes = piece->bytes + piece->used;

	for (size_t i = 0; i < block->count; i++)
		bytes[i] = (unsigned char)block->values[i];
	piece->used += block->count;
}

// Behind what was put.
static inline unsigned char *put_number(unsigned char *bytes, bool known, int64_t value)
{
	if (known)
		return bytes + put_integer(value, bytes);
	*bytes = UNKNOWN;
	return bytes + 1;
}

// The same number in all rows of a block: as a difference it is one, and then 0.
static void put_constant(struct piece *piece, const struct block *block, bool delta,
                         int64_t *previous)
{
	int64_t value = block->values[0];

	for (size_t i = 0; i < block->count; i++) {
		bool known = delta ? step(block->values[0], previous, &value)
		                   : block->values[0] != TARE_NO_TIME;
		if ((!known || integer_bytes(value) == 1) && (!delta || i > 0)) {
			unsigned char byte = UNKNOWN;
			if (known)
				put_integer(value, &byte);
			put_same(piece, byte, block->count - i);
			return;
		}
		piece->used =
		    (size_t)(put_number(piece->bytes + piece->used, known, value) - piece->bytes);
	}
}

static void put_small(struct piece *piece, const struct block *block)
{
	unsigned char *bytes = piece->bytes + piece->used;

	for (size_t i = 0; i < block->count; i++)
		bytes[i] = block->values[i] == TARE_NO_TIME
		               ? UNKNOWN
		               : (unsigned char)(block->values[i] << 1);
	piece->used += block->count;
}

// Of a block that there is room for. *previous: of the rows before; a delta column goes on from
// there.
static void put_integers(struct piece *piece, const struct block *block, bool delta,
                         int64_t *previous)
{
	if (block->constant) {
		put_constant(piece, block, delta, previous);
		return;
	}
	if (block->small && !delta) {
		put_small(piece, block);
		return;
	}
	unsigned char *bytes = piece->bytes + piece->used;
	for (size_t i = 0; i < block->count; i++) {
		int64_t value = block->values[i];
		bool known = delta ? step(value, previous, &value) : value != TARE_NO_TIME;
		bytes = put_number(bytes, known, value);
	}
	piece->used = (size_t)(bytes - piece->bytes);
}

static bool write_column(const struct timeline *timeline, const struct timeline_column *column,
                         const struct timeline_layout *layout, struct piece *piece)
{
	struct block block;
	int64_t previous = 0;
	bool more = true;

	for (size_t row = 0; row < layout->count && more; row += BLOCK_ROWS) {
		read_block(timeline, column, row, layout->count, &block);
		if (column->byte)
			put_bytes(piece, &block);
		else
			put_integers(piece, &block, layout->type == TIMELINE_DELTA, &previous);
		more = give_full(piece);
	}
	if (more)
		more = piece->take(piece->context, piece->bytes, piece->used);
	piece->used = 0;
	return more;
}

void timeline_columns_write(const struct timeline *timeline, const timeline_layouts layouts,
                            bool (*take)(void *context, const void *bytes, size_t count),
                            void *context)
{
	struct piece piece = { .take = take, .context = context };

	for (size_t t = 0; t < TIMELINE_TABLES; t++) {
		const struct timeline_table *table = &timeline_tables[t];
		for (size_t c = 0; c < TIMELINE_COLUMNS && table->columns[c].name; c++)
			if (!write_column(timeline, &table->columns[c], &layouts[t][c], &piece))
				return;
	}
}
