// SPDX-License-Identifier: Apache-2.0
// How the text report of a recorded run writes figures.
#include "report/core/figures.h"

#include "base/units.h"
#include "report/terminal/names.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void tare_report_heading(struct tare_text *text, const char *title, const char *remark)
{
	fputc('\n', text->file);
	tare_text_paragraph(text, TARE_STYLE_BOLD, "", 1, "%s%s%s%s", title, remark[0] ? " (" : "",
	                    remark, remark[0] ? ")" : "");
}

const char *tare_report_cut(struct tare_text *text, const char *name, size_t columns,
                            char buffer[RUN_TEXT])
{
	char *clean = tare_text_clean(text, name);

	if (clean)
		tare_name_shorten(clean, columns, buffer, RUN_TEXT);
	else
		snprintf(buffer, RUN_TEXT, "?");
	free(clean);
	return buffer;
}

size_t tare_report_room(struct tare_text *text, size_t others)
{
	size_t columns = text->options->columns, room = columns > others ? columns - others : 0;

	return room < 12 ? 12 : room > 60 ? 60 : room;
}

struct tare_report_unit tare_report_unit_for(double most_ns)
{
	static const struct tare_report_unit units[] = { { "s", 1e9 },
		                                         { "ms", 1e6 },
		                                         { "µs", 1e3 } };

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (most_ns >= 0.9995 * units[i].ns)
			return units[i];
	return units[2];
}

struct tare_report_unit tare_report_unit_of_totals(double most_ns)
{
	return tare_report_unit_for(most_ns / 10);
}

struct tare_report_unit tare_report_unit_between(double least_ns, double most_ns)
{
	struct tare_report_unit unit = tare_report_unit_for(least_ns);

	while (most_ns >= 0.9995e7 * unit.ns && unit.ns < 1e9)
		unit = tare_report_unit_for(unit.ns * 1000);
	return unit;
}

const char *tare_report_span(int64_t ns, char buffer[RUN_TEXT])
{
	char number[TARE_UNIT_TEXT];

	snprintf(buffer, RUN_TEXT, "%s", ns == 0 ? "0 s" : tare_format_ns((double)ns, number));
	return buffer;
}

const char *tare_report_error(int64_t ns, char buffer[RUN_TEXT])
{
	static const struct tare_report_unit units[] = {
		{ "ns", 1 }, { "µs", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }
	};
	size_t unit = 0;
	char number[TARE_UNIT_TEXT];

	while (unit < 3 && (double)ns >= 995 * units[unit].ns)
		unit++;
	snprintf(buffer, RUN_TEXT, "±%s %s",
	         unit == 0 ? (snprintf(number, sizeof number, "%" PRId64, ns), number)
	                   : tare_format_significant((double)ns / units[unit].ns, 2, number),
	         units[unit].name);
	return buffer;
}

const char *tare_report_time(double ns, struct tare_report_unit unit, char buffer[RUN_TEXT])
{
	double value = ns / unit.ns;
	char number[TARE_UNIT_TEXT];

	if (!isfinite(value))
		snprintf(buffer, RUN_TEXT, "–");
	else if (value == 0)
		snprintf(buffer, RUN_TEXT, "0");
	else if (fabs(value) < 0.001)
		snprintf(buffer, RUN_TEXT, "%s0.001", value < 0 ? ">-" : "<");
	else
		snprintf(buffer, RUN_TEXT, "%s", tare_format_significant(value, 3, number));
	return buffer;
}

static const char *write_share(double share, const char *sign, char buffer[RUN_TEXT])
{
	if (!isfinite(share))
		snprintf(buffer, RUN_TEXT, "–");
	else if (share > 0 && share < 0.0005)
		snprintf(buffer, RUN_TEXT, "<0.1%s", sign);
	else if (share < 1 && share >= 0.9995)
		snprintf(buffer, RUN_TEXT, ">99.9%s", sign);
	else
		snprintf(buffer, RUN_TEXT, "%.1f%s", 100 * share, sign);
	return buffer;
}

const char *tare_report_percent(double share, char buffer[RUN_TEXT])
{
	return write_share(share, " %", buffer);
}

const char *tare_report_percent_number(double share, char buffer[RUN_TEXT])
{
	return write_share(share, "", buffer);
}

const char *tare_report_points(double percent, char *buffer, size_t size)
{
	if (percent > 0 && percent < 0.1)
		snprintf(buffer, size, "<0.1 %%");
	else
		snprintf(buffer, size, "%.*f %%", percent < 9.95 ? 1 : 0, percent);
	return buffer;
}

const char *tare_report_count(uint64_t count, char buffer[RUN_TEXT])
{
	char digits[24];
	size_t length, to = 0;

	snprintf(digits, sizeof digits, "%" PRIu64, count);
	length = strlen(digits);
	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			buffer[to++] = ',';
		buffer[to++] = digits[i];
	}
	buffer[to] = '\0';
	return buffer;
}

const char *tare_report_rate(double bytes_per_second, char buffer[RUN_TEXT])
{
	return tare_report_time(bytes_per_second, (struct tare_report_unit){ "GB/s", 1e9 }, buffer);
}

const char *tare_report_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

bool tare_report_several_devices(const struct tare_report *run)
{
	size_t devices = 0;

	for (size_t i = 0; i < run->ledgers->count; i++)
		devices += run->ledgers->ledgers[i].device != TARE_NO_INDEX;
	return devices > 1;
}

// ---- parts of a whole

const char *tare_report_part(int64_t ns, int64_t whole_ns, char buffer[RUN_TEXT])
{
	struct tare_report_unit unit = tare_report_unit_for((double)whole_ns);
	double wall = (double)whole_ns / unit.ns, value = (double)ns / unit.ns;
	int decimals = wall >= 999.5 ? 0 : wall >= 99.95 ? 1 : wall >= 9.995 ? 2 : 3;

	// What would come out as 0 keeps its own unit.
	if (ns > 0 && value < 0.5 * pow(10, -decimals))
		tare_report_span(ns, buffer);
	else
		snprintf(buffer, RUN_TEXT, "%.*f %s", decimals, value, unit.name);
	return buffer;
}

const char *tare_report_bar(const struct tare_text *text, double share, size_t columns,
                            char buffer[RUN_TEXT])
{
	static const char *const parts[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	char *to = buffer;

	columns = columns < RUN_BAR ? columns : RUN_BAR;
	long eighths = lround(share * (double)columns * 8);
	buffer[0] = '\0';
	if (!(share > 0) || eighths < 0)
		return buffer;
	eighths = eighths > (long)columns * 8 ? (long)columns * 8 : eighths;
	for (long i = 0; i < eighths / 8; i++)
		to = stpcpy(to, text->options->ascii ? "#" : "█");
	if (eighths % 8)
		stpcpy(to, !text->options->ascii ? parts[eighths % 8]
		           : eighths % 8 >= 4    ? "#"
		                                 : "-");
	return buffer;
}
