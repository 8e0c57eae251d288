// SPDX-License-Identifier: Apache-2.0
// Kernels of a device without counters: their recorded times, and what their instructions ask for.
#include "analysis/hotspots/counted.h"
#include "base/units.h"
#include "report/hotspots/text.h"
#include "report/hotspots/words.h"

#include <errno.h>
#include <math.h>

static const char *number_of(double value, char text[TARE_UNIT_TEXT])
{
	if (isnan(value))
		snprintf(text, TARE_UNIT_TEXT, "n/a");
	else
		tare_format_significant(value, 3, text);
	return text;
}

static void write_asked(struct tare_text_table *table, const struct tare_hotspot *hotspot)
{
	const struct tare_edge_traffic *edge = &hotspot->edges[TARE_EDGE_REGISTERS_L1];
	const struct tare_arithmetic *arithmetic = &hotspot->arithmetic;
	double intensity = arithmetic->intensity[TARE_EDGE_REGISTERS_L1];
	char number[TARE_UNIT_TEXT], words[HOTSPOT_TEXT];

	tare_text_cell(table, "%s", number_of(edge->bytes_per_s / 1e9, number));
	tare_text_cell(table, "%s", tare_hotspot_percent(edge->measured_share, words));
	tare_text_cell(table, "%s%s",
	               arithmetic->partial && arithmetic->flop_per_s >= 0 ? ">=" : "",
	               number_of(arithmetic->flop_per_s / 1e9, number));
	tare_text_cell(table, "%s", tare_hotspot_percent(arithmetic->measured_share, words));
	tare_text_cell(table, "%s", number_of(intensity, number));
}

static void write_row(struct tare_text_table *table, const struct tare_hotspot *hotspot, bool asked)
{
	const struct tare_counted_kernel *kernel = hotspot->kernel;
	double mean_us = kernel->mean_ns ? (double)kernel->mean_ns / 1e3 : NAN;
	char number[TARE_UNIT_TEXT], words[HOTSPOT_TEXT];

	tare_text_row(table, TARE_STYLE_PLAIN);
	tare_text_cell(table, "%s", kernel->name);
	tare_text_cell(table, "%s", number_of((double)kernel->total_ns / 1e6, number));
	tare_text_cell(table, "%s", tare_hotspot_percent(100 * kernel->share, words));
	tare_text_cell(table, "%llu", (unsigned long long)kernel->launches);
	tare_text_cell(table, "%s", number_of(mean_us, number));
	if (asked)
		write_asked(table, hotspot);
}

void tare_hotspot_times_table(struct tare_text *text, const struct tare_counted_run *run,
                              const struct tare_hotspot *hotspots)
{
	static const char *const always[] = { "ms", "share", "launches", "us each" };
	static const char *const asked[] = { "GB/s asked", "of peak", "GFLOP/s", "of peak",
		                             "FLOP/B" };
	struct tare_text_table *table = tare_text_table_new(text, 0);

	tare_text_column(table, "kernel", TARE_COLUMN_CUT);
	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		tare_text_column(table, always[i], TARE_COLUMN_RIGHT);
	for (size_t i = 0; run->by_instructions && i < sizeof asked / sizeof *asked; i++)
		tare_text_column(table, asked[i], TARE_COLUMN_RIGHT);
	for (size_t i = 0; i < run->kernel_count; i++)
		write_row(table, &hotspots[i], run->by_instructions);
	tare_text_table_print(table);
	if (!run->by_instructions)
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
