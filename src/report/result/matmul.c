// SPDX-License-Identifier: Apache-2.0
// `matmul` as text: rates by size, what a product is made of, how far it is from the ceilings, and
// speed-ups.
#include "report/result/parts.h"

#include "base/units.h"
#include "result/matmul_words.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RUNGS 16
#define SIZES 32

struct view {
	const struct tare_text *text;
	const struct tare_result *result;
	const char *rungs[RUNGS]; // in the order of the ladder
	size_t rung_count;
	int64_t sizes[SIZES]; // ascending
	size_t size_count;
	int64_t largest; // with a figure of a device's rung, else of any; 0: none
};

static bool is_model(const struct tare_cell *cell)
{
	return tare_cell_is_model(cell);
}

// The measured cell of a part; n < 0: the one without a size.
static const struct tare_cell *find(const struct view *view, const char *rung, int64_t n,
                                    enum tare_part part)
{
	for (size_t i = 0; i < view->result->cell_count; i++) {
		const struct tare_cell *cell = &view->result->cells[i];
		if (!is_model(cell) && tare_cell_number(cell, "n") == n &&
		    strcmp(tare_text_label_of(cell, "rung"), rung) == 0 &&
		    tare_cell_has_text(cell, "part", tare_part_name(part)))
			return cell;
	}
	return NULL;
}

static const struct tare_cell *find_model(const struct view *view, const char *rung, int64_t n,
                                          const char *what, const char *level)
{
	for (size_t i = 0; i < view->result->cell_count; i++) {
		const struct tare_cell *cell = &view->result->cells[i];
		if (is_model(cell) && tare_cell_number(cell, "n") == n &&
		    strcmp(tare_text_label_of(cell, "rung"), rung) == 0 &&
		    strcmp(tare_text_label_of(cell, "what"), what) == 0 &&
		    (!level || strcmp(tare_text_label_of(cell, "level"), level) == 0))
			return cell;
	}
	return NULL;
}

// What stands for a rung's rate: the kernel, the whole where only that was measured.
static const struct tare_cell *rate_cell(const struct view *view, const char *rung, int64_t n)
{
	const struct tare_cell *kernel = find(view, rung, n, TARE_PART_KERNEL);

	return kernel ? kernel : find(view, rung, n, TARE_PART_TOTAL);
}

static bool has_kernel(const struct view *view, const char *rung, int64_t n)
{
	const struct tare_cell *cell = find(view, rung, n, TARE_PART_KERNEL);
	return cell && !cell->absent;
}

// ---- which rungs and sizes

// Of fewer bits than the others: most devices have no library for these.
static bool is_rounded(const char *rung)
{
	enum tare_rung which = tare_rung_named(rung);

	return which == TARE_RUNG_BLAS_TF32 || which == TARE_RUNG_BLAS_FP16 ||
	       which == TARE_RUNG_BLAS_BF16;
}

static void add_rung(struct view *view, const char *rung)
{
	size_t at = view->rung_count;

	for (size_t i = 0; i < view->rung_count; i++)
		if (strcmp(view->rungs[i], rung) == 0)
			return;
	if (!rung[0] || view->rung_count == RUNGS)
		return;
	// The ladder's order; a rung that this version does not know comes last.
	while (at > 0 && tare_rung_named(view->rungs[at - 1]) > tare_rung_named(rung)) {
		view->rungs[at] = view->rungs[at - 1];
		at--;
	}
	view->rungs[at] = rung;
	view->rung_count++;
}

static void add_size(struct view *view, int64_t n)
{
	size_t at = view->size_count;

	for (size_t i = 0; i < view->size_count; i++)
		if (view->sizes[i] == n)
			return;
	if (n <= 0 || view->size_count == SIZES)
		return;
	while (at > 0 && view->sizes[at - 1] > n) {
		view->sizes[at] = view->sizes[at - 1];
		at--;
	}
	view->sizes[at] = n;
	view->size_count++;
}

