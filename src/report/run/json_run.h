// SPDX-License-Identifier: Apache-2.0
// How the parts of a report's JSON are put together. Internal to src/report.
#pragma once
#include "report/core/json.h"

#if TARE_HAVE_JSON
#include "report/run/report.h"

// "wall_ns", "parts", "ambiguous_ns", "hidden_to_device_ns", "hidden_from_device_ns", "matrix".
void tare_json_put_ledger(struct tare_json *json, json_t *object, const struct tare_ledger *ledger);
// "tasks", "transfers", "api", "builds", "memory", "queues".
void tare_json_put_tables(struct tare_json *json, const struct tare_report *run, json_t *root);
// "findings", "findings_together_ns", "unjudged".
void tare_json_put_findings(struct tare_json *json, const struct tare_report *run, json_t *root);
// "phases", "phases_left_out".
void tare_json_put_phases(struct tare_json *json, const struct tare_report *run, json_t *root);
// "sites".
void tare_json_put_sites(struct tare_json *json, const struct tare_report *run, json_t *root);
// "clock", "devices", "processes".
void tare_json_put_machines(struct tare_json *json, const struct tare_report *run, json_t *root);
#endif
