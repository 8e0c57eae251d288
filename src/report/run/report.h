// SPDX-License-Identifier: Apache-2.0
// Writers of the report of a recorded run. All of them only read.
#pragma once
#include "report/core/run.h"
#include "report/terminal/options.h"

#include <stdio.h>

#define TARE_REPORT_FORMAT "tare.report/1"

// What a person reads: the run, what is wrong with the figures, where the time went, what bounds
// it, then the tables. Returns 0 or -ENOMEM; errors of the stream stick to `file`.
int tare_report_run_text(const struct tare_report *run, const struct tare_text_options *options,
                         FILE *file, struct tare_error *error);

// The same as JSON (report.schema.json). Times are nanoseconds; moments count from the start of the
// run. What is not known is null. Returns 0, -ENOMEM, or -ENOSYS when tare was built without JSON.
int tare_report_run_json(const struct tare_report *run, FILE *file, struct tare_error *error);

// What is not in a page's timeline because it would not fit.
struct tare_page_left_out {
	uint64_t commands, waits, calls, callbacks, phases, gaps; // how many, of the view's
	char why[160]; // a sentence without a full stop; "": nothing is left out
};

// The same as one page with a timeline (docs/page-run.md): at most `most_bytes` of timeline data;
// what is left out then is said on the page, and in *left_out (may be NULL). Returns 0, -ENOMEM,
// -EIO, or -ENOSYS when tare was built without what the page needs.
int tare_report_run_page(const struct tare_report *run, uint64_t most_bytes, FILE *file,
                         struct tare_page_left_out *left_out, struct tare_error *error);
// Says what is left out to a person: nothing when nothing is. Returns 0 or -ENOMEM.
int tare_report_left_out_text(const struct tare_page_left_out *left_out,
                              const struct tare_text_options *options, FILE *file);
// The timeline's data alone: deflated, base64; nothing when not even its names fit. Takes about 16
// bytes a command, 9 a call and 40 a piece of idle time beside the recording, and what is written,
// at most `most_bytes`, once in memory. Returns as tare_report_run_page.
int tare_report_timeline_write(const struct tare_report *run, uint64_t most_bytes, FILE *file,
                               struct tare_page_left_out *left_out, struct tare_error *error);

// One thing that a reader must know beside the figures.
struct tare_report_problem {
	const char *id; // a stable word: "still-recording"
	bool figures;   // figures are wrong, missing or too small because of it
	char *text;     // a sentence without a full stop
};

struct tare_report_problems {
	struct tare_report_problem *at;
	size_t count;
};

// What is wrong with a recording or with what was computed from it; the worst comes first. Returns
// 0 or -ENOMEM. Free with tare_report_problems_free in either case.
int tare_report_problems_find(const struct tare_report *run, struct tare_report_problems *problems);
void tare_report_problems_free(struct tare_report_problems *problems);
