// SPDX-License-Identifier: Apache-2.0
// The program's memory objects.
#include "report/run/text_run.h"

#include <inttypes.h>

void tare_report_text_memory(struct tare_text *text, const struct tare_report *run)
{
	const struct tare_memory_use *memory = &run->tables->memory;
	char bytes[TARE_UNIT_TEXT], peak[TARE_UNIT_TEXT], at[RUN_TEXT], count[RUN_TEXT];
	char held[64] = "", moment[64] = "";

	if (memory->objects == 0 && memory->peak_at_ns == TARE_NO_TIME)
		return;
	tare_report_heading(text, "Memory", "by the sizes asked for");
	if (memory->held_at_end)
		snprintf(held, sizeof held, "; %" PRIu64 " not released at the end",
		         memory->held_at_end);
	if (memory->peak_at_ns != TARE_NO_TIME)
		snprintf(moment, sizeof moment, ", %.40s into the run",
		         tare_report_span(memory->peak_at_ns - run->recording->start_ns, at));
	tare_text_paragraph(
	    text, TARE_STYLE_PLAIN, "  ", 3, "%s object%s, %s in all; at most %s at once%s%s",
	    tare_report_count(memory->objects, count), tare_report_plural(memory->objects),
	    tare_format_bytes(memory->bytes, bytes), tare_format_bytes(memory->peak_bytes, peak),
	    moment, held);
}
