// SPDX-License-Identifier: Apache-2.0
// Matrices whose product is exact in floats, so that every order of the sums gives the same bits.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define TILE 16 // as in kernels.cl

// Quarters from -2 to 2: sums of up to 2^18 products are exact, and nothing underflows.
void fill_matrix(float *matrix, size_t n, unsigned seed);
// c = a * b on one core, the inner loop along rows of b and c so that a compiler can vectorise it.
void host_matmul(float *c, const float *a, const float *b, size_t n);
// How many elements differ.
size_t differences(const float *a, const float *b, size_t n);
