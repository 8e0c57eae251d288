// SPDX-License-Identifier: Apache-2.0
// From a JSON tree to the parts of a document. Internal to src/result. What is wrong is left in
// `fields`; the parts are then incomplete, but can be freed.
#pragma once
#include "result/json_fields.h"

#if TARE_HAVE_JSON
#include "result/result.h"

void tare_decode_labels(struct tare_fields *fields, json_t *object, const char *key,
                        struct tare_labels *labels);
// json_decode_device.c
void tare_decode_devices(struct tare_fields *fields, json_t *root, struct tare_result *result);
void tare_decode_clock(struct tare_fields *fields, json_t *root, struct tare_clock_quality *clock);
// json_decode_cells.c
void tare_decode_cells(struct tare_fields *fields, json_t *root, struct tare_result *result);
void tare_decode_plots(struct tare_fields *fields, json_t *root, struct tare_result *result);
#endif
