// SPDX-License-Identifier: Apache-2.0
#include "analysis/hotspots/samples.h"
#include "base/units.h"
#include "report/core/words.h"
#include "report/hotspots/text.h"
#include "report/hotspots/words.h"

#include <inttypes.h>
#include <math.h>

enum { BAR = 30 }; // columns of a counter over the run

static const char *value_of(const struct tare_device_samples_series *series, double value,
                            char text[HOTSPOT_TEXT])
{
	char number[TARE_UNIT_TEXT];

	if (series->unit == TARE_SAMPLES_PERCENT)
		return tare_hotspot_percent(value, text);
	if (isnan(value))
		return tare_hotspot_percent(NAN, text);
	snprintf(text, HOTSPOT_TEXT, "%s GB/s", tare_format_significant(value / 1e9, 3, number));
	return text;
}

// The counter over the run, from left to right; of bytes in parts of the peak.
static const char *bar_of(struct tare_text *text, const struct tare_device_samples_series *series,
                          char bar[BAR * 4 + 1])
{
	static const char *const blocks[] = { " ",      "\u2581", "\u2582", "\u2583", "\u2584",
		                              "\u2585", "\u2586", "\u2587", "\u2588" };
	static const char *const letters[] = { " ", ".", ".", ":", ":", "+", "+", "#", "#" };
	double whole = series->unit == TARE_SAMPLES_PERCENT ? 100 : series->peak;
	size_t length = 0;

	for (size_t column = 0; column < BAR; column++) {
		size_t from = column * TARE_SAMPLES_PARTS / BAR,
		       to = (column + 1) * TARE_SAMPLES_PARTS / BAR, known = 0;
		double sum = 0;
		long level;
		for (size_t part = from; part < to; part++)
			if (!isnan(series->means[part])) {
				sum += series->means[part];
				known++;
			}
		level = known && whole > 0 ? lround(ceil(8 * sum / (double)known / whole)) : 0;
		level = level < 0 ? 0 : level > 8 ? 8 : level;
		length += (size_t)snprintf(bar + length, BAR * 4 + 1 - length, "%s",
		                           text->options->ascii ? letters[level] : blocks[level]);
	}
	return bar;
}

static void write_notes(struct tare_text *text, const struct tare_device_samples *samples)
{
	char interval[TARE_UNIT_TEXT], residual[TARE_UNIT_TEXT], cpu[TARE_UNIT_TEXT];

	tare_text_paragraph(
	    text, TARE_STYLE_FAINT, "", 0,
	    "%" PRIu64 " samples of %s, of %s's device %" PRIu32
	    " and all that ran there, over %.1f %% of the run. They lie within %s of where they "
	    "are said to be on the host's clock, by %zu readings of the device's. Reading them "
	    "took %s of CPU time in a process of its own. At work: above 1 %%, of bytes of the "
	    "peak.",
	    samples->count, tare_format_ns(samples->interval_ns, interval),
	    tare_report_api_title(samples->api), samples->device, 100 * samples->sampled,
	    tare_format_ns((double)samples->residual_ns, residual), samples->clock_readings,
	    tare_format_ns((double)samples->cpu_ns, cpu));
	if (samples->losses)
		tare_text_paragraph(text, TARE_STYLE_WARNING, "", 2,
		                    "Samples were lost %" PRIu64
		                    " times: a longer --sampling-interval loses none.",
		                    samples->losses);
	if (samples->untrusted)
		tare_text_paragraph(
		    text, TARE_STYLE_WARNING, "", 2,
		    "%" PRIu64 " values were saturated, wrapped or in doubt, and are in no figure.",
		    samples->untrusted);
}

void tare_device_samples_text(struct tare_text *text, const struct tare_device_samples *samples)
{
	struct tare_text_table *table = tare_text_table_new(text, 0);

	tare_text_column(table, "device over time", 0);
	tare_text_column(table, "mean", TARE_COLUMN_RIGHT);
	tare_text_column(table, "peak", TARE_COLUMN_RIGHT);
	tare_text_column(table, "at work", TARE_COLUMN_RIGHT);
	tare_text_column(table, "60 % on", TARE_COLUMN_RIGHT);
	tare_text_column(table, "from start to end", 0);
	for (size_t i = 0; i < samples->series_count; i++) {
		const struct tare_device_samples_series *series = &samples->series[i];
		char words[HOTSPOT_TEXT], bar[BAR * 4 + 1];
		tare_text_row(table, TARE_STYLE_PLAIN);
		tare_text_cell(table, "%s", series->title);
		tare_text_cell(table, "%s", value_of(series, series->mean, words));
		tare_text_cell(table, "%s", value_of(series, series->peak, words));
		tare_text_cell(table, "%s", tare_hotspot_percent(100 * series->at_work, words));
		tare_text_cell(table, "%s",
		               isnan(series->at_limit)
		                   ? "-"
		                   : tare_hotspot_percent(100 * series->at_limit, words));
		tare_text_cell(table, "%s", bar_of(text, series, bar));
	}
	tare_text_table_print(table);
	write_notes(text, samples);
	fputc('\n', text->file);
}
