// SPDX-License-Identifier: Apache-2.0
// Builds of programs.
#include "report/core/table_text.h"
#include "report/tables/tables.h"
#include "report/tables/values.h"

#include "base/units.h"

#include <inttypes.h>

#define TOP 5 // rows without -v

static bool failed_or_options(const struct tare_cell_text *cell)
{
	const struct tare_build *build = cell->row;

	if (build->error)
		snprintf(cell->text, cell->size, "failed: %" PRId64, build->error);
	return build->error != 0;
}

#define COLUMNS "report/tables/builds.def"
#define ROW struct tare_build
#include "report/tables/declare.h"

TARE_RUN_TABLE(builds, "Builds", "a call that built a program, in order of time", NULL,
               run->tables->build_count, &run->tables->builds[index])

// ---- as text

static bool is_before(const struct tare_build *a, const struct tare_build *b)
{
	return a->ns > b->ns || (a->ns == b->ns && a->at_ns < b->at_ns);
}

// Whether fewer than TOP builds took longer.
static bool is_among_longest(const void *source, const void *row)
{
	const struct tare_tables *tables = ((const struct tare_report *)source)->tables;
	size_t longer = 0;

	for (size_t i = 0; i < tables->build_count && longer < TOP; i++)
		longer += &tables->builds[i] != row && is_before(&tables->builds[i], row);
	return longer < TOP;
}

static enum tare_text_style style_of(const void *run, const void *row)
{
	(void)run;
	return ((const struct tare_build *)row)->error ? TARE_STYLE_WARNING : TARE_STYLE_PLAIN;
}

void tare_builds_text(struct tare_text *text, const struct tare_report *run)
{
	const struct tare_tables *tables = run->tables;
	size_t top = tare_rows_shown(text, tables->build_count, TOP);
	int64_t total = 0;
	char remark[RUN_TEXT], time[TARE_UNIT_TEXT], count[RUN_TEXT];

	if (tables->build_count == 0)
		return;
	for (size_t i = 0; i < tables->build_count; i++)
		total += tables->builds[i].ns;
	snprintf(remark, sizeof remark, "%.40s, %s%s",
	         tare_report_count(tables->build_count, count), tare_format_ns((double)total, time),
	         top < tables->build_count ? "; the longest" : "");
	tare_report_heading(text, tare_table_builds.title, remark);
	tare_table_text(
	    text, &tare_table_builds, run,
	    &(struct tare_table_part){ .on = TARE_ON_TEXT,
	                               .others = 56,
	                               .keep = top < tables->build_count ? is_among_longest : NULL,
	                               .style = style_of });
}
