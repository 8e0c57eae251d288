// SPDX-License-Identifier: Apache-2.0
#include "report/hotspots/text.h"

#include "base/units.h"
#include "report/core/table_text.h"
#include "report/hotspots/hotspots.h"
#include "report/hotspots/tables.h"
#include "report/hotspots/words.h"

#include <errno.h>
#include <math.h>

static void write_table(struct tare_text *text, const struct tare_hotspots *hotspots)
{
	tare_table_text(text, &tare_hotspots_table, hotspots,
	                &(struct tare_table_part){ .on = TARE_HOTSPOTS_COUNTED,
	                                           .most = TARE_HOTSPOTS_MOST_ROWS,
	                                           .flush = true });
	tare_hotspots_more(text, hotspots->run);
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
                      const struct tare_hotspots *hotspots, size_t shown)
{
	write_table(text, hotspots);

	for (size_t i = 0; i < run->kernel_count && shown; i++) {
		if (run->kernels[i].uncounted != TARE_UNCOUNTED_NONE)
			continue;
		fputc('\n', text->file);
		write_kernel(text, &hotspots->rows[i].of);
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
	struct tare_hotspots hotspots;

	text.failed = tare_hotspots_make(run, options, &hotspots) < 0;
	if (!run->kernel_count && run->device.name)
		tare_text_paragraph(&text, TARE_STYLE_WARNING, "", 2,
		                    "Nothing to count: the program launched no kernel.");
	else if (run->device.no_counters)
		tare_text_paragraph(&text, TARE_STYLE_WARNING, "", 2, "n/a: no counters here: %s",
		                    run->device.no_counters);
	if (run->samples && !text.failed)
		tare_device_samples_text(&text, run->samples);
	if (run->device.no_counters && !text.failed)
		tare_hotspot_times_table(&text, &hotspots);
	if (run->by_instructions && !text.failed)
		write_uncounted(&text, run);
	if (!run->device.no_counters && run->kernel_count && !text.failed)
		write_all(&text, run, &hotspots, shown);
	tare_hotspots_free(&hotspots);
	return text.failed ? tare_fail(error, ENOMEM, "no memory left") : 0;
}
