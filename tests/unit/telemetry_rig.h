// SPDX-License-Identifier: Apache-2.0
// Readings of a device that tells its clock and why it is held back.
#pragma once
#include "model/telemetry.h"

#define BIT(reason) (UINT64_C(1) << TARE_THROTTLE_##reason)
#define HAS(member) (1u << TARE_TELEMETRY_##member)

static inline struct tare_telemetry clock_and_reasons(uint64_t hz, uint64_t throttle)
{
	return (struct tare_telemetry){ .present = HAS(CLOCK) | HAS(THROTTLE),
		                        .clock_hz = hz,
		                        .throttle = throttle };
}
