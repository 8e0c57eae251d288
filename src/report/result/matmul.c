// SPDX-License-Identifier: Apache-2.0
// `matmul` as text: rates by size, what a product is made of, how far it is from the ceilings, and
// speed-ups.
#include "base/units.h"
#include "report/core/table_text.h"
#include "report/result/figure.h"
#include "report/result/parts.h"
#include "report/result/tables.h"
#include "result/matmul_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RUNGS 16
#define SIZES 32

struct rung {
	const char *name;
};

// A row of the speed-ups: a rung's kernel, or all of its product.
struct gain {
	const char *rung, *name, *what;
};

struct view {
	struct tare_text *text;
	const struct tare_result *result;
	struct rung rungs[RUNGS]; // in the order of the ladder
	size_t rung_count;
	struct gain gains[2 * RUNGS];
	size_t gain_count;
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
		    tare_cell_has_text(cell, "rung", rung) &&
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
		    tare_cell_has_text(cell, "rung", rung) &&
		    tare_cell_has_text(cell, "what", what) &&
		    (!level || tare_cell_has_text(cell, "level", level)))
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
		if (strcmp(view->rungs[i].name, rung) == 0)
			return;
	if (!rung[0] || view->rung_count == RUNGS)
		return;
	// The ladder's order; a rung that this version does not know comes last.
	while (at > 0 && tare_rung_named(view->rungs[at - 1].name) > tare_rung_named(rung)) {
		view->rungs[at] = view->rungs[at - 1];
		at--;
	}
	view->rungs[at].name = rung;
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

static void list_gains(struct view *view)
{
	static const struct gain kinds[] = { { NULL, "kernel", "speed-up-kernel" },
		                             { NULL, "total", "speed-up-total" } };

	for (size_t r = 0; r < 2 * view->rung_count; r++) {
		struct gain *gain = &view->gains[view->gain_count];
		bool any = false;
		*gain = kinds[r % 2];
		gain->rung = view->rungs[r / 2].name;
		for (size_t i = 0; i < view->size_count; i++)
			any |=
			    find_model(view, gain->rung, view->sizes[i], gain->what, NULL) != NULL;
		view->gain_count += any;
	}
}

