// SPDX-License-Identifier: Apache-2.0
// What the host did: calls of the API, builds, memory.
#include "report/run/text_run.h"

#include "report/core/words.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define TOP_CALLS 8
#define TOP_BUILDS 5

static size_t shown(const struct tare_text *text, size_t count, size_t top)
{
	return text->options->verbosity > 0 || count <= top ? count : top;
}

static double mean_of(const struct tare_api_row *row)
{
	// The time of nested calls is that of those around them.
	return row->count > row->nested ? (double)row->total_ns / (double)(row->count - row->nested)
	                                : NAN;
}

static bool any_failed(const struct tare_tables *tables, size_t rows)
{
	for (size_t i = 0; i < rows; i++)
		if (tables->api[i].failed)
			return true;
	return false;
}

static int write_api(const struct tare_text *text, const struct tare_tables *tables)
{
	size_t rows = shown(text, tables->api_count, TOP_CALLS), room = tare_report_room(text, 50);
	bool failed = any_failed(tables, rows);
	struct tare_report_unit total, each;
	struct tare_text_table *table;
	char name[RUN_TEXT], figure[RUN_TEXT];
	double most = 0, least_mean = INFINITY, most_each = 0;

	for (size_t i = 0; i < rows; i++) {
		most = fmax(most, (double)tables->api[i].total_ns);
		if (tables->api[i].total_ns > 0)
			least_mean = fmin(least_mean, mean_of(&tables->api[i]));
		most_each = fmax(most_each, (double)tables->api[i].max_ns);
	}
	total = tare_report_unit_of_totals(most);
	each = tare_report_unit_between(fmin(least_mean, most_each), most_each);
	table = tare_text_table_new(text, 2);
	tare_text_column(table, "call", TARE_COLUMN_CUT);
	tare_text_column(table, "what for", 0);
	tare_text_column(table, "n", TARE_COLUMN_RIGHT);
	if (failed)
		tare_text_column(table, "failed", TARE_COLUMN_RIGHT);
	snprintf(figure, sizeof figure, "total %s", total.name);
	tare_text_column(table, figure, TARE_COLUMN_RIGHT);
	snprintf(figure, sizeof figure, "mean %s", each.name);
	tare_text_column(table, figure, TARE_COLUMN_RIGHT);
	tare_text_column(table, "max", TARE_COLUMN_RIGHT);
	for (size_t i = 0; i < rows; i++) {
		const struct tare_api_row *row = &tables->api[i];
		const char *role = tare_report_role(row->role);
		tare_text_row(table, TARE_STYLE_PLAIN);
		tare_text_cell(table, "%s", tare_report_cut(text, row->function, room, name));
		tare_text_cell(table, "%s", role ? role : "?");
		tare_text_cell(table, "%" PRIu64, row->count);
		if (failed)
			tare_text_cell(table, "%" PRIu64, row->failed);
		tare_text_cell(table, "%s", tare_report_time((double)row->total_ns, total, figure));
		tare_text_cell(table, "%s", tare_report_time(mean_of(row), each, figure));
		tare_text_cell(table, "%s", tare_report_time((double)row->max_ns, each, figure));
	}
	return tare_text_table_print(table);
}

static int write_calls(const struct tare_text *text, const struct tare_tables *tables)
{
	size_t rows = shown(text, tables->api_count, TOP_CALLS);
	int64_t rest = 0;
	uint64_t count = 0;
	char number[RUN_TEXT], time[TARE_UNIT_TEXT];
	int status;

	if (tables->api_count == 0)
		return 0;
	status = tare_report_heading(text, "API calls", "host time inside");
	if (status == 0)
		status = write_api(text, tables);
	for (size_t i = rows; i < tables->api_count; i++) {
		rest += tables->api[i].total_ns;
		count += tables->api[i].count;
	}
	if (status == 0 && count)
		status =
		    tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 3,
		                        "and %s calls of %zu more functions, %s (-v lists them)",
		                        tare_report_count(count, number), tables->api_count - rows,
		                        tare_format_ns((double)rest, time));
	return status;
}

// ---- builds

static bool is_before(const struct tare_build *a, const struct tare_build *b)
{
	return a->ns > b->ns || (a->ns == b->ns && a->at_ns < b->at_ns);
}

