// SPDX-License-Identifier: Apache-2.0
// The page of counted kernels.
#include "report/hotspots/hotspots.h"

#include <errno.h>

#if TARE_HAVE_PAGE

#include "base/cleanup.h"
#include "report/core/table_json.h"
#include "report/hotspots/tables.h"
#include "report/page/page_template.h"
#include "report/page_template_parts.h"

#include <string.h>

#define X(symbol, mark) extern const char symbol[];
HOTSPOTS_PARTS(X)
#undef X
extern const char tare_web_hotspots_html[];

static const struct tare_page_part parts[] = {
#define X(symbol, mark) { mark, symbol },
	HOTSPOTS_PARTS(X)
#undef X
};

static int write_data(const void *run, FILE *file, struct tare_error *error)
{
	return tare_report_hotspots_json(run, file, error);
}

// How the tables are declared, by which the page draws them.
static int write_tables(const void *tables, FILE *file, struct tare_error *error)
{
	return tare_table_declarations(tables, file) < 0
	           ? tare_fail(error, ENOMEM, "no memory left")
	           : 0;
}

static int write_mark(void *context, const char *mark, FILE *file, struct tare_error *error)
{
	const struct tare_counted_run *run = context;

	if (strcmp(mark, "title") == 0) {
		fputs("hotspots on ", file);
		tare_page_html_text(run->device.name ? run->device.name : "a device", file);
		fputs(" - tare", file);
	} else if (strcmp(mark, "version") == 0) {
		tare_page_html_text(TARE_VERSION, file);
	} else if (strcmp(mark, "hotspots") == 0) {
		return tare_page_json_of(write_data, run, file, error);
	} else if (strcmp(mark, "tables") == 0) {
		static const struct tare_table *const tables[] = { &tare_hotspots_table,
			                                           &tare_samples_series_table,
			                                           NULL };
		return tare_page_json_of(write_tables, tables, file, error);
	} else {
		return -ENOENT;
	}
	return 0;
}

int tare_report_hotspots_page(const struct tare_counted_run *run, FILE *file,
                              struct tare_error *error)
{
	struct tare_counted_run copy = *run;

	return tare_page_expand(tare_web_hotspots_html, parts, sizeof parts / sizeof *parts,
	                        write_mark, &copy, file, error);
}

#else

int tare_report_hotspots_page(const struct tare_counted_run *run, FILE *file,
                              struct tare_error *error)
{
	(void)run;
	(void)file;
	return tare_fail(error, ENOSYS,
	                 "this tare was built without the page; build it with jansson, "
	                 "zlib and libjs-chart.js, or write --json");
}

#endif
