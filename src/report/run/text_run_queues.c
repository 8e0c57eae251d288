// SPDX-License-Identifier: Apache-2.0
// Queues: how busy, how deep, and what their gaps were spent on.
#include "report/run/text_run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define TOP 8
#define GAPS 5

// The largest part of the gaps; TARE_LEDGER_CATEGORIES: none.
static enum tare_ledger_category main_cause(const struct tare_queue_row *row)
{
	enum tare_ledger_category cause = TARE_LEDGER_CATEGORIES;
	int64_t most = 0;

	for (enum tare_ledger_category c = 0; c < TARE_LEDGER_CATEGORIES; c++)
		if (row->gap_causes_ns[c] > most) {
			most = row->gap_causes_ns[c];
			cause = c;
		}
	return cause;
}

static const char *cause_title(enum tare_ledger_category category)
{
	return category < TARE_LEDGER_CATEGORIES ? tare_ledger_category_cause(category) : "–";
}

// "0:2" of process and queue where there are several processes, else "2"; "o" out of order, "p"
// profiling was added.
static const char *name_queue(const struct tare_report *run, uint32_t queue, char buffer[RUN_TEXT])
{
	const struct tare_recording *recording = run->recording;
	const struct tare_recorded_queue *made;
	char process[16] = "";

	if (queue >= recording->queue_count)
		return "?";
	made = &recording->queues[queue];
	if (recording->process_count > 1)
		snprintf(process, sizeof process, "%" PRIu32 ":", made->process);
	snprintf(buffer, RUN_TEXT, "%s%" PRIu32 "%s%s", process, made->number,
	         made->out_of_order ? ", any order" : "",
	         made->profiling || made->profiling_added ? "" : ", unprofiled");
	return buffer;
}

static void add_row(struct tare_text_table *table, const struct tare_text *text,
                    const struct tare_report *run, const struct tare_queue_row *row,
                    struct tare_report_unit unit)
{
	char name[RUN_TEXT], cut[RUN_TEXT], figure[RUN_TEXT];

	tare_text_row(table, TARE_STYLE_PLAIN);
	tare_text_cell(table, "%s",
	               tare_report_cut(text, name_queue(run, row->queue, name),
	                               tare_report_room(text, 62), cut));
	tare_report_device_cell(table, run,
	                        row->queue < run->recording->queue_count
	                            ? run->recording->queues[row->queue].device
	                            : TARE_NO_INDEX);
	tare_text_cell(table, "%" PRIu64, row->commands);
	tare_text_cell(table, "%s",
	               tare_report_time(row->timed ? (double)row->busy_ns : NAN, unit, figure));
	tare_text_cell(table, "%s",
	               tare_report_time(row->timed ? (double)row->gaps_ns : NAN, unit, figure));
	tare_text_cell(
	    table, "%s",
	    isfinite(row->mean_depth) ? tare_format_significant(row->mean_depth, 2, figure) : "–");
	if (row->max_depth)
		tare_text_cell(table, "%" PRIu64, row->max_depth);
	else
		tare_text_cell(table, "–");
	// Serial drivers run a command inside its enqueue call.
	tare_text_cell(table, "%s",
	               row->median_latency_ns == TARE_NO_TIME ? "–"
	               : row->median_latency_ns == 0
	                   ? "in call"
	                   : tare_report_span(row->median_latency_ns, figure));
	tare_text_cell(table, "%s", tare_report_cut(text, cause_title(main_cause(row)), 24, cut));
}

static int write_rows(const struct tare_text *text, const struct tare_report *run, size_t rows)
{
	struct tare_text_table *table = tare_text_table_new(text, 2);
	struct tare_report_unit unit;
	char header[64];
	double most = 0;

	for (size_t i = 0; i < rows; i++)
		most = fmax(most, fmax((double)run->tables->queues[i].busy_ns,
		                       (double)run->tables->queues[i].gaps_ns));
	unit = tare_report_unit_of_totals(most);
	tare_text_column(table, "queue", TARE_COLUMN_CUT);
	tare_report_device_column(table, run);
	tare_text_column(table, "n", TARE_COLUMN_RIGHT);
	snprintf(header, sizeof header, "busy %s", unit.name);
	tare_text_column(table, header, TARE_COLUMN_RIGHT);
	tare_text_column(table, "gaps", TARE_COLUMN_RIGHT);
	tare_text_column(table, "depth", TARE_COLUMN_RIGHT);
	tare_text_column(table, "max", TARE_COLUMN_RIGHT);
	tare_text_column(table, "latency", TARE_COLUMN_RIGHT);
	tare_text_column(table, "most of the gaps", TARE_COLUMN_CUT);
	for (size_t i = 0; i < rows; i++)
		add_row(table, text, run, &run->tables->queues[i], unit);
	return tare_text_table_print(table);
}

// The call site of the command that ended a gap.
static const char *ended_by(const struct tare_report *run, const struct tare_gap *gap)
{
	if (gap->command >= run->recording->command_count)
		return "";
	return tare_symbols_text(run->symbols, run->recording->commands[gap->command].stack);
}

static int write_gaps(const struct tare_text *text, const struct tare_report *run)
{
	const struct tare_ledgers *ledgers = run->ledgers;
	struct tare_text_table *table;
	char at[TARE_UNIT_TEXT], length[TARE_UNIT_TEXT];

	if (ledgers->gap_count == 0)
		return 0;
	fputc('\n', text->file);
	table = tare_text_table_new(text, 2);
	tare_text_column(table, "idle gap at", TARE_COLUMN_RIGHT);
	tare_text_column(table, "for", TARE_COLUMN_RIGHT);
	tare_report_device_column(table, run);
	tare_text_column(table, "most of it", TARE_COLUMN_CUT);
	if (run->symbols)
		tare_text_column(table, "ended by", TARE_COLUMN_CUT);
	for (size_t i = 0; i < ledgers->gap_count; i++) {
		const struct tare_gap *gap = &ledgers->gaps[i];
		size_t before = 0;
		// They are the longest of each device, device by device.
		while (before < GAPS && i > before &&
		       ledgers->gaps[i - before - 1].device == gap->device)
			before++;
		if (before == GAPS)
			continue;
		tare_text_row(table, TARE_STYLE_PLAIN);
		tare_text_cell(
		    table, "%s",
		    tare_format_ns((double)(gap->from_ns - run->recording->start_ns), at));
		tare_text_cell(table, "%s",
		               tare_format_ns((double)(gap->to_ns - gap->from_ns), length));
		tare_report_device_cell(table, run, gap->device);
		tare_text_cell(table, "%s", cause_title(gap->cause));
		if (run->symbols)
			tare_text_cell(table, "%s", ended_by(run, gap));
	}
	return tare_text_table_print(table);
}

int tare_report_text_queues(const struct tare_text *text, const struct tare_report *run)
{
	size_t count = run->tables->queue_count;
	size_t rows = text->options->verbosity > 0 || count <= TOP ? count : TOP;
	int status;

	if (count == 0)
		return 0;
	status = tare_report_heading(text, "Queues", "depth: commands enqueued and not complete");
	if (status == 0)
		status = write_rows(text, run, rows);
	if (status == 0 && rows < count)
		status = tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 3,
		                             "and %zu more (-v lists them)", count - rows);
	if (status == 0 && text->options->verbosity > 0)
		status = write_gaps(text, run);
	return status;
}
