// SPDX-License-Identifier: Apache-2.0
// The loops that the compiler makes vectors of. Compiled with -O3 (meson.build), also in a debug
// build: a baseline that is not optimised would make every device look good.
#include "measure/matmul/host_matmul.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "GCC " __VERSION__
#endif

#define INLINE static inline __attribute__((always_inline))

INLINE void multiply(float *restrict c, const float *restrict a, const float *restrict b, size_t n)
{
	memset(c, 0, n * n * sizeof *c);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++) {
			float factor = a[i * n + k];
			for (size_t j = 0; j < n; j++)
				c[i * n + j] += factor * b[k * n + j];
		}
}

INLINE void row_of(const float *row, const float *matrix, size_t n, size_t width,
                   double *restrict sum, double *restrict magnitude)
{
	memset(sum, 0, width * sizeof *sum);
	memset(magnitude, 0, width * sizeof *magnitude);
	for (size_t k = 0; k < n; k++) {
		double factor = (double)row[k], size = fabs(factor);
		for (size_t j = 0; j < width; j++) {
			double value = (double)matrix[k * width + j];
			sum[j] += factor * value;
			magnitude[j] += size * fabs(value);
		}
	}
}

INLINE void grouped_row(const float *row, const double *sums, const double *magnitudes, size_t n,
                        size_t width, double *restrict sum, double *restrict magnitude)
{
	memset(sum, 0, width * sizeof *sum);
	memset(magnitude, 0, width * sizeof *magnitude);
	for (size_t k = 0; k < n; k++) {
		double factor = (double)row[k], size = fabs(factor);
		for (size_t j = 0; j < width; j++) {
			sum[j] += factor * sums[k * width + j];
			magnitude[j] += size * magnitudes[k * width + j];
		}
	}
}

#ifdef __x86_64__
#define WIDE __attribute__((target("avx2,fma")))
WIDE static void wide_multiply(float *c, const float *a, const float *b, size_t n)
{
	multiply(c, a, b, n);
}
WIDE static void wide_row(const float *row, const float *matrix, size_t n, size_t width,
                          double *sum, double *magnitude)
{
	row_of(row, matrix, n, width, sum, magnitude);
}
WIDE static void wide_grouped_row(const float *row, const double *sums, const double *magnitudes,
                                  size_t n, size_t width, double *sum, double *magnitude)
{
	grouped_row(row, sums, magnitudes, n, width, sum, magnitude);
}
static bool is_wide(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
#define wide_multiply multiply
#define wide_row row_of
#define wide_grouped_row grouped_row
static bool is_wide(void)
{
	return false;
}
#endif

const char *tare_host_matmul_build(void)
{
	return is_wide() ? COMPILER ", -O3, AVX2 and FMA" : COMPILER ", -O3";
}

void tare_host_matmul(float *c, const float *a, const float *b, uint32_t n)
{
	if (is_wide())
		wide_multiply(c, a, b, n);
	else
		multiply(c, a, b, n);
}

void tare_host_row(const float *row, const float *matrix, uint32_t n, uint32_t width, double *sum,
                   double *magnitude)
{
	if (is_wide())
		wide_row(row, matrix, n, width, sum, magnitude);
	else
		row_of(row, matrix, n, width, sum, magnitude);
}

void tare_host_grouped_row(const float *row, const double *sums, const double *magnitudes,
                           uint32_t n, uint32_t width, double *sum, double *magnitude)
{
	if (is_wide())
		wide_grouped_row(row, sums, magnitudes, n, width, sum, magnitude);
	else
		grouped_row(row, sums, magnitudes, n, width, sum, magnitude);
}
