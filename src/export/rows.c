// SPDX-License-Identifier: Apache-2.0
#include "export/rows.h"

#include <assert.h>
#include <math.h>

// ---- values

void rows_keep(struct rows *rows, int status)
{
	if (rows->status == 0)
		rows->status = status;
}

// The column that the value is for.
static size_t next(struct rows *rows)
{
	assert(rows->column < rows->table->column_count);
	return rows->column++;
}

void rows_null(struct rows *rows)
{
	rows_keep(rows, rows->sink->null(rows->context, next(rows)));
}

void rows_integer(struct rows *rows, int64_t value)
{
	assert(rows->table->columns[rows->column].type == EXPORT_INTEGER);
	rows_keep(rows, rows->sink->integer(rows->context, next(rows), value));
}

void rows_unsigned(struct rows *rows, uint64_t value)
{
	if (value > INT64_MAX)
		rows_null(rows);
	else
		rows_integer(rows, (int64_t)value);
}

void rows_known(struct rows *rows, uint64_t value)
{
	if (value == 0)
		rows_null(rows);
	else
		rows_unsigned(rows, value);
}

void rows_index(struct rows *rows, uint32_t index, size_t count)
{
	if (index >= count)
		rows_null(rows);
	else
		rows_integer(rows, index);
}

void rows_real(struct rows *rows, double value)
{
	assert(rows->table->columns[rows->column].type == EXPORT_REAL);
	if (isfinite(value))
		rows_keep(rows, rows->sink->real(rows->context, next(rows), value));
	else
		rows_null(rows);
}

void rows_text(struct rows *rows, const char *value)
{
	assert(rows->table->columns[rows->column].type == EXPORT_TEXT);
	if (value)
		rows_keep(rows, rows->sink->text(rows->context, next(rows), value));
	else
		rows_null(rows);
}

void rows_name(struct rows *rows, const char *value)
{
	rows_text(rows, value && value[0] ? value : NULL);
}

void rows_end(struct rows *rows)
{
	assert(rows->column == rows->table->column_count);
	rows->column = 0;
	if (rows->status == 0)
		rows_keep(rows, rows->sink->row(rows->context));
	rows->counts->rows += rows->status == 0;
}
