// SPDX-License-Identifier: Apache-2.0
#include "report/hotspots/text.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "report/hotspots/hotspots.h"
#include "report/hotspots/words.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BAR = 20 }; // columns of a bar of the cores' time

// "████▒▒▒▒····": issuing, stalled, without work. Empty where not known.
static const char *bar_of(struct tare_text *text, const struct tare_core_time *time,
                          char bar[BAR * 4 + 16])
{
	double active = time->active / 100 * BAR, both = (time->active + time->stalled) / 100 * BAR;
	bool ascii = text->options->ascii;

	bar[0] = '\0';
	if (isnan(active) || isnan(both))
		return bar;
	// Rounded at their ends, so that the bar is as long as it must be.
	for (long i = 0; i < BAR; i++)
		strcat(bar, i < lround(active) ? (ascii ? "#" : "█")
		            : i < lround(both) ? (ascii ? "+" : "▒")
		                               : ".");
	return bar;
}

// Names of many bounds would leave no room for the kernels'.
static const char *bound_of(const struct tare_hotspot *hotspot, char words[HOTSPOT_TEXT])
{
	return __builtin_popcount(hotspot->verdict.possible) > 2
	           ? "not decided"
	           : tare_hotspot_bound_words(hotspot, words);
}

static void write_row(struct tare_text_table *table, struct tare_text *text,
                      const struct tare_hotspot *hotspot)
{
	const struct tare_counted_kernel *kernel = hotspot->kernel;
	char number[TARE_UNIT_TEXT], words[HOTSPOT_TEXT], bar[BAR * 4 + 16];

	tare_text_row(table, TARE_STYLE_PLAIN);
	tare_text_cell(table, "%s", kernel->name);
	tare_text_cell(table, "%s",
	               tare_format_significant((double)kernel->total_ns / 1e6, 3, number));
	tare_text_cell(table, "%s", tare_hotspot_percent(100 * kernel->share, words));
	tare_text_cell(table, "%s", tare_hotspot_percent(hotspot->time.active, words));
	tare_text_cell(table, "%s", bar_of(text, &hotspot->time, bar));
	tare_text_cell(table, "%s", bound_of(hotspot, words));
}

static void write_table(struct tare_text *text, const struct tare_hotspot *hotspots, size_t count)
{
	struct tare_text_table *table = tare_text_table_new(text, 0);

	tare_text_column(table, "kernel", TARE_COLUMN_CUT);
	tare_text_column(table, "ms", TARE_COLUMN_RIGHT);
	tare_text_column(table, "share", TARE_COLUMN_RIGHT);
	tare_text_column(table, "active", TARE_COLUMN_RIGHT);
	tare_text_column(table, "time of the cores", 0);
	tare_text_column(table, "bound by", 0);
	for (size_t i = 0; i < count; i++)
		write_row(table, text, &hotspots[i]);
	tare_text_table_print(table);
	tare_text_paragraph(text, TARE_STYLE_FAINT, "", 0,
	                    "Time of the cores: %s issuing, %s stalled, . without work. A bound "
	                    "with ? is not decided: the figures' errors allow each of those named, "
	                    "and where none is named more than two.",
	                    text->options->ascii ? "#" : "█", text->options->ascii ? "+" : "▒");
}

typedef const char *words_of(const struct tare_hotspot *hotspot, char text[HOTSPOT_TEXT]);

static void write_words(struct tare_text *text, const struct tare_hotspot *hotspot)
{
	static words_of *const parts[] = { tare_hotspot_margin_words, tare_hotspot_advice_words };
	char words[HOTSPOT_TEXT];

	tare_text_verdict(text, "  ", 2, tare_hotspot_verdict_words(hotspot, words));
	for (size_t i = 0; i < 2; i++)
		if (parts[i](hotspot, words)[0])
			tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 2, "%s", words);
	for (size_t i = 0; i < hotspot->verdict.contradiction_count; i++)
		tare_text_paragraph(
		    text, TARE_STYLE_WARNING, "  ", 4, "%s",
		    tare_hotspot_contradiction_words(&hotspot->verdict.contradictions[i], words));
}

