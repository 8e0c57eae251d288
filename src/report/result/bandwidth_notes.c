// SPDX-License-Identifier: Apache-2.0
// What stands around the table of `bandwidth`: times without a rate, reasons, methods, all cells.
#include "base/units.h"
#include "report/core/table_text.h"
#include "report/result/figure.h"
#include "report/result/pivot.h"
#include "report/result/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Lines with a time but no rate (a mapping that moves nothing), at the largest size.
void tare_pivot_write_times(const struct tare_pivot *pivot)
{
	for (size_t i = 0; i < pivot->result->cell_count; i++) {
		const struct tare_cell *cell = &pivot->result->cells[i], *largest = cell;
		const char *line = tare_cell_text(cell, "line");
		char size[TARE_UNIT_TEXT], time[TARE_UNIT_TEXT], first_size[TARE_UNIT_TEXT],
		    first_time[TARE_UNIT_TEXT];
		double scale = tare_cell_unit_ns(cell);
		bool said = false;

		if (cell->absent || cell->rate.present || tare_cell_number(cell, "bytes") < 0 ||
		    !isfinite(cell->summary.median))
			continue;
		for (size_t j = 0; j < i; j++) {
			const struct tare_cell *other = &pivot->result->cells[j];
			said |= !other->absent && !other->rate.present &&
			        tare_cell_number(other, "bytes") >= 0 &&
			        tare_cell_has_text(other, "line", line);
		}
		if (said)
			continue;
		for (size_t j = i; j < pivot->result->cell_count; j++) {
			const struct tare_cell *other = &pivot->result->cells[j];
			if (!other->absent && !other->rate.present &&
			    tare_cell_number(other, "bytes") > tare_cell_number(largest, "bytes") &&
			    strcmp(other->source, cell->source) == 0 &&
			    strcmp(other->unit, cell->unit) == 0 &&
			    tare_cell_has_text(other, "line", line))
				largest = other;
		}
		tare_format_bytes((uint64_t)tare_cell_number(cell, "bytes"), first_size);
		tare_format_ns(cell->summary.median * scale, first_time);
		tare_format_bytes((uint64_t)tare_cell_number(largest, "bytes"), size);
		tare_format_ns(largest->summary.median * scale, time);
		tare_text_paragraph(pivot->text, TARE_STYLE_PLAIN, "", 5,
		                    "%s: moves nothing; %s for %s, %s for %s (%s time)", line,
		                    first_time, first_size, time, size, cell->source);
	}
}

// What a figure counts, where its name alone could be read otherwise.
static const struct {
	const char *line, *text;
} countings[] = {
	{ "device-to-device-twice",
	  "device-to-device counts the bytes copied, device-to-device-twice "
	  "the bytes read and the bytes written" },
	{ "both-to-device",
	  "both-to-device and both-to-host are each direction's own rate while the "
	  "other one runs; both-total is their sum" },
};

static bool has_row(const struct tare_pivot *pivot, const char *line)
{
	for (size_t r = 0; r < pivot->row_count; r++)
		if (strcmp(pivot->rows[r].line, line) == 0)
			return true;
	return false;
}

// What the words of the lines are called by the API, and who copied.
static void write_words(const struct tare_pivot *pivot)
{
	const struct tare_result *result = pivot->result;
	const struct tare_label *engine = tare_labels_find(&result->parameters, "engine");

	if (!result->device_count || strcmp(result->devices[0].backend, "levelzero") != 0)
		return;
	tare_text_paragraph(pivot->text, TARE_STYLE_PLAIN, "", 0,
	                    "heap is malloc, host zeMemAllocHost, device zeMemAllocDevice, shared "
	                    "zeMemAllocShared%s%s",
	                    engine ? "; engine: " : "", engine && engine->text ? engine->text : "");
}

void tare_pivot_write_countings(const struct tare_pivot *pivot)
{
	write_words(pivot);
	for (size_t i = 0; i < sizeof countings / sizeof *countings; i++)
		if (has_row(pivot, countings[i].line))
			tare_text_paragraph(pivot->text, TARE_STYLE_PLAIN, "", 0, "%s",
			                    countings[i].text);
}

