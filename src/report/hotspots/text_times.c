// SPDX-License-Identifier: Apache-2.0
// Kernels of a device without counters: their recorded times, and what their instructions ask for.
#include "report/core/table_text.h"
#include "report/hotspots/tables.h"
#include "report/hotspots/text.h"

void tare_hotspots_more(struct tare_text *text, const struct tare_counted_run *run)
{
	double share = 0;
	char words[HOTSPOT_TEXT];

	for (size_t i = TARE_HOTSPOTS_MOST_ROWS; i < run->kernel_count; i++)
		share += run->kernels[i].share;
	if (run->kernel_count > TARE_HOTSPOTS_MOST_ROWS)
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "", 2,
		                    "%zu more kernel%s took %s of the kernels' time: --json FILE "
		                    "has %s.",
		                    run->kernel_count - TARE_HOTSPOTS_MOST_ROWS,
		                    run->kernel_count - TARE_HOTSPOTS_MOST_ROWS == 1 ? "" : "s",
		                    tare_hotspot_percent(100 * share, words),
		                    run->kernel_count - TARE_HOTSPOTS_MOST_ROWS == 1 ? "it"
		                                                                     : "them");
}

void tare_hotspot_times_table(struct tare_text *text, const struct tare_hotspots *hotspots)
{
	bool asked = hotspots->run->by_instructions;

	tare_table_text(text, &tare_hotspots_table, hotspots,
	                &(struct tare_table_part){ .on = TARE_HOTSPOTS_TIMES |
	                                                 (asked ? TARE_HOTSPOTS_ASKED : 0),
	                                           .most = TARE_HOTSPOTS_MOST_ROWS,
	                                           .flush = true });
	tare_hotspots_more(text, hotspots->run);
	if (!asked)
		return;
	tare_text_paragraph(
	    text, TARE_STYLE_FAINT, "", 0,
	    "What a kernel is bound by: n/a, without counters that is not known. Asked: the bytes "
	    "that instructions load and store in global, constant and local memory, at the level "
	    "of L1; what came from which cache or memory is not known. Of peak: of local memory's "
	    "rate, and of the arithmetic's, that `tare peak` measured here; above 100 %% where the "
	    "compiler kept in registers what instructions ask for. >=: functions such as sin are "
	    "no operations here.");
}
