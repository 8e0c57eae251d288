// SPDX-License-Identifier: Apache-2.0
#include "model/fact.h"
#include "model/telemetry.h"
#include "report/core/table_json.h"
#include "report/page/page.h"
#include "report/page/page_template.h"
#include "report/result/tables.h"
#include "result/matmul_words.h"

#include <errno.h>
#include <string.h>

// The files of web/ and Chart.js, embedded at build time: symbol, and the mark in page.html.
#define WEB_PARTS(X)                                                                               \
	X(tare_web_page_css, "page.css")                                                           \
	X(tare_web_chart_js, "chart.js")                                                           \
	X(tare_web_format_js, "format.js")                                                         \
	X(tare_web_dom_js, "dom.js")                                                               \
	X(tare_web_names_js, "names.js")                                                           \
	X(tare_web_document_js, "document.js")                                                     \
	X(tare_web_theme_js, "theme.js")                                                           \
	X(tare_web_axes_js, "axes.js")                                                             \
	X(tare_web_charts_js, "charts.js")                                                         \
	X(tare_web_timeline_js, "timeline.js")                                                     \
	X(tare_web_samples_js, "samples.js")                                                       \
	X(tare_web_table_js, "table.js")                                                           \
	X(tare_web_declared_js, "declared.js")                                                     \
	X(tare_web_figures_js, "figures.js")                                                       \
	X(tare_web_headline_js, "headline.js")                                                     \
	X(tare_web_cards_js, "cards.js")                                                           \
	X(tare_web_sections_js, "sections.js")                                                     \
	X(tare_web_page_js, "page.js")

#define X(symbol, mark) extern const char symbol[];
WEB_PARTS(X)
#undef X
extern const char tare_web_page_html[];

static const struct tare_page_part web_parts[] = {
#define X(symbol, mark) { mark, symbol },
	WEB_PARTS(X)
#undef X
};

// What the template's {{marks}} stand for.
struct parts {
	const char *json, *csv;
	size_t length;
	const char *title;
};

// Titles and groups of the device facts, so that the page names them as the text report does.
// The strings are rows of our own table: they need no escaping.
static void write_facts(FILE *file)
{
	static const char *const types[] = {
		[TARE_FACT_TEXT] = "text", [TARE_FACT_COUNT] = "count", [TARE_FACT_BYTES] = "bytes",
		[TARE_FACT_HZ] = "hz",     [TARE_FACT_NS] = "ns",       [TARE_FACT_RATE] = "rate",
		[TARE_FACT_BOOL] = "bool",
	};
	fputc('[', file);
	for (size_t i = 0; i < TARE_FACT_COUNT_OF; i++) {
		const struct tare_fact_row *row = &tare_fact_rows[i];
		fprintf(file,
		        "%s{\"key\":\"%s\",\"title\":\"%s\",\"group\":\"%s\",\"unit\":\"%s\","
		        "\"type\":\"%s\"}",
		        i ? ",\n" : "", row->key, row->title, row->group, row->unit,
		        types[row->type]);
	}
	fputc(']', file);
}

// What else of our own tables the page goes by: how the tables of results are declared, the values
// that telemetry has, the rungs that are the vendor's library, and the word for a fact nobody asked
// for.
static int write_tables(FILE *file)
{
	int code;

	fputs("{\"declared\":", file);
	code = tare_table_declarations(tare_result_tables, file);
	fputs(",\"telemetry\":[", file);
	for (int v = 0; v < TARE_TELEMETRY_VALUES; v++)
		fprintf(file, "%s[\"%s\",\"%s\"]", v ? "," : "", tare_telemetry_value_rows[v].key,
		        tare_telemetry_value_rows[v].title);
	fputs("],\"libraries\":[", file);
	for (enum tare_rung rung = TARE_RUNG_BLAS; rung < TARE_RUNG_COUNT; rung++)
		fprintf(file, "%s\"%s\"", rung > TARE_RUNG_BLAS ? "," : "", tare_rung_name(rung));
	fprintf(file, "],\"not_asked\":\"%s\"}", TARE_FACT_NOT_ASKED);
	return code;
}

// A text as JSON, in which nothing can end a script element.
static void write_string(const char *text, FILE *file)
{
	fputc('"', file);
	for (const char *at = text; *at; at++)
		if ((unsigned char)*at < 0x20 || *at == '"' || *at == '\\' || *at == '<' ||
		    *at == '>')
			fprintf(file, "\\u%04x", (unsigned)*at);
		else
			fputc(*at, file);
	fputc('"', file);
}

static int write_mark(void *context, const char *mark, FILE *file, struct tare_error *error)
{
	const struct parts *parts = context;

	if (strcmp(mark, "title") == 0)
		tare_page_html_text(parts->title, file);
	else if (strcmp(mark, "version") == 0)
		tare_page_html_text(TARE_VERSION, file);
	else if (strcmp(mark, "result") == 0)
		tare_page_json(parts->json, parts->length, file);
	else if (strcmp(mark, "facts") == 0)
		write_facts(file);
	else if (strcmp(mark, "tables") == 0)
		return write_tables(file) < 0 ? tare_fail(error, ENOMEM, "no memory for the page")
		                              : 0;
	else if (strcmp(mark, "csv") == 0 && parts->csv)
		write_string(parts->csv, file);
	else if (strcmp(mark, "csv") == 0)
		fputs("null", file);
	else
		return -ENOENT;
	return 0;
}

int tare_page_write(const char *json, size_t length, const char *csv, const char *title, FILE *file,
                    struct tare_error *error)
{
	struct parts parts = { json, csv, length, title };

	return tare_page_expand(tare_web_page_html, web_parts, sizeof web_parts / sizeof *web_parts,
	                        write_mark, &parts, file, error);
}
