// SPDX-License-Identifier: Apache-2.0
// `overlap` as text: what each stage takes, what overlapping gains at each kernel : copy, and with
// -v every schedule that was measured beside its prediction. What follows from it is printed with
// the conclusions (frame.c).
#include "report/result/overlap.h"

#include "model/statistics/order.h"
#include "report/core/table_text.h"
#include "report/result/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_schedule(const struct tare_cell *cell)
{
	return tare_cell_has_text(cell, "group", "concurrent") &&
	       !tare_labels_find(&cell->labels, "what");
}

// The measured schedule at `cycles` whose label `name` says `value`: the best, the serial one.
static const struct tare_cell *find_schedule(const struct overlap_view *view, int64_t cycles,
                                             const char *name, int64_t value)
{
	for (size_t i = 0; i < view->result->cell_count; i++) {
		const struct tare_cell *cell = &view->result->cells[i];
		if (is_schedule(cell) && tare_cell_number(cell, "cycles") == cycles &&
		    tare_cell_number(cell, name) == value)
			return cell;
	}
	return NULL;
}

// All in one queue, one after the other, as it was timed in turn with the best: what the speed-up
// rests on. Else as it was timed among the stages.
static const struct tare_cell *find_serial(const struct overlap_view *view, int64_t cycles)
{
	const struct tare_cell *serial = find_schedule(view, cycles, "chunks", 1);

	return tare_has_figure(serial)
	           ? serial
	           : tare_overlap_find(view, "sequential", cycles, "stage", "total");
}

static const struct tare_cell *best_at(const struct overlap_view *view, int64_t cycles)
{
	return find_schedule(view, cycles, "best", 1);
}

static const struct tare_cell *handbook_at(const struct overlap_view *view, int64_t cycles)
{
	return find_schedule(view, cycles, "handbook", 1);
}

// The prediction for a measured schedule.
static const struct tare_cell *prediction_of(const struct overlap_view *view,
                                             const struct tare_cell *measured, const char *what)
{
	static const char *const numbers[] = { "cycles", "chunks", "queues" };
	static const char *const texts[] = { "order", "mechanism", "sizes" };

	for (size_t i = 0; i < view->result->cell_count; i++) {
		const struct tare_cell *cell = &view->result->cells[i];
		bool same = tare_cell_has_text(cell, "group", "concurrent") &&
		            tare_cell_has_text(cell, "what", what);
		for (int k = 0; same && k < 3; k++)
			same = tare_cell_number(cell, numbers[k]) ==
			           tare_cell_number(measured, numbers[k]) &&
			       strcmp(tare_cell_text(cell, texts[k]),
			              tare_cell_text(measured, texts[k])) == 0;
		if (same)
			return cell;
	}
	return NULL;
}

// ---- points and units

static void find_points(struct overlap_view *view)
{
	double longest = 0;

	for (size_t i = 0; i < view->result->cell_count; i++) {
		const struct tare_cell *cell = &view->result->cells[i];
		int64_t cycles = tare_cell_number(cell, "cycles");
		bool known = false;
		if (!tare_cell_has_text(cell, "group", "sequential"))
			continue;
		if (tare_has_figure(cell))
			longest = fmax(longest, tare_figure_ns(cell));
		for (size_t k = 0; k < view->points; k++)
			known |= view->cycles[k] == cycles;
		if (!known && view->points < sizeof view->cycles / sizeof *view->cycles)
			view->cycles[view->points++] = cycles;
	}
	qsort(view->cycles, view->points, sizeof *view->cycles, tare_compare_integers);
	view->unit = longest >= 2e9 ? "s" : longest >= 2e6 ? "ms" : "µs";
	view->unit_ns = longest >= 2e9 ? 1e9 : longest >= 2e6 ? 1e6 : 1e3;
}

// ---- values

static struct tare_cell_value cycles_of(const int64_t *cycles)
{
	return tare_if(*cycles != TARE_NO_CYCLES, tare_integer(*cycles), TARE_NOT_ASKED);
}

static const struct tare_cell *stage(const struct overlap_view *view, const int64_t *cycles,
                                     const char *name)
{
	return tare_overlap_find(view, "sequential", *cycles, "stage", name);
}

static const struct tare_cell *bound(const struct overlap_view *view, const int64_t *cycles,
                                     const char *what)
{
	return tare_overlap_find(view, "bound", *cycles, "what", what);
}

static struct tare_cell_value time_of(const struct tare_cell *cell)
{
	return tare_figure(cell, cell ? tare_figure_ns(cell) : NAN, TARE_NOT_ASKED);
}

static struct tare_cell_value plain(const struct tare_cell *cell)
{
	return tare_figure_median(cell, TARE_NOT_ASKED);
}

// A part of 1: cells have percent.
static struct tare_cell_value error_of(const struct tare_cell *cell)
{
	return tare_figure(cell, cell ? cell->summary.median / 100 : NAN, TARE_NOT_ASKED);
}

static struct tare_cell_value over(const struct tare_cell *over, const struct tare_cell *under)
{
	bool known = tare_has_figure(over) && tare_has_figure(under) && tare_figure_ns(under) > 0;

	return known ? tare_number(tare_figure_ns(over) / tare_figure_ns(under), TARE_NOT_ASKED)
	             : tare_absent(TARE_NOT_ASKED);
}

static bool best_schedule(const struct tare_cell_text *cell)
{
	const struct tare_cell *best = best_at(cell->source, *(const int64_t *)cell->row);

	if (best)
		tare_text_schedule(best, true, cell->text, cell->size);
	return true;
}

