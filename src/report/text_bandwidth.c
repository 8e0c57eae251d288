// SPDX-License-Identifier: Apache-2.0
// `bandwidth` as text: lines by sizes, on the device's clock and on the host's.
#include "report/text_parts.h"

#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// One size's column: " 512 KB" or "55.6*", and the gap before it.
#define SIZE_COLUMN 7
#define SIZES_MAX 40

// A row: one line on one clock.
struct row {
	const char *line, *source;
	bool main;           // the source that stands for the line
};

struct pivot {
	const struct tare_text *text;
	const struct tare_result *result;
	struct row *rows;
	size_t row_count;
	uint64_t sizes[SIZES_MAX];  // shown
	size_t size_count;
};

static int64_t bytes_of(const struct tare_cell *cell)
{
	const struct tare_label *label = tare_labels_find(&cell->labels, "bytes");
	return label && !label->text ? label->number : -1;
}

static const struct tare_cell *find_cell(const struct pivot *pivot, const struct row *row,
                                         uint64_t bytes)
{
	for (size_t i = 0; i < pivot->result->cell_count; i++) {
		const struct tare_cell *cell = &pivot->result->cells[i];
		if (bytes_of(cell) == (int64_t)bytes && strcmp(cell->source, row->source) == 0 &&
		    strcmp(tare_text_label_of(cell, "line"), row->line) == 0)
			return cell;
	}
	return NULL;
}

// The fitted figure of a line: "latency", "rate" or "half-rate".
static const struct tare_cell *find_fit(const struct pivot *pivot, const char *line, const char *fit)
{
	for (size_t i = 0; i < pivot->result->cell_count; i++) {
		const struct tare_cell *cell = &pivot->result->cells[i];
		if (strcmp(tare_text_label_of(cell, "fit"), fit) == 0 &&
		    strcmp(tare_text_label_of(cell, "line"), line) == 0)
			return cell;
	}
	return NULL;
}

// ---- which rows and columns

static int add_rows(struct pivot *pivot)
{
	pivot->rows = calloc(pivot->result->cell_count + 1, sizeof *pivot->rows);
	if (!pivot->rows)
		return -ENOMEM;
	for (size_t i = 0; i < pivot->result->cell_count; i++) {
		const struct tare_cell *cell = &pivot->result->cells[i];
		const char *line = tare_text_label_of(cell, "line");
		bool known = false, line_known = false;
		if (cell->absent || !cell->rate.present || bytes_of(cell) < 0)
			continue;
		for (size_t r = 0; r < pivot->row_count; r++) {
			bool same_line = strcmp(pivot->rows[r].line, line) == 0;
			line_known |= same_line;
			known |= same_line && strcmp(pivot->rows[r].source, cell->source) == 0;
		}
		if (!known)
			pivot->rows[pivot->row_count++] = (struct row){ line, cell->source, !line_known };
	}
	return 0;
}

