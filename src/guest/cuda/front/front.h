// SPDX-License-Identifier: Apache-2.0
// Between the front, a small library that `tare record` preloads where there is no CUPTI, and the
// recorder, which the driver loads with cuInit: docs/recorder-cuda.md, "Without CUPTI".
#pragma once
#include "backend/cuda/cupti_abi.h"
#include "guest/cuda/front/list.h"

#include <stdint.h>

#define CUDA_FRONT_COUNT(count, name) +1
enum { CUDA_FRONT_MOST = 0 CUDA_FRONT_FUNCTIONS(CUDA_FRONT_COUNT) };
#undef CUDA_FRONT_COUNT

// What a call is told as: CUPTI's structure of one, with the parameters as that has them, without
// context and name of the kernel. `place` is the function's among the front's names.
typedef void (*cuda_front_tell)(uint32_t place, struct cupti_call *call);

struct cuda_front {
	uint32_t count; // CUDA_FRONT_MOST: both are of one make
	const char *const *names;
	// before and after each call from then on; NULL: nobody. Stored atomically
	cuda_front_tell tell;
};
#define CUDA_FRONT_SYMBOL "tare_cuda_front" // a struct cuda_front
