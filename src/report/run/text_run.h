// SPDX-License-Identifier: Apache-2.0
// The parts of the text report of a recorded run, and how they write figures. Internal to
// src/report.
#pragma once
#include "base/units.h"
#include "report/run/report.h"
#include "report/terminal/write.h"

#define RUN_TEXT 640 // room for a name of 150 characters, for any text of these functions

// All return 0 or -ENOMEM.
int tare_report_text_head(const struct tare_text *text, const struct tare_report *run,
                          const struct tare_report_problems *problems);
int tare_report_text_ledgers(const struct tare_text *text, const struct tare_report *run);
int tare_report_text_findings(const struct tare_text *text, const struct tare_report *run);
int tare_report_text_phases(const struct tare_text *text, const struct tare_report *run);
int tare_report_text_sites(const struct tare_text *text, const struct tare_report *run);
// From where the costliest kernels, or kinds of transfers, were issued: a line below
// their table; nothing without recorded stacks.
int tare_report_text_issued(const struct tare_text *text, const struct tare_report *run,
                            bool kernels);
int tare_report_text_tasks(const struct tare_text *text, const struct tare_report *run);
int tare_report_text_transfers(const struct tare_text *text, const struct tare_report *run);
int tare_report_text_calls(const struct tare_text *text, const struct tare_report *run);
int tare_report_text_queues(const struct tare_text *text, const struct tare_report *run);
int tare_report_text_notes(const struct tare_text *text, const struct tare_report *run,
                           const struct tare_report_problems *problems);

// The rows of a ledger, `all` or those that are not 0, and the remarks on it; a bar of the share
// `largest` is the longest.
int tare_report_text_ledger_of(const struct tare_text *text, const struct tare_ledger *ledger,
                               double largest, bool all);

// An empty line and a heading in bold, with a remark in parentheses ("" for none).
int tare_report_heading(const struct tare_text *text, const char *title, const char *remark);

// A name from the program cut to so many columns, the last of them "…" then. Returns buffer.
const char *tare_report_cut(const struct tare_text *text, const char *name, size_t columns,
                            char buffer[RUN_TEXT]);
// Columns that a name may take beside `others` columns of figures: at least 12, at most 60.
size_t tare_report_room(const struct tare_text *text, size_t others);

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
// "81,204"
const char *tare_report_count(uint64_t count, char buffer[RUN_TEXT]);
// "55.6" GB/s (10^9), "–" for NaN.
const char *tare_report_rate(double bytes_per_second, char buffer[RUN_TEXT]);
// "12.4 s", "0 s"
const char *tare_report_span(int64_t ns, char buffer[RUN_TEXT]);
// "±60 ns": two significant digits.
const char *tare_report_error(int64_t ns, char buffer[RUN_TEXT]);
// What recording cost, of the time; what of it the driver's part was. Whether there is an estimate;
// a cell with it and its interval; and what a remark about a table in which there is one says of
// it.
bool tare_report_is_estimated(const struct tare_estimate *estimate);
void tare_report_estimate_cell(struct tare_text_table *table, const struct tare_estimate *estimate,
                               struct tare_report_unit unit);
const char *tare_report_estimate_remark(bool estimated);
const char *tare_report_cost_share(const struct tare_report *run, char words[RUN_TEXT]);
const char *tare_report_driver_cost(const struct tare_report *run, char words[RUN_TEXT]);
// "s" for all counts but 1.
const char *tare_report_plural(uint64_t count);
// Whether the report is about several devices, so that rows must name theirs: in a column of their
// numbers, "#1".
bool tare_report_several_devices(const struct tare_report *run);
void tare_report_device_column(struct tare_text_table *table, const struct tare_report *run);
void tare_report_device_cell(struct tare_text_table *table, const struct tare_report *run,
                             uint32_t device);
