// SPDX-License-Identifier: Apache-2.0
// `peak`: rates by type or operation and vector width, the sweep of working sets, the ceilings.
#include "model/statistics/order.h"
#include "report/core/table_text.h"
#include "report/result/figure.h"
#include "report/result/pivot.h"
#include "report/result/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS 8 // columns: widths, strides or sizes
#define BAR 40    // the longest of a sweep

// One table: a row for each text of `label` among the cells of `group`, a column for each number of
// `across`. An empty label: one row, called by the group's title.
struct grid {
	const char *title, *group, *label, *across;
	const char *only; // of the label; NULL: all but those that have `without`
	const char *without;
	const char *sign; // before the first number across
};

struct row {
	const char *name;
};

// A grid of a result, looked at.
struct view {
	const struct grid *grid;
	const struct tare_result *result;
	struct row rows[16];
	int64_t numbers[NUMBERS];
	size_t row_count, number_count;
	double most; // of the sweep: its highest rate
};

static bool in_grid(const struct grid *grid, const struct tare_cell *cell)
{
	return tare_cell_has_text(cell, "group", grid->group) &&
	       (!grid->only || tare_cell_has_text(cell, grid->label, grid->only)) &&
	       (!grid->without || !tare_labels_find(&cell->labels, grid->without));
}

// The numbers across, in order. Returns how many, at most NUMBERS.
static size_t list_numbers(const struct grid *grid, const struct tare_result *result,
                           int64_t numbers[NUMBERS])
{
	size_t count = 0;

	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		int64_t number = tare_cell_number(cell, grid->across);
		bool known = false;
		if (!in_grid(grid, cell))
			continue;
		for (size_t k = 0; k < count; k++)
			known |= numbers[k] == number;
		if (!known && count < NUMBERS)
			numbers[count++] = number;
	}
	qsort(numbers, count, sizeof *numbers, tare_compare_integers);
	return count;
}

static const struct tare_cell *find_cell(const struct grid *grid, const struct tare_result *result,
                                         const char *row, int64_t number)
{
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (in_grid(grid, cell) && tare_cell_number(cell, grid->across) == number &&
		    tare_cell_has_text(cell, grid->label, row))
			return cell;
	}
	return NULL;
}

static const char *unit_of(const struct grid *grid, const struct tare_result *result,
                           const char *row)
{
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (in_grid(grid, cell) && cell->rate.present &&
		    tare_cell_has_text(cell, grid->label, row))
			return cell->rate.unit;
	}
	return "";
}

// The rows are those of the texts in order of appearance; rows without a figure are left to the
// reasons.
static void list_rows(struct view *view)
{
	for (size_t i = 0; i < view->result->cell_count; i++) {
		const struct tare_cell *cell = &view->result->cells[i];
		const char *name = tare_cell_text(cell, view->grid->label);
		bool known = !in_grid(view->grid, cell) || view->row_count == 16;
		for (size_t k = 0; k < view->row_count && !known; k++)
			known = strcmp(view->rows[k].name, name) == 0;
		if (!known && unit_of(view->grid, view->result, name)[0])
			view->rows[view->row_count++].name = name;
	}
}

static const char *number_title(const struct view *view, size_t at, char *text)
{
	snprintf(text, TARE_UNIT_TEXT, "%s%lld", at ? "" : view->grid->sign,
	         (long long)view->numbers[at]);
	return text;
}

#define SOURCE struct view
#define SOURCE_NAME view
#define ROW struct row
#define TABLE grid
#define COLUMNS "report/result/tables/peak_grid.def"
#include "table/declare.h"
TARE_TABLE(, tare_table_peak_grid, "peak_grid", "Rates", "a type of number, or an operation", NULL,
           struct view, view, view->number_count ? view->row_count : 0, &view->rows[index],
           grid_columns);

static void write_grid(struct tare_text *text, const struct grid *which,
                       const struct tare_result *result)
{
	struct view view = { .grid = which, .result = result };

	view.number_count = list_numbers(which, result, view.numbers);
	list_rows(&view);
	if (tare_table_peak_grid.count(&view))
		fputc('\n', text->file);
	tare_table_text(
	    text, &tare_table_peak_grid, &view,
	    &(struct tare_table_part){ .flush = true, .on = TARE_ON_TEXT, .title = which->title });
}

