// SPDX-License-Identifier: Apache-2.0
// The step of the host's clock, from readings of it: where the kernel keeps time by a slow counter
// (HPET, the ACPI timer, a hypervisor's) the clock counts nanoseconds but steps by many.
#pragma once
#include "base/time.h"

#include <stddef.h>

// Readings that tell enough.
#define TARE_STEP_READS 1024

// The step in ns of `count` readings in a row. Reading may last longer than a step, so it is not
// the smallest difference between two readings but the smallest by which such differences differ,
// 0 among them; less one where that is rounding (a step of 279.4 ns shows as 279 and 280). At least
// 1; where all differences are alike, that difference, which is no less than the step.
int64_t tare_host_step_ns(const struct tare_host_time *reads, size_t count);
