// SPDX-License-Identifier: Apache-2.0
// Cells as a list: one row a figure, in microseconds. What `latency` shows; also any command
// whose cells have no shape of their own.
#include "base/units.h"
#include "report/core/table_text.h"
#include "report/result/figure.h"
#include "report/result/parts.h"
#include "report/result/tables.h"

#include <math.h>
#include <string.h>

// Microseconds in one unit of the cell; 0 when the unit is no time.
static double us_per_unit(const struct tare_cell *cell)
{
	if (strcmp(cell->unit, "ns") == 0)
		return 1e-3;
	return strcmp(cell->unit, "ps") == 0 ? 1e-6 : 0;
}

// Whose clock: the host's, the device's, or that of the vendor's tracer.
static const char *clock_of(const struct tare_cell *cell)
{
	const char *by = tare_cell_text(cell, "by");

	return by[0] ? by : cell->source;
}

// "launch, issue only ×256": the labels but for the group and the clock, and the quantity where no
// label says what it is.
static void put_title(const struct tare_cell *cell, FILE *file)
{
	const char *separator = "";
	char value[256];

	for (size_t i = 0; i < cell->labels.count; i++) {
		const struct tare_label *label = &cell->labels.at[i];
		if (strcmp(label->name, "group") == 0 ||
		    (strcmp(label->name, "by") == 0 && !cell->absent))
			continue;
		tare_text_label(label, value, sizeof value);
		if (strcmp(label->name, "batch") == 0)
			fprintf(file, " ×%s", value);
		else if (label->text || strcmp(label->name, "bytes") == 0)
			fprintf(file, "%s%s", separator, value);
		else
			fprintf(file, "%s%s %s", separator, label->name, value);
		separator = ", ";
	}
	if (!tare_labels_find(&cell->labels, "what"))
		fprintf(file, "%s%s", separator, cell->quantity);
	if (us_per_unit(cell) <= 0)
		fprintf(file, " [%s]", cell->unit);
}

// Other units stay.
static struct tare_cell_value in_us(const struct tare_cell *cell, double value)
{
	double us = us_per_unit(cell);

	return tare_number(us > 0 ? value * us : value, TARE_NOT_MEASURED);
}

static struct tare_cell_value sampled(const struct tare_cell *cell, struct tare_cell_value value)
{
	return tare_if(cell->summary.n > 0, value, TARE_NOT_ASKED);
}

static bool title_cell(const struct tare_cell_text *cell)
{
	FILE *file = fmemopen(cell->text, cell->size - 1, "w");

	cell->text[cell->size - 1] = '\0';
	if (file) {
		put_title(cell->row, file);
		fclose(file);
	}
	return true;
}

static bool spread_cell(const struct tare_cell_text *cell)
{
	double us = us_per_unit(cell->row);

	tare_text_plus_minus(cell->row, us > 0 ? us : 1, cell->text);
	return true;
}

// A test builds it with a line more.
#ifndef TARE_LATENCY_COLUMNS
#define TARE_LATENCY_COLUMNS "report/result/tables/latency.def"
#endif
#define SOURCE struct tare_result
#define SOURCE_NAME result
#define ROW struct tare_cell
#define COLUMNS TARE_LATENCY_COLUMNS
#include "table/declare.h"
TARE_TABLE(, tare_table_latency, "latency", "Figures", "a figure", NULL, struct tare_result, result,
           result->cell_count, &result->cells[index], declared_columns);

static bool is_there(const void *result, const void *cell)
{
	(void)result;
	return !((const struct tare_cell *)cell)->absent;
}

// Whether it begins a group: the figure before it is of another.
static bool begins_group(const void *source, const void *row)
{
	const struct tare_result *result = source;
	const struct tare_cell *before = row;

	while (before > result->cells)
		if (!(--before)->absent)
			return strcmp(tare_cell_text(before, "group"),
			              tare_cell_text(row, "group")) != 0;
	return false;
}

// With -v: how each figure was measured.
static void write_methods(struct tare_text *text, const struct tare_result *result)
{
	char title[RUN_TEXT];

	fputc('\n', text->file);
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (!cell->method)
			continue;
		title_cell(&(struct tare_cell_text){ result, cell, NAN, title, sizeof title });
		tare_text_paragraph(text, TARE_STYLE_FAINT, "", 2, "%s (%s): %s", title,
		                    clock_of(cell), cell->method);
	}
}

void tare_text_latency(struct tare_text *text, const struct tare_result *result)
{
	const struct tare_table_part part = {
		.flush = true, .on = TARE_ON_TEXT, .keep = is_there, .apart = begins_group
	};

	fputc('\n', text->file);
	if (tare_table_part_rows(&tare_table_latency, result, &part))
		tare_table_text(text, &tare_table_latency, result, &part);
	else
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "", 0, "No figures.");
	tare_text_reasons(text, result,
	                  &(struct tare_text_why){ .lead = "n/a  ", .name = put_title });
	if (text->options->verbosity > 0)
		write_methods(text, result);
}
