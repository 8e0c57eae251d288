// SPDX-License-Identifier: Apache-2.0
// Call sites: from where commands were issued and where the host waited, the costliest first.
#include "report/run/text_run.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define TOP 12   // rows without -v
#define STACKS 5 // of which -v shows the stack
#define FRAMES 8 // of each

static int64_t cost_of(const struct tare_site_row *row)
{
	return row->device_ns > row->host_ns ? row->device_ns : row->host_ns;
}

static int write_table(const struct tare_text *text, const struct tare_report *run, size_t rows)
{
	const struct tare_sites *sites = run->sites;
	struct tare_text_table *table = tare_text_table_new(text, 2);
	// The table itself cuts the two where they are too wide together.
	size_t room = tare_report_room(text, 56);
	char name[RUN_TEXT], figure[RUN_TEXT], header[64];
	struct tare_report_unit unit = tare_report_unit_of_totals((double)cost_of(&sites->rows[0]));

	tare_text_column(table, "call site", TARE_COLUMN_CUT);
	tare_text_column(table, "what", TARE_COLUMN_CUT);
	tare_text_column(table, "n", TARE_COLUMN_RIGHT);
	snprintf(header, sizeof header, "device %s", unit.name);
	tare_text_column(table, header, TARE_COLUMN_RIGHT);
	tare_text_column(table, "in calls", TARE_COLUMN_RIGHT);
	tare_text_column(table, "gaps before", TARE_COLUMN_RIGHT);
	for (size_t i = 0; i < rows; i++) {
		const struct tare_site_row *row = &sites->rows[i];
		tare_text_row(table, TARE_STYLE_PLAIN);
		tare_text_cell(table, "%s", tare_report_cut(text, row->text, room, name));
		tare_text_cell(table, "%s", tare_report_cut(text, row->what, room, name));
		tare_text_cell(table, "%" PRIu64, row->count);
		tare_text_cell(
		    table, "%s",
		    tare_report_time(row->device_ns ? (double)row->device_ns : NAN, unit, figure));
		tare_text_cell(table, "%s", tare_report_time((double)row->host_ns, unit, figure));
		tare_text_cell(
		    table, "%s",
		    tare_report_time(row->gap_ns ? (double)row->gap_ns : NAN, unit, figure));
	}
	return tare_text_table_print(table);
}

// "advance at step.c:214", "advance (app)", "app+0x12f4".
static void name_frame(const struct tare_frame *frame, char buffer[RUN_TEXT])
{
	const char *slash = strrchr(frame->file ? frame->file : frame->module, '/');
	const char *file = slash ? slash + 1 : frame->file ? frame->file : frame->module;

	if (frame->file && frame->line > 0)
		snprintf(buffer, RUN_TEXT, "%.300s%s%.200s:%d%s",
		         frame->function ? frame->function : "", frame->function ? " at " : "",
		         file, frame->line, frame->inlined ? " (inlined)" : "");
	else if (frame->function)
		snprintf(buffer, RUN_TEXT, "%.300s (%.200s)", frame->function, file);
	else
		snprintf(buffer, RUN_TEXT, "%.300s%s0x%" PRIx64, file, file[0] ? "+" : "",
		         frame->address);
}

static int write_stack(const struct tare_text *text, const struct tare_report *run,
                       const struct tare_site_row *row)
{
	const struct tare_frame *frames;
	size_t count = tare_symbols_callers(run->symbols, row->stack, &frames);
	size_t columns = text->options->columns > 8 ? text->options->columns - 8 : 12;
	char name[RUN_TEXT], cut[RUN_TEXT], also[64] = "";
	int status;

	if (row->stacks > 1)
		snprintf(also, sizeof also, ", one of %" PRIu32 " ways there", row->stacks);
	status = tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 4, "%s, %s%s:", row->text,
	                             row->what, also);
	// What starts a program's main is the same everywhere.
	for (size_t i = 0; i < count; i++)
		if (frames[i].function && strcmp(frames[i].function, "main") == 0)
			count = i + 1;
	for (size_t i = 0; i < count && i < FRAMES && status == 0; i++) {
		name_frame(&frames[i], name);
		status = tare_text_paragraph(text, TARE_STYLE_PLAIN, "     ", 7, "%s",
		                             tare_report_cut(text, name, columns, cut));
	}
	if (status == 0 && count > FRAMES)
		status = tare_text_paragraph(text, TARE_STYLE_FAINT, "     ", 7,
		                             "and %zu more outside of these", count - FRAMES);
	return status;
}

static int write_remarks(const struct tare_text *text, const struct tare_report *run, size_t rows)
{
	const struct tare_coverage *coverage = &run->tables->coverage;
	const struct tare_sites *sites = run->sites;
	char count[RUN_TEXT], cost[TARE_UNIT_TEXT];
	int status = 0;

	if (rows < sites->count)
		status = tare_text_paragraph(
		    text, TARE_STYLE_PLAIN, "  ", 3, "and %zu more row%s (-v lists them)",
		    sites->count - rows, tare_report_plural(sites->count - rows));
	if (status == 0 && sites->without)
		status = tare_text_paragraph(
		    text, TARE_STYLE_PLAIN, "  ", 3, "%s command%s without a known call site",
		    tare_report_count(sites->without, count), tare_report_plural(sites->without));
	if (status == 0 && coverage->unobserved_by[TARE_UNOBSERVED_NOT_SAMPLED] > 0)
		status = tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 3,
		                             "device times are of the sample only, not of all");
	if (status == 0 && isfinite(coverage->stack_cost_ns))
		status = tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 3,
		                             "call stacks cost about %s a command",
		                             tare_format_ns(coverage->stack_cost_ns, cost));
	if (status == 0 && text->options->verbosity >= 0)
		status = tare_text_paragraph(
		    text, TARE_STYLE_FAINT, "  ", 3,
		    "in calls: host time; gaps before: of the longest idle gaps, those that its "
		    "commands ended");
	return status;
}

int tare_report_text_sites(const struct tare_text *text, const struct tare_report *run)
{
	const struct tare_sites *sites = run->sites;
	size_t rows = sites ? sites->count : 0;
	int status;

	if (rows == 0 || !run->symbols)
		return 0;
	if (rows > TOP && text->options->verbosity < 1)
		rows = TOP;
	status = tare_report_heading(text, "Call sites", "");
	if (status == 0)
		status = write_table(text, run, rows);
	if (status == 0)
		status = write_remarks(text, run, rows);
	if (text->options->verbosity > 0)
		fputc('\n', text->file);
	for (size_t i = 0; i < rows && i < STACKS && status == 0 && text->options->verbosity > 0;
	     i++)
		status = write_stack(text, run, &sites->rows[i]);
	return status;
}
