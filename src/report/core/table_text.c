// SPDX-License-Identifier: Apache-2.0
#include "report/core/table_text.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// What a cell of words may take, and levels of indentation.
enum { TEXT_COLUMNS = 30, MOST_COLUMNS = 64, DEEPEST = 6 };

struct writing {
	struct tare_text *text;
	const struct tare_table *table;
	const void *source;
	const struct tare_table_part *part;
	const void **rows;
	size_t row_count;
	struct tare_report_unit units[TARE_UNITS];
};

// ---- which rows and columns

bool tare_table_part_keeps(const struct tare_table *table, const struct tare_table_part *part,
                           const void *source, const void *row)
{
	bool (*keep)(const void *, const void *) = part->keep ? part->keep : table->keep;

	return !keep || keep(source, row);
}

size_t tare_table_part_rows(const struct tare_table *table, const void *source,
                            const struct tare_table_part *part)
{
	size_t rows = 0;

	for (size_t i = 0; i < table->count(source) && (part->most == 0 || i < part->most); i++)
		rows += tare_table_part_keeps(table, part, source, table->row(source, i));
	return rows;
}

// `most` are the first rows of the table, of which those are taken that are kept.
static bool find_rows(struct writing *w)
{
	size_t count = w->part->rows ? w->part->most : w->table->count(w->source);

	if (w->part->most && count > w->part->most)
		count = w->part->most;
	w->rows = calloc(count ? count : 1, sizeof *w->rows);
	w->text->failed |= !w->rows;
	if (!w->rows)
		return false;
	for (size_t i = 0; i < count; i++) {
		const void *row = w->part->rows ? w->part->rows[i] : w->table->row(w->source, i);
		if (tare_table_part_keeps(w->table, w->part, w->source, row))
			w->rows[w->row_count++] = row;
	}
	return true;
}

static bool says_something(struct tare_cell_value value)
{
	return value.is != TARE_IS_ABSENT && !(value.is == TARE_IS_INTEGER && value.integer == 0) &&
	       !(value.is == TARE_IS_TRUTH && !value.truth);
}

bool tare_column_is_seen(const struct tare_column *column, const void *source,
                         const void *const *rows, size_t row_count)
{
	bool seen = !(column->flags & TARE_IF_ANY);

	for (size_t i = 0; !seen && i < row_count; i++)
		seen = says_something(tare_column_value(column, source, rows[i]));
	return seen;
}

static bool is_shown(const struct writing *w, const struct tare_column *column)
{
	unsigned on = w->part->on | (w->text->take ? TARE_ON_PAGE : 0);

	if (!(column->on & on) || (w->text->take && column->flags & TARE_DRAWN))
		return false;
	if (column->flags & TARE_IF_DEVICES && !w->part->devices)
		return false;
	return tare_column_is_seen(column, w->source, w->rows, w->row_count);
}

// ---- units

static double ns_of(struct tare_cell_value value)
{
	return value.is == TARE_IS_INTEGER  ? (double)value.integer
	       : value.is == TARE_IS_NUMBER ? value.number
	                                    : NAN;
}

// The unit in which all columns of that unit read well.
static struct tare_report_unit find_unit(const struct writing *w, enum tare_unit_of unit)
{
	double least = INFINITY, most = 0;

	for (size_t i = 0; i < w->table->column_count; i++) {
		const struct tare_column *column = &w->table->columns[i];
		for (size_t k = 0; column->unit == unit && k < w->row_count; k++) {
			double ns = ns_of(tare_column_value(column, w->source, w->rows[k]));
			most = fmax(most, ns);
			if (column->flags & TARE_SETS_LEAST && ns > 0)
				least = fmin(least, ns);
		}
	}
	return unit == TARE_UNIT_TOTALS
	           ? tare_report_unit_of_totals(most)
	           : tare_report_unit_between(least > most ? most : least, most);
}

// ---- cells

static void write_sizes(const struct tare_cell_value *value, char *buffer)
{
	int at = 0;

	if (value->sizes.dimensions == 0 || value->sizes.at[0] == 0)
		snprintf(buffer, RUN_TEXT, "%s", tare_cell_absence_sign(TARE_LEFT_TO_RUNTIME));
	for (uint32_t i = 0; value->sizes.at[0] && i < value->sizes.dimensions && i < 3; i++)
		at += snprintf(buffer + at, RUN_TEXT - (size_t)at, "%s%" PRIu64, i ? "×" : "",
		               value->sizes.at[i]);
}

static void write_text(const struct writing *w, const struct tare_column *column, const char *value,
                       char *buffer)
{
	size_t room = w->part->flush || column->flags & TARE_WHOLE ? RUN_TEXT
	              : column->shown == TARE_SHOWN_NAME
	                  ? tare_report_room(w->text, w->part->others)
	                  : TEXT_COLUMNS;

	tare_report_cut(w->text, value, room, buffer);
	for (char *at = buffer; column->shown == TARE_SHOWN_WORD && *at; at++)
		*at = *at == '_' ? ' ' : *at;
}

