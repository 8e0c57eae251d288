// SPDX-License-Identifier: Apache-2.0
// Calls of the API.
#include "report/core/table_text.h"
#include "report/core/words.h"
#include "report/tables/tables.h"
#include "report/tables/values.h"

#include "base/units.h"

#define TOP 8 // rows without -v

// The time of nested calls is that of those around them.
static double mean_of(const struct tare_api_row *row)
{
	return row->count > row->nested ? (double)row->total_ns / (double)(row->count - row->nested)
	                                : NAN;
}

#define COLUMNS "report/tables/api.def"
#define ROW struct tare_api_row
#include "report/tables/declare.h"

TARE_RUN_TABLE(api, "API calls", "a function, by the host time inside", "No call was recorded.",
               run->tables->api_count, &run->tables->api[index])

void tare_calls_text(struct tare_text *text, const struct tare_report *run)
{
	const struct tare_tables *tables = run->tables;
	size_t rows = tare_rows_shown(text, tables->api_count, TOP);
	int64_t rest = 0;
	uint64_t count = 0;
	char number[RUN_TEXT], time[TARE_UNIT_TEXT];
	size_t more = tables->api_count > rows ? tables->api_count - rows : 0;

	if (tables->api_count == 0)
		return;
	tare_report_heading(text, tare_table_api.title, "host time inside");
	tare_table_text(
	    text, &tare_table_api, run,
	    &(struct tare_table_part){ .on = TARE_ON_TEXT, .others = 50, .most = rows });
	for (size_t i = rows; i < tables->api_count; i++) {
		rest += tables->api[i].total_ns;
		count += tables->api[i].count;
	}
	if (count)
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 3,
		                    "and %s call%s of %zu more function%s, %s (-v lists %s)",
		                    tare_report_count(count, number), count == 1 ? "" : "s", more,
		                    more == 1 ? "" : "s", tare_format_ns((double)rest, time),
		                    more == 1 ? "it" : "them");
}
