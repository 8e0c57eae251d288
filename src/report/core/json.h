// SPDX-License-Identifier: Apache-2.0
// How values become JSON. Internal to src/report.
#pragma once
#include "result/json_layout.h"

#if TARE_HAVE_JSON
#include "report/core/run.h"

// Values; null stands for what is not known: TARE_NO_TIME, TARE_NO_INDEX.
json_t *tare_json_time(int64_t ns);
json_t *tare_json_index(uint32_t index);
json_t *tare_json_known(uint64_t value); // 0 is not told
// "device" (its name) and "device_number".
void tare_json_put_device(struct tare_json *json, json_t *object,
                          const struct tare_recording *recording, uint32_t device);
// "wall_ns", "parts", "ambiguous_ns", "hidden_to_device_ns", "hidden_from_device_ns", "matrix".
void tare_json_put_ledger(struct tare_json *json, json_t *object, const struct tare_ledger *ledger);
#endif
