// SPDX-License-Identifier: Apache-2.0
#include "report/core/table_html.h"

#include <stdlib.h>

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

// The rows of a part, and which columns people see.
struct shown {
	const struct tare_table *table;
	const void *source;
	unsigned on;
	const void **rows;
	size_t row_count;
};

static bool is_seen(const struct shown *shown, const struct tare_column *column)
{
	return column->on & shown->on &&
	       tare_column_is_seen(column, shown->source, shown->rows, shown->row_count);
}

static void write_head(const struct tare_column *column, FILE *file)
{
	fputs(is_of_text(column) ? "<th class=\"l\">" : "<th>", file);
	tare_html_text(column->title, file);
	if (column->flags & TARE_BARRED)
		fputs("<th>", file);
}

static void write_rows(const struct shown *shown, const struct tare_column *const *columns,
                       size_t count, FILE *file)
{
	fputs("<table><tr>", file);
	for (size_t c = 0; c < count; c++)
		write_head(columns[c], file);
	for (size_t i = 0; i < shown->row_count; i++) {
		fputs("\n<tr>", file);
		for (size_t c = 0; c < count; c++)
			write_cell(shown->table, shown->source, columns[c], shown->rows[i], file);
	}
	fputs("\n</table>\n", file);
}

static void find_rows(struct shown *shown, const struct tare_table_part *part, size_t count)
{
	for (size_t i = 0;
	     i < count && (part->rows || !part->most || shown->row_count < part->most); i++) {
		const void *row = part->rows ? part->rows[i] : shown->table->row(shown->source, i);
		if (tare_table_part_keeps(shown->table, part, shown->source, row))
			shown->rows[shown->row_count++] = row;
	}
}

void tare_table_html(const struct tare_table *table, const void *source,
                     const struct tare_table_part *part, FILE *file)
{
	size_t count = part->rows ? part->most : table->count(source), columns = 0;
	struct shown shown = { table, source, part->on, calloc(count + 1, sizeof *shown.rows), 0 };
	const struct tare_column **seen = calloc(table->column_count, sizeof(void *));

	if (shown.rows && seen) {
		find_rows(&shown, part, count);
		for (size_t c = 0; c < table->column_count; c++)
			if (is_seen(&shown, &table->columns[c]))
				seen[columns++] = &table->columns[c];
		if (shown.row_count)
			write_rows(&shown, seen, columns, file);
	} else {
		fputs("<p>A table is missing: out of memory.</p>\n", file);
	}
	free(shown.rows);
	free(seen);
}

// ---- lines of code

enum { HEATS = 10 };

int tare_html_heat(uint64_t part, uint64_t whole)
{
	uint64_t heat = whole ? (uint64_t)((double)HEATS * (double)part / (double)whole) : 0;

	return !part ? -1 : heat < HEATS ? (int)heat : HEATS - 1;
}

void tare_html_code_line(int heat, const char *id, FILE *file)
{
	fputs("<div", file);
	if (id[0])
		fprintf(file, " id=\"%s\"", id);
	if (heat >= 0)
		fprintf(file, " class=\"h%d\"", heat);
	fputc('>', file);
}

void tare_html_summary(int heat, FILE *file)
{
	fputs("<summary", file);
	if (heat >= 0)
		fprintf(file, " class=\"h%d\"", heat);
	fputc('>', file);
}
