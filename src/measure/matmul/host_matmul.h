// SPDX-License-Identifier: Apache-2.0
// Matrix products by the host: the sequential baseline, the double-precision reference, and
// OpenBLAS. Matrices are n x n, row-major. host_matmul.c is compiled with -O3 whatever the build
// type is.
#pragma once
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

// c = a * b in single precision on the calling core: the loops in the order i, k, j, so that the
// innermost one runs along rows and is vectorised (AVX2 and FMA where the processor has them).
void tare_host_matmul(float *c, const float *a, const float *b, uint32_t n);
// How it was built: "GCC 12.2.0, -O3, AVX2 and FMA".
const char *tare_host_matmul_build(void);

// One row of a product in double precision, times n x width: sum[j] = row . column j of `matrix`,
// and magnitude[j] the same of absolute values.
void tare_host_row(const float *row, const float *matrix, uint32_t n, uint32_t width, double *sum,
                   double *magnitude);
// The same where columns were added up before: `sums` and `magnitudes` are n x width.
void tare_host_grouped_row(const float *row, const double *sums, const double *magnitudes,
                           uint32_t n, uint32_t width, double *sum, double *magnitude);

struct tare_host_blas;
// Opens OpenBLAS (libopenblas.so.0, or what TARE_OPENBLAS_LIBRARY names). *blas is the caller's to
// close. Returns 0; -ENOENT where it is not installed, -ENOSYS where it lacks a function, with a
// sentence that names the package.
int tare_host_blas_open(struct tare_host_blas **blas, struct tare_error *error);
void tare_host_blas_close(struct tare_host_blas *blas);
// c = a * b on as many cores as the library takes.
void tare_host_blas_sgemm(const struct tare_host_blas *blas, float *c, const float *a,
                          const float *b, uint32_t n);
// "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH Zen MAX_THREADS=64, 2 threads".
const char *tare_host_blas_name(const struct tare_host_blas *blas);
