// SPDX-License-Identifier: Apache-2.0
// How texts about a recorded run write figures. Internal to src/report.
#pragma once
#include "report/core/run.h"
#include "report/terminal/write.h"

#define RUN_TEXT 640 // room for a name of 150 characters, for any text of these functions

// An empty line and a heading in bold, with a remark in parentheses ("" for none).
void tare_report_heading(struct tare_text *text, const char *title, const char *remark);

// A name from the program in so many columns (tare_name_shorten). Returns buffer.
const char *tare_report_cut(struct tare_text *text, const char *name, size_t columns,
                            char buffer[RUN_TEXT]);
// Columns that a name may take beside `others` columns of figures: at least 12, at most 60.
size_t tare_report_room(struct tare_text *text, size_t others);

// A unit of time for a column whose largest value is `most_ns`.
struct tare_report_unit {
	const char *name;
	double ns;
};
struct tare_report_unit tare_report_unit_for(double most_ns);
// The same for totals: finer, so that the small ones below the largest keep digits.
struct tare_report_unit tare_report_unit_of_totals(double most_ns);
// The same for a column of values from `least_ns` to `most_ns`: the unit of the least, so that it
// keeps its digits, unless the most had more than seven then.
struct tare_report_unit tare_report_unit_between(double least_ns, double most_ns);
// Three significant digits in that unit; "<0.001" for less, "–" for NaN.
const char *tare_report_time(double ns, struct tare_report_unit unit, char buffer[RUN_TEXT]);
// "41.3 %", "<0.1 %" for a little, "–" for NaN.
const char *tare_report_percent(double share, char buffer[RUN_TEXT]);
// The same without the sign, for columns whose title has it.
const char *tare_report_percent_number(double share, char buffer[RUN_TEXT]);
// Of a hundred: "61 %", "9.1 %", "<0.1 %" for a little.
const char *tare_report_points(double percent, char *buffer, size_t size);
// "81,204"
const char *tare_report_count(uint64_t count, char buffer[RUN_TEXT]);
// "55.6" GB/s (10^9), "–" for NaN.
const char *tare_report_rate(double bytes_per_second, char buffer[RUN_TEXT]);
// "12.4 s", "0 s"
const char *tare_report_span(int64_t ns, char buffer[RUN_TEXT]);
// A part of a whole time, with as many decimals as show four digits of the whole, so that all parts
// have the same.
const char *tare_report_part(int64_t ns, int64_t whole_ns, char buffer[RUN_TEXT]);
// A bar of `share` of so many columns, to an eighth of a column; at most 60.
#define RUN_BAR 60
const char *tare_report_bar(const struct tare_text *text, double share, size_t columns,
                            char buffer[RUN_TEXT]);
// "±60 ns": two significant digits.
const char *tare_report_error(int64_t ns, char buffer[RUN_TEXT]);
// "s" for all counts but 1.
const char *tare_report_plural(uint64_t count);
// Whether the report is about several devices, so that rows must name theirs: in a column of their
// numbers, "#1".
bool tare_report_several_devices(const struct tare_report *run);

// Whether there is an estimate, and what a remark about a table in which there is one says of it.
bool tare_report_is_estimated(const struct tare_estimate *estimate);
const char *tare_report_estimate_remark(bool estimated);
