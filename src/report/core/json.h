// SPDX-License-Identifier: Apache-2.0
// How values become JSON. Internal to src/report.
#pragma once
#include "result/json_layout.h"

#if TARE_HAVE_JSON
#include "report/core/run.h"

#include <stdbool.h>

// Whether anything could not be made, for lack of memory: looked at once, at the end.
struct tare_json {
	bool failed;
};

// Both take over `value`; NULL is lack of memory.
void tare_json_put(struct tare_json *json, json_t *object, const char *key, json_t *value);
void tare_json_push(struct tare_json *json, json_t *array, json_t *value);

// Values; null stands for what is not known: not finite, TARE_NO_TIME, TARE_NO_INDEX.
json_t *tare_json_number(double value);
json_t *tare_json_time(int64_t ns);
json_t *tare_json_index(uint32_t index);
json_t *tare_json_unsigned(uint64_t value); // at most 2^63 - 1
json_t *tare_json_known(uint64_t value);    // 0 is not told
// "device" (its name) and "device_number".
void tare_json_put_device(struct tare_json *json, json_t *object,
                          const struct tare_recording *recording, uint32_t device);
// "wall_ns", "parts", "ambiguous_ns", "hidden_to_device_ns", "hidden_from_device_ns", "matrix".
void tare_json_put_ledger(struct tare_json *json, json_t *object, const struct tare_ledger *ledger);
#endif
