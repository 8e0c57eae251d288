// SPDX-License-Identifier: Apache-2.0
// One line: what the device did while it was measured.
#include "report/result/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A document that somebody else wrote may count readings and have no numbers of them.
static bool is_known(const struct tare_telemetry_range *range)
{
	return range->n && isfinite(range->low) && isfinite(range->median) &&
	       isfinite(range->mean) && isfinite(range->high);
}

// "clock 1.98 GHz (1.75 to 1.98 GHz)"; the range only where it can be seen.
static void put_clock(FILE *line, const struct tare_telemetry_range *range, const char *name)
{
	char middle[TARE_UNIT_TEXT], low[TARE_UNIT_TEXT], high[TARE_UNIT_TEXT],
	    from[TARE_UNIT_TEXT];

	if (!is_known(range))
		return;
	tare_format_hz(range->median, middle);
	tare_format_hz(range->low, low);
	tare_format_hz(range->high, high);
	fprintf(line, "%s %s", name, middle);
	// The unit once where both have the same.
	if (strcmp(low, high) != 0)
		fprintf(line, " (%s to %s)", tare_format_hz_without(range->low, range->high, from),
		        high);
	fputs(", ", line);
}

static void put_power(FILE *line, const struct tare_telemetry_range *range,
                      const struct tare_device_entry *device)
{
	const struct tare_fact *limit = device ? &device->facts.fact[TARE_FACT_POWER_LIMIT] : NULL;

	if (!is_known(range))
		return;
	fprintf(line, "%.0f W", range->mean);
	if (range->high >= range->mean + 1)
		fprintf(line, " (at most %.0f W)", range->high);
	if (limit && limit->present)
		fprintf(line, " of %s", limit->text);
	fputs(", ", line);
}

// A GPU that idles lowers its link: the head's line has the link of that moment.
static void put_link(FILE *line, const struct tare_telemetry_summary *summary,
                     const struct tare_device_entry *device, bool verbose)
{
	const struct tare_telemetry_range *generation =
	    &summary->of[TARE_TELEMETRY_OF_LINK_GENERATION];
	const struct tare_telemetry_range *width = &summary->of[TARE_TELEMETRY_OF_LINK_WIDTH];
	const struct tare_fact *now = device ? &device->facts.fact[TARE_FACT_LINK_NOW] : NULL;
	char link[32];

	if (!is_known(generation) || !is_known(width))
		return;
	snprintf(link, sizeof link, "PCIe %.0f.0 x%.0f", generation->median, width->median);
	if (verbose || (now && now->present && strcmp(now->text, link) != 0))
		fprintf(line, "%s, ", link);
}

static void put_throttling(FILE *line, const struct tare_telemetry_summary *summary)
{
	const char *separator = "slowed down by ";

	if (summary->throttle_n == 0) {
		fputs("throttling not told", line);
		return;
	}
	for (int r = 0; r < TARE_THROTTLE_COUNT; r++) {
		double share = summary->throttle_share[r];
		if (!(share > 0) ||
		    tare_throttle_class_of((enum tare_throttle)r) == TARE_THROTTLE_CLASS_NOT)
			continue;
		fprintf(line, "%s%s (%.0f %%)", separator,
		        tare_throttle_name((enum tare_throttle)r), fmax(1, 100 * share));
		separator = ", ";
	}
	if (strcmp(separator, ", ") != 0)
		fputs("no throttling", line);
}

static void put_all(FILE *line, const struct tare_result *result, bool verbose)
{
	const struct tare_telemetry_summary *summary = &result->telemetry.summary;
	const struct tare_device_entry *device = result->device_count ? result->devices : NULL;
	const struct tare_telemetry_range *heat = &summary->of[TARE_TELEMETRY_OF_TEMPERATURE];

	put_clock(line, &summary->of[TARE_TELEMETRY_OF_CLOCK], "clock");
	if (verbose)
		put_clock(line, &summary->of[TARE_TELEMETRY_OF_MEMORY_CLOCK], "memory clock");
	put_power(line, &summary->of[TARE_TELEMETRY_OF_POWER], device);
	if (is_known(heat))
		fprintf(line, "%.0f C, ", heat->high);
	put_link(line, summary, device, verbose);
	put_throttling(line, summary);
	if (summary->loaded == 0)
		fputs("; the device called itself idle all the time", line);
	if (verbose)
		fprintf(line, "; %zu readings, %zu of them not idle", summary->readings,
		        summary->loaded);
}

void tare_text_telemetry(struct tare_text *text, const struct tare_result *result)
{
	bool verbose = text->options->verbosity > 0;
	FILE *file;

	if (!result->telemetry.present || (result->telemetry.absent && !verbose))
		return;
	file = tare_text_gather(text);
	if (!file)
		return;
	if (result->telemetry.absent)
		fprintf(file, "n/a: %s", result->telemetry.absent);
	else
		put_all(file, result, verbose);
	tare_text_gathered(text, TARE_STYLE_PLAIN, "while measuring: ", 1);
}
