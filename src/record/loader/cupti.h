// SPDX-License-Identifier: Apache-2.0
// Whether CUDA programs can be recorded by CUPTI here, and what stands in for it.
#pragma once
#include "record/loader/closure.h"

#include <stdbool.h>

// The path of the library that is to be preloaded so that calls of CUDA's driver are recorded
// without CUPTI (docs/recorder-cuda.md), to free(); NULL: none is, for CUPTI is found or there is
// no driver, which `anyway` does not ask, or the program's C library is another one, or it is built
// with a sanitizer. `layer`: the recorder's path, beside which it lies. `library_path`:
// LD_LIBRARY_PATH of the program; NULL as "". `cache`: of ldconfig(8). Files are looked for; none
// is loaded.
char *tare_cuda_front_find(const char *layer, const struct tare_closure *closure,
                           const char *library_path, const char *cache, bool anyway);
