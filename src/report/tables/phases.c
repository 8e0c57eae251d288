// SPDX-License-Identifier: Apache-2.0
// Phases that the program marks: how often, how long, and where the time in them went.
#include "report/core/ledger.h"
#include "report/core/table_text.h"
#include "report/tables/tables.h"
#include "report/tables/values.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN 12
#define LEDGERS 3

// In few columns, for the table.
static const char *const causes[TARE_LEDGER_CATEGORIES] = {
	[TARE_LEDGER_BEFORE_FIRST] = "start-up",
	[TARE_LEDGER_BUILD] = "building",
	[TARE_LEDGER_LOAD] = "loading",
	[TARE_LEDGER_ALLOCATE] = "allocating",
	[TARE_LEDGER_BLOCKING_COPY] = "blocking copy",
	[TARE_LEDGER_WAIT] = "host in wait",
	[TARE_LEDGER_API] = "API calls",
	[TARE_LEDGER_RELEASE] = "releasing",
	[TARE_LEDGER_QUERY] = "queries",
	[TARE_LEDGER_COMPUTING] = "host computing",
	[TARE_LEDGER_OFF_CPU] = "host off CPU",
	[TARE_LEDGER_HELD] = "not submitted",
	[TARE_LEDGER_DEPENDENCY] = "dependency",
	[TARE_LEDGER_DISPATCH] = "not started",
	[TARE_LEDGER_ENDED] = "ended",
	[TARE_LEDGER_UNTIMED] = "times unknown",
	[TARE_LEDGER_NOT_RECORDED] = "not recorded",
	[TARE_LEDGER_UNKNOWN] = "unknown",
};

static int64_t kernel_ns(const struct tare_ledger *ledger)
{
	return ledger->parts_ns[TARE_LEDGER_KERNEL];
}

static int64_t transfer_ns(const struct tare_ledger *ledger)
{
	return ledger->parts_ns[TARE_LEDGER_TO_DEVICE] + ledger->parts_ns[TARE_LEDGER_FROM_DEVICE] +
	       ledger->parts_ns[TARE_LEDGER_BOTH_WAYS];
}

static int64_t idle_ns(const struct tare_ledger *ledger)
{
	int64_t ns = 0;

	for (enum tare_ledger_category c = TARE_LEDGER_BEFORE_FIRST; c < TARE_LEDGER_CATEGORIES;
	     c++)
		ns += ledger->parts_ns[c];
	return ns;
}

// What the devices did is not known where no command has times.
static struct tare_cell_value share_of(const struct tare_report *run,
                                       const struct tare_ledger *ledger, int64_t ns)
{
	return tare_if(!tare_report_nothing_timed(run),
	               tare_number((double)ns / (double)ledger->wall_ns, TARE_NOT_THERE),
	               TARE_NOT_TIMED);
}

// TARE_LEDGER_CATEGORIES: it was never idle.
static enum tare_ledger_category main_cause(const struct tare_ledger *ledger)
{
	enum tare_ledger_category most = TARE_LEDGER_BEFORE_FIRST;

	for (enum tare_ledger_category c = most; c < TARE_LEDGER_CATEGORIES; c++)
		if (ledger->parts_ns[c] > ledger->parts_ns[most])
			most = c;
	return ledger->parts_ns[most] > 0 ? most : TARE_LEDGER_CATEGORIES;
}

static struct tare_cell_value main_cause_of(const struct tare_ledger *ledger)
{
	enum tare_ledger_category cause = main_cause(ledger);

	return cause < TARE_LEDGER_CATEGORIES ? tare_string(tare_ledger_category_name(cause))
	                                      : tare_absent(TARE_NOT_THERE);
}

// ---- cells of their own

static const char *name_phase(const struct tare_phase_row *row, char buffer[RUN_TEXT])
{
	snprintf(buffer, RUN_TEXT, "%.200s%s%.400s", row->domain, row->domain[0] ? "/" : "",
	         row->name);
	return buffer;
}

static bool whole_name(const struct tare_cell_text *cell)
{
	name_phase(cell->row, cell->text);
	return true;
}

static bool no_count(const struct tare_cell_text *cell)
{
	bool none = ((const struct tare_phase_row *)cell->row)->count == 0;

	snprintf(cell->text, cell->size, "%s", none ? "–" : "");
	return none;
}

static bool short_cause(const struct tare_cell_text *cell)
{
	enum tare_ledger_category cause =
	    main_cause(&((const struct tare_phase_row *)cell->row)->ledger);

	snprintf(cell->text, cell->size, "%s",
	         cause < TARE_LEDGER_CATEGORIES ? causes[cause] : "–");
	return true;
}

// ---- the table

#define LAUNCHED(ns) tare_if(row->commands == 0 || row->timed > 0, tare_integer(ns), TARE_NOT_TIMED)

#define COLUMNS "report/tables/phases.def"
#define ROW struct tare_phase_row
#include "report/tables/declare.h"

TARE_RUN_TABLE(phases, "Phases", "a name that the program marks, by the covered time", NULL,
               run->phases ? run->phases->count : 0, &run->phases->rows[index])

// ---- the order: below each row those that lie in it

struct ordering {
	const struct tare_phases *phases;
	size_t shown;  // of the longest
	size_t *at;    // rows in the order of printing
	size_t *depth; // of these
	size_t count;
};

static size_t parent_of(const struct ordering *ordering, size_t row)
{
	size_t parent = ordering->phases->rows[row].parent;

	return parent < ordering->shown && parent != row ? parent : SIZE_MAX;
}