// A size that was measured, and how good a column it makes.
struct size {
	uint64_t bytes;
	size_t cells;  // figures at this size
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
static size_t list_sizes(const struct pivot *pivot, struct size **sizes)
{
	struct size *all = calloc(pivot->result->cell_count + 1, sizeof *all);
	size_t count = 0, distinct = 0;

	*sizes = all;
	for (size_t i = 0; all && i < pivot->result->cell_count; i++) {
		const struct tare_cell *cell = &pivot->result->cells[i];
		if (!cell->absent && cell->rate.present && bytes_of(cell) > 0)
			all[count++] = (struct size){ (uint64_t)bytes_of(cell), 1 };
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
static double distance_to_chosen(const struct pivot *pivot, uint64_t bytes)
{
	double nearest = INFINITY;

	for (size_t i = 0; i < pivot->size_count; i++)
		nearest = fmin(nearest, fabs(log2((double)bytes) - log2((double)pivot->sizes[i])));
	return nearest;
}

// The best further column: powers of two first, then where most lines have a figure, then what is
// far from the columns there are. NULL when all are taken.
static const struct size *next_size(const struct pivot *pivot, const struct size *all, size_t count)
{
	const struct size *best = NULL;
	double best_distance = 0;

	for (size_t i = 0; i < count; i++) {
		double distance = distance_to_chosen(pivot, all[i].bytes);
		int better = best ? is_power(&all[i]) - is_power(best) : 1;
		if (distance <= 0)
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
static int choose_sizes(struct pivot *pivot, size_t room)
{
	struct size *all = NULL;
	size_t count = list_sizes(pivot, &all);

	if (!all)
		return -ENOMEM;
	if (room > SIZES_MAX)
		room = SIZES_MAX;
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
	return 0;
}

// ---- cells

static void add_rate(struct tare_text_table *table, const struct tare_cell *cell)
{
	char number[TARE_UNIT_TEXT];

	if (!cell)
		tare_text_cell(table, "–");
	else if (cell->absent)
		tare_text_cell(table, "n/a");
	else if (cell->verified == TARE_WRONG)
		tare_text_cell(table, "wrong");
	else if (!cell->rate.present)
		tare_text_cell(table, "–");
	else
		tare_text_cell(table, "%s%s", tare_format_significant(cell->rate.median, 3, number),
		               cell->converged ? "" : "*");
}

static void add_fit(struct tare_text_table *table, const struct tare_cell *cell)
{
	char text[TARE_UNIT_TEXT];
	double value = cell && !cell->absent ? cell->summary.median : NAN;

	if (!isfinite(value))
		tare_text_cell(table, "%s", cell ? "n/a" : "");
	else if (strcmp(cell->unit, "B") == 0 && value < 1e18)
		tare_text_cell(table, "%s", value < 1 ? "0 B" : tare_format_bytes((uint64_t)value, text));
	else if (strcmp(cell->unit, "ns") == 0)
		tare_text_cell(table, "%s", value < 0 ? "<0" : tare_format_ns(value, text));
	else if (strcmp(cell->unit, "ps") == 0)
		tare_text_cell(table, "%s", value < 0 ? "<0" : tare_format_ns(value / 1000, text));
	else
		tare_text_cell(table, "%s", tare_format_significant(value, 3, text));
}

static bool any_fit(const struct pivot *pivot)
{
	for (size_t i = 0; i < pivot->row_count; i++)
		if (find_fit(pivot, pivot->rows[i].line, "latency"))
			return true;
	return false;
}

static int write_table(struct pivot *pivot)
{
	struct tare_text_table *table = tare_text_table_new(pivot->text, 0);
	size_t widest = strlen("line"), fixed;
	bool fits = any_fit(pivot);
	char text[TARE_UNIT_TEXT];
	int status;

	for (size_t i = 0; i < pivot->row_count; i++)
		if (tare_text_width(pivot->rows[i].line) > widest)
			widest = tare_text_width(pivot->rows[i].line);
	// line, clock, latency and half-rate with their gaps.
	fixed = widest + 1 + 6 + (fits ? 1 + 7 + 1 + 7 : 0);
	status = choose_sizes(pivot, fixed + SIZE_COLUMN < pivot->text->options->columns
	                             ? (pivot->text->options->columns - fixed) / SIZE_COLUMN : 1);
	tare_text_column(table, "line", TARE_COLUMN_CUT);
	tare_text_column(table, "clock", 0);
	for (size_t i = 0; i < pivot->size_count; i++)
		tare_text_column(table, tare_format_bytes(pivot->sizes[i], text), TARE_COLUMN_RIGHT);
	if (fits) {
		tare_text_column(table, "latency", TARE_COLUMN_RIGHT);
		tare_text_column(table, "half at", TARE_COLUMN_RIGHT);
	}
	for (size_t r = 0; r < pivot->row_count; r++) {
		const struct row *row = &pivot->rows[r];
		tare_text_row(table, row->main ? TARE_STYLE_PLAIN : TARE_STYLE_FAINT);
		tare_text_cell(table, "%s", row->main ? row->line : "");
		tare_text_cell(table, "%s", row->source);
		for (size_t i = 0; i < pivot->size_count; i++)
			add_rate(table, find_cell(pivot, row, pivot->sizes[i]));
		for (int fit = 0; fits && fit < 2; fit++)
			add_fit(table, row->main ? find_fit(pivot, row->line, fit ? "half-rate" : "latency")
			                         : NULL);
	}
	if (status < 0) {
		tare_text_table_free(table);
		return status;
	}
	return tare_text_table_print(table);
}

// ---- what is not in the table

// Lines with a time but no rate (a mapping that moves nothing), at the largest size.
static int write_times(const struct pivot *pivot)
{
	int status = 0;

	for (size_t i = 0; status == 0 && i < pivot->result->cell_count; i++) {
		const struct tare_cell *cell = &pivot->result->cells[i], *largest = cell;
		const char *line = tare_text_label_of(cell, "line");
		char size[TARE_UNIT_TEXT], time[TARE_UNIT_TEXT], first_size[TARE_UNIT_TEXT],
			first_time[TARE_UNIT_TEXT];
		double scale = strcmp(cell->unit, "ps") == 0 ? 1e-3 : 1;
		bool said = false;

		if (cell->absent || cell->rate.present || bytes_of(cell) < 0 ||
		    !isfinite(cell->summary.median))
			continue;
		for (size_t j = 0; j < i; j++) {
			const struct tare_cell *other = &pivot->result->cells[j];
			said |= !other->absent && !other->rate.present && bytes_of(other) >= 0 &&
			        strcmp(tare_text_label_of(other, "line"), line) == 0;
		}
		if (said)
			continue;
		for (size_t j = i; j < pivot->result->cell_count; j++) {
			const struct tare_cell *other = &pivot->result->cells[j];
			if (!other->absent && !other->rate.present && bytes_of(other) > bytes_of(largest) &&
			    strcmp(other->source, cell->source) == 0 && strcmp(other->unit, cell->unit) == 0 &&
			    strcmp(tare_text_label_of(other, "line"), line) == 0)
				largest = other;
		}
		tare_format_bytes((uint64_t)bytes_of(cell), first_size);
		tare_format_ns(cell->summary.median * scale, first_time);
		tare_format_bytes((uint64_t)bytes_of(largest), size);
		tare_format_ns(largest->summary.median * scale, time);
		status = tare_text_paragraph(pivot->text, TARE_STYLE_PLAIN, "", 5,
		                             "%s: moves nothing; %s for %s, %s for %s (%s time)", line,
		                             first_time, first_size, time, size, cell->source);
	}
	return status;
}

static int write_absent(const struct pivot *pivot)
{
	struct tare_text_reasons *reasons = tare_text_reasons_new();
	int status = 0;

	for (size_t i = 0; status == 0 && i < pivot->result->cell_count; i++) {
		const struct tare_cell *cell = &pivot->result->cells[i];
		if (cell->absent)
			status = tare_text_reasons_add(reasons, tare_text_label_of(cell, "line"),
			                               cell->absent);
	}
	if (status < 0) {
		tare_text_reasons_free(reasons);
		return status;
	}
	return tare_text_reasons_print(reasons, pivot->text, TARE_STYLE_PLAIN, "n/a  ");
}

// With -v: how the figures were measured, each way once.
static int write_methods(const struct pivot *pivot)
{
	struct tare_text_reasons *ways = tare_text_reasons_new();
	int status = 0;

	for (size_t i = 0; status == 0 && i < pivot->result->cell_count; i++) {
		const struct tare_cell *cell = &pivot->result->cells[i];
		const struct tare_label *fit = tare_labels_find(&cell->labels, "fit");
		if (cell->method)
			status = tare_text_reasons_add(ways, fit && fit->text ? fit->text
			                                     : tare_text_label_of(cell, "line"),
			                               cell->method);
	}
	if (status < 0) {
		tare_text_reasons_free(ways);
		return status;
	}
	fputc('\n', pivot->text->file);
	return tare_text_reasons_print(ways, pivot->text, TARE_STYLE_FAINT, "");
}

// With -v: every size, one row a cell.
static int write_cells(const struct pivot *pivot)
{
	struct tare_text_table *table = tare_text_table_new(pivot->text, 0);
	static const char *const columns[] = { "size", "clock", "GB/s", "±", "time", "p95", "n" };
	char text[TARE_UNIT_TEXT], width[TARE_UNIT_TEXT];
	const char *line = "";

	tare_text_column(table, "line", TARE_COLUMN_CUT);
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
		tare_text_column(table, columns[i], i == 1 ? 0 : TARE_COLUMN_RIGHT);
	for (size_t i = 0; i < pivot->result->cell_count; i++) {
		const struct tare_cell *cell = &pivot->result->cells[i];
		double scale = strcmp(cell->unit, "ps") == 0 ? 1e-3 : 1;
		if (cell->absent || bytes_of(cell) < 0)
			continue;
		tare_text_row(table, TARE_STYLE_PLAIN);
		tare_text_cell(table, "%s", strcmp(line, tare_text_label_of(cell, "line")) == 0
		                            ? "" : tare_text_label_of(cell, "line"));
		line = tare_text_label_of(cell, "line");
		tare_text_cell(table, "%s", tare_format_bytes((uint64_t)bytes_of(cell), text));
		tare_text_cell(table, "%s", cell->source);
		add_rate(table, cell);
		tare_text_cell(table, "%s", tare_text_plus_minus(cell, 1, width));
		tare_text_cell(table, "%s", tare_format_ns(cell->summary.median * scale, text));
		tare_text_cell(table, "%s", tare_format_ns(cell->summary.p95 * scale, text));
		tare_text_cell(table, "%zu", cell->summary.n);
	}
	return tare_text_table_print(table);
}

int tare_text_bandwidth(const struct tare_text *text, const struct tare_result *result)
{
	struct pivot pivot = { .text = text, .result = result };
	bool verbose = text->options->verbosity > 0;
	int status = add_rows(&pivot);

	if (status == 0)
		status = tare_text_paragraph(text, TARE_STYLE_PLAIN, "", 0,
		                             "GB/s (10⁹ B/s; 1 KB = 1024 B), median; the first clock of a "
		                             "line is the one to go by; * not known to 1 %%");
	fputc('\n', text->file);
	if (status == 0 && pivot.row_count && verbose) {
		status = write_cells(&pivot);
		fputc('\n', text->file);
	}
	if (status == 0 && pivot.row_count)
		status = write_table(&pivot);
	if (status == 0)
		status = write_times(&pivot);
	if (status == 0)
		status = write_absent(&pivot);
	if (status == 0 && verbose)
		status = write_methods(&pivot);
	free(pivot.rows);
	return status;
}
