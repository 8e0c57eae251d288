// SPDX-License-Identifier: Apache-2.0
#include "report/page.h"
#include "model/fact.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

// The files of web/ and Chart.js, embedded at build time: symbol, and the mark in page.html.
#define WEB_PARTS(X) \
	X(tare_web_page_css, "page.css") \
	X(tare_web_chart_js, "chart.js") \
	X(tare_web_format_js, "format.js") \
	X(tare_web_dom_js, "dom.js") \
	X(tare_web_document_js, "document.js") \
	X(tare_web_theme_js, "theme.js") \
	X(tare_web_axes_js, "axes.js") \
	X(tare_web_charts_js, "charts.js") \
	X(tare_web_timeline_js, "timeline.js") \
	X(tare_web_samples_js, "samples.js") \
	X(tare_web_table_js, "table.js") \
	X(tare_web_figures_js, "figures.js") \
	X(tare_web_headline_js, "headline.js") \
	X(tare_web_cards_js, "cards.js") \
	X(tare_web_csv_js, "csv.js") \
	X(tare_web_sections_js, "sections.js") \
	X(tare_web_page_js, "page.js")

#define X(symbol, mark) extern const char symbol[];
WEB_PARTS(X)
#undef X
extern const char tare_web_page_html[];

static const struct {
	const char *mark, *text;
} web_parts[] = {
#define X(symbol, mark) { mark, symbol },
	WEB_PARTS(X)
#undef X
};

// What the template's {{marks}} stand for.
struct parts {
	const char *json;
	size_t length;
	const char *title;
	FILE *file;
};

static void write_html_text(const char *text, FILE *file)
{
	for (; *text; text++)
		switch (*text) {
		case '<':
			fputs("&lt;", file);
			break;
		case '>':
			fputs("&gt;", file);
			break;
		case '&':
			fputs("&amp;", file);
			break;
		default:
			// A control character in a device's name would make the document malformed.
			if ((unsigned char)*text >= 0x20)
				fputc(*text, file);
		}
}

// JSON inside a script element: '<' and '>' occur only in strings, where \u003c says the same and
// neither </script nor <!-- can be spelt. U+2028 and U+2029 (e2 80 a8, a9) end a line for JavaScript.
static void write_json(const char *text, size_t length, FILE *file)
{
	const char *end = text + length;
	const char *from = text;

	for (const char *at = text; at < end; at++) {
		const char *escape = NULL;
		size_t bytes = 1;

		if (*at == '<') {
			escape = "\\u003c";
		} else if (*at == '>') {
			escape = "\\u003e";
		} else if (*at == '\xe2' && end - at >= 3 && at[1] == '\x80' &&
		           (at[2] == '\xa8' || at[2] == '\xa9')) {
			escape = at[2] == '\xa8' ? "\\u2028" : "\\u2029";
			bytes = 3;
		}
		if (!escape)
			continue;
		fwrite(from, 1, (size_t)(at - from), file);
		fputs(escape, file);
		at += bytes - 1;
		from = at + 1;
	}
	fwrite(from, 1, (size_t)(end - from), file);
}

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
		fprintf(file, "%s{\"key\":\"%s\",\"title\":\"%s\",\"group\":\"%s\",\"unit\":\"%s\",\"type\":\"%s\"}",
		        i ? ",\n" : "", row->key, row->title, row->group, row->unit, types[row->type]);
	}
	fputc(']', file);
}

static bool is(const char *name, size_t length, const char *word)
{
	return strlen(word) == length && memcmp(name, word, length) == 0;
}

// Writes what {{name}} stands for; false when the template names something unknown.
static bool write_part(const struct parts *parts, const char *name, size_t length)
{
	if (is(name, length, "title")) {
		write_html_text(parts->title, parts->file);
	} else if (is(name, length, "version")) {
		write_html_text(TARE_VERSION, parts->file);
	} else if (is(name, length, "result")) {
		write_json(parts->json, parts->length, parts->file);
	} else if (is(name, length, "facts")) {
		write_facts(parts->file);
	} else {
		for (size_t i = 0; i < sizeof web_parts / sizeof *web_parts; i++)
			if (is(name, length, web_parts[i].mark)) {
				fputs(web_parts[i].text, parts->file);
				return true;
			}
		return false;
	}
	return true;
}

int tare_page_write(const char *json, size_t length, const char *title, FILE *file,
                    struct tare_error *error)
{
	const struct parts parts = { json, length, title, file };
	const char *at = tare_web_page_html;
	const char *mark;

	errno = 0;
	// Marks are looked for in the template alone, never in what was put in.
	while ((mark = strstr(at, "{{"))) {
		const char *end = strstr(mark, "}}");
		fwrite(at, 1, (size_t)(mark - at), file);
		if (!end || !write_part(&parts, mark + 2, (size_t)(end - mark - 2)))
			return tare_fail(error, EIO, "the page's template has an unknown mark '%.20s'", mark);
		at = end + 2;
	}
	fputs(at, file);
	if (fflush(file) != 0 || ferror(file))
		return tare_fail(error, EIO, "cannot write the page: %s",
		                 errno ? strerror(errno) : "the output has failed");
	return 0;
}
