// SPDX-License-Identifier: Apache-2.0
// Call sites: from where commands were issued and where the host waited, the costliest first.
#include "report/core/table_json.h"
#include "report/core/table_text.h"
#include "report/core/words.h"
#include "report/tables/tables.h"
#include "report/tables/values.h"

#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define TOP 12          // rows without -v
#define STACKS 5        // of which -v shows the stack
#define FRAMES 8        // of each
#define JSON_STACKS 100 // rows that come with their stack in the JSON
#define JSON_FRAMES 64

static bool no_device_time(const struct tare_cell_text *cell)
{
	bool none = ((const struct tare_site_row *)cell->row)->device_ns == 0;

	snprintf(cell->text, cell->size, "%s", none ? "–" : "");
	return none;
}

static bool no_gap(const struct tare_cell_text *cell)
{
	bool none = ((const struct tare_site_row *)cell->row)->gap_ns == 0;

	snprintf(cell->text, cell->size, "%s", none ? "–" : "");
	return none;
}

static struct json_t *frame_list(void *json, const void *run, const void *row);

#define COLUMNS "report/tables/sites.def"
#define ROW struct tare_site_row
#include "report/tables/declare.h"

TARE_RUN_TABLE(
    sites, "Call sites",
    "what is done at a place of the program, by what it costs; none without --call-stacks", NULL,
    run->sites && run->symbols ? run->sites->count : 0, &run->sites->rows[index])

#if TARE_HAVE_JSON
static json_t *text_or_null(const char *text)
{
	return text && text[0] ? tare_json_text(text) : json_null();
}

static struct json_t *frame_list(void *json, const void *source, const void *one)
{
	const struct tare_report *run = source;
	const struct tare_site_row *row = one;
	const struct tare_frame *frames;
	size_t count = tare_symbols_frames(run->symbols, row->stack, &frames);
	json_t *list;

	if (row >= run->sites->rows + JSON_STACKS)
		return json_null();
	list = json_array();
	for (size_t i = 0; i < count && i < JSON_FRAMES; i++) {
		json_t *object = json_object();
		tare_json_put(json, object, "function", text_or_null(frames[i].function));
		tare_json_put(json, object, "file", text_or_null(frames[i].file));
		tare_json_put(json, object, "line",
		              frames[i].line > 0 ? json_integer(frames[i].line) : json_null());
		tare_json_put(json, object, "module", text_or_null(frames[i].module));
		tare_json_put(json, object, "address", tare_json_unsigned(frames[i].address));
		tare_json_put(json, object, "inlined", json_boolean(frames[i].inlined));
		tare_json_push(json, list, object);
	}
	return list;
}
#else
static struct json_t *frame_list(void *json, const void *run, const void *row)
{
	(void)json, (void)run, (void)row;
	return NULL;
}
#endif

// ---- as text

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

static void write_stack(struct tare_text *text, const struct tare_report *run,
                        const struct tare_site_row *row)
{
	const struct tare_frame *frames;
	size_t count = tare_symbols_callers(run->symbols, row->stack, &frames);
	size_t columns = text->options->columns > 8 ? text->options->columns - 8 : 12;
	char name[RUN_TEXT], cut[RUN_TEXT], also[64] = "";

	if (row->stacks > 1)
		snprintf(also, sizeof also, ", one of %" PRIu32 " ways there", row->stacks);
	tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 4, "%s, %s%s:", row->text, row->what,
	                    also);
	// What starts a program's main is the same everywhere.
	for (size_t i = 0; i < count; i++)
		if (frames[i].function && strcmp(frames[i].function, "main") == 0)
			count = i + 1;
	for (size_t i = 0; i < count && i < FRAMES; i++) {
		name_frame(&frames[i], name);
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "     ", 7, "%s",
		                    tare_report_cut(text, name, columns, cut));
	}
	if (count > FRAMES)
		tare_text_paragraph(text, TARE_STYLE_FAINT, "     ", 7,
		                    "and %zu more outside of these", count - FRAMES);
}

static void write_remarks(struct tare_text *text, const struct tare_report *run, size_t rows)
{
	const struct tare_coverage *coverage = &run->tables->coverage;
	const struct tare_sites *sites = run->sites;
	char count[RUN_TEXT], cost[TARE_UNIT_TEXT];

	if (rows < sites->count)
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 3,
		                    "and %zu more row%s (-v lists them)", sites->count - rows,
		                    tare_report_plural(sites->count - rows));
	if (sites->without)
		tare_text_paragraph(
		    text, TARE_STYLE_PLAIN, "  ", 3, "%s command%s without a known call site",
		    tare_report_count(sites->without, count), tare_report_plural(sites->without));
	if (coverage->unobserved_by[TARE_UNOBSERVED_NOT_SAMPLED] > 0)
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 3,
		                    "device times are of the sample only, not of all");
	if (isfinite(coverage->stack_cost_ns))
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 3,
		                    "call stacks cost about %s a command",
		                    tare_format_ns(coverage->stack_cost_ns, cost));
	if (text->options->verbosity >= 0)
		tare_text_paragraph(
		    text, TARE_STYLE_FAINT, "  ", 3,
		    "in calls: host time; gaps before: of the longest idle gaps, those that its "
		    "commands ended");
}

void tare_sites_text(struct tare_text *text, const struct tare_report *run)
{
	const struct tare_sites *sites = run->sites;
	size_t rows = sites ? sites->count : 0;

	if (rows == 0 || !run->symbols)
		return;
	if (rows > TOP && text->options->verbosity < 1)
		rows = TOP;
	tare_report_heading(text, tare_table_sites.title, "");
	tare_table_text(
	    text, &tare_table_sites, run,
	    &(struct tare_table_part){ .on = TARE_ON_TEXT, .others = 56, .most = rows });
	write_remarks(text, run, rows);
	if (text->options->verbosity > 0)
		fputc('\n', text->file);
	for (size_t i = 0; i < rows && i < STACKS && text->options->verbosity > 0; i++)
		write_stack(text, run, &sites->rows[i]);
}