static void look(struct view *view)
{
	int64_t any = 0;

	for (size_t i = 0; i < view->result->cell_count; i++) {
		const struct tare_cell *cell = &view->result->cells[i];
		int64_t n = tare_cell_number(cell, "n");
		add_rung(view, tare_text_label_of(cell, "rung"));
		add_size(view, n);
		if (is_model(cell) || cell->absent)
			continue;
		if (tare_cell_has_text(cell, "part", tare_part_name(TARE_PART_KERNEL)) &&
		    n > view->largest)
			view->largest = n;
		if (tare_cell_has_text(cell, "part", tare_part_name(TARE_PART_TOTAL)) && n > any)
			any = n;
	}
	if (view->largest == 0)
		view->largest = any;
}

// ---- table 1: rates

// Three significant digits, in at most seven columns.
static const char *short_number(double value, char text[TARE_UNIT_TEXT])
{
	if (value > 0 && value < 0.001)
		return "<0.001";
	return tare_format_significant(value, 3, text);
}

static const char *rate_text(const struct tare_cell *cell, char text[TARE_UNIT_TEXT])
{
	char number[TARE_UNIT_TEXT];

	if (!cell)
		return "–";
	if (cell->absent || !cell->rate.present)
		return "n/a";
	if (cell->verified == TARE_WRONG)
		return "WRONG";
	snprintf(text, TARE_UNIT_TEXT, "%.16s%s", short_number(cell->rate.median, number),
	         cell->converged ? "" : "*");
	return text;
}

// A figure at no size at all: the rung is not there, and a reason says why.
static bool is_missing(const struct view *view, const char *rung)
{
	const struct tare_cell *cell = rate_cell(view, rung, -1);
	return cell && cell->absent;
}

// Columns of sizes that fit, the largest ones, into the table of rates and into that of speed-ups:
// a figure takes 9 characters at most, or 8; their first columns 12 and 19.
static size_t first_size(const struct view *view)
{
	size_t columns = view->text->options->columns, room = 1, speed_ups;

	if (columns > 28) {
		room = (columns - 12) / 9;
		speed_ups = (columns - 19) / 8;
		room = room < speed_ups ? room : speed_ups;
	}
	return view->size_count > room ? view->size_count - room : 0;
}

static int write_library(const struct view *view)
{
	const struct tare_label *library = tare_labels_find(&view->result->parameters, "library");

	if (!library || !library->text)
		return 0;
	return tare_text_paragraph(view->text, TARE_STYLE_PLAIN, "", 0, "blas: %s", library->text);
}

// Where the device's stamps are positions in the stream: what "kernel" is by instead.
static int write_kernel_clock(const struct view *view)
{
	const struct tare_label *clock =
	    tare_labels_find(&view->result->parameters, "kernel-clock");

	if (!clock || !clock->text)
		return 0;
	return tare_text_paragraph(view->text, TARE_STYLE_PLAIN, "", 0, "kernel: %s", clock->text);
}

// Where the terminal is too narrow for every size.
static int write_hidden(const struct view *view)
{
	if (first_size(view) == 0)
		return 0;
	return tare_text_paragraph(view->text, TARE_STYLE_FAINT, "", 0,
	                           "sizes below %lld are in the data (--json) and on the page only",
	                           (long long)view->sizes[first_size(view)]);
}

static int write_rates(const struct view *view)
{
	struct tare_text_table *table = tare_text_table_new(view->text, 0);
	char text[TARE_UNIT_TEXT];

	tare_text_column(table, "GFLOP/s, n =", TARE_COLUMN_CUT);
	for (size_t i = first_size(view); i < view->size_count; i++) {
		snprintf(text, sizeof text, "%lld", (long long)view->sizes[i]);
		tare_text_column(table, text, TARE_COLUMN_RIGHT);
	}
	for (size_t r = 0; r < view->rung_count; r++) {
		const char *rung = view->rungs[r];
		// Most devices have no library for these: the reason says enough.
		if (is_rounded(rung) && is_missing(view, rung))
			continue;
		tare_text_row(table, TARE_STYLE_PLAIN);
		tare_text_cell(table, "%s", rung);
		for (size_t i = first_size(view); i < view->size_count; i++)
			tare_text_cell(
			    table, "%s",
			    is_missing(view, rung)
			        ? "n/a"
			        : rate_text(rate_cell(view, rung, view->sizes[i]), text));
	}
	return tare_text_table_print(table);
}

