// SPDX-License-Identifier: Apache-2.0
// Writers of the report of a recorded run. All of them only read.
#pragma once
#include "analysis/findings/findings.h"
#include "analysis/symbols/symbols.h"
#include "analysis/tables/phases.h"
#include "analysis/tables/tables.h"
#include "report/terminal/options.h"

#include <stdio.h>

#define TARE_REPORT_FORMAT "tare.report/1"

// Everything that a report is written from; the view is the one that the others were computed for.
struct tare_report {
	const struct tare_recording *recording;
	const struct tare_view *view;
	const struct tare_ledgers *ledgers;
	const struct tare_tables *tables;
	const struct tare_findings *findings;
	const struct tare_phases *phases; // of the whole run unless the view is a part of it
	const struct tare_sites *sites;
	struct tare_symbols *symbols; // NULL: no stacks were recorded
	// how the trace was found: "the newest of 3 here"; NULL or "": it was named
	const char *choice;
};

// Whether anything is known of what devices did; else there are no ledgers and no gaps to show:
// they would say that the devices were idle.
static inline bool tare_report_devices_known(const struct tare_report *run)
{
	return tare_no_command_is_known(run->tables->summary.why_no_command);
}

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

// Whether there were commands and none of them has device times: then no share of the devices' time
// is known, though the tables have 0.
bool tare_report_nothing_timed(const struct tare_report *run);

// The number of a device, from 0, among the different ones of a recording; `device` is any index
// of it. TARE_NO_INDEX for one that is not there.
uint32_t tare_report_device_number(const struct tare_recording *recording, uint32_t device);
// The APIs by which a device is seen, of all devices that are the same one: bits 1 << enum
// tare_trace_api.
uint64_t tare_report_device_apis(const struct tare_recording *recording, uint32_t device);
// What told that the device of several APIs is one (enum tare_same_by); nothing when it is of one.
uint32_t tare_report_joined_by(const struct tare_recording *recording, uint32_t device);
// The name of a device as texts have it: "NVIDIA H200", or "#1 NVIDIA H200" with its number where
// there are several. `size` bytes of `text`, which is returned. "?" for one that is not there.
const char *tare_report_device_name(const struct tare_recording *recording, uint32_t device,
                                    char *text, size_t size);