static bool is(const struct tare_cell *schedule, const char *what)
{
	return tare_cell_number(schedule, what) == 1;
}

static bool whole_schedule(const struct tare_cell_text *cell)
{
	char text[96];

	snprintf(cell->text, cell->size, "%s%s",
	         tare_text_schedule(cell->row, false, text, sizeof text),
	         is(cell->row, "best")       ? " (best)"
	         : is(cell->row, "handbook") ? " (Handbook)"
	         : is(cell->row, "control")  ? " (at random)"
	                                     : "");
	return true;
}

static enum tare_text_style style_of(const void *view, const void *schedule)
{
	(void)view;
	return is(schedule, "best") ? TARE_STYLE_PLAIN : TARE_STYLE_FAINT;
}

// ---- the tables

enum { HANDBOOK = TARE_ON_MORE };

#define SOURCE struct overlap_view
#define SOURCE_NAME view
#define ROW int64_t
#define TABLE stages
#define COLUMNS "report/result/tables/overlap_stages.def"
#include "table/declare.h"
#define ROW int64_t
#define TABLE gains
#define COLUMNS "report/result/tables/overlap_gains.def"
#include "table/declare.h"
#define ROW struct tare_cell
#define TABLE schedules
#define COLUMNS "report/result/tables/overlap_schedules.def"
#include "table/declare.h"

TARE_TABLE(, tare_table_overlap_stages, "overlap_stages", "Stages", "a length of the kernel", NULL,
           struct overlap_view, view, view->points, &view->cycles[index], stages_columns);
TARE_TABLE(, tare_table_overlap_gains, "overlap_gains", "What overlapping gains",
           "a length of the kernel", NULL, struct overlap_view, view, view->points,
           &view->cycles[index], gains_columns);
TARE_TABLE(, tare_table_overlap_schedules, "overlap_schedules", "Schedules",
           "a schedule that was measured", NULL, struct overlap_view, view,
           view->result->cell_count, &view->result->cells[index], schedules_columns);

static void write_stages(const struct overlap_view *view)
{
	bool handbook = false;

	for (size_t i = 0; i < view->points; i++)
		handbook = handbook || tare_has_figure(handbook_at(view, view->cycles[i]));
	tare_table_text(view->text, &tare_table_overlap_stages, view,
	                &(struct tare_table_part){ .flush = true,
	                                           .on = TARE_ON_TEXT | (handbook ? HANDBOOK : 0),
	                                           .unit_ns = view->unit_ns });
	if (handbook)
		tare_text_paragraph(view->text, TARE_STYLE_PLAIN, "", 1,
		                    "8 streams: the CUDA Handbook's schedule as a reference "
		                    "(one chunk a stream, all copies to the device first), "
		                    "run in turn with the best; ratio: best time over "
		                    "reference time");
}

// The schedules of each point, point by point.
static void write_schedules(const struct overlap_view *view)
{
	const void **rows = calloc(view->result->cell_count + 1, sizeof *rows);
	size_t count = 0;

	for (size_t p = 0; rows && p < view->points; p++)
		for (size_t i = 0; i < view->result->cell_count; i++) {
			const struct tare_cell *cell = &view->result->cells[i];
			if (is_schedule(cell) &&
			    tare_cell_number(cell, "cycles") == view->cycles[p])
				rows[count++] = cell;
		}
	fputc('\n', view->text->file);
	view->text->failed |= !rows;
	if (rows)
		tare_table_text(view->text, &tare_table_overlap_schedules, view,
		                &(struct tare_table_part){ .flush = true,
		                                           .on = TARE_ON_TEXT,
		                                           .unit_ns = view->unit_ns,
		                                           .rows = rows,
		                                           .most = count,
		                                           .style = style_of });
	free(rows);
}

static void write_head(const struct overlap_view *view)
{
	const struct tare_labels *parameters = &view->result->parameters;
	const struct tare_label *in = tare_labels_find(parameters, "in_bytes");
	const struct tare_label *out = tare_labels_find(parameters, "out_bytes");
	const struct tare_label *kernel = tare_labels_find(parameters, "kernel");
	char to[TARE_UNIT_TEXT], from[TARE_UNIT_TEXT];

	if (!in || !out || in->text || out->text || !kernel || !kernel->text)
		return;
	tare_text_paragraph(view->text, TARE_STYLE_PLAIN, "", 0,
	                    "%s over %s in, %s out; median times in %s; * not known to 1 %%",
	                    kernel->text, tare_format_bytes((uint64_t)in->number, to),
	                    tare_format_bytes((uint64_t)out->number, from), view->unit);
}

void tare_text_overlap(struct tare_text *text, const struct tare_result *result)
{
	struct overlap_view view = { .text = text, .result = result };
	bool verbose = text->options->verbosity > 0;

	find_points(&view);
	write_head(&view);
	fputc('\n', text->file);
	if (view.points == 0) {
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "", 0, "No figures.");
		return;
	}
	write_stages(&view);
	tare_overlap_copies(&view);
	fputc('\n', text->file);
	tare_table_text(text, &tare_table_overlap_gains, &view,
	                &(struct tare_table_part){
	                    .flush = true, .on = TARE_ON_TEXT, .unit_ns = view.unit_ns });
	tare_overlap_notes(&view);
	if (verbose)
		write_schedules(&view);
	tare_overlap_reasons(&view, false);
	if (verbose)
		tare_overlap_reasons(&view, true);
}
