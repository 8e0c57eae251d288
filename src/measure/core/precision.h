// SPDX-License-Identifier: Apache-2.0
// Numbers of fewer bits, as the vendor's matrix library takes them: made on the host, rounded to
// the nearest, ties to even.
#pragma once
#include "backend/backend.h"

#include <stddef.h>
#include <stdint.h>

uint16_t tare_fp16_of(float value); // IEEE 754 binary16; beyond 65504 infinity
float tare_fp16_value(uint16_t bits);
uint16_t tare_bf16_of(float value); // the upper half of a float
float tare_bf16_value(uint16_t bits);
float tare_tf32_of(float value); // a float with 10 bits of fraction

const char *tare_precision_name(enum tare_blas_precision precision); // "tf32"
uint32_t tare_precision_bytes(enum tare_blas_precision precision);   // of a number: 4 or 2
// Converts `count` numbers to the form that tare_blas_gemm takes.
void tare_precision_put(enum tare_blas_precision precision, const float *from, size_t count,
                        void *to);
// What number `index` of such an array is.
float tare_precision_get(enum tare_blas_precision precision, const void *array, size_t index);

// The unit u of the bound |c - ref| <= gamma_n (|a| |b|), gamma_n = n u / (1 - n u), for products
// whose reference is of the rounded factors. Products of two such factors are exact, so only the
// sums err. 2^-24 in FP32. Tensor units cut off what does not fit below the largest term of a step
// instead of rounding, which is up to 2^-23 of it for each term and for the sum before (Fasi,
// Higham, Mikaitis, Pranesh: Numerical behavior of NVIDIA tensor cores, PeerJ Computer Science 7,
// 2021, e330); 2^-22 leaves room for steps of few terms.
double tare_precision_unit(enum tare_blas_precision precision);
