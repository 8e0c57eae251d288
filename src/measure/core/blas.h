// SPDX-License-Identifier: Apache-2.0
// Products by the vendor's matrix library, timed by the device. What `matmul` and `peak` share.
#pragma once
#include "measure/core/bench.h"

// One product c = a * b, n x n, row-major; a and b of the precision's size, c in single precision.
struct tare_product {
	enum tare_blas_precision precision;
	uint32_t n;
	struct tare_span c, a, b;
};

// Appends a marker and then the product, each with an event where the bench has stamps (else NULL):
// from the start of *first to the end of *last is what the device took, with what the host took
// to launch. The events are the caller's to free, also after a failure.
int tare_blas_append(const struct tare_bench *bench, const struct tare_product *product,
                     struct tare_event **first, struct tare_event **last, struct tare_error *error);
// Device time of one of `batch` such products in a row, which wait behind a gate where the bench
// has one: then launching is not in it. A product of this size and precision must have run before.
// Errors as tare_bench_batch_ps.
int tare_blas_batch_ps(const struct tare_bench *bench, const struct tare_product *product,
                       uint32_t batch, int64_t *ps, struct tare_error *error);
// How many products that last `ps` each such a sample needs; 1 where stamps bracket the engine's
// work, or there is no gate: a library's kernels may not all go behind one.
uint32_t tare_blas_batch(const struct tare_bench *bench, int64_t ps);
