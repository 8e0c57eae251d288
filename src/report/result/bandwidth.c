// SPDX-License-Identifier: Apache-2.0
// `bandwidth` as text: lines by sizes, on the device's clock and on the host's.
#include "base/units.h"
#include "report/core/table_text.h"
#include "report/result/figure.h"
#include "report/result/pivot.h"
#include "report/result/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct tare_cell *find_cell(const struct tare_pivot *pivot,
                                         const struct tare_pivot_row *row, uint64_t bytes)
{
	for (size_t i = 0; i < pivot->result->cell_count; i++) {
		const struct tare_cell *cell = &pivot->result->cells[i];
		if (tare_cell_number(cell, "bytes") == (int64_t)bytes &&
		    strcmp(cell->source, row->source) == 0 &&
		    tare_cell_has_text(cell, "line", row->line))
			return cell;
	}
	return NULL;
}

// The fitted figure of a line: "latency", "rate" or "half-rate".
static const struct tare_cell *find_fit(const struct tare_pivot *pivot, const char *line,
                                        const char *fit)
{
	for (size_t i = 0; i < pivot->result->cell_count; i++) {
		const struct tare_cell *cell = &pivot->result->cells[i];
		if (tare_cell_has_text(cell, "fit", fit) && tare_cell_has_text(cell, "line", line))
			return cell;
	}
	return NULL;
}

// ---- which rows and columns

static size_t first_cell_of(const struct tare_result *result, const char *line)
{
	size_t i = 0;
	while (!tare_cell_has_text(&result->cells[i], "line", line))
		i++;
	return i;
}

static int compare_rows(const void *a, const void *b)
{
	const struct tare_pivot_row *left = a, *right = b;
	if (left->order != right->order)
		return left->order < right->order ? -1 : 1;
	return right->main - left->main;
}

// A row for each line and clock with a rate, in the order of the lines.
static void add_rows(struct tare_pivot *pivot)
{
	pivot->rows = calloc(pivot->result->cell_count + 1, sizeof *pivot->rows);
	pivot->text->failed |= !pivot->rows;
	if (!pivot->rows)
		return;
	for (size_t i = 0; i < pivot->result->cell_count; i++) {
		const struct tare_cell *cell = &pivot->result->cells[i];
		const char *line = tare_cell_text(cell, "line");
		bool known = false, line_known = false;
		if (cell->absent || !cell->rate.present || tare_cell_number(cell, "bytes") < 0)
			continue;
		for (size_t r = 0; r < pivot->row_count; r++) {
			bool same_line = strcmp(pivot->rows[r].line, line) == 0;
			line_known |= same_line;
			known |= same_line && strcmp(pivot->rows[r].source, cell->source) == 0;
		}
		if (!known)
			pivot->rows[pivot->row_count++] = (struct tare_pivot_row){
				.line = line,
				.source = cell->source,
				.order = first_cell_of(pivot->result, line),
				.main = !line_known,
			};
	}
	qsort(pivot->rows, pivot->row_count, sizeof *pivot->rows, compare_rows);
}

// A size that was measured, and how good a column it makes.
struct size {
	uint64_t bytes;
	size_t cells; // figures at this size
};

static int compare_sizes(const void *a, const void *b)
{
	const struct size *left = a, *right = b;
	return (left->bytes > right->bytes) - (left->bytes < right->bytes);
}

// Powers of two are what people look for.
static bool is_power(const struct size *size)
{
	return (size->bytes & (size->bytes - 1)) == 0;
}

// Every size with a rate, in order. Returns how many; *sizes is to be freed.
static size_t list_sizes(const struct tare_pivot *pivot, struct size **sizes)
{
	struct size *all = calloc(pivot->result->cell_count + 1, sizeof *all);
	size_t count = 0, distinct = 0;

	*sizes = all;
	for (size_t i = 0; all && i < pivot->result->cell_count; i++) {
		const struct tare_cell *cell = &pivot->result->cells[i];
		if (!cell->absent && cell->rate.present && tare_cell_number(cell, "bytes") > 0)
			all[count++] =
			    (struct size){ (uint64_t)tare_cell_number(cell, "bytes"), 1 };
	}
	if (count)
		qsort(all, count, sizeof *all, compare_sizes);
	for (size_t i = 0; i < count; i++) {
		if (i && all[i].bytes == all[distinct - 1].bytes)
			all[distinct - 1].cells++;
		else
			all[distinct++] = all[i];
	}
	return distinct;
}

// Steps of a factor of two between a size and the nearest one chosen.
static double distance_to_chosen(const struct tare_pivot *pivot, uint64_t bytes)
{
	double nearest = INFINITY;

	for (size_t i = 0; i < pivot->size_count; i++)
		nearest = fmin(nearest, fabs(log2((double)bytes) - log2((double)pivot->sizes[i])));
	return nearest;
}

// The best further column: powers of two first, then where most lines have a figure, then what is
// far from the columns there are. NULL when all are taken.
static const struct size *next_size(const struct tare_pivot *pivot, const struct size *all,
                                    size_t count)
{
	const struct size *best = NULL;
	double best_distance = 0;

	for (size_t i = 0; i < count; i++) {
		double distance = distance_to_chosen(pivot, all[i].bytes);
		int better = best ? is_power(&all[i]) - is_power(best) : 1;
		if (!(distance > 0)) // taken; or no size at all, in a file that is not ours
			continue;
		if (better == 0)
			better = (all[i].cells > best->cells) - (all[i].cells < best->cells);
		if (better > 0 || (better == 0 && distance > best_distance)) {
			best = &all[i];
			best_distance = distance;
		}
	}
	return best;
}