// ---- the sweep

static bool is_sweep(const struct tare_cell *cell)
{
	return !cell->absent && cell->rate.present && isfinite(cell->rate.median) &&
	       tare_cell_has_text(cell, "group", "sweep") && tare_cell_number(cell, "bytes") > 0;
}

static bool in_sweep(const void *view, const void *cell)
{
	(void)view;
	return is_sweep(cell);
}

static bool bar_of(const struct tare_cell_text *text)
{
	const struct tare_cell *cell = text->row;
	double most = ((const struct view *)text->source)->most;
	size_t length = (size_t)lround(BAR * fmax(cell->rate.median, 0) / most);

	memset(text->text, '#', length < BAR ? length : BAR);
	text->text[length < BAR ? length : BAR] = '\0';
	return true;
}

#define ROW struct tare_cell
#define TABLE sweep
#define COLUMNS "report/result/tables/peak_sweep.def"
#include "table/declare.h"
TARE_TABLE(, tare_table_peak_sweep, "peak_sweep", "Working sets", "a size of what is read", NULL,
           struct view, view, view->result->cell_count, &view->result->cells[index], sweep_columns);

static void write_sweep(struct tare_text *text, const struct tare_result *result)
{
	struct view view = { .result = result };

	for (size_t i = 0; i < result->cell_count; i++)
		if (is_sweep(&result->cells[i]))
			view.most = fmax(view.most, result->cells[i].rate.median);
	if (!(view.most > 0))
		return;
	fputc('\n', text->file);
	tare_table_text(
	    text, &tare_table_peak_sweep, &view,
	    &(struct tare_table_part){ .flush = true, .on = TARE_ON_TEXT, .keep = in_sweep });
}

// ---- ceilings

static const struct tare_cell *find_ceiling(const struct tare_result *result, const char *what,
                                            const char *quantity)
{
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (!cell->absent && tare_cell_has_text(cell, "group", "ceiling") &&
		    tare_cell_has_text(cell, "what", what) && strcmp(cell->quantity, quantity) == 0)
			return cell;
	}
	return NULL;
}

static bool has_clock(const struct tare_result *result)
{
	for (size_t i = 0; i < result->cell_count; i++)
		if (!result->cells[i].absent && strcmp(result->cells[i].quantity, "clock") == 0 &&
		    tare_cell_has_text(&result->cells[i], "group", "ceiling"))
			return true;
	return false;
}

// Of the ceiling that a row is about.
static struct tare_cell_value ceiling(const struct view *view, const struct tare_cell *row,
                                      const char *quantity)
{
	const struct tare_cell *cell =
	    find_ceiling(view->result, tare_cell_text(row, "what"), quantity);

	return tare_number(cell ? cell->summary.median : NAN, TARE_NOT_KNOWN);
}

static bool is_ceiling(const void *view, const void *row)
{
	const struct tare_cell *cell = row;

	(void)view;
	return !cell->absent && tare_cell_has_text(cell, "group", "ceiling") &&
	       strcmp(cell->quantity, "attainable") == 0;
}

// The clock's columns are there only where it was told for a ceiling.
enum { CLOCK = TARE_ON_MORE };

static const char *percent_of(const struct view *view, const struct tare_cell *row,
                              const char *quantity)
{
	return ceiling(view, row, quantity).is == TARE_IS_NUMBER ? " %" : "";
}

static const char *share_sign(const void *view, const void *row)
{
	return percent_of(view, row, "share of theoretical");
}

static const char *clock_share_sign(const void *view, const void *row)
{
	return percent_of(view, row, "share at the clock");
}

#define ROW struct tare_cell
#define TABLE ceilings
#define COLUMNS "report/result/tables/peak_ceilings.def"
#include "table/declare.h"
TARE_TABLE(, tare_table_peak_ceilings, "peak_ceilings", "Ceilings",
           "what can be reached of something", NULL, struct view, view, view->result->cell_count,
           &view->result->cells[index], ceilings_columns);

