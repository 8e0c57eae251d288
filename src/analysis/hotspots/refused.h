// SPDX-License-Identifier: Apache-2.0
// Why a driver refuses counters, with the way out.
#pragma once
#include <stdint.h>

// By CUPTI's error and the function that failed; for free(). NULL: no memory.
char *tare_counters_refused(uint32_t code, const char *function);
// The same by a Level Zero driver's result.
char *tare_metrics_refused(uint32_t code, const char *function);