static void write_time(const struct writing *w, const struct tare_column *column, double ns,
                       char *buffer)
{
	char number[TARE_UNIT_TEXT];

	if (column->unit != TARE_UNIT_ITS_OWN)
		tare_report_time(ns, w->units[column->unit], buffer);
	else if (w->part->unit_ns > 0)
		snprintf(buffer, RUN_TEXT, "%s",
		         tare_format_significant(ns / w->part->unit_ns, 3, number));
	else
		snprintf(buffer, RUN_TEXT, "%s", ns == 0 ? "0 s" : tare_format_ns(ns, number));
}

static const char *title_of(const struct tare_column *column)
{
	return column->brief ? column->brief : column->title;
}

// Whether the title has the sign of percentages.
static bool has_sign(const struct tare_column *column)
{
	const char *title = title_of(column);

	return title[0] && title[strlen(title) - 1] == '%';
}

static void write_number(const struct writing *w, const struct tare_column *column, double value,
                         char *buffer)
{
	char number[TARE_UNIT_TEXT];

	switch (column->shown) {
	case TARE_SHOWN_FIGURE:
		write_time(w, column, value, buffer);
		break;
	case TARE_SHOWN_SHARE:
		if (has_sign(column))
			tare_report_percent_number(value, buffer);
		else
			tare_report_percent(value, buffer);
		break;
	case TARE_SHOWN_TREND:
		snprintf(buffer, RUN_TEXT, "%+.1f %%", 100 * value);
		break;
	case TARE_SHOWN_RATE:
		tare_report_rate(value, buffer);
		break;
	case TARE_SHOWN_RATIO:
		snprintf(buffer, RUN_TEXT, "%.2f", value);
		break;
	case TARE_SHOWN_PERCENT:
		snprintf(buffer, RUN_TEXT, "%.0f %%", value);
		break;
	case TARE_SHOWN_POINTS:
		tare_report_points(value, buffer, RUN_TEXT);
		break;
	case TARE_SHOWN_SHORT:
		snprintf(buffer, RUN_TEXT, "%s",
		         value > 0 && value < 0.001 ? "<0.001"
		                                    : tare_format_significant(value, 3, number));
		break;
	default:
		snprintf(buffer, RUN_TEXT, "%s", tare_format_significant(value, 3, number));
	}
}

static void write_integer(const struct writing *w, const struct tare_column *column, int64_t value,
                          char *buffer)
{
	char number[TARE_UNIT_TEXT];

	if (column->shown == TARE_SHOWN_TIME || column->shown == TARE_SHOWN_MOMENT)
		write_time(w, column, (double)value, buffer);
	else if (column->shown == TARE_SHOWN_BYTES)
		snprintf(buffer, RUN_TEXT, "%s", tare_format_bytes((uint64_t)value, number));
	else if (column->flags & TARE_GROUPED)
		tare_report_count((uint64_t)value, buffer);
	else if (column->shown == TARE_SHOWN_DEVICE)
		snprintf(buffer, RUN_TEXT, "#%" PRId64, value);
	else if (column->shown == TARE_SHOWN_HASH)
		snprintf(buffer, RUN_TEXT, "%016" PRIx64, (uint64_t)value);
	else
		snprintf(buffer, RUN_TEXT, "%" PRId64, value);
}

static void write_value(const struct writing *w, const struct tare_shown_column *shown,
                        const void *row, char *buffer)
{
	const struct tare_column *column = shown->column;
	const struct tare_cell_value value =
	    tare_column_value_at(column, w->source, row, shown->at);
	const struct tare_cell_text cell = { w->source, row,
		                             column->unit ? w->units[column->unit].ns : NAN, buffer,
		                             RUN_TEXT };

	buffer[0] = '\0';
	if (column->cell && column->cell(&cell))
		return;
	switch (value.is) {
	case TARE_IS_INTEGER:
		write_integer(w, column, value.integer, buffer);
		break;
	case TARE_IS_NUMBER:
		write_number(w, column, value.number, buffer);
		break;
	case TARE_IS_TEXT:
		write_text(w, column, value.text, buffer);
		break;
	case TARE_IS_TRUTH:
		snprintf(buffer, RUN_TEXT, "%s", value.truth ? "yes" : "no");
		break;
	case TARE_IS_SIZES:
		write_sizes(&value, buffer);
		break;
	case TARE_IS_ABSENT:
		snprintf(buffer, RUN_TEXT, "%s",
		         column->shown == TARE_SHOWN_DEVICE ? "?"
		                                            : tare_cell_absence_sign(value.why));
		break;
	case TARE_IS_NESTED:
		break;
	}
	if (value.unsure)
		strcat(buffer, "*");
}

