// SPDX-License-Identifier: Apache-2.0
// Why a driver refuses counters, with the way out.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// By CUPTI's error and the function that failed; for free(). NULL: no memory.
char *tare_counters_refused(uint32_t code, const char *function);
// Whether CUPTI's error is about the interface that was asked alone: another one may count.
bool tare_counters_lack_interface(uint32_t code);
// The same as the first by a Level Zero driver's result.
char *tare_metrics_refused(uint32_t code, const char *function);
