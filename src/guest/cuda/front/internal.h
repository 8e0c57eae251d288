// SPDX-License-Identifier: Apache-2.0
// What the parts of the front share.
#pragma once
#include "guest/cuda/front/front.h"

#include <stdbool.h>

typedef void (*front_function)(void);

// Beside those whose calls are told: who gives them out.
enum { FRONT_GET = CUDA_FRONT_MOST, FRONT_GET_V2, FRONT_SLOTS };

// ---- driver.c

typedef void *(*front_lookup)(void *library, const char *name);
// The C library's dlsym(3); NULL: it has none that we know.
front_lookup front_c_library(void);
extern const char *const front_names[FRONT_SLOTS];
// The library that has this function is the driver, unless another one is known.
void front_keep_driver(const void *function);
// The driver's function, looked for when it is not known; NULL: the process has no driver, or it
// has none such.
front_function front_real(uint32_t slot);
// Takes `found` for the driver's, unless another one is known. Returns which is.
front_function front_keep(uint32_t slot, front_function found);

// ---- front.c

front_function front_ours(uint32_t slot);
