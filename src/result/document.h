// SPDX-License-Identifier: Apache-2.0
// The fields of a result document. Internal to src/result.
#pragma once
#include "result/record.h"

#if TARE_HAVE_JSON
// Of struct tare_result, struct tare_device_entry, struct tare_cell, struct tare_plot and struct
// tare_telemetry_section.
extern const struct tare_json_record tare_document_record, tare_device_record, tare_cell_record,
    tare_plot_record, tare_telemetry_record;

// "telemetry": either why nothing is known, or what is. `structure` is a struct tare_result.
void tare_put_telemetry(struct tare_json *json, json_t *object, const void *structure);
void tare_take_telemetry(struct tare_fields *fields, json_t *object, void *structure);
#endif