static void look(struct view *view)
{
	int64_t any = 0;

	for (size_t i = 0; i < view->result->cell_count; i++) {
		const struct tare_cell *cell = &view->result->cells[i];
		int64_t n = tare_cell_number(cell, "n");
		add_rung(view, tare_cell_text(cell, "rung"));
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
	list_gains(view);
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

static void write_library(const struct view *view)
{
	const struct tare_label *library = tare_labels_find(&view->result->parameters, "library");

	if (!library || !library->text)
		return;
	tare_text_paragraph(view->text, TARE_STYLE_PLAIN, "", 0, "blas: %s", library->text);
}

// Where the device's stamps are positions in the stream: what "kernel" is by instead.
static void write_kernel_clock(const struct view *view)
{
	const struct tare_label *clock =
	    tare_labels_find(&view->result->parameters, "kernel-clock");

	if (!clock || !clock->text)
		return;
	tare_text_paragraph(view->text, TARE_STYLE_PLAIN, "", 0, "kernel: %s", clock->text);
}

// Where the terminal is too narrow for every size.
static void write_hidden(const struct view *view)
{
	if (first_size(view) == 0)
		return;
	tare_text_paragraph(view->text, TARE_STYLE_FAINT, "", 0,
	                    "sizes below %lld are in the data (--json) and on the page only",
	                    (long long)view->sizes[first_size(view)]);
}

// ---- values

static struct tare_cell_value rate_at(const struct view *view, const struct rung *rung, int64_t n)
{
	const struct tare_cell *cell = rate_cell(view, rung->name, n);

	if (is_missing(view, rung->name))
		return tare_absent(TARE_NOT_MEASURED);
	return tare_figure(cell, cell && cell->rate.present ? cell->rate.median : NAN,
	                   TARE_NOT_KNOWN);
}

// A program is built for all sizes.
static struct tare_cell_value part_ms(const struct view *view, const struct rung *rung,
                                      enum tare_part part)
{
	int64_t n = part == TARE_PART_BUILD ? -1 : view->largest;
	const struct tare_cell *cell = find(view, rung->name, n, part);
	struct tare_cell_value value =
	    tare_figure(cell, cell ? tare_figure_ns(cell) * 1e-6 : NAN, TARE_NOT_ASKED);

	value.unsure = false; // the table of rates says what is
	return value;
}

static struct tare_cell_value model(const struct view *view, const struct rung *rung,
                                    const char *what, const char *level)
{
	return tare_figure_median(find_model(view, rung->name, view->largest, what, level),
	                          TARE_NOT_KNOWN);
}

static const char *tightest_name(const struct view *view, const struct rung *rung)
{
	const struct tare_cell *cell =
	    find_model(view, rung->name, view->largest, "tightest-ceiling", NULL);

	return tare_has_figure(cell) ? tare_cell_text(cell, "ceiling") : NULL;
}

// "fp32 57300": its name and its rate.
static bool tightest_ceiling(const struct tare_cell_text *text)
{
	const struct view *view = text->source;
	const struct rung *rung = text->row;
	const struct tare_cell *cell =
	    find_model(view, rung->name, view->largest, "tightest-ceiling", NULL);
	char number[TARE_UNIT_TEXT];

	if (!tare_has_figure(cell))
		return false;
	snprintf(text->text, text->size, "%.60s %s", tightest_name(view, rung),
	         tare_format_significant(cell->summary.median, 3, number));
	return true;
}

static struct tare_cell_value speed_up(const struct view *view, const struct gain *gain, int64_t n)
{
	return tare_figure_median(find_model(view, gain->rung, n, gain->what, NULL),
	                          TARE_NOT_KNOWN);
}

static bool speed_up_name(const struct tare_cell_text *text)
{
	const struct gain *gain = text->row;

	snprintf(text->text, text->size, "%.80s, %s", gain->rung, gain->name);
	return true;
}

static int64_t size_at(const struct view *view, size_t at)
{
	return view->sizes[first_size(view) + at];
}

static const char *size_title(const struct view *view, size_t at, char *text)
{
	snprintf(text, TARE_UNIT_TEXT, "%lld", (long long)size_at(view, at));
	return text;
}

// ---- the tables

#define SOURCE struct view
#define SOURCE_NAME view
#define ROW struct rung
#define TABLE rates
#define COLUMNS "report/result/tables/matmul_rates.def"
#include "table/declare.h"
#define ROW struct rung
#define TABLE parts
#define COLUMNS "report/result/tables/matmul_parts.def"
#include "table/declare.h"
#define ROW struct rung
#define TABLE ceilings
#define COLUMNS "report/result/tables/matmul_ceilings.def"
#include "table/declare.h"
#define ROW struct gain
#define TABLE gains
#define COLUMNS "report/result/tables/matmul_speed_ups.def"
#include "table/declare.h"

#define RUNG_TABLE(name, heading)                                                                  \
	TARE_TABLE(, tare_table_matmul_##name, "matmul_" #name, heading, "a rung", NULL,           \
	           struct view, view, view->rung_count, &view->rungs[index], name##_columns)
RUNG_TABLE(rates, "Rates");
RUNG_TABLE(parts, "Parts of a product");
RUNG_TABLE(ceilings, "Ceilings");
TARE_TABLE(, tare_table_matmul_speed_ups, "matmul_speed_ups", "Speed-ups",
           "a rung's kernel, or all of it", NULL, struct view, view, view->gain_count,
           &view->gains[index], gains_columns);

// Most devices have no library for the rounded ones: the reason says enough.
static bool is_rated(const void *view, const void *row)
{
	const struct rung *rung = row;

	return !is_rounded(rung->name) || !is_missing(view, rung->name);
}

static bool has_total(const void *source, const void *row)
{
	const struct view *view = source;
	const struct tare_cell *total =
	    find(view, ((const struct rung *)row)->name, view->largest, TARE_PART_TOTAL);

	return total && !total->absent;
}

static bool has_ceilings(const void *source, const void *row)
{
	const struct view *view = source;
	const char *rung = ((const struct rung *)row)->name;

	return has_kernel(view, rung, view->largest) &&
	       find_model(view, rung, view->largest, "share-of-paper", NULL);
}

// A table at the largest size, which its first title names after `lead`.
static void write_at_largest(const struct view *view, const struct tare_table *table,
                             const char *lead, bool (*keep)(const void *view, const void *rung))
{
	char title[48];

	snprintf(title, sizeof title, "%sn = %lld", lead, (long long)view->largest);
	tare_table_text(
	    view->text, table, view,
	    &(struct tare_table_part){
	        .flush = true, .fold = true, .on = TARE_ON_TEXT, .title = title, .keep = keep });
}

static void write_rates(const struct view *view)
{
	tare_table_text(
	    view->text, &tare_table_matmul_rates, view,
	    &(struct tare_table_part){ .flush = true, .on = TARE_ON_TEXT, .keep = is_rated });
}

static void write_parts(const struct view *view)
{
	fputc('\n', view->text->file);
	write_at_largest(view, &tare_table_matmul_parts, "ms, ", has_total);
}

static void write_ceilings(const struct view *view)
{
	size_t rows = 0;
	bool rounded = false;

	for (size_t r = 0; r < view->rung_count; r++) {
		bool has = has_ceilings(view, &view->rungs[r]);
		rows += has;
		rounded |= has && is_rounded(view->rungs[r].name);
	}
	if (rows == 0)
		return;
	fputc('\n', view->text->file);
	tare_text_paragraph(view->text, TARE_STYLE_PLAIN, "", 0,
	                    "Shares of the FP32 peak%s, and the bytes that the loops ask "
	                    "for; models, no counter was read; times: ceiling over rate",
	                    rounded ? " (blas-tf32, -fp16, -bf16: of the matrix units' for "
	                              "these factors)"
	                            : "");
	write_at_largest(view, &tare_table_matmul_ceilings, "", has_ceilings);
}

static void write_speed_ups(const struct view *view)
{
	if (view->gain_count)
		fputc('\n', view->text->file);
	tare_table_text(view->text, &tare_table_matmul_speed_ups, view,
	                &(struct tare_table_part){ .flush = true, .on = TARE_ON_TEXT });
}

// ---- sentences

static bool is_measured(const struct tare_cell *cell)
{
	return !is_model(cell);
}

// "element 512".
static void product_name(const struct tare_cell *cell, FILE *file)
{
	int64_t n = tare_cell_number(cell, "n");

	fputs(tare_cell_text(cell, "rung"), file);
	if (n >= 0)
		fprintf(file, " %lld", (long long)n);
}

static void figure_name(const struct tare_cell *cell, FILE *file)
{
	const char *what = tare_cell_text(cell, "what"), *level = tare_cell_text(cell, "level");

	if (what[0])
		fprintf(file, "%s%s%s", what, level[0] ? ", " : "", level);
	else
		fprintf(file, "%s %s", tare_cell_text(cell, "rung"), tare_cell_text(cell, "part"));
}

static void write_methods(const struct view *view)
{
	const struct tare_label *verification =
	    tare_labels_find(&view->result->parameters, "verification");

	tare_text_reasons(
	    view->text, view->result,
	    &(struct tare_text_why){
	        .methods = true, .style = TARE_STYLE_FAINT, .lead = "", .name = figure_name });
	if (verification && verification->text)
		tare_text_paragraph(view->text, TARE_STYLE_FAINT, "", 2, "verified: %s",
		                    verification->text);
}

void tare_text_matmul(struct tare_text *text, const struct tare_result *result)
{
	static void (*const tables[])(const struct view *view) = {
		write_rates, write_hidden,   write_library,  write_kernel_clock,
		write_parts, write_ceilings, write_speed_ups
	};
	struct view view = { .text = text, .result = result };

	look(&view);
	fputc('\n', text->file);
	if (view.largest == 0)
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "", 0, "No figures.");
	for (size_t i = 0; view.largest && i < sizeof tables / sizeof *tables; i++)
		tables[i](&view);
	tare_text_reasons(
	    text, result,
	    &(struct tare_text_why){ .lead = "n/a  ", .name = product_name, .about = is_measured });
	if (text->options->verbosity > 0)
		write_methods(&view);
}
