// SPDX-License-Identifier: Apache-2.0
// Arrays of the stand-in for CUDA's driver, for its copies.
#pragma once
#include "fake_cuda.h"

#include <stddef.h>

// Where an array's first row is, how many bytes lie between two rows and how many rows a layer has.
// NULL: it is none.
char *fake_array_rows(cu_array array, size_t *pitch, size_t *height);