// The row that follows: the first child, else the next one beside it or beside one that it lies in.
static size_t next_row(const struct ordering *ordering, size_t parent, size_t after)
{
	for (size_t i = after; i < ordering->shown; i++)
		if (parent_of(ordering, i) == parent)
			return i;
	return SIZE_MAX;
}

static void put_in_order(struct ordering *ordering)
{
	size_t parent = SIZE_MAX, depth = 0, row = next_row(ordering, parent, 0);

	while (ordering->count < ordering->shown) {
		if (row == SIZE_MAX) {
			if (parent == SIZE_MAX)
				return;
			row = next_row(ordering, parent_of(ordering, parent), parent + 1);
			parent = parent_of(ordering, parent);
			depth--;
			continue;
		}
		ordering->at[ordering->count] = row;
		ordering->depth[ordering->count++] = depth;
		parent = row;
		depth++;
		row = next_row(ordering, parent, 0);
	}
}

static void write_table(struct tare_text *text, const struct tare_report *run,
                        const struct ordering *ordering)
{
	const void **rows = calloc(ordering->count, sizeof *rows);

	text->failed |= !rows;
	for (size_t i = 0; rows && i < ordering->count; i++)
		rows[i] = &ordering->phases->rows[ordering->at[i]];
	if (rows)
		tare_table_text(text, &tare_table_phases, run,
		                &(struct tare_table_part){ .on = TARE_ON_TEXT,
		                                           .others = 64,
		                                           .rows = rows,
		                                           .depths = ordering->depth,
		                                           .most = ordering->count });
	free(rows);
}

// ---- remarks

// Whether phases count time more than once that passed once: those of several threads.
static bool do_overlap(const struct tare_phases *phases)
{
	for (size_t i = 0; i < phases->count; i++)
		if (phases->rows[i].total_ns > phases->rows[i].covered_ns &&
		    phases->rows[i].count > 1)
			return true;
	return false;
}

static void write_unended(struct tare_text *text, const struct tare_phases *phases)
{
	uint64_t unended = 0;
	const struct tare_phase_row *one = NULL;
	char name[RUN_TEXT], cut[RUN_TEXT], count[RUN_TEXT];

	for (size_t i = 0; i < phases->count; i++) {
		unended += phases->rows[i].unended;
		one = phases->rows[i].unended ? &phases->rows[i] : one;
	}
	if (unended == 0)
		return;
	if (unended == 1)
		tare_text_paragraph(text, TARE_STYLE_WARNING, " ! ", 3,
		                    "%s was begun and never ended: taken to last until the "
		                    "recording ended, and in no median",
		                    tare_report_cut(text, name_phase(one, name), 40, cut));
	else
		tare_text_paragraph(text, TARE_STYLE_WARNING, " ! ", 3,
		                    "%s phases were begun and never ended: taken to last until the "
		                    "recording ended, and in no median",
		                    tare_report_count(unended, count));
}

static void write_remarks(struct tare_text *text, const struct tare_phases *phases, size_t shown)
{
	size_t more = phases->count - shown + phases->left_out;
	char count[RUN_TEXT];

	if (more)
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 2, "and %s more%s",
		                    tare_report_count(more, count),
		                    shown < phases->count ? " (-v lists them)" : ", the shortest");
	write_unended(text, phases);
	if (text->options->verbosity >= 0)
		tare_text_paragraph(
		    text, TARE_STYLE_PLAIN, "  ", 3,
		    "%%: of the time in which at least one was open, whatever other threads did "
		    "then; copy: transfers not hidden; cmds: enqueued in it by its thread; "
		    "launch.: "
		    "what these took of the device, whenever they ran%s",
		    do_overlap(phases)
		        ? "; total: phases of several threads overlap, and each counts"
		        : "");
}

static void write_ledgers(struct tare_text *text, const struct tare_phases *phases)
{
	size_t count = phases->count < LEDGERS ? phases->count : LEDGERS;
	double largest = 0;

	for (size_t i = 0; i < count; i++)
		largest = fmax(largest, tare_ledger_largest(&phases->rows[i].ledger));
	for (size_t i = 0; i < count; i++) {
		const struct tare_phase_row *row = &phases->rows[i];
		char name[RUN_TEXT], cut[RUN_TEXT], remark[RUN_TEXT], span[RUN_TEXT];
		if (row->ledger.wall_ns == 0)
			continue;
		snprintf(remark, sizeof remark, "%.400s, %.40s",
		         tare_report_cut(text, name_phase(row, name), 32, cut),
		         tare_report_span(row->covered_ns, span));
		tare_report_heading(text, "Where the time of a phase went", remark);
		tare_ledger_text(text, &row->ledger, largest, false);
	}
}

void tare_phases_text(struct tare_text *text, const struct tare_report *run)
{
	const struct tare_phases *phases = run->phases;
	struct ordering ordering = { .phases = phases, .shown = phases->count };

	if (phases->count == 0)
		return;
	if (text->options->verbosity < 1 && ordering.shown > SHOWN)
		ordering.shown = SHOWN;
	ordering.at = calloc(ordering.shown, sizeof *ordering.at);
	ordering.depth = calloc(ordering.shown, sizeof *ordering.depth);
	tare_report_heading(text, tare_table_phases.title, "");
	text->failed |= !ordering.at || !ordering.depth;
	if (!text->failed) {
		put_in_order(&ordering);
		write_table(text, run, &ordering);
	}
	free(ordering.at);
	free(ordering.depth);
	write_remarks(text, phases, ordering.shown);
	if (text->options->verbosity > 0)
		write_ledgers(text, phases);
}