static int compare_bytes(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;
	return (*left > *right) - (*left < *right);
}

// Fills sizes with at most `room` of those measured, the largest and the smallest among them.
static void choose_sizes(struct tare_pivot *pivot, size_t room)
{
	struct size *all = NULL;
	size_t count = list_sizes(pivot, &all);

	pivot->size_count = 0;
	pivot->text->failed |= !all;
	if (!all)
		return;
	if (room > TARE_PIVOT_SIZES)
		room = TARE_PIVOT_SIZES;
	if (count)
		pivot->sizes[pivot->size_count++] = all[count - 1].bytes;
	if (count > 1 && room > 1)
		pivot->sizes[pivot->size_count++] = all[0].bytes;
	while (pivot->size_count < room) {
		const struct size *next = next_size(pivot, all, count);
		if (!next)
			break;
		pivot->sizes[pivot->size_count++] = next->bytes;
	}
	qsort(pivot->sizes, pivot->size_count, sizeof *pivot->sizes, compare_bytes);
	free(all);
}

// ---- cells

static const char *fit_text(const struct tare_cell *cell, char text[TARE_PIVOT_TEXT])
{
	double value = cell && !cell->absent ? cell->summary.median : NAN;

	if (!isfinite(value))
		return cell ? "n/a" : "";
	if (strcmp(cell->unit, "B") == 0 && value < 1e18)
		return value < 1 ? "0 B" : tare_format_bytes((uint64_t)value, text);
	if (strcmp(cell->unit, "ns") == 0)
		return value < 0 ? "<0" : tare_format_ns(value, text);
	if (strcmp(cell->unit, "ps") == 0)
		return value < 0 ? "<0" : tare_format_ns(value / 1000, text);
	return tare_format_significant(value, 3, text);
}

static bool any_fit(const struct tare_pivot *pivot)
{
	for (size_t i = 0; i < pivot->row_count; i++)
		if (find_fit(pivot, pivot->rows[i].line, "latency"))
			return true;
	return false;
}

// Of a fitted figure, where the row stands for its line.
static bool fitted(const struct tare_cell_text *cell, const char *fit)
{
	const struct tare_pivot_row *row = cell->row;
	char text[TARE_PIVOT_TEXT];

	snprintf(cell->text, cell->size, "%s",
	         fit_text(row->main ? find_fit(cell->source, row->line, fit) : NULL, text));
	return true;
}

static struct tare_cell_value fit_figure(const struct tare_pivot *pivot,
                                         const struct tare_pivot_row *row, const char *fit,
                                         bool bytes)
{
	const struct tare_cell *cell = row->main ? find_fit(pivot, row->line, fit) : NULL;

	if (!cell || (strcmp(cell->unit, "B") == 0) != bytes)
		return tare_absent(TARE_NOT_KNOWN);
	return tare_figure(cell, bytes ? cell->summary.median : tare_figure_ns(cell),
	                   TARE_NOT_KNOWN);
}

static bool latency_cell(const struct tare_cell_text *cell)
{
	return fitted(cell, "latency");
}

static bool half_rate_cell(const struct tare_cell_text *cell)
{
	return fitted(cell, "half-rate");
}

enum { FITTED = TARE_ON_MORE };

#define SOURCE struct tare_pivot
#define SOURCE_NAME view
#define ROW struct tare_pivot_row
#define COLUMNS "report/result/tables/bandwidth_lines.def"
#include "table/declare.h"
TARE_TABLE(, tare_table_bandwidth_lines, "bandwidth_lines", "Rates", "a line on a clock", NULL,
           struct tare_pivot, view, view->row_count, &view->rows[index], declared_columns);

static enum tare_text_style style_of(const void *view, const void *row)
{
	(void)view;
	return ((const struct tare_pivot_row *)row)->main ? TARE_STYLE_PLAIN : TARE_STYLE_FAINT;
}

static void write_table(struct tare_pivot *pivot)
{
	const struct tare_table_part part = {
		.flush = true,
		.on = TARE_ON_TEXT | (any_fit(pivot) ? FITTED : 0),
		.style = style_of,
	};
	size_t room = TARE_PIVOT_SIZES;

	// As many sizes as fit.
	do {
		choose_sizes(pivot, room);
		room = pivot->size_count > 1 ? pivot->size_count - 1 : 0;
	} while (room > 0 &&
	         !tare_table_fits(pivot->text, &tare_table_bandwidth_lines, pivot, &part));
	tare_table_text(pivot->text, &tare_table_bandwidth_lines, pivot, &part);
}

void tare_text_bandwidth(struct tare_text *text, const struct tare_result *result)
{
	struct tare_pivot pivot = { .text = text, .result = result };
	bool verbose = text->options->verbosity > 0;

	add_rows(&pivot);
	tare_text_paragraph(text, TARE_STYLE_PLAIN, "", 0,
	                    "GB/s (10⁹ B/s; 1 KB = 1024 B), median; the first clock of a "
	                    "line is the one to go by; * not known to 1 %%");
	fputc('\n', text->file);
	if (pivot.row_count && verbose) {
		tare_pivot_write_cells(&pivot);
		fputc('\n', text->file);
	}
	if (pivot.row_count)
		write_table(&pivot);
	tare_pivot_write_countings(&pivot);
	tare_pivot_write_times(&pivot);
	tare_pivot_write_absent(&pivot);
	if (verbose)
		tare_pivot_write_methods(&pivot);
	free(pivot.rows);
}
