// SPDX-License-Identifier: Apache-2.0
// Whether a driver that lists no counters lets them be read: tried by sampling for a moment. A
// driver does not begin again in the child of a process that it has begun in, so the process that
// tries is made before.
#pragma once
#include "base/error.h"

#include <stdint.h>

// Call it before any driver is opened. Without it nothing can be tried.
void tare_counters_trial_prepare(void);
// Tries device `index` of `backend`. Returns 0, or a negative errno with the reason.
int tare_counters_trial(const char *backend, uint32_t index, struct tare_error *error);