// ---- columns that do not fit beside each other go into a table below

struct column {
	const char *title;
	size_t width; // the most that a figure takes
};

// The first column that does not fit beside `first` of them; at least one fits.
static size_t fit_columns(const struct view *view, size_t first_width, const struct column *columns,
                          size_t first, size_t count)
{
	size_t used = first_width, end = first;

	while (end < count) {
		size_t title = strlen(columns[end].title);
		used += 1 + (title > columns[end].width ? title : columns[end].width);
		if (end > first && used > view->text->options->columns)
			break;
		end++;
	}
	return end;
}

// ---- table 2: what a product is made of

enum { PARTS = 8 };
static const struct column part_columns[PARTS] = {
	{ "build", 7 },    { "alloc", 7 },  { "copy in", 7 },  { "launch", 7 },
	{ "complete", 7 }, { "kernel", 7 }, { "copy out", 7 }, { "total", 7 },
};

static const char *ms_text(const struct tare_cell *cell, char text[TARE_UNIT_TEXT])
{

	if (!cell)
		return "";
	if (cell->absent)
		return "n/a";
	if (cell->verified == TARE_WRONG)
		return "WRONG";
	return short_number(cell->summary.median * (tare_cell_unit_ns(cell) < 1 ? 1e-9 : 1e-6),
	                    text);
}

// One table of the columns `from` to `to`; *rows: how many it has.
static int write_some_parts(const struct view *view, size_t from, size_t to, size_t *rows)
{
	static const enum tare_part parts[PARTS] = {
		TARE_PART_BUILD,    TARE_PART_ALLOCATE, TARE_PART_COPY_IN,  TARE_PART_LAUNCH,
		TARE_PART_COMPLETE, TARE_PART_KERNEL,   TARE_PART_COPY_OUT, TARE_PART_TOTAL,
	};
	struct tare_text_table *table = tare_text_table_new(view->text, 0);
	char title[48], text[TARE_UNIT_TEXT];

	snprintf(title, sizeof title, "ms, n = %lld", (long long)view->largest);
	tare_text_column(table, title, TARE_COLUMN_CUT);
	for (size_t i = from; i < to; i++)
		tare_text_column(table, part_columns[i].title, TARE_COLUMN_RIGHT);
	*rows = 0;
	for (size_t r = 0; r < view->rung_count; r++) {
		const char *rung = view->rungs[r];
		const struct tare_cell *total = find(view, rung, view->largest, TARE_PART_TOTAL);
		if (!total || total->absent)
			continue;
		++*rows;
		tare_text_row(table, TARE_STYLE_PLAIN);
		tare_text_cell(table, "%s", rung);
		for (size_t i = from; i < to; i++)
			tare_text_cell(
			    table, "%s",
			    ms_text(find(view, rung, i == 0 ? -1 : view->largest, parts[i]), text));
	}
	if (*rows)
		return tare_text_table_print(table);
	tare_text_table_free(table);
	return 0;
}

static int write_parts(const struct view *view)
{
	size_t rows = 1;
	int status = 0;

	for (size_t from = 0, to; status == 0 && rows && from < PARTS; from = to) {
		to = fit_columns(view, 13, part_columns, from, PARTS);
		fputc('\n', view->text->file);
		status = write_some_parts(view, from, to, &rows);
	}
	return status;
}

// ---- table 3: how far from the ceilings

static bool has_ceilings(const struct view *view, const char *rung)
{
	return has_kernel(view, rung, view->largest) &&
	       find_model(view, rung, view->largest, "share-of-paper", NULL);
}

static const char *model_text(const struct tare_cell *cell, char text[TARE_UNIT_TEXT])
{
	if (!cell)
		return "–";
	if (cell->absent || !isfinite(cell->summary.median))
		return "n/a";
	return short_number(cell->summary.median, text);
}

enum { PAPER, MEASURED, GLOBAL, LOCAL, TIGHTEST, DISTANCE, CEILINGS };
static const struct column ceiling_columns[CEILINGS] = {
	[PAPER] = { "% paper", 7 },
	[MEASURED] = { "% measured", 7 },
	[GLOBAL] = { "global GB/s", 7 },
	[LOCAL] = { "local GB/s", 7 },
	[TIGHTEST] = { "tightest ceiling", 20 },
	[DISTANCE] = { "times", 6 },
};

