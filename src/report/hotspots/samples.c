// SPDX-License-Identifier: Apache-2.0
// The device over time: what its counters were, as declared tables (tables/samples.def).
#include "analysis/hotspots/samples.h"
#include "base/units.h"
#include "report/core/table_text.h"
#include "report/core/words.h"
#include "report/hotspots/tables.h"
#include "report/hotspots/text.h"

#include <inttypes.h>
#include <math.h>

enum { BAR = 30 }; // columns of a counter over the run

// ---- cells of their own

// "61 %", "12.4 GB/s".
static bool write_value(const struct tare_cell_text *cell, double value)
{
	const struct tare_device_samples_series *series = cell->row;
	char number[TARE_UNIT_TEXT];

	if (isnan(value) || series->unit == TARE_SAMPLES_PERCENT)
		return false;
	snprintf(cell->text, cell->size, "%s GB/s",
	         tare_format_significant(value / 1e9, 3, number));
	return true;
}

static bool mean(const struct tare_cell_text *cell)
{
	return write_value(cell, ((const struct tare_device_samples_series *)cell->row)->mean);
}

static bool peak(const struct tare_cell_text *cell)
{
	return write_value(cell, ((const struct tare_device_samples_series *)cell->row)->peak);
}

// The counter over the run, from left to right; of bytes in parts of the peak.
static bool drawn(const struct tare_cell_text *cell, const char *const levels[9])
{
	const struct tare_device_samples_series *series = cell->row;
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
		length +=
		    (size_t)snprintf(cell->text + length, cell->size - length, "%s", levels[level]);
	}
	return true;
}

static bool bar(const struct tare_cell_text *cell)
{
	static const char *const blocks[] = { " ",      "\u2581", "\u2582", "\u2583", "\u2584",
		                              "\u2585", "\u2586", "\u2587", "\u2588" };

	return drawn(cell, blocks);
}

static bool ascii_bar(const struct tare_cell_text *cell)
{
	static const char *const letters[] = { " ", ".", ".", ":", ":", "+", "+", "#", "#" };

	return drawn(cell, letters);
}

// ---- the tables

// Five digits of each: more would be of no use in a part of the run.
static struct tare_cell_value rounded(double value)
{
	double step = value > 0 ? pow(10, floor(log10(value)) - 4) : 1;

	return tare_number(value > 0      ? round(value / step) * step
	                   : isnan(value) ? NAN
	                                  : 0,
	                   TARE_NOT_MEASURED);
}

#define SOURCE double
#define SOURCE_NAME parts
#define ROW double
#define TABLE parts
#define COLUMNS "report/hotspots/tables/parts.def"
#include "table/declare.h"
TARE_ROWS(parts, "parts", "Parts of the run", "a part of the run", TARE_SAMPLES_PARTS, parts);
#undef SOURCE
#undef SOURCE_NAME

// Bars have blocks, or where the terminal has none, letters.
enum { ASCII = TARE_ON_MORE, EVERYWHERE = TARE_ON_PAGE | TARE_ON_TEXT | ASCII };

#define SOURCE struct tare_device_samples
#define SOURCE_NAME samples
#define ROW struct tare_device_samples_series
#define TABLE series
#define COLUMNS "report/hotspots/tables/series.def"
#include "table/declare.h"
TARE_TABLE(, tare_samples_series_table, "series", "The device over time", "a counter of it", NULL,
           struct tare_device_samples, samples, samples->series_count, &samples->series[index],
           series_columns);

#define ROW struct tare_device_samples
#define TABLE samples
#define COLUMNS "report/hotspots/tables/samples.def"
#include "table/declare.h"
TARE_TABLE(, tare_samples_table, "timeline", "The device over time", "what was sampled", NULL,
           struct tare_device_samples, samples, 1, samples, samples_columns);

// ---- as text

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
	unsigned bars = text->options->ascii ? ASCII : TARE_ON_TEXT;

	tare_table_text(text, &tare_samples_series_table, samples,
	                &(struct tare_table_part){ .on = bars, .flush = true });
	write_notes(text, samples);
	fputc('\n', text->file);
}
