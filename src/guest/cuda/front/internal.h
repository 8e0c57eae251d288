// SPDX-License-Identifier: Apache-2.0
// What the parts of the front share.
#pragma once
#include "guest/cuda/front/front.h"

#include <stdbool.h>

typedef void (*front_function)(void);

// Beside those whose calls are told: who gives them out.
enum { FRONT_GET = CUDA_FRONT_MOST, FRONT_GET_V2, FRONT_SLOTS };

const char *front_name(uint32_t slot);
front_function front_ours(uint32_t slot);
// The driver's function, looked for when it is not known; NULL: the process has no driver, or it
// has none such.
front_function front_real(uint32_t slot);
// Takes `found` for the driver's, unless another one is known. Returns which is.
front_function front_keep(uint32_t slot, front_function found);

// dlsym(3) in the driver that the process has loaded; what dlerror(3) tells is nothing afterwards.
front_function front_driver_function(const char *name);
