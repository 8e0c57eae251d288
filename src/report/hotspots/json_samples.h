// SPDX-License-Identifier: Apache-2.0
// The device over time as JSON. Internal to src/report/hotspots.
#pragma once
#include "analysis/hotspots/samples.h"
#include "report/core/json.h"

#if TARE_HAVE_JSON
json_t *tare_device_samples_json(struct tare_json *json, const struct tare_device_samples *samples);
#endif
