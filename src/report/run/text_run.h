// SPDX-License-Identifier: Apache-2.0
// The parts of the text report of a recorded run, and how they write figures. Internal to
// src/report.
#pragma once
#include "base/units.h"
#include "report/core/figures.h"
#include "report/run/report.h"
#include "report/terminal/write.h"

void tare_report_text_head(struct tare_text *text, const struct tare_report *run,
                           const struct tare_report_problems *problems);
void tare_report_text_ledgers(struct tare_text *text, const struct tare_report *run);
void tare_report_text_findings(struct tare_text *text, const struct tare_report *run);
void tare_report_text_memory(struct tare_text *text, const struct tare_report *run);
void tare_report_text_notes(struct tare_text *text, const struct tare_report *run,
                            const struct tare_report_problems *problems);

// What recording cost, of the time; what of it the driver's part was.
const char *tare_report_cost_share(const struct tare_report *run, char words[RUN_TEXT]);
const char *tare_report_driver_cost(const struct tare_report *run, char words[RUN_TEXT]);
