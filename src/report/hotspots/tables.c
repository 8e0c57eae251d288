// SPDX-License-Identifier: Apache-2.0
#include "report/hotspots/tables.h"

#include "analysis/hotspots/roles.h"
#include "base/units.h"
#include "report/core/figures.h"
#include "tare_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Columns of a bar of the cores' time: names need the room on a narrow terminal.
enum { BAR = 20, NARROW_BAR = 10, NARROW = 100 };

// ---- words

static const char *const formats[] = { "tare.hotspots/1", NULL };

static const char *const states[TARE_COUNTER_STATES + 1] = {
	[TARE_COUNTER_NOT_ASKED] = "not-asked",
	[TARE_COUNTER_COUNTED] = "counted",
	[TARE_COUNTER_NOT_ON_DEVICE] = "not-on-device",
	[TARE_COUNTER_NO_INSTANCE] = "no-instance",
	[TARE_COUNTER_NOT_TRUSTED] = "not-trusted",
	[TARE_COUNTER_REFUSED] = "refused",
	[TARE_COUNTER_IN_PART] = "in-part",
};

static const char *const uncounted[] = {
	[TARE_UNCOUNTED_NONE] = NULL,
	[TARE_UNCOUNTED_NOT_CHOSEN] = "not-chosen",
	[TARE_UNCOUNTED_CAPTURED] = "captured",
	[TARE_UNCOUNTED_COOPERATIVE] = "cooperative",
	[TARE_UNCOUNTED_WAITS] = "waits",
	[TARE_UNCOUNTED_NOT_LAUNCHED] = "not-launched",
	[TARE_UNCOUNTED_FAILED] = "failed",
	[TARE_UNCOUNTED_NO_INSTRUCTIONS] = "no-instructions",
	[TARE_UNCOUNTED_OTHER_LAUNCHES] = "other-launches",
};

static const char *const units[] = {
	[TARE_COUNTER_UNIT_NS] = "ns",
	[TARE_COUNTER_UNIT_PERCENT] = "%",
	[TARE_COUNTER_UNIT_BYTES] = "B",
	[TARE_COUNTER_UNIT_COUNT] = "1",
};

static const char *const edge_keys[TARE_EDGES + 1] = {
	[TARE_EDGE_REGISTERS_L1] = "registers-l1",
	[TARE_EDGE_L1_L2] = "l1-l2",
	[TARE_EDGE_L2_DEVICE] = "l2-device",
	[TARE_EDGE_HOST] = "host",
	[TARE_EDGE_PEER] = "peer",
};

static const char *const flop_kinds[TARE_FLOP_KINDS + 1] = { "fp16", "fp32", "fp64" };

// ---- what is in the document

#define COMPARED(value) tare_if(KERNEL->compared, tare_unsigned(value), TARE_NOT_KNOWN)
#define NOT_ZERO(value) tare_not_zero(value, TARE_NOT_KNOWN)
#define CEILING(rate) tare_if((rate) > 0, tare_number(rate, TARE_NOT_KNOWN), TARE_NOT_KNOWN)

#define SOURCE struct tare_counted_device
#define SOURCE_NAME device
#define ROW struct tare_counted_device
#define TABLE device
#define COLUMNS "report/hotspots/tables/device.def"
#include "table/declare.h"
TARE_TABLE(static, device_table, "device", "Device", "the device", NULL, struct tare_counted_device,
           device, 1, device, device_columns);
#undef SOURCE
#undef SOURCE_NAME

#define SOURCE struct tare_counted_run
#define SOURCE_NAME run
#define ROW struct tare_counter_role_row
#define TABLE roles
#define COLUMNS "report/hotspots/tables/roles.def"
#include "table/declare.h"
TARE_ROWS(roles, "roles", "Counters", "what a counter is", TARE_COUNTER_ROLES, tare_counter_roles);

#define ROW char *const
#define TABLE states
#define COLUMNS "report/hotspots/tables/states.def"
#include "table/declare.h"
TARE_ROWS(states, "states", "States of counters", "a state", TARE_COUNTER_STATES, states);
#undef SOURCE
#undef SOURCE_NAME

// ---- of a kernel

enum { FIGURE = TARE_UNIT_TEXT + 16 };

static const char *figure_of(const struct tare_cell_text *cell, double value, char text[FIGURE])
{
	const struct tare_counted_kernel *kernel = cell->source;
	const struct tare_counter_value *row = cell->row;

	if (!isfinite(value))
		return "n/a";
	switch (tare_counter_roles[row - kernel->values].unit) {
	case TARE_COUNTER_UNIT_NS:
		return tare_format_ns(value, text);
	case TARE_COUNTER_UNIT_PERCENT:
		snprintf(text, FIGURE, "%.1f %%", value);
		return text;
	case TARE_COUNTER_UNIT_BYTES:
		snprintf(text, FIGURE, "%.4g MB", value / 1e6);
		return text;
	default:
		snprintf(text, FIGURE, "%.*g", value < 100 ? 3 : 6, value);
		return text;
	}
}