static void write_figures(struct tare_text *text, const struct tare_hotspot *hotspot)
{
	const struct tare_arithmetic *arithmetic = &hotspot->arithmetic;
	char words[HOTSPOT_TEXT], number[TARE_UNIT_TEXT], intensity[TARE_UNIT_TEXT];

	if (tare_hotspot_core_words(hotspot, words)[0])
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 2, "%s", words);
	if (arithmetic->flop_per_s > 0)
		tare_text_paragraph(
		    text, TARE_STYLE_PLAIN, "  ", 2,
		    "Arithmetic: %s%s GFLOP/s, %s FLOP a byte of device memory.",
		    arithmetic->partial ? "at least " : "",
		    tare_format_significant(arithmetic->flop_per_s / 1e9, 3, number),
		    isnan(arithmetic->intensity[TARE_EDGE_L2_DEVICE])
		        ? "n/a"
		        : tare_format_significant(arithmetic->intensity[TARE_EDGE_L2_DEVICE], 3,
		                                  intensity));
	tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 2, "%s",
	                    tare_hotspot_given_words(hotspot->kernel, words));
	if (!isnan(hotspot->imbalance))
		tare_text_paragraph(
		    text, TARE_STYLE_PLAIN, "  ", 2,
		    "Imbalance: the mean core had no work in %s of the busiest core's time.",
		    tare_hotspot_percent(hotspot->imbalance, words));
}

static void write_kernel(struct tare_text *text, const struct tare_hotspot *hotspot)
{
	char span[TARE_UNIT_TEXT];

	tare_text_paragraph(
	    text, TARE_STYLE_BOLD, "", 2, "%s: %s a launch, %llu launch%s", hotspot->kernel->name,
	    isnan(hotspot->duration_ns) ? "n/a" : tare_format_ns(hotspot->duration_ns, span),
	    (unsigned long long)hotspot->kernel->launches,
	    hotspot->kernel->launches == 1 ? "" : "es");
	write_words(text, hotspot);
	write_figures(text, hotspot);
	tare_hotspot_diagram(text, hotspot);
}

// Kernels that were left alone, with the reason, each reason once.
static void write_uncounted(struct tare_text *text, const struct tare_counted_run *run)
{
	for (enum tare_uncounted why = TARE_UNCOUNTED_NONE + 1; why < TARE_UNCOUNTED_REASONS;
	     why++) {
		const char *first = NULL;
		size_t count = 0;
		for (size_t i = 0; i < run->kernel_count; i++) {
			if (run->kernels[i].uncounted != why)
				continue;
			first = count++ ? first : run->kernels[i].name;
		}
		if (count > 1)
			tare_text_paragraph(text, TARE_STYLE_PLAIN, "", 2,
			                    "Not counted: %s and %zu more: %s.", first, count - 1,
			                    tare_uncounted_words(why));
		else if (count)
			tare_text_paragraph(text, TARE_STYLE_PLAIN, "", 2, "Not counted: %s: %s.",
			                    first, tare_uncounted_words(why));
	}
}

static void write_all(struct tare_text *text, const struct tare_counted_run *run,
                      const struct tare_hotspot *hotspots, size_t shown)
{
	write_table(text, hotspots, run->kernel_count);

	for (size_t i = 0; i < run->kernel_count && shown; i++) {
		if (hotspots[i].kernel->uncounted != TARE_UNCOUNTED_NONE)
			continue;
		fputc('\n', text->file);
		write_kernel(text, &hotspots[i]);
		shown--;
	}
	write_uncounted(text, run);
	fputc('\n', text->file);
	tare_text_paragraph(text, TARE_STYLE_FAINT, "", 0,
	                    "Of max: of what the device sustains, by its own "
	                    "counters. Of peak: of what "
	                    "`tare peak` measured here. x given: bytes moved over the "
	                    "size of the memory "
	                    "that a launch was given at most. Times faster are upper bounds.");
}

int tare_report_hotspots_text(const struct tare_counted_run *run, size_t shown,
                              const struct tare_text_options *options, FILE *file,
                              struct tare_error *error)
{
	struct tare_text text = { .options = options, .file = file };
	TARE_FREE struct tare_hotspot *hotspots = calloc(run->kernel_count + 1, sizeof *hotspots);

	text.failed = !hotspots;
	if (run->device.no_counters)
		tare_text_paragraph(&text, TARE_STYLE_WARNING, "", 2, "n/a: no counters here: %s",
		                    run->device.no_counters);
	if (run->samples && !text.failed)
		tare_device_samples_text(&text, run->samples);
	for (size_t i = 0; i < run->kernel_count && hotspots; i++)
		tare_hotspot_derive(&run->kernels[i], &run->device, &hotspots[i]);
	if (run->device.no_counters && !text.failed)
		tare_hotspot_times_table(&text, run, hotspots);
	if (run->by_instructions && !text.failed)
		write_uncounted(&text, run);
	if (!run->device.no_counters && !text.failed)
		write_all(&text, run, hotspots, shown);
	return text.failed ? tare_fail(error, ENOMEM, "no memory left") : 0;
}