static void put_ceiling(struct tare_text_table *table, const struct view *view, const char *rung,
                        size_t column)
{
	static const char *const whats[CEILINGS] = { "share-of-paper",   "share-of-measured",
		                                     "required-rate",    "required-rate",
		                                     "tightest-ceiling", "distance" };
	static const char *const levels[CEILINGS] = { [GLOBAL] = "cache", [LOCAL] = "local" };
	const struct tare_cell *cell =
	    find_model(view, rung, view->largest, whats[column], levels[column]);
	char text[TARE_UNIT_TEXT];

	// "fp32 57300": its name and its rate.
	if (column == TIGHTEST && cell && !cell->absent)
		tare_text_cell(table, "%s %s", tare_text_label_of(cell, "ceiling"),
		               model_text(cell, text));
	else
		tare_text_cell(table, "%s", model_text(cell, text));
}

static int write_some_ceilings(const struct view *view, size_t from, size_t to)
{
	struct tare_text_table *table = tare_text_table_new(view->text, 0);
	char title[48];

	snprintf(title, sizeof title, "n = %lld", (long long)view->largest);
	tare_text_column(table, title, TARE_COLUMN_CUT);
	for (size_t i = from; i < to; i++)
		tare_text_column(table, ceiling_columns[i].title, TARE_COLUMN_RIGHT);
	for (size_t r = 0; r < view->rung_count; r++) {
		if (!has_ceilings(view, view->rungs[r]))
			continue;
		tare_text_row(table, TARE_STYLE_PLAIN);
		tare_text_cell(table, "%s", view->rungs[r]);
		for (size_t i = from; i < to; i++)
			put_ceiling(table, view, view->rungs[r], i);
	}
	return tare_text_table_print(table);
}

static int write_ceilings(const struct view *view)
{
	size_t rows = 0;
	bool rounded = false;
	int status;

	for (size_t r = 0; r < view->rung_count; r++) {
		rows += has_ceilings(view, view->rungs[r]);
		rounded |= is_rounded(view->rungs[r]) && has_ceilings(view, view->rungs[r]);
	}
	if (rows == 0)
		return 0;
	fputc('\n', view->text->file);
	status =
	    tare_text_paragraph(view->text, TARE_STYLE_PLAIN, "", 0,
	                        "Shares of the FP32 peak%s, and the bytes that the loops ask "
	                        "for; models, no counter was read; times: ceiling over rate",
	                        rounded ? " (blas-tf32, -fp16, -bf16: of the matrix units' for "
	                                  "these factors)"
	                                : "");
	for (size_t from = 0, to; status == 0 && from < CEILINGS; from = to) {
		to = fit_columns(view, 10, ceiling_columns, from, CEILINGS);
		if (from)
			fputc('\n', view->text->file);
		status = write_some_ceilings(view, from, to);
	}
	return status;
}

// ---- table 4: speed-ups

static int write_speed_ups(const struct view *view)
{
	static const char *const whats[] = { "speed-up-kernel", "speed-up-total" };
	static const char *const names[] = { "kernel", "total" };
	struct tare_text_table *table;
	char text[TARE_UNIT_TEXT];
	size_t rows = 0;

	table = tare_text_table_new(view->text, 0);
	tare_text_column(table, "times one core, n =", TARE_COLUMN_CUT);
	for (size_t i = first_size(view); i < view->size_count; i++) {
		snprintf(text, sizeof text, "%lld", (long long)view->sizes[i]);
		tare_text_column(table, text, TARE_COLUMN_RIGHT);
	}
	for (size_t r = 0; r < view->rung_count; r++)
		for (int w = 0; w < 2; w++) {
			bool any = false;
			for (size_t i = 0; i < view->size_count; i++)
				any |= find_model(view, view->rungs[r], view->sizes[i], whats[w],
				                  NULL) != NULL;
			if (!any)
				continue;
			rows++;
			tare_text_row(table, TARE_STYLE_PLAIN);
			tare_text_cell(table, "%s, %s", view->rungs[r], names[w]);
			for (size_t i = first_size(view); i < view->size_count; i++)
				tare_text_cell(
				    table, "%s",
				    model_text(find_model(view, view->rungs[r], view->sizes[i],
				                          whats[w], NULL),
				               text));
		}
	if (rows) {
		fputc('\n', view->text->file);
		return tare_text_table_print(table);
	}
	tare_text_table_free(table);
	return 0;
}

