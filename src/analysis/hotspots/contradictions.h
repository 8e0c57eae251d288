// SPDX-License-Identifier: Apache-2.0
// Counters that cannot be: passes that were mixed, clocks that changed, counters that wrapped.
#pragma once
#include "analysis/hotspots/verdict.h"

// Fills in verdict->contradictions.
void tare_hotspot_contradictions(const struct tare_counted_kernel *kernel,
                                 const struct tare_counted_device *device,
                                 struct tare_kernel_verdict *verdict);
