// SPDX-License-Identifier: Apache-2.0
// The page of a recorded run; docs/page-run.md.
#include "report/run/report.h"

#include <errno.h>

#if TARE_HAVE_PAGE

#include "base/cleanup.h"
#include "report/core/table_json.h"
#include "report/page/page_template.h"
#include "report/page_template_parts.h"
#include "report/tables/tables.h"

#include <string.h>

#define X(symbol, mark) extern const char symbol[];
RUN_PARTS(X)
#undef X
extern const char tare_web_run_html[];

static const struct tare_page_part parts[] = {
#define X(symbol, mark) { mark, symbol },
	RUN_PARTS(X)
#undef X
};

struct run_page {
	const struct tare_report *run;
	uint64_t most_bytes;
	struct tare_page_left_out *left_out;
};

// What the window and a bookmark are called: "./simulate --steps 200 - tare".
static void write_title(const struct tare_report *run, FILE *file)
{
	const char *program = run->recording->program;

	tare_page_html_text(program && program[0] ? program : run->recording->name, file);
	fputs(" - tare", file);
}

static int write_report(const void *run, FILE *file, struct tare_error *error)
{
	return tare_report_run_json(run, file, error);
}

// How the tables are declared, by which the page draws them.
static int write_tables(const void *tables, FILE *file, struct tare_error *error)
{
	return tare_table_declarations(tables, file) < 0
	           ? tare_fail(error, ENOMEM, "no memory for the page")
	           : 0;
}

static int write_mark(void *context, const char *mark, FILE *file, struct tare_error *error)
{
	const struct run_page *page = context;

	if (strcmp(mark, "title") == 0)
		write_title(page->run, file);
	else if (strcmp(mark, "version") == 0)
		tare_page_html_text(TARE_VERSION, file);
	else if (strcmp(mark, "report") == 0)
		return tare_page_json_of(write_report, page->run, file, error);
	else if (strcmp(mark, "tables") == 0)
		return tare_page_json_of(write_tables, tare_run_tables, file, error);
	else if (strcmp(mark, "timeline") == 0)
		return tare_report_timeline_write(page->run, page->most_bytes, file, page->left_out,
		                                  error);
	else
		return -ENOENT;
	return 0;
}

int tare_report_run_page(const struct tare_report *run, uint64_t most_bytes, FILE *file,
                         struct tare_page_left_out *left_out, struct tare_error *error)
{
	struct run_page page = { run, most_bytes, left_out };

	return tare_page_expand(tare_web_run_html, parts, sizeof parts / sizeof *parts, write_mark,
	                        &page, file, error);
}

#else

int tare_report_run_page(const struct tare_report *run, uint64_t most_bytes, FILE *file,
                         struct tare_page_left_out *left_out, struct tare_error *error)
{
	return tare_report_timeline_write(run, most_bytes, file, left_out, error);
}

#endif
