// SPDX-License-Identifier: Apache-2.0
// `peak`: rates by type or operation and vector width, the sweep of working sets, the ceilings.
#include "report/result/pivot.h"

#include <errno.h>
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
};

static bool in_grid(const struct grid *grid, const struct tare_cell *cell)
{
	return strcmp(tare_text_label_of(cell, "group"), grid->group) == 0 &&
	       (!grid->only || strcmp(tare_text_label_of(cell, grid->label), grid->only) == 0) &&
	       (!grid->without || !tare_labels_find(&cell->labels, grid->without));
}

static int compare_numbers(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
	return (left > right) - (left < right);
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
	qsort(numbers, count, sizeof *numbers, compare_numbers);
	return count;
}

static const struct tare_cell *find_cell(const struct grid *grid, const struct tare_result *result,
                                         const char *row, int64_t number)
{
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (in_grid(grid, cell) && tare_cell_number(cell, grid->across) == number &&
		    strcmp(tare_text_label_of(cell, grid->label), row) == 0)
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
		    strcmp(tare_text_label_of(cell, grid->label), row) == 0)
			return cell->rate.unit;
	}
	return "";
}

// The rows are those of the texts in order of appearance; rows without a figure are left to the
// reasons.
static int write_grid(const struct tare_text *text, const struct grid *grid,
                      const struct tare_result *result)
{
	struct tare_text_table *table;
	const char *rows[16];
	int64_t numbers[NUMBERS];
	char buffer[TARE_PIVOT_TEXT];
	size_t count = list_numbers(grid, result, numbers), row_count = 0;

	for (size_t i = 0; i < result->cell_count; i++) {
		const char *name = tare_text_label_of(&result->cells[i], grid->label);
		bool known = !in_grid(grid, &result->cells[i]) || row_count == 16;
		for (size_t k = 0; k < row_count && !known; k++)
			known = strcmp(rows[k], name) == 0;
		if (!known && unit_of(grid, result, name)[0])
			rows[row_count++] = name;
	}
	if (count == 0 || row_count == 0)
		return 0;
	fputc('\n', text->file);
	table = tare_text_table_new(text, 0);
	tare_text_column(table, grid->title, TARE_COLUMN_CUT);
	tare_text_column(table, "", 0);
	for (size_t i = 0; i < count; i++) {
		snprintf(buffer, sizeof buffer, "%s%lld",
		         i                        ? ""
		         : grid->across[0] == 'w' ? "×"
		         : grid->across[0] == 's' ? "/"
		                                  : "n = ",
		         (long long)numbers[i]);
		tare_text_column(table, buffer, TARE_COLUMN_RIGHT);
	}
	for (size_t r = 0; r < row_count; r++) {
		tare_text_row(table, TARE_STYLE_PLAIN);
		tare_text_cell(table, "%s", rows[r][0] ? rows[r] : grid->group);
		tare_text_cell(table, "%s", unit_of(grid, result, rows[r]));
		for (size_t i = 0; i < count; i++)
			tare_text_cell(
			    table, "%s",
			    tare_pivot_rate(find_cell(grid, result, rows[r], numbers[i]), buffer));
	}
	return tare_text_table_print(table);
}

// ---- the sweep

static bool is_sweep(const struct tare_cell *cell)
{
	return !cell->absent && cell->rate.present && isfinite(cell->rate.median) &&
	       strcmp(tare_text_label_of(cell, "group"), "sweep") == 0 &&
	       tare_cell_number(cell, "bytes") > 0;
}

static int write_sweep(const struct tare_text *text, const struct tare_result *result)
{
	struct tare_text_table *table;
	char size[TARE_UNIT_TEXT], rate[TARE_PIVOT_TEXT], bar[BAR + 1];
	double most = 0;

	for (size_t i = 0; i < result->cell_count; i++)
		if (is_sweep(&result->cells[i]))
			most = fmax(most, result->cells[i].rate.median);
	if (!(most > 0))
		return 0;
	fputc('\n', text->file);
	table = tare_text_table_new(text, 0);
	tare_text_column(table, "working set", TARE_COLUMN_RIGHT);
	tare_text_column(table, "GB/s", TARE_COLUMN_RIGHT);
	tare_text_column(table, "", 0);
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (!is_sweep(cell))
			continue;
		size_t length = (size_t)lround(BAR * fmax(cell->rate.median, 0) / most);
		memset(bar, '#', sizeof bar - 1);
		bar[length < BAR ? length : BAR] = '\0';
		tare_text_row(table, TARE_STYLE_PLAIN);
		tare_text_cell(table, "%s",
		               tare_format_bytes((uint64_t)tare_cell_number(cell, "bytes"), size));
		tare_text_cell(table, "%s", tare_pivot_rate(cell, rate));
		tare_text_cell(table, "%s", bar);
	}
	return tare_text_table_print(table);
}

