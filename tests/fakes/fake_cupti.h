// SPDX-License-Identifier: Apache-2.0
// What tests may ask of fake_cupti.c beside CUPTI's own functions (by dlsym).
#pragma once
#include "backend/cuda/cupti_abi.h"

#define FAKE_CUPTI_EXPORT __attribute__((visibility("default")))

// Kinds that are enabled, plus one for a subscriber.
FAKE_CUPTI_EXPORT int fake_cupti_active(void);
// Buffers that were asked for and not given back.
FAKE_CUPTI_EXPORT int fake_cupti_buffers(void);
// External correlation ids that were pushed and not popped.
FAKE_CUPTI_EXPORT int fake_cupti_pushed(void);
