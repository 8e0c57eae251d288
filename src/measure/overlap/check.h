// SPDX-License-Identifier: Apache-2.0
// Internal to src/measure.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// Whether output[i] = input[i] * multiplier + summand, modulo 2^32, for all `count` items.
bool overlap_is_affine(const uint32_t *input, const uint32_t *output, uint64_t count,
                       uint32_t multiplier, uint32_t summand);
