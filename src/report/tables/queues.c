// SPDX-License-Identifier: Apache-2.0
// Queues: how busy, how deep, and what their gaps were spent on.
#include "report/core/table_text.h"
#include "report/tables/tables.h"
#include "report/tables/values.h"

#include "base/units.h"

#include <inttypes.h>

#define TOP 8

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

// NULL: it is not known.
static const struct tare_recorded_queue *queue_of(const struct tare_report *run,
                                                  const struct tare_queue_row *row)
{
	const struct tare_recording *recording = run->recording;

	return row->queue < recording->queue_count ? &recording->queues[row->queue] : NULL;
}

static uint32_t device_of_queue(const struct tare_report *run, const struct tare_queue_row *row)
{
	return queue_of(run, row) ? queue_of(run, row)->device : TARE_NO_INDEX;
}

static struct tare_cell_value main_cause_of(const struct tare_queue_row *row)
{
	enum tare_ledger_category cause = main_cause(row);

	return cause < TARE_LEDGER_CATEGORIES ? tare_string(tare_ledger_category_name(cause))
	                                      : tare_absent(TARE_NOT_THERE);
}

// ---- cells of their own

// "0:2" of process and queue where there are several processes, else "2".
static bool whole_name(const struct tare_cell_text *cell)
{
	const struct tare_report *run = cell->source;
	const struct tare_recorded_queue *made = queue_of(run, cell->row);
	char process[16] = "";

	if (!made) {
		snprintf(cell->text, cell->size, "?");
		return true;
	}
	if (run->recording->process_count > 1)
		snprintf(process, sizeof process, "%" PRIu32 ":", made->process);
	snprintf(cell->text, cell->size, "%s%" PRIu32 "%s%s", process, made->number,
	         made->out_of_order ? ", any order" : "",
	         made->profiling || made->profiling_added ? "" : ", unprofiled");
	return true;
}

static bool two_digits(const struct tare_cell_text *cell)
{
	double depth = ((const struct tare_queue_row *)cell->row)->mean_depth;
	char number[TARE_UNIT_TEXT];

	if (isfinite(depth))
		snprintf(cell->text, cell->size, "%s", tare_format_significant(depth, 2, number));
	return isfinite(depth);
}

// Serial drivers run a command inside its enqueue call.
static bool latency_in_call(const struct tare_cell_text *cell)
{
	bool inside = ((const struct tare_queue_row *)cell->row)->median_latency_ns == 0;

	snprintf(cell->text, cell->size, "%s", inside ? "in call" : "");
	return inside;
}

static bool cause_title(const struct tare_cell_text *cell)
{
	enum tare_ledger_category cause = main_cause(cell->row);

	if (cause == TARE_LEDGER_CATEGORIES)
		return false;
	snprintf(cell->text, cell->size, "%s", tare_ledger_category_cause(cause));
	return true;
}

// ---- causes of gaps

static bool is_cause(const void *queue, const void *ns)
{
	(void)queue;
	return *(const int64_t *)ns != 0;
}

#define SOURCE struct tare_queue_row
#define SOURCE_NAME queue
#define ROW int64_t
#define TABLE causes
#define COLUMNS "report/tables/gap_causes.def"
#include "table/declare.h"
TARE_ROWS(causes, "gap_causes", "Causes of gaps", "a category", TARE_LEDGER_CATEGORIES,
          queue->gap_causes_ns, .keep = is_cause);
#undef SOURCE
#undef SOURCE_NAME

// ---- the table

#define TIMED(value) tare_if(row->timed > 0, value, TARE_NOT_TIMED)
#define OF_QUEUE(value) (queue_of(run, row) ? (value) : tare_absent(TARE_NOT_KNOWN))
#define COLUMNS "report/tables/queues.def"
#define ROW struct tare_queue_row
#include "report/tables/declare.h"

TARE_RUN_TABLE(queues, "Queues", "a queue that has commands, by its number",
               "No queue had a command.", run->tables->queue_count, &run->tables->queues[index])

// ---- as text

void tare_queues_text(struct tare_text *text, const struct tare_report *run)
{
	size_t count = run->tables->queue_count, rows = tare_rows_shown(text, count, TOP);

	if (count == 0)
		return;
	tare_report_heading(text, tare_table_queues.title,
	                    "depth: commands enqueued and not complete");
	tare_table_text(text, &tare_table_queues, run,
	                &(struct tare_table_part){ .on = TARE_ON_TEXT,
	                                           .others = 62,
	                                           .most = rows,
	                                           .devices = tare_report_several_devices(run) });
	if (rows < count)
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 3, "and %zu more (-v lists them)",
		                    count - rows);
	if (text->options->verbosity > 0)
		tare_gaps_text(text, run);
}