// Whether fewer than `top` builds took longer.
static bool among_longest(const struct tare_tables *tables, size_t build, size_t top)
{
	size_t longer = 0;

	for (size_t i = 0; i < tables->build_count && longer < top; i++)
		longer += i != build && is_before(&tables->builds[i], &tables->builds[build]);
	return longer < top;
}

static void add_build(struct tare_text_table *table, const struct tare_text *text,
                      const struct tare_recording *recording, const struct tare_build *build,
                      struct tare_report_unit unit)
{
	const char *options = "";
	char figure[RUN_TEXT], at[TARE_UNIT_TEXT], name[RUN_TEXT];

	if (build->program < recording->program_count &&
	    recording->programs[build->program].build_options)
		options = recording->programs[build->program].build_options;
	tare_text_row(table, build->error ? TARE_STYLE_WARNING : TARE_STYLE_PLAIN);
	tare_text_cell(table, "%s",
	               tare_report_cut(text, build->function, tare_report_room(text, 56), name));
	tare_text_cell(table, "%s",
	               tare_format_ns((double)(build->at_ns - recording->start_ns), at));
	tare_text_cell(table, "%s", tare_report_time((double)build->ns, unit, figure));
	if (build->error)
		tare_text_cell(table, "failed: %" PRId64, build->error);
	else
		tare_text_cell(table, "%s", tare_report_cut(text, options, 30, name));
}

static int write_builds(const struct tare_text *text, const struct tare_report *run)
{
	const struct tare_tables *tables = run->tables;
	size_t top = shown(text, tables->build_count, TOP_BUILDS);
	struct tare_text_table *table;
	struct tare_report_unit unit;
	double most = 0;
	int64_t total = 0;
	char remark[RUN_TEXT], time[TARE_UNIT_TEXT], count[RUN_TEXT];
	int status;

	if (tables->build_count == 0)
		return 0;
	for (size_t i = 0; i < tables->build_count; i++) {
		most = fmax(most, (double)tables->builds[i].ns);
		total += tables->builds[i].ns;
	}
	unit = tare_report_unit_of_totals(most);
	snprintf(remark, sizeof remark, "%.40s, %s%s",
	         tare_report_count(tables->build_count, count), tare_format_ns((double)total, time),
	         top < tables->build_count ? "; the longest" : "");
	status = tare_report_heading(text, "Builds", remark);
	if (status < 0)
		return status;
	table = tare_text_table_new(text, 2);
	tare_text_column(table, "call", TARE_COLUMN_CUT);
	tare_text_column(table, "at", TARE_COLUMN_RIGHT);
	tare_text_column(table, unit.name, TARE_COLUMN_RIGHT);
	tare_text_column(table, "options", TARE_COLUMN_CUT);
	for (size_t i = 0; i < tables->build_count; i++)
		if (top == tables->build_count || among_longest(tables, i, top))
			add_build(table, text, run->recording, &tables->builds[i], unit);
	return tare_text_table_print(table);
}

// ---- memory

static int write_memory(const struct tare_text *text, const struct tare_report *run)
{
	const struct tare_memory_use *memory = &run->tables->memory;
	char bytes[TARE_UNIT_TEXT], peak[TARE_UNIT_TEXT], at[RUN_TEXT], count[RUN_TEXT];
	char held[64] = "", moment[64] = "";
	int status;

	if (memory->objects == 0 && memory->peak_at_ns == TARE_NO_TIME)
		return 0;
	status = tare_report_heading(text, "Memory", "by the sizes asked for");
	if (status < 0)
		return status;
	if (memory->held_at_end)
		snprintf(held, sizeof held, "; %" PRIu64 " not released at the end",
		         memory->held_at_end);
	if (memory->peak_at_ns != TARE_NO_TIME)
		snprintf(moment, sizeof moment, ", %.40s into the run",
		         tare_report_span(memory->peak_at_ns - run->recording->start_ns, at));
	return tare_text_paragraph(
	    text, TARE_STYLE_PLAIN, "  ", 3, "%s object%s, %s in all; at most %s at once%s%s",
	    tare_report_count(memory->objects, count), tare_report_plural(memory->objects),
	    tare_format_bytes(memory->bytes, bytes), tare_format_bytes(memory->peak_bytes, peak),
	    moment, held);
}

int tare_report_text_calls(const struct tare_text *text, const struct tare_report *run)
{
	int status = write_calls(text, run->tables);

	if (status == 0)
		status = write_builds(text, run);
	return status < 0 ? status : write_memory(text, run);
}
