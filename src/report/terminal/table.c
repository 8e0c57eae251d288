// SPDX-License-Identifier: Apache-2.0
// Tables of the text report: libsmartcols where it was built in, tab-separated rows otherwise.
#include "report/terminal/names.h"
#include "report/terminal/write.h"
#include "tare_config.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if TARE_HAVE_TABLES
#include <libsmartcols.h>

struct tare_text_table {
	struct tare_text *text;
	struct libscols_table *table;
	struct libscols_line *line;
	size_t indent, columns, next;
	uint64_t names; // bits of columns with names from the program
	bool titled;
};

struct tare_text_table *tare_text_table_new(struct tare_text *text, size_t indent)
{
	struct tare_text_table *table = calloc(1, sizeof *table);

	if (table)
		table->table = scols_new_table();
	if (!table || !table->table) {
		free(table);
		text->failed = true;
		return NULL;
	}
	table->text = text;
	table->indent = indent;
	scols_table_enable_colors(table->table, text->options->colour);
	scols_table_enable_nolinesep(table->table, 0);
	scols_table_set_stream(table->table, text->file);
	scols_table_set_termforce(table->table, SCOLS_TERMFORCE_ALWAYS);
	scols_table_set_termwidth(table->table, text->options->columns - indent);
	return table;
}

void tare_text_table_free(struct tare_text_table *table)
{
	if (!table)
		return;
	scols_unref_table(table->table);
	free(table);
}

void tare_text_column(struct tare_text_table *table, const char *title, unsigned flags)
{
	struct libscols_column *column;
	int native = 0;
	char *clean;

	if (!table)
		return;
	native |= flags & TARE_COLUMN_RIGHT ? SCOLS_FL_RIGHT : 0;
	native |= flags & TARE_COLUMN_CUT ? SCOLS_FL_TRUNC : 0;
	clean = tare_text_clean(table->text, title);
	column = clean ? scols_table_new_column(table->table, clean, 0, native) : NULL;
	if (!column)
		table->text->failed = true;
	else if (table->text->options->colour)
		scols_cell_set_color(scols_column_get_header(column), "\033[1m");
	if (flags & TARE_COLUMN_NAMES && table->columns < 64)
		table->names |= UINT64_C(1) << table->columns;
	table->columns++;
	table->titled |= title[0] != '\0';
	free(clean);
}

void tare_text_row(struct tare_text_table *table, enum tare_text_style style)
{
	if (!table)
		return;
	table->line = scols_table_new_line(table->table, NULL);
	table->next = 0;
	if (!table->line)
		table->text->failed = true;
	else if (table->text->options->colour && style == TARE_STYLE_FAINT)
		scols_line_set_color(table->line, "\033[2m");
	else if (table->text->options->colour && style == TARE_STYLE_WARNING)
		scols_line_set_color(table->line, "\033[33m");
}

void tare_text_cell(struct tare_text_table *table, const char *format, ...)
{
	char *raw = NULL, *clean = NULL;
	va_list arguments;
	int length;

	if (!table || table->text->failed)
		return;
	va_start(arguments, format);
	length = vasprintf(&raw, format, arguments);
	va_end(arguments);
	if (length >= 0)
		clean = tare_text_clean(table->text, raw);
	if (length >= 0)
		free(raw);
	// The line takes the text over.
	if (!clean || scols_line_refer_data(table->line, table->next++, clean) != 0) {
		free(clean);
		table->text->failed = true;
	}
}

// ---- columns that are cut where the table is wider than the terminal

// What is left of a cell, at least.
enum { LEAST_WIDTH = 4 };

static size_t width_of(const struct libscols_cell *cell)
{
	const char *data = scols_cell_get_data(cell);

	return data ? tare_text_width(data) : 0;
}

static size_t widest_in(const struct tare_text_table *table, size_t column)
{
	size_t widest =
	    width_of(scols_column_get_header(scols_table_get_column(table->table, column)));

	for (size_t i = 0; i < scols_table_get_nlines(table->table); i++) {
		size_t width =
		    width_of(scols_line_get_cell(scols_table_get_line(table->table, i), column));
		widest = width > widest ? width : widest;
	}
	return widest;
}

// Shortens a cell to so many characters.
static void cut_cell(const struct tare_text_table *table, struct libscols_cell *cell, size_t width,
                     bool name)
{
	const char *data = scols_cell_get_data(cell);
	size_t bytes = data ? strlen(data) + sizeof "…" : 0;
	char *cut, *clean;

	if (width_of(cell) <= width)
		return;
	cut = malloc(bytes);
	clean =
	    cut ? tare_text_clean(table->text, name ? tare_name_shorten(data, width, cut, bytes)
	                                            : tare_text_shorten(data, width, cut, bytes))
	        : NULL;
	free(cut);
	// Without memory the cell stays whole, and the library cuts it.
	if (clean && scols_cell_refer_data(cell, clean) != 0)
		free(clean);
}

