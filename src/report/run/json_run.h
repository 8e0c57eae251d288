// SPDX-License-Identifier: Apache-2.0
// How the parts of a report's JSON are put together. Internal to src/report.
#pragma once
#include "report/core/json.h"

#if TARE_HAVE_JSON
#include "report/run/report.h"

// The declared tables, "memory" and "phases_left_out".
void tare_json_put_tables(struct tare_json *json, const struct tare_report *run, json_t *root);
// "findings", "findings_together_ns", "unjudged".
void tare_json_put_findings(struct tare_json *json, const struct tare_report *run, json_t *root);
// "clock".
void tare_json_put_clock(struct tare_json *json, const struct tare_report *run, json_t *root);
#endif