const char *tare_table_cell(const struct tare_table *table, const void *source,
                            const struct tare_column *column, const void *row, char *buffer)
{
	static const struct tare_text_options options = { .columns = RUN_TEXT };
	static const struct tare_table_part part = { .flush = true };
	struct tare_text text = { .options = &options };
	const struct writing w = { .text = &text, .table = table, .source = source, .part = &part };

	write_value(&w, &(struct tare_shown_column){ column, 0 }, row, buffer);
	return buffer;
}

// Whether the cell is left empty, because the row above says the same.
static bool is_said(const struct writing *w, const struct tare_shown_column *column, size_t index)
{
	struct tare_cell_value above, value;

	if (!(column->column->flags & TARE_SAID_ONCE) || index == 0)
		return false;
	above = tare_column_value_at(column->column, w->source, w->rows[index - 1], column->at);
	value = tare_column_value_at(column->column, w->source, w->rows[index], column->at);
	return above.is == TARE_IS_TEXT && value.is == TARE_IS_TEXT &&
	       strcmp(above.text, value.text) == 0;
}

// ---- the table

static unsigned layout_of(const struct tare_column *column)
{
	switch (column->shown) {
	case TARE_SHOWN_NAME:
		return TARE_COLUMN_NAMES | (column->flags & TARE_WHOLE ? 0 : TARE_COLUMN_CUT);
	case TARE_SHOWN_TEXT:
	case TARE_SHOWN_CATEGORY:
		return column->flags & TARE_WHOLE ? 0 : TARE_COLUMN_CUT;
	case TARE_SHOWN_WORD:
		return 0;
	default:
		return TARE_COLUMN_RIGHT;
	}
}

static void write_title(const struct writing *w, const struct tare_shown_column *shown, bool first,
                        char header[RUN_TEXT])
{
	const char *title = title_of(shown->column);
	char text[64];

	if (shown->column->times)
		title = shown->column->title_at(w->source, shown->at, text);
	if (first && w->part->title)
		title = w->part->title;
	snprintf(header, RUN_TEXT, "%.60s", title);
}

// Columns that share a unit name it once.
static void add_columns(const struct writing *w, const struct tare_shown_column *columns,
                        size_t count, struct tare_text_table *out)
{
	bool named[TARE_UNITS] = { [TARE_UNIT_ITS_OWN] = true };

	for (size_t i = 0; i < count; i++) {
		const struct tare_column *column = columns[i].column;
		bool cut = i == 0 && !w->part->flush && column->shown != TARE_SHOWN_MOMENT &&
		           !(column->flags & TARE_WHOLE);
		char header[RUN_TEXT];
		write_title(w, &columns[i], i == 0, header);
		if (!named[column->unit]) {
			strcat(header, header[0] ? " " : "");
			strcat(header, w->units[column->unit].name);
		}
		named[column->unit] = true;
		tare_text_column(out, header,
		                 cut ? TARE_COLUMN_CUT | (layout_of(column) & TARE_COLUMN_NAMES)
		                     : layout_of(column));
	}
}

// What the row is about, in the room that figures leave it.
static void write_first(const struct writing *w, const struct tare_shown_column *column,
                        size_t index, struct tare_text_table *out)
{
	size_t depth = w->part->depths ? w->part->depths[index] : 0;
	size_t indent = 2 * (depth < DEEPEST ? depth : DEEPEST);
	bool whole = w->part->flush || column->column->flags & TARE_WHOLE;
	size_t room = whole ? RUN_TEXT : tare_report_room(w->text, w->part->others);
	char buffer[RUN_TEXT];

	write_value(w, column, w->rows[index], buffer);
	if (is_said(w, column, index))
		buffer[0] = '\0';
	tare_report_cut(w->text, buffer, room > indent + 4 ? room - indent : 4, buffer);
	tare_text_cell(out, "%*s%s", (int)indent, "", buffer);
}

// What a column takes of a line.
static size_t width_of(const struct writing *w, const struct tare_shown_column *column, bool first)
{
	char buffer[RUN_TEXT];
	size_t widest;

	write_title(w, column, first, buffer);
	widest = tare_text_width(buffer);
	for (size_t i = 0; i < w->row_count; i++) {
		size_t width;
		write_value(w, column, w->rows[i], buffer);
		width = tare_text_width(buffer);
		widest = width > widest ? width : widest;
	}
	return widest;
}

static size_t indent_of(const struct writing *w)
{
	return w->part->flush ? w->part->indent : 2;
}

// ---- bars

// The columns that a bar has: those that the others leave.
static size_t room_of_bar(const struct writing *w, const struct tare_shown_column *columns,
                          size_t count)
{
	size_t used = indent_of(w), all = w->text->options->columns;

	for (size_t i = 0; i < count; i++)
		used += 1 + width_of(w, &columns[i], i == 0);
	return all > used ? all - used : 0;
}

