// SPDX-License-Identifier: Apache-2.0
#include "report/core/table_html.h"

#define BAR_EM 20.0 // of a whole

void tare_html_text(const char *text, FILE *file)
{
	for (; *text; text++) {
		if (*text == '&')
			fputs("&amp;", file);
		else if (*text == '<')
			fputs("&lt;", file);
		else if (*text == '>')
			fputs("&gt;", file);
		else if (*text == '"')
			fputs("&quot;", file);
		else
			fputc(*text, file);
	}
}

static bool is_of_text(const struct tare_column *column)
{
	return column->shown <= TARE_SHOWN_CATEGORY;
}

static void write_cell(const struct tare_table *table, const void *source,
                       const struct tare_column *column, const void *row, FILE *file)
{
	struct tare_cell_value value = tare_column_value(column, source, row);
	char cell[RUN_TEXT];

	fputs(is_of_text(column) ? "<td class=\"l\">" : "<td>", file);
	tare_html_text(tare_table_cell(table, source, column, row, cell), file);
	if (column->mark)
		tare_html_text(column->mark(source, row), file);
	if (column->flags & TARE_BARRED && value.is == TARE_IS_NUMBER)
		fprintf(file, "<td class=\"l\"><span class=\"cost\" style=\"width:%.2fem\"></span>",
		        BAR_EM * value.number);
}

static void write_row(const struct tare_table *table, const void *source, unsigned on,
                      const void *row, FILE *file)
{
	fputs("<tr>", file);
	for (size_t c = 0; c < table->column_count; c++)
		if (table->columns[c].on & on)
			write_cell(table, source, &table->columns[c], row, file);
	fputc('\n', file);
}

static void write_head(const struct tare_table *table, unsigned on, FILE *file)
{
	fputs("<table><tr>", file);
	for (size_t c = 0; c < table->column_count; c++) {
		const struct tare_column *column = &table->columns[c];
		if (!(column->on & on))
			continue;
		fputs(is_of_text(column) ? "<th class=\"l\">" : "<th>", file);
		tare_html_text(column->title, file);
		if (column->flags & TARE_BARRED)
			fputs("<th>", file);
	}
	fputc('\n', file);
}

void tare_table_html(const struct tare_table *table, const void *source,
                     const struct tare_table_part *part, FILE *file)
{
	size_t count = part->rows ? part->most : table->count(source), written = 0;

	for (size_t i = 0; i < count && (part->rows || !part->most || written < part->most); i++) {
		const void *row = part->rows ? part->rows[i] : table->row(source, i);
		if (!tare_table_part_keeps(table, part, source, row))
			continue;
		if (written++ == 0)
			write_head(table, part->on, file);
		write_row(table, source, part->on, row, file);
	}
	if (written)
		fputs("</table>\n", file);
}
