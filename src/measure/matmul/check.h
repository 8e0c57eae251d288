// SPDX-License-Identifier: Apache-2.0
// Whether a product is right: against double precision, within the error that single precision may
// have. Internal to `matmul`.
//
// However the n products of an element are summed, with fused multiply-adds or without,
//   |c - ref| <= gamma_n (|a| |b|),  gamma_n = n u / (1 - n u),  u = 2^-24
// and u of tare_precision_unit (measure/core/precision.h) for factors of fewer bits: a and b are
// then the rounded ones. (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., SIAM
// 2002, section 3.5). Up to n = 512 every element is compared. Above, all elements of 64 rows drawn
// from the seed, and in every row the signed sums of neighbouring elements in groups, whose bounds
// are the sums of their elements' bounds: so every element of c counts, at a fraction of the cost.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define MATMUL_CHECK_ALL 512u
#define MATMUL_CHECK_ROWS 64u
#define MATMUL_CHECK_LARGEST 32768u // n u stays well below 1

struct matmul_reference {
	uint32_t n;
	double gamma;
	uint32_t *rows; // whose elements are compared
	uint32_t row_count;
	double *element, *element_bound; // row_count x n
	int8_t *sign;                    // of a column, in the sums
	uint32_t group, group_count;     // columns a sum; 0: every element is compared already
	double *sum, *sum_bound;         // n x group_count
};

// What is wrong first.
struct matmul_mismatch {
	bool is_sum;          // of a group of elements
	uint32_t row, column; // the element, or the first of the group
	double got, expected, bound;
};

double matmul_gamma(uint32_t n, double unit);
// The reference of a * b. Returns 0, or -ENOMEM; free it either way.
int matmul_reference_make(const float *a, const float *b, uint32_t n, uint64_t seed, double unit,
                          struct matmul_reference *reference);
void matmul_reference_free(struct matmul_reference *reference);
// True when c is within the bound everywhere; what is no number never is. mismatch may be NULL.
bool matmul_check(const struct matmul_reference *reference, const float *c,
                  struct matmul_mismatch *mismatch);
// Whether the errors of c, small as they are, are those of factors that were rounded to about 10
// bits of fraction (TF32, FP16): the bound of the worst case cannot tell. For random factors in
// [-1, 1) their root mean square is then about 2e-4 (|a| |b|) / sqrt(n), and at most a hundredth of
// that with factors in single precision up to n = 32768.
bool matmul_looks_rounded(const struct matmul_reference *reference, const float *c);