// ---- sentences

// Why figures are missing, each reason with the products that share it. Names are "element 512".
static int write_absent(const struct view *view)
{
	struct tare_text_reasons *reasons = tare_text_reasons_new();
	char(*names)[64] = calloc(view->result->cell_count + 1, sizeof *names);
	int status = names ? 0 : -ENOMEM;

	for (size_t i = 0; status == 0 && i < view->result->cell_count; i++) {
		const struct tare_cell *cell = &view->result->cells[i];
		int64_t n = tare_cell_number(cell, "n");
		if (!cell->absent || is_model(cell))
			continue;
		if (n < 0)
			snprintf(names[i], sizeof *names, "%.40s",
			         tare_text_label_of(cell, "rung"));
		else
			snprintf(names[i], sizeof *names, "%.40s %lld",
			         tare_text_label_of(cell, "rung"), (long long)n);
		status = tare_text_reasons_add(reasons, names[i], cell->absent);
	}
	if (status == 0)
		status = tare_text_reasons_print(reasons, view->text, TARE_STYLE_PLAIN, "n/a  ");
	else
		tare_text_reasons_free(reasons);
	free(names);
	return status;
}

// With -v: how each figure was measured, once a method.
static int write_methods(const struct view *view)
{
	struct tare_text_reasons *reasons = tare_text_reasons_new();
	char(*names)[64] = calloc(view->result->cell_count + 1, sizeof *names);
	const struct tare_label *verification =
	    tare_labels_find(&view->result->parameters, "verification");
	int status = names ? 0 : -ENOMEM;

	fputc('\n', view->text->file);
	for (size_t i = 0; status == 0 && i < view->result->cell_count; i++) {
		const struct tare_cell *cell = &view->result->cells[i];
		const char *what = tare_text_label_of(cell, "what");
		const char *level = tare_text_label_of(cell, "level");
		if (!cell->method)
			continue;
		if (what[0])
			snprintf(names[i], sizeof *names, "%.30s%s%.20s", what,
			         level[0] ? ", " : "", level);
		else
			snprintf(names[i], sizeof *names, "%.20s %.30s",
			         tare_text_label_of(cell, "rung"),
			         tare_text_label_of(cell, "part"));
		status = tare_text_reasons_add(reasons, names[i], cell->method);
	}
	if (status == 0)
		status = tare_text_reasons_print(reasons, view->text, TARE_STYLE_FAINT, "");
	else
		tare_text_reasons_free(reasons);
	free(names);
	if (status == 0 && verification && verification->text)
		status = tare_text_paragraph(view->text, TARE_STYLE_FAINT, "", 2, "verified: %s",
		                             verification->text);
	return status;
}

int tare_text_matmul(const struct tare_text *text, const struct tare_result *result)
{
	struct view view = { .text = text, .result = result };
	int status = 0;

	look(&view);
	fputc('\n', text->file);
	if (view.largest == 0)
		status = tare_text_paragraph(text, TARE_STYLE_PLAIN, "", 0, "No figures.");
	if (status == 0 && view.largest)
		status = write_rates(&view);
	if (status == 0 && view.largest)
		status = write_hidden(&view);
	if (status == 0 && view.largest)
		status = write_library(&view);
	if (status == 0 && view.largest)
		status = write_kernel_clock(&view);
	if (status == 0 && view.largest)
		status = write_parts(&view);
	if (status == 0 && view.largest)
		status = write_ceilings(&view);
	if (status == 0 && view.largest)
		status = write_speed_ups(&view);
	if (status == 0)
		status = write_absent(&view);
	if (status == 0 && text->options->verbosity > 0)
		status = write_methods(&view);
	return status;
}