// Whether cell `index` is the first with its reason, its line too if `line`, its size too if
// `size`.
static bool is_first(const struct tare_result *result, size_t index, bool line, bool size)
{
	const struct tare_cell *cell = &result->cells[index];

	for (size_t i = 0; i < index; i++) {
		const struct tare_cell *other = &result->cells[i];
		if (other->absent && strcmp(other->absent, cell->absent) == 0 &&
		    (!line ||
		     strcmp(tare_cell_text(other, "line"), tare_cell_text(cell, "line")) == 0) &&
		    (!size || tare_cell_number(other, "bytes") == tare_cell_number(cell, "bytes")))
			return false;
	}
	return true;
}

// " (64 KB, 1 MB)": where a line that has figures lacks some for this reason.
static void print_sizes(const struct tare_pivot *pivot, size_t first, FILE *file)
{
	const struct tare_result *result = pivot->result;
	const struct tare_cell *cell = &result->cells[first];
	const char *line = tare_cell_text(cell, "line"), *separator = " (";
	char text[TARE_UNIT_TEXT];

	if (!has_row(pivot, line))
		return;
	for (size_t i = first; i < result->cell_count; i++) {
		const struct tare_cell *other = &result->cells[i];
		if (!other->absent || strcmp(other->absent, cell->absent) != 0 ||
		    tare_cell_number(other, "bytes") < 0 ||
		    !tare_cell_has_text(other, "line", line) || !is_first(result, i, true, true))
			continue;
		fprintf(file, "%s%s", separator,
		        tare_format_bytes((uint64_t)tare_cell_number(other, "bytes"), text));
		separator = ", ";
	}
	if (separator[0] == ',')
		fputc(')', file);
}

// One reason, with every line that shares it.
static void write_reason(const struct tare_pivot *pivot, size_t first)
{
	const struct tare_result *result = pivot->result;
	const char *reason = result->cells[first].absent, *separator = "";
	FILE *file = tare_text_gather(pivot->text);

	if (!file)
		return;
	for (size_t i = first; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (!cell->absent || strcmp(cell->absent, reason) != 0 ||
		    !is_first(result, i, true, false))
			continue;
		fprintf(file, "%s%s", separator, tare_cell_text(cell, "line"));
		print_sizes(pivot, i, file);
		separator = ", ";
	}
	fprintf(file, ": %s", reason);
	tare_text_gathered(pivot->text, TARE_STYLE_PLAIN, "n/a  ", 5);
}

void tare_pivot_write_absent(const struct tare_pivot *pivot)
{
	for (size_t i = 0; i < pivot->result->cell_count; i++)
		if (pivot->result->cells[i].absent && is_first(pivot->result, i, false, false))
			write_reason(pivot, i);
}

static void name_of(const struct tare_cell *cell, FILE *file)
{
	const char *fit = tare_cell_text(cell, "fit");

	fputs(fit[0] ? fit : tare_cell_text(cell, "line"), file);
}

void tare_pivot_write_methods(const struct tare_pivot *pivot)
{
	tare_text_reasons(
	    pivot->text, pivot->result,
	    &(struct tare_text_why){
	        .methods = true, .style = TARE_STYLE_FAINT, .lead = "", .name = name_of });
}

// ---- with -v: every size, one row a cell

static bool is_shown(const void *pivot, const void *row)
{
	const struct tare_cell *cell = row;

	(void)pivot;
	return !cell->absent && tare_cell_number(cell, "bytes") >= 0;
}

static bool spread_cell(const struct tare_cell_text *cell)
{
	tare_text_plus_minus(cell->row, 1, cell->text);
	return true;
}

#define SOURCE struct tare_pivot
#define SOURCE_NAME view
#define ROW struct tare_cell
#define COLUMNS "report/result/tables/bandwidth_cells.def"
#include "table/declare.h"
TARE_TABLE(, tare_table_bandwidth_cells, "bandwidth_cells", "Figures",
           "a size of a line on a clock", NULL, struct tare_pivot, view, view->result->cell_count,
           &view->result->cells[index], declared_columns);

void tare_pivot_write_cells(const struct tare_pivot *pivot)
{
	tare_table_text(
	    pivot->text, &tare_table_bandwidth_cells, pivot,
	    &(struct tare_table_part){ .flush = true, .on = TARE_ON_TEXT, .keep = is_shown });
}
