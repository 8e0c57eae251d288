// SPDX-License-Identifier: Apache-2.0
// Cells as a list: one row a figure, in microseconds. What `latency` shows; also any command
// whose cells have no shape of their own.
#include "report/result/parts.h"

#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Microseconds in one unit of the cell; 0 when the unit is no time.
static double in_us(const struct tare_cell *cell)
{
	if (strcmp(cell->unit, "ns") == 0)
		return 1e-3;
	return strcmp(cell->unit, "ps") == 0 ? 1e-6 : 0;
}

// Whose clock: the host's, the device's, or that of the vendor's tracer.
static const char *clock_of(const struct tare_cell *cell)
{
	const char *by = tare_text_label_of(cell, "by");

	return by[0] ? by : cell->source;
}

// "launch, issue only ×256": the labels but for the group and the clock, and the quantity where no
// label says what it is. Returns a string to free(), or NULL.
static char *title_of(const struct tare_cell *cell)
{
	char *title = NULL, value[256];
	size_t size = 0;
	const char *separator = "";
	FILE *file = open_memstream(&title, &size);

	if (!file)
		return NULL;
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
	if (in_us(cell) <= 0)
		fprintf(file, " [%s]", cell->unit);
	if (fclose(file) != 0) {
		free(title);
		return NULL;
	}
	return title;
}

static void add_figure(struct tare_text_table *table, double value, double scale)
{
	char number[TARE_UNIT_TEXT];

	if (isfinite(value))
		tare_text_cell(table, "%s",
		               tare_format_significant(value * (scale > 0 ? scale : 1), 3, number));
	else
		tare_text_cell(table, "n/a");
}

static int add_row(struct tare_text_table *table, const struct tare_cell *cell)
{
	const struct tare_summary *summary = &cell->summary;
	double scale = in_us(cell);
	bool sampled = summary->n > 0;
	char width[TARE_UNIT_TEXT];
	char *title = title_of(cell);

	if (!title)
		return -ENOMEM;
	tare_text_row(table, TARE_STYLE_PLAIN);
	tare_text_cell(table, "%s", title);
	free(title);
	add_figure(table, summary->median, scale);
	tare_text_cell(table, "%s", tare_text_plus_minus(cell, scale > 0 ? scale : 1, width));
	if (sampled) {
		add_figure(table, (double)summary->min, scale);
		add_figure(table, summary->p95, scale);
		tare_text_cell(table, "%zu", summary->n);
	} else {
		for (int i = 0; i < 3; i++)
			tare_text_cell(table, "%s", "");
	}
	tare_text_cell(table, "%s", clock_of(cell));
	return 0;
}

// With -v: how each figure was measured.
static int write_methods(const struct tare_text *text, const struct tare_result *result)
{
	int status = 0;

	fputc('\n', text->file);
	for (size_t i = 0; status == 0 && i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		char *title = cell->method ? title_of(cell) : NULL;
		if (title)
			status = tare_text_paragraph(text, TARE_STYLE_FAINT, "", 2, "%s (%s): %s",
			                             title, clock_of(cell), cell->method);
		free(title);
	}
	return status;
}

int tare_text_latency(const struct tare_text *text, const struct tare_result *result)
{
	struct tare_text_table *table;
	struct tare_text_reasons *reasons = tare_text_reasons_new();
	char **titles = calloc(result->cell_count + 1, sizeof *titles);
	static const char *const columns[] = { "median", "±", "min", "p95", "n" };
	const char *group = "";
	bool first = true;
	int status = titles ? 0 : -ENOMEM;

	fputc('\n', text->file);
	table = tare_text_table_new(text, 0);
	tare_text_column(table, "µs", TARE_COLUMN_CUT);
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
		tare_text_column(table, columns[i], TARE_COLUMN_RIGHT);
	tare_text_column(table, "clock", 0);
	for (size_t i = 0; status == 0 && i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		const char *this_group = tare_text_label_of(cell, "group");
		if (cell->absent) {
			titles[i] = title_of(cell);
			status = titles[i] ? tare_text_reasons_add(reasons, titles[i], cell->absent)
			                   : -ENOMEM;
			continue;
		}
		if (!first && strcmp(group, this_group) != 0) {
			tare_text_row(table, TARE_STYLE_PLAIN);
			for (int c = 0; c < 7; c++)
				tare_text_cell(table, "%s", "");
		}
		group = this_group;
		first = false;
		status = add_row(table, cell);
	}
	if (status == 0 && first)
		status = tare_text_paragraph(text, TARE_STYLE_PLAIN, "", 0, "No figures.");
	if (status == 0 && !first)
		status = tare_text_table_print(table);
	else
		tare_text_table_free(table);
	if (status == 0)
		status = tare_text_reasons_print(reasons, text, TARE_STYLE_PLAIN, "n/a  ");
	else
		tare_text_reasons_free(reasons);
	for (size_t i = 0; titles && i < result->cell_count; i++)
		free(titles[i]);
	free(titles);
	if (status == 0 && text->options->verbosity > 0)
		status = write_methods(text, result);
	return status;
}