static void cut_column(const struct tare_text_table *table, size_t column, size_t width)
{
	bool names = column < 64 && table->names >> column & 1;

	cut_cell(table, scols_column_get_header(scols_table_get_column(table->table, column)),
	         width, false);
	for (size_t i = 0; i < scols_table_get_nlines(table->table); i++)
		cut_cell(table, scols_line_get_cell(scols_table_get_line(table->table, i), column),
		         width, names);
}

// The widest column that may be cut and is wider than its least width, or SIZE_MAX.
static size_t column_to_cut(const struct tare_text_table *table, const size_t *widths, bool titles)
{
	size_t widest = SIZE_MAX;

	for (size_t i = 0; i < table->columns; i++) {
		struct libscols_column *column = scols_table_get_column(table->table, i);
		size_t title = titles ? width_of(scols_column_get_header(column)) : 0;

		if (scols_column_is_trunc(column) &&
		    widths[i] > (title > LEAST_WIDTH ? title : LEAST_WIDTH) &&
		    (widest == SIZE_MAX || widths[i] > widths[widest]))
			widest = i;
	}
	return widest;
}

// Takes from the columns that may be cut until the table fits: from the widest first, and from
// their titles last. Versions of libsmartcols differ in what they shorten, and none of them shows
// that it did.
static void fit(const struct tare_text_table *table)
{
	size_t available = scols_table_get_termwidth(table->table);
	size_t *widths = calloc(table->columns, sizeof *widths), used = 0;

	for (size_t i = 0; widths && i < table->columns; i++) {
		widths[i] = widest_in(table, i);
		used += widths[i] + (i > 0);
	}
	for (; widths && used > available; used--) {
		size_t column = column_to_cut(table, widths, true);
		column = column == SIZE_MAX ? column_to_cut(table, widths, false) : column;
		if (column == SIZE_MAX)
			break;
		widths[column]--;
	}
	for (size_t i = 0; widths && i < table->columns; i++)
		cut_column(table, i, widths[i]);
	free(widths);
}

// libsmartcols pads the last column of some rows; lines end where their text ends. Escape
// sequences count as text: colour ends after the padding then, which does no harm.
static void write_trimmed(const struct tare_text_table *table, const char *printed)
{
	FILE *file = table->text->file;

	while (*printed) {
		size_t length = strcspn(printed, "\n"), end = length;
		while (end > 0 && printed[end - 1] == ' ')
			end--;
		if (end)
			fprintf(file, "%*s%.*s", (int)table->indent, "", (int)end, printed);
		fputc('\n', file);
		printed += length + (printed[length] == '\n');
	}
}

void tare_text_table_print(struct tare_text_table *table)
{
	char *printed = NULL;

	if (!table)
		return;
	scols_table_enable_noheadings(table->table, !table->titled);
	if (!table->text->failed)
		fit(table);
	if (!table->text->failed && scols_print_table_to_string(table->table, &printed) == 0)
		write_trimmed(table, printed);
	else
		table->text->failed = true;
	free(printed);
	tare_text_table_free(table);
}

#else

struct tare_text_table {
	struct tare_text *text;
	size_t next, untitled;
	bool any;
};

struct tare_text_table *tare_text_table_new(struct tare_text *text, size_t indent)
{
	struct tare_text_table *table = calloc(1, sizeof *table);

	(void)indent;
	text->failed |= !table;
	if (table)
		table->text = text;
	return table;
}

void tare_text_table_free(struct tare_text_table *table)
{
	free(table);
}

static void put(struct tare_text_table *table, const char *raw)
{
	char *clean = tare_text_clean(table->text, raw);

	fprintf(table->text->file, "%s%s", table->next++ ? "\t" : "", clean ? clean : "?");
	table->any = true;
	free(clean);
}

void tare_text_column(struct tare_text_table *table, const char *title, unsigned flags)
{
	(void)flags;
	if (!table)
		return;
	// A table without any title has no line for them.
	if (!title[0] && !table->any) {
		table->untitled++;
		return;
	}
	for (; table->untitled > 0; table->untitled--)
		put(table, "");
	put(table, title);
}

void tare_text_row(struct tare_text_table *table, enum tare_text_style style)
{
	(void)style;
	if (!table)
		return;
	if (table->any)
		fputc('\n', table->text->file);
	table->next = 0;
}

void tare_text_cell(struct tare_text_table *table, const char *format, ...)
{
	char *raw = NULL;
	va_list arguments;

	if (!table)
		return;
	va_start(arguments, format);
	if (vasprintf(&raw, format, arguments) >= 0) {
		put(table, raw);
		free(raw);
	}
	va_end(arguments);
}

void tare_text_table_print(struct tare_text_table *table)
{
	if (!table)
		return;
	if (table->any)
		fputc('\n', table->text->file);
	free(table);
}

#endif