static bool mean_cell(const struct tare_cell_text *cell)
{
	const struct tare_counter_value *value = cell->row;
	char figure[FIGURE];

	if (value->state == TARE_COUNTER_COUNTED)
		snprintf(cell->text, cell->size, "%s", figure_of(cell, value->mean, figure));
	else
		snprintf(cell->text, cell->size, "n/a (%c)", tare_counter_letter(value->state));
	return true;
}

static bool rate_cell(const struct tare_cell_text *cell)
{
	const struct tare_counted_kernel *kernel = cell->source;
	const struct tare_counter_value *value = cell->row,
	                                *time = &kernel->values[TARE_COUNTER_DURATION_NS];

	if (tare_counter_roles[value - kernel->values].unit == TARE_COUNTER_UNIT_BYTES &&
	    value->state == TARE_COUNTER_COUNTED && time->state == TARE_COUNTER_COUNTED &&
	    time->mean > 0)
		snprintf(cell->text, cell->size, "%.4g GB/s", value->mean / time->mean);
	return true;
}

static bool range_cell(const struct tare_cell_text *cell)
{
	const struct tare_counter_value *value = cell->row;
	char least[FIGURE], most[FIGURE];

	if (value->state == TARE_COUNTER_COUNTED)
		snprintf(cell->text, cell->size, "%s to %s", figure_of(cell, value->least, least),
		         figure_of(cell, value->most, most));
	return true;
}

#define SOURCE struct tare_counted_kernel
#define SOURCE_NAME kernel
#define ROW struct tare_counter_value
#define TABLE counters
#define COLUMNS "report/hotspots/tables/counters.def"
#include "table/declare.h"
TARE_TABLE(, tare_hotspots_counters, "counters", "Counters of a kernel", "a counter", NULL,
           struct tare_counted_kernel, kernel, TARE_COUNTER_ROLES, &kernel->values[index],
           counters_columns);
#undef SOURCE
#undef SOURCE_NAME

static const enum tare_kernel_bound bounds[TARE_KERNEL_BOUNDS] = {
	TARE_KERNEL_BOUND_NOT_KNOWN, TARE_KERNEL_BOUND_DEVICE_MEMORY, TARE_KERNEL_BOUND_L2,
	TARE_KERNEL_BOUND_L1,        TARE_KERNEL_BOUND_COMPUTE,       TARE_KERNEL_BOUND_LATENCY,
	TARE_KERNEL_BOUND_TOO_SMALL,
};

static bool is_possible(const void *kernel, const void *bound)
{
	return ((const struct tare_hotspot_row *)kernel)->of.verdict.possible >>
	           *(const enum tare_kernel_bound *)bound &
	       1;
}

static bool is_missing(const void *kernel, const void *bound)
{
	return ((const struct tare_hotspot_row *)kernel)->of.verdict.missing >>
	           *(const enum tare_kernel_bound *)bound &
	       1;
}

#define SOURCE struct tare_hotspot_row
#define SOURCE_NAME kernel
#define ROW enum tare_kernel_bound
#define TABLE bounds
#define COLUMNS "report/hotspots/tables/bounds.def"
#include "table/declare.h"
TARE_TABLE(static, possible_table, "possible", "Possible bounds", "a bound", NULL,
           struct tare_hotspot_row, kernel, TARE_KERNEL_BOUNDS, &bounds[index], bounds_columns,
           .keep = is_possible);
TARE_TABLE(static, missing_table, "missing", "Limits that were not counted", "a bound", NULL,
           struct tare_hotspot_row, kernel, TARE_KERNEL_BOUNDS, &bounds[index], bounds_columns,
           .keep = is_missing);

#define ROW struct tare_contradiction
#define TABLE contradictions
#define COLUMNS "report/hotspots/tables/contradictions.def"
#include "table/declare.h"
TARE_ROWS(contradictions, "contradictions", "Contradictions", "a figure that cannot be",
          kernel->of.verdict.contradiction_count, kernel->of.verdict.contradictions);

#define LIMIT(figure)                                                                              \
	tare_if(row->known, tare_number(row->figure, TARE_NOT_MEASURED), TARE_NOT_MEASURED)
#define ROW struct tare_limit
#define TABLE limits
#define COLUMNS "report/hotspots/tables/limits.def"
#include "table/declare.h"
TARE_TABLE(static, limits_table, "limits", "How near each limit was", "a limit of the device", NULL,
           struct tare_hotspot_row, kernel, TARE_LAST_LIMIT - TARE_FIRST_LIMIT + 1,
           &kernel->of.verdict.limits[TARE_FIRST_LIMIT + index], limits_columns);

static const char *edge_remark(const struct tare_edge_traffic *edge)
{
	if (!isnan(edge->bytes))
		return tare_rate_origin_words(edge->origin);
	return edge->state == TARE_COUNTER_COUNTED ? "the counters contradict each other"
	                                           : tare_counter_state_words(edge->state);
}