static void write_bar(const struct writing *w, const struct tare_shown_column *columns,
                      size_t count, const void *row, size_t room, struct tare_text_table *out)
{
	char buffer[RUN_TEXT] = "";

	for (size_t i = 0; i < count; i++) {
		struct tare_cell_value share = tare_column_value(columns[i].column, w->source, row);
		if (columns[i].column->flags & TARE_BARRED && share.is == TARE_IS_NUMBER)
			tare_report_bar(w->text, share.number / w->part->bar_whole, room, buffer);
	}
	tare_text_cell(out, "%s", buffer);
}

// ---- all of it

static void write_columns(const struct writing *w, const struct tare_shown_column *columns,
                          size_t count)
{
	size_t room = w->part->bar_whole > 0 ? room_of_bar(w, columns, count) : 0;
	struct tare_text_table *out = tare_text_table_new(w->text, indent_of(w));
	char buffer[RUN_TEXT];

	add_columns(w, columns, count, out);
	if (room)
		tare_text_column(out, "", 0);
	for (size_t i = 0; i < w->row_count; i++) {
		const void *row = w->rows[i];
		if (w->part->apart && w->part->apart(w->source, row)) {
			tare_text_row(out, TARE_STYLE_PLAIN);
			for (size_t c = 0; c < count; c++)
				tare_text_cell(out, "%s", "");
		}
		tare_text_row(out,
		              w->part->style ? w->part->style(w->source, row) : TARE_STYLE_PLAIN);
		write_first(w, &columns[0], i, out);
		for (size_t c = 1; c < count; c++) {
			const struct tare_column *column = columns[c].column;
			write_value(w, &columns[c], row, buffer);
			tare_text_cell(out, "%s%s", buffer,
			               column->mark ? column->mark(w->source, row) : "");
		}
		if (room)
			write_bar(w, columns, count, row, room, out);
	}
	tare_text_table_print(out);
}

// The first column from `from` on that does not fit beside the table's first; one always does.
static size_t fitting(const struct writing *w, const struct tare_shown_column *columns, size_t from,
                      size_t count)
{
	size_t used = indent_of(w) + width_of(w, &columns[0], true), end = from;

	while (end < count) {
		used += 1 + width_of(w, &columns[end], false);
		if (end > from && used > w->text->options->columns)
			break;
		end++;
	}
	return end;
}

static void write_folded(const struct writing *w, struct tare_shown_column *columns, size_t count)
{
	for (size_t from = 1, end; from < count; from = end) {
		end = fitting(w, columns, from, count);
		if (from > 1)
			fputc('\n', w->text->file);
		// The first column stands before those of each table.
		columns[from - 1] = columns[0];
		write_columns(w, columns + from - 1, end - from + 1);
	}
}

// The columns that are shown, with the units that they share. Returns how many.
static size_t find_columns(struct writing *w, struct tare_shown_column columns[MOST_COLUMNS])
{
	size_t count = 0;

	for (size_t i = 0; i < w->table->column_count; i++) {
		const struct tare_column *column = &w->table->columns[i];
		size_t times = !is_shown(w, column) ? 0
		               : column->times      ? column->times(w->source)
		                                    : 1;
		for (size_t at = 0; at < times && count < MOST_COLUMNS; at++)
			columns[count++] = (struct tare_shown_column){ column, at };
	}
	for (enum tare_unit_of unit = TARE_UNIT_TOTALS; unit < TARE_UNITS; unit++)
		w->units[unit] = find_unit(w, unit);
	return count;
}

bool tare_table_fits(struct tare_text *text, const struct tare_table *table, const void *source,
                     const struct tare_table_part *part)
{
	struct writing w = { .text = text, .table = table, .source = source, .part = part };
	struct tare_shown_column columns[MOST_COLUMNS];
	bool fits = true;

	if (find_rows(&w)) {
		size_t count = find_columns(&w, columns);
		fits = count < 2 || fitting(&w, columns, 1, count) == count;
	}
	free(w.rows);
	return fits;
}

void tare_table_text(struct tare_text *text, const struct tare_table *table, const void *source,
                     const struct tare_table_part *part)
{
	struct writing w = { .text = text, .table = table, .source = source, .part = part };
	struct tare_shown_column columns[MOST_COLUMNS];
	size_t count = find_rows(&w) && w.row_count ? find_columns(&w, columns) : 0;

	if (count && text->take)
		text->take(text->taker, &(struct tare_table_shown){ table, source, part, w.rows,
		                                                    w.row_count, columns, count });
	else if (count && part->fold)
		write_folded(&w, columns, count);
	else if (count)
		write_columns(&w, columns, count);
	free(w.rows);
}
