// SPDX-License-Identifier: Apache-2.0
// Which of CUPTI's records say when engines worked, and how they are had: by tare and by libtare
// alike, so on nothing but CUPTI's declarations.
#pragma once
#include "backend/cuda/cupti_abi.h"

#include <stdbool.h>

// Where records go, by the host's clock. Before any kind is enabled: that decides the clock.
// `name`: the function that the result is of.
cupti_result tare_cupti_records_to(const struct cupti_functions *call,
                                   cupti_buffer_completed completed, const char **name);
// Enables the kinds; `libraries`: those of the calls by which libraries give work, too.
cupti_result tare_cupti_enable(const struct cupti_functions *call, bool libraries,
                               const char **name);
// Ends all of it.
void tare_cupti_end(const struct cupti_functions *call, cupti_subscriber subscriber);
// Hands each record of a completed buffer to `keep` and frees the buffer. Returns how many CUPTI
// has dropped.
size_t tare_cupti_read(const struct cupti_functions *call, uint8_t *buffer, size_t valid_bytes,
                       void (*keep)(const cupti_record *record));
