// SPDX-License-Identifier: Apache-2.0
#include "report/core/table_csv.h"

#include "result/number.h"

#include <inttypes.h>
#include <string.h>

static void begin_field(struct tare_csv_row *row)
{
	if (row->begun)
		fputc(',', row->file);
	row->begun = true;
}

void tare_csv_put_text(struct tare_csv_row *row, const char *text)
{
	begin_field(row);
	if (!text)
		return;
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, row->file);
		return;
	}
	fputc('"', row->file);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', row->file);
		fputc(*text, row->file);
	}
	fputc('"', row->file);
}

void tare_csv_put_integer(struct tare_csv_row *row, int64_t value)
{
	begin_field(row);
	fprintf(row->file, "%" PRId64, value);
}

void tare_csv_put_number(struct tare_csv_row *row, double value)
{
	char text[TARE_NUMBER_TEXT];

	begin_field(row);
	if (isfinite(value))
		fputs(tare_number_text(value, text), row->file);
}

void tare_csv_end(struct tare_csv_row *row)
{
	fputs("\r\n", row->file);
	row->begun = false;
}

static size_t times_of(const struct tare_column *column, const void *source, unsigned on)
{
	if (on && !(column->on & on))
		return 0;
	return column->times ? column->times(source) : 1;
}

void tare_csv_put_ids(struct tare_csv_row *row, const struct tare_table *table, const void *source,
                      unsigned on)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const struct tare_column *column = &table->columns[i];
		char title[64];
		for (size_t at = 0; at < times_of(column, source, on); at++)
			tare_csv_put_text(row, column->times ? column->title_at(source, at, title)
			                                     : column->id);
	}
	tare_csv_end(row);
}

static void put_value(struct tare_csv_row *row, const struct tare_cell_value *value)
{
	switch (value->is) {
	case TARE_IS_INTEGER:
		tare_csv_put_integer(row, value->integer);
		break;
	case TARE_IS_NUMBER:
		tare_csv_put_number(row, value->number);
		break;
	case TARE_IS_TRUTH:
		tare_csv_put_text(row, value->truth ? "true" : "false");
		break;
	default:
		tare_csv_put_text(row, value->is == TARE_IS_TEXT ? value->text : NULL);
	}
}

void tare_csv_put_values(struct tare_csv_row *row, const struct tare_table *table,
                         const void *source, const void *of, unsigned on)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const struct tare_column *column = &table->columns[i];
		for (size_t at = 0; at < times_of(column, source, on); at++) {
			struct tare_cell_value value = tare_column_value_at(column, source, of, at);
			put_value(row, &value);
		}
	}
}

void tare_csv_put_rows(FILE *file, const struct tare_table *table, const void *source,
                       const struct tare_table_part *part)
{
	struct tare_csv_row row = { .file = file };

	for (size_t i = 0; i < table->count(source); i++) {
		const void *of = table->row(source, i);
		if (!tare_table_part_keeps(table, part, source, of))
			continue;
		tare_csv_put_values(&row, table, source, of, part->on);
		tare_csv_end(&row);
	}
}
