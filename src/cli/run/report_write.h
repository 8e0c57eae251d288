// SPDX-License-Identifier: Apache-2.0
// A report of a trace, in every form that the settings ask for.
#pragma once
#include "cli/terminal/output.h"
#include "report/run/report.h"

// Loads, analyses and reports the trace at `path`. Returns an enum tare_exit.
int tare_report_trace_at(const struct tare_settings *settings, const char *path, const char *choice,
                         struct tare_outputs *outputs, struct tare_error *error);
// The report of what was computed already.
int tare_report_write(const struct tare_settings *settings, const struct tare_report *run,
                      struct tare_outputs *outputs, struct tare_error *error);