// ---- ceilings

static const struct tare_cell *find_ceiling(const struct tare_result *result, const char *what,
                                            const char *quantity)
{
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (!cell->absent && strcmp(tare_text_label_of(cell, "group"), "ceiling") == 0 &&
		    strcmp(tare_text_label_of(cell, "what"), what) == 0 &&
		    strcmp(cell->quantity, quantity) == 0)
			return cell;
	}
	return NULL;
}

static void add_figure(struct tare_text_table *table, const struct tare_cell *cell,
                       const char *suffix)
{
	char number[TARE_UNIT_TEXT];

	if (cell && isfinite(cell->summary.median))
		tare_text_cell(table, "%s%s",
		               tare_format_significant(cell->summary.median, 3, number), suffix);
	else
		tare_text_cell(table, "–");
}

// Columns of the ceilings; the clock's are there only where it was told for one of them.
static const struct {
	const char *title, *quantity, *suffix;
	bool of_clock;
} ceiling_columns[] = {
	{ "attainable", "attainable", "", false },
	{ "on paper", "theoretical", "", false },
	{ "share", "share of theoretical", " %", false },
	{ "MHz", "clock", "", true },
	{ "share at it", "share at the clock", " %", true },
	{ "/clock/unit", "per clock and unit", "", true },
};
#define CEILING_COLUMNS (sizeof ceiling_columns / sizeof *ceiling_columns)

static bool has_clock(const struct tare_result *result)
{
	for (size_t i = 0; i < result->cell_count; i++)
		if (!result->cells[i].absent && strcmp(result->cells[i].quantity, "clock") == 0 &&
		    strcmp(tare_text_label_of(&result->cells[i], "group"), "ceiling") == 0)
			return true;
	return false;
}

static struct tare_text_table *new_ceilings(const struct tare_text *text, bool clock)
{
	struct tare_text_table *table;

	fputc('\n', text->file);
	table = tare_text_table_new(text, 0);
	tare_text_column(table, "ceiling", TARE_COLUMN_CUT);
	tare_text_column(table, "", 0);
	for (size_t i = 0; i < CEILING_COLUMNS; i++)
		if (clock || !ceiling_columns[i].of_clock)
			tare_text_column(table, ceiling_columns[i].title, TARE_COLUMN_RIGHT);
	return table;
}

static int write_ceilings(const struct tare_text *text, const struct tare_result *result)
{
	struct tare_text_table *table = NULL;
	bool clock = has_clock(result);

	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		const char *what = tare_text_label_of(cell, "what");
		if (cell->absent || strcmp(tare_text_label_of(cell, "group"), "ceiling") ||
		    strcmp(cell->quantity, "attainable"))
			continue;
		if (!table)
			table = new_ceilings(text, clock);
		tare_text_row(table, TARE_STYLE_PLAIN);
		tare_text_cell(table, "%s", what);
		tare_text_cell(table, "%s", cell->unit);
		for (size_t k = 0; k < CEILING_COLUMNS; k++)
			if (clock || !ceiling_columns[k].of_clock)
				add_figure(table,
				           find_ceiling(result, what, ceiling_columns[k].quantity),
				           ceiling_columns[k].suffix);
	}
	return table ? tare_text_table_print(table) : 0;
}

// Which ceilings are those of a device that held itself back while they were sampled.
static int write_slowing(const struct tare_text *text, const struct tare_result *result)
{
	char list[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < result->cell_count && used < sizeof list; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (cell->absent || strcmp(tare_text_label_of(cell, "group"), "ceiling") != 0 ||
		    strcmp(cell->quantity, "slowed down") != 0 || !(cell->summary.median > 0))
			continue;
		used += (size_t)snprintf(list + used, sizeof list - used, "%s%s in %.0f %%",
		                         used ? ", " : "", tare_text_label_of(cell, "what"),
		                         fmax(1, cell->summary.median));
	}
	if (used == 0)
		return 0;
	return tare_text_paragraph(text, TARE_STYLE_PLAIN, "", 0,
	                           "Slowed down by the device itself while sampled (share of the "
	                           "readings): %s",
	                           list);
}

