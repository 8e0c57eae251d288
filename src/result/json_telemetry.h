// SPDX-License-Identifier: Apache-2.0
// The document's telemetry as JSON, both ways. Internal to src/result.
#pragma once
#include "result/json_decode.h"

#if TARE_HAVE_JSON
// NULL when memory ran out.
json_t *tare_json_telemetry(const struct tare_telemetry_section *section);
void tare_decode_telemetry(struct tare_fields *fields, json_t *root,
                           struct tare_telemetry_section *section);
#endif
