// SPDX-License-Identifier: Apache-2.0
// Which trace a report is about, and which part of it.
#pragma once
#include "analysis/recording/recording.h"
#include "cli/options/option.h"

// A trace directory, and how it was found when nobody named it: "the newest of 3 here".
struct tare_report_trace {
	char *path; // free() it
	char choice[64];
};

// The trace that `named` says, or, for NULL, the newest *.tare in this folder by its record.json.
// Returns TARE_EXIT_OK or TARE_EXIT_FAILED.
int tare_report_trace_find(const char *named, struct tare_report_trace *trace,
                           struct tare_error *error);

// What --process, --device, --kernel, --phase, --from and --to ask for. Returns TARE_EXIT_OK, or
// TARE_EXIT_USAGE with a sentence that says what there is instead. The view keeps the settings'
// texts. *spans is what the view's spans point to, to be freed; NULL without --phase.
int tare_report_view_parse(const struct tare_settings *settings,
                           const struct tare_recording *recording, struct tare_view *view,
                           struct tare_run_span **spans, struct tare_error *error);

// Whether a shell pattern matches a kernel of the recording: TARE_EXIT_OK, or TARE_EXIT_USAGE with
// a sentence that names those that are there.
int tare_kernel_pattern_check(const char *pattern, const struct tare_recording *recording,
                              struct tare_error *error);