// ---- what is missing, and how it was measured

// "fp16 ×8", "write ×4", "strided /8", "working set 64 KB", "local ×4", "tensor fp16 n = 8192".
static char *name_of(const struct tare_cell *cell)
{
	const char *group = tare_text_label_of(cell, "group");
	bool tensor = strcmp(group, "tensor") == 0;
	const char *name =
	    tare_text_label_of(cell, tensor || strcmp(group, "compute") == 0 ? "type" : "op");
	int64_t width = tare_cell_number(cell, "width"), stride = tare_cell_number(cell, "stride");
	int64_t bytes = tare_cell_number(cell, "bytes"), n = tare_cell_number(cell, "n");
	char *text = NULL, size[TARE_UNIT_TEXT];
	int length;

	if (strcmp(group, "sweep") == 0 && bytes >= 0)
		length =
		    asprintf(&text, "working set %s", tare_format_bytes((uint64_t)bytes, size));
	else if (tensor && n > 0)
		length = asprintf(&text, "tensor %s n = %lld", name, (long long)n);
	else if (tensor)
		length = asprintf(&text, "tensor %s", name);
	else if (stride >= 0)
		length = asprintf(&text, "%s /%lld", name, (long long)stride);
	else
		length = asprintf(&text, "%s ×%lld", name[0] ? name : group, (long long)width);
	return length < 0 ? NULL : text;
}

// Why figures are missing, or how they were measured: a paragraph for those that share it.
static int write_reasons(const struct tare_text *text, const struct tare_result *result,
                         bool methods)
{
	struct tare_text_reasons *reasons = tare_text_reasons_new();
	char **names = calloc(result->cell_count + 1, sizeof *names);
	size_t count = 0;
	int status = names && reasons ? 0 : -ENOMEM;

	for (size_t i = 0; i < result->cell_count && status == 0; i++) {
		const struct tare_cell *cell = &result->cells[i];
		const char *why = methods ? cell->method : cell->absent;
		if (!why || (methods && cell->absent) || tare_cell_is_model(cell))
			continue;
		if (count++ == 0)
			fputc('\n', text->file);
		names[i] = name_of(cell);
		status = names[i] ? tare_text_reasons_add(reasons, names[i], why) : -ENOMEM;
	}
	if (status == 0)
		status = tare_text_reasons_print(reasons, text,
		                                 methods ? TARE_STYLE_FAINT : TARE_STYLE_PLAIN,
		                                 methods ? "" : "n/a  ");
	else
		tare_text_reasons_free(reasons);
	for (size_t i = 0; names && i < result->cell_count; i++)
		free(names[i]);
	free(names);
	return status;
}

int tare_text_peak(const struct tare_text *text, const struct tare_result *result)
{
	static const struct grid grids[] = {
		{ "arithmetic", "compute", "type", "width", NULL, NULL },
		{ "device memory", "memory", "op", "width", NULL, "stride" },
		{ "device memory", "memory", "op", "stride", "strided", NULL },
		{ "local memory", "local", "op", "width", NULL, NULL },
		{ "matrix library", "tensor", "type", "n", NULL, NULL },
	};
	int status = tare_text_paragraph(text, TARE_STYLE_PLAIN, "", 0,
	                                 "Medians; a multiply-add counts 2; × vector "
	                                 "width, / stride in numbers; * not known to 1 %%");

	for (size_t i = 0; i < sizeof grids / sizeof *grids && status == 0; i++)
		status = write_grid(text, &grids[i], result);
	if (status == 0)
		status = write_sweep(text, result);
	if (status == 0)
		status = write_ceilings(text, result);
	if (status == 0)
		status = write_slowing(text, result);
	if (status == 0)
		status = write_reasons(text, result, false);
	if (status == 0 && text->options->verbosity > 0)
		status = write_reasons(text, result, true);
	return status;
}
