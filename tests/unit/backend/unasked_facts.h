// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/fact.h"

#include <string.h>

// What only a vendor's management library knows, or only Level Zero has words for: a backend that
// has none does not ask.
static inline bool may_be_unasked(int id)
{
	bool state = !strcmp(tare_fact_rows[id].group, "state") && id != TARE_FACT_POWER_LIMIT &&
	             id != TARE_FACT_THROTTLE;
	return state || id == TARE_FACT_REGISTERS || id == TARE_FACT_RESIDENT ||
	       id == TARE_FACT_NVLINK || id >= TARE_FACT_DEVICE_ID;
}
