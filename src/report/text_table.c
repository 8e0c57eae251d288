// SPDX-License-Identifier: Apache-2.0
// Tables of the text report: libsmartcols where it was built in, tab-separated rows otherwise.
#include "report/text_write.h"
#include "tare_config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#if TARE_HAVE_TABLES
#include <libsmartcols.h>

struct tare_text_table {
	const struct tare_text *text;
	struct libscols_table *table;
	struct libscols_line *line;
	size_t indent, columns, next;
	bool failed, titled;
};

struct tare_text_table *tare_text_table_new(const struct tare_text *text, size_t indent)
{
	struct tare_text_table *table = calloc(1, sizeof *table);

	if (!table)
		return NULL;
	table->text = text;
	table->indent = indent;
	table->table = scols_new_table();
	if (!table->table) {
		free(table);
		return NULL;
	}
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
		table->failed = true;
	else if (table->text->options->colour)
		scols_cell_set_color(scols_column_get_header(column), "\033[1m");
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
		table->failed = true;
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

	if (!table || table->failed)
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
		table->failed = true;
	}
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

int tare_text_table_print(struct tare_text_table *table)
{
	char *printed = NULL;
	int status = -ENOMEM;

	if (!table)
		return -ENOMEM;
	scols_table_enable_noheadings(table->table, !table->titled);
	if (!table->failed && scols_print_table_to_string(table->table, &printed) == 0) {
		write_trimmed(table, printed);
		status = 0;
	}
	free(printed);
	tare_text_table_free(table);
	return status;
}

#else

struct tare_text_table {
	const struct tare_text *text;
	size_t next, untitled;
	bool any;
};

struct tare_text_table *tare_text_table_new(const struct tare_text *text, size_t indent)
{
	struct tare_text_table *table = calloc(1, sizeof *table);

	(void)indent;
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

int tare_text_table_print(struct tare_text_table *table)
{
	if (!table)
		return -ENOMEM;
	if (table->any)
		fputc('\n', table->text->file);
	free(table);
	return 0;
}

#endif
