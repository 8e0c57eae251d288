// SPDX-License-Identifier: Apache-2.0
// Everything that is computed of a recorded run, for report, run and export.
#pragma once
#include "cli/options/option.h"
#include "cli/run/report_ceilings.h"
#include "cli/terminal/progress.h"
#include "report/run/report.h"

struct tare_analysis {
	struct tare_view view;
	struct tare_run_span *spans; // of the view, when --phase asks for a part
	struct tare_report_ceilings ceilings;
	struct tare_ledgers ledgers;
	struct tare_tables tables;
	struct tare_findings findings;
	struct tare_phases phases;
	struct tare_symbols *symbols;
	struct tare_sites sites;
};

// Computes all of it for the part of the run that the settings ask for. Returns TARE_EXIT_OK,
// TARE_EXIT_USAGE or TARE_EXIT_FAILED with a sentence. Free with tare_analysis_free in any
// case.
// `progress` is told what is being computed; NULL: nobody is.
int tare_analyse(const struct tare_settings *settings, const struct tare_recording *recording,
                 struct tare_progress *progress, struct tare_analysis *analysis,
                 struct tare_error *error);
// The same without findings, of analysis->view, for an export. Returns TARE_EXIT_OK or
// TARE_EXIT_FAILED with a sentence.
int tare_analyse_tables(const struct tare_recording *recording, struct tare_analysis *analysis,
                        struct tare_error *error);
void tare_analysis_free(struct tare_analysis *analysis);
// What the writers take; points into both.
struct tare_report tare_analysis_report(const struct tare_analysis *analysis,
                                        const struct tare_recording *recording, const char *choice);