#define EDGE ((enum tare_edge)(row - kernel->of.edges))
#define ROW struct tare_edge_traffic
#define TABLE edges
#define COLUMNS "report/hotspots/tables/edges.def"
#include "table/declare.h"
TARE_ROWS(edges, "edges", "Memory hierarchy", "an edge of it", TARE_EDGES, kernel->of.edges);
#undef SOURCE
#undef SOURCE_NAME

// ---- kernels

static bool asked_is_known(const void *document, const void *row)
{
	(void)row;
	return ((const struct tare_hotspots *)document)->run->by_instructions;
}

static const struct tare_column_group time = { "time", NULL, NULL,
	                                       "where the time of the cores went" };
static const struct tare_column_group arithmetic = { "arithmetic", NULL, NULL, "what it computes" };
static const struct tare_column_group verdict = { "verdict", NULL, NULL, "what binds it" };
static const struct tare_column_group asked = { "asked", NULL, asked_is_known,
	                                        "what its instructions ask for, at the level of "
	                                        "L1" };

// "████▒▒▒▒····": issuing, stalled, without work. Empty where not known.
static bool bar(const struct tare_cell_text *cell)
{
	const struct tare_hotspot_row *row = cell->row;
	const struct tare_core_time *of = &row->of.time;
	double active = of->active / 100 * (double)row->bar,
	       both = (of->active + of->stalled) / 100 * (double)row->bar;

	if (isnan(active) || isnan(both))
		return true;
	// Rounded at their ends, so that the bar is as long as it must be.
	for (long i = 0; i < row->bar; i++)
		strcat(cell->text, i < lround(active) ? (row->ascii ? "#" : "█")
		                   : i < lround(both) ? (row->ascii ? "+" : "▒")
		                                      : ".");
	return true;
}

// Names of many bounds would leave no room for the kernels', nor does what pipes' names begin with
// on a narrow terminal.
static bool bound(const struct tare_cell_text *cell)
{
	const struct tare_hotspot_row *row = cell->row;
	const struct tare_kernel_verdict *of = &row->of.verdict;
	bool many = __builtin_popcount(of->possible) > 2;
	bool pipes = row->bar < BAR && of->bound == TARE_KERNEL_BOUND_COMPUTE &&
	             of->pipe != TARE_COUNTER_ROLES && tare_kernel_verdict_decided(of);

	if (many)
		snprintf(cell->text, cell->size, "not decided");
	else if (pipes)
		snprintf(cell->text, cell->size, "%s",
		         tare_hotspot_bound_words(&row->of, row->words) + strlen("compute: "));
	return many || pipes;
}

static bool at_least(const struct tare_cell_text *cell)
{
	const struct tare_arithmetic *of =
	    &((const struct tare_hotspot_row *)cell->row)->of.arithmetic;
	char number[RUN_TEXT];

	if (!of->partial || !(of->flop_per_s >= 0))
		return false;
	snprintf(cell->text, cell->size, ">=%s", tare_report_rate(of->flop_per_s, number));
	return true;
}

enum {
	TIMES = TARE_ON_PAGE | TARE_HOTSPOTS_TIMES,
	ASKED = TARE_ON_PAGE | TARE_HOTSPOTS_ASKED,
	COUNTED = TARE_ON_PAGE | TARE_HOTSPOTS_COUNTED,
	EVERYWHERE = TIMES | COUNTED
};
#define KERNEL row->of.kernel
#define SAID(sentence) tare_named(sentence(&row->of, row->words))

#define SOURCE struct tare_hotspots
#define SOURCE_NAME document
#define ROW struct tare_hotspot_row
#define TABLE kernels
#ifdef TARE_HOTSPOTS_COLUMNS // a test's list, with one line more
#define COLUMNS TARE_HOTSPOTS_COLUMNS
#else
#define COLUMNS "report/hotspots/tables/kernels.def"
#endif
#include "table/declare.h"
TARE_TABLE(, tare_hotspots_table, "kernels", "Kernels", "a kernel, by its device time", NULL,
           struct tare_hotspots, document, document->run->kernel_count, &document->rows[index],
           kernels_columns);

#define ROW struct tare_counted_run
#define TABLE document
#define COLUMNS "report/hotspots/tables/document.def"
#include "table/declare.h"
TARE_TABLE(, tare_hotspots_document, "hotspots", "Counted kernels", "a run", NULL,
           struct tare_hotspots, document, 1, document->run, document_columns);

// ---- making it

int tare_hotspots_make(const struct tare_counted_run *run, const struct tare_text_options *options,
                       struct tare_hotspots *hotspots)
{
	hotspots->run = run;
	hotspots->rows = calloc(run->kernel_count + 1, sizeof *hotspots->rows);
	for (size_t i = 0; i < run->kernel_count && hotspots->rows; i++) {
		struct tare_hotspot_row *row = &hotspots->rows[i];
		tare_hotspot_derive(&run->kernels[i], &run->device, &row->of);
		row->ascii = options && options->ascii;
		row->bar = options && options->columns < NARROW ? NARROW_BAR : BAR;
		row->words = hotspots->words;
	}
	return hotspots->rows ? 0 : -ENOMEM;
}

void tare_hotspots_free(struct tare_hotspots *hotspots)
{
	free(hotspots->rows);
}
