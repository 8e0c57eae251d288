// SPDX-License-Identifier: Apache-2.0
// How values become JSON. Internal to src/report.
#pragma once
#include "result/json_layout.h"

#if TARE_HAVE_JSON
#include "report/core/run.h"

// Values; null stands for what is not known: TARE_NO_TIME, TARE_NO_INDEX.
json_t *tare_json_time(int64_t ns);
json_t *tare_json_index(uint32_t index);
#endif