static void write_ceilings(struct tare_text *text, const struct tare_result *result)
{
	const struct view view = { .result = result };
	const struct tare_table_part part = {
		.flush = true,
		.on = TARE_ON_TEXT | (has_clock(result) ? CLOCK : 0),
		.keep = is_ceiling,
	};

	if (tare_table_part_rows(&tare_table_peak_ceilings, &view, &part))
		fputc('\n', text->file);
	tare_table_text(text, &tare_table_peak_ceilings, &view, &part);
}

// Which ceilings are those of a device that held itself back while they were sampled.
static void write_slowing(struct tare_text *text, const struct tare_result *result)
{
	char list[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < result->cell_count && used < sizeof list; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (cell->absent || !tare_cell_has_text(cell, "group", "ceiling") ||
		    strcmp(cell->quantity, "slowed down") != 0 || !(cell->summary.median > 0))
			continue;
		used += (size_t)snprintf(list + used, sizeof list - used, "%s%s in %.0f %%",
		                         used ? ", " : "", tare_cell_text(cell, "what"),
		                         fmax(1, cell->summary.median));
	}
	if (used == 0)
		return;
	tare_text_paragraph(text, TARE_STYLE_PLAIN, "", 0,
	                    "Slowed down by the device itself while sampled (share of the "
	                    "readings): %s",
	                    list);
}

// ---- what is missing, and how it was measured

// "fp16 ×8", "write ×4", "strided /8", "working set 64 KB", "local ×4", "tensor fp16 n = 8192".
static void name_of(const struct tare_cell *cell, FILE *file)
{
	const char *group = tare_cell_text(cell, "group");
	bool tensor = strcmp(group, "tensor") == 0;
	const char *name =
	    tare_cell_text(cell, tensor || strcmp(group, "compute") == 0 ? "type" : "op");
	int64_t width = tare_cell_number(cell, "width"), stride = tare_cell_number(cell, "stride");
	int64_t bytes = tare_cell_number(cell, "bytes"), n = tare_cell_number(cell, "n");
	char size[TARE_UNIT_TEXT];

	if (strcmp(group, "sweep") == 0 && bytes >= 0)
		fprintf(file, "working set %s", tare_format_bytes((uint64_t)bytes, size));
	else if (tensor && n > 0)
		fprintf(file, "tensor %s n = %lld", name, (long long)n);
	else if (tensor)
		fprintf(file, "tensor %s", name);
	else if (stride >= 0)
		fprintf(file, "%s /%lld", name, (long long)stride);
	else
		fprintf(file, "%s ×%lld", name[0] ? name : group, (long long)width);
}

static bool is_measured(const struct tare_cell *cell)
{
	return !tare_cell_is_model(cell);
}

static bool is_figure(const struct tare_cell *cell)
{
	return is_measured(cell) && !cell->absent;
}

void tare_text_peak(struct tare_text *text, const struct tare_result *result)
{
	static const struct grid grids[] = {
		{ "arithmetic", "compute", "type", "width", .sign = "×" },
		{ "device memory", "memory", "op", "width", .without = "stride", "×" },
		{ "device memory", "memory", "op", "stride", .only = "strided", .sign = "/" },
		{ "local memory", "local", "op", "width", .sign = "×" },
		{ "matrix library", "tensor", "type", "n", .sign = "n = " },
	};
	tare_text_paragraph(text, TARE_STYLE_PLAIN, "", 0,
	                    "Medians; a multiply-add counts 2; × vector "
	                    "width, / stride in numbers; * not known to 1 %%");

	for (size_t i = 0; i < sizeof grids / sizeof *grids; i++)
		write_grid(text, &grids[i], result);
	write_sweep(text, result);
	write_ceilings(text, result);
	write_slowing(text, result);
	tare_text_reasons(
	    text, result,
	    &(struct tare_text_why){
	        .apart = true, .lead = "n/a  ", .name = name_of, .about = is_measured });
	if (text->options->verbosity > 0)
		tare_text_reasons(text, result,
		                  &(struct tare_text_why){ .methods = true,
		                                           .style = TARE_STYLE_FAINT,
		                                           .lead = "",
		                                           .name = name_of,
		                                           .about = is_figure });
}
