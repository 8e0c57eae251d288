// SPDX-License-Identifier: Apache-2.0
// Matrix units: products by the vendor's library, with factors of fewer bits.
//
// Factor a holds the numbers of a pool one after the other, again and again, and b the same from
// its middle on. The pool's length is a prime above n, so no two rows begin at the same place, and
// what an element of c must be follows from the pool alone.
#include "measure/peak/internal.h"

#include "backend/call.h"
#include "measure/core/blas.h"
#include "measure/core/precision.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POOL 1048573u
#define POOL_MIDDLE (POOL / 2)
#define LEAST_N 128u
#define MOST_N 16384u
// The next size is eight times as long; it may last so many times what a launch should.
#define LONGEST 5
#define CHECK_ROWS 8u
#define CHECK_COLUMNS 64u

enum { C, A, B, MATRICES };

static struct tare_product product_of(const struct peak_task *task)
{
	uint64_t count = (uint64_t)task->n * task->n;
	uint64_t bytes = count * tare_precision_bytes(task->precision);

	return (struct tare_product){
		.precision = task->precision,
		.n = task->n,
		.c = { task->matrices[C], 0, count * sizeof(float) },
		.a = { task->matrices[A], 0, bytes },
		.b = { task->matrices[B], 0, bytes },
	};
}

static void close_matrices(struct peak_task *task)
{
	for (int i = 0; i < MATRICES; i++) {
		tare_memory_free(task->matrices[i]);
		task->matrices[i] = NULL;
	}
	tare_memory_free(task->pool);
	task->pool = NULL;
}

// Random numbers in [-1, 1), the same for every size, in the form that the library takes.
static int fill_pool(struct peak_task *task, struct tare_error *error)
{
	struct tare_random random = { .state = task->peak->run->seed ^ UINT64_C(0x706f6f6c) };
	uint32_t bytes = tare_precision_bytes(task->precision);
	int status =
	    tare_memory_create(task->peak->bench.device, TARE_MEMORY_PAGEABLE,
	                       POOL * sizeof(float) + MOST_N * sizeof(float), &task->pool, error);

	for (uint32_t i = 0; status == 0 && i < POOL; i++) {
		float number = (float)(tare_random_next(&random) >> 40) * 0x1p-23f - 1;
		tare_precision_put(task->precision, &number, 1,
		                   (char *)task->pool->host + i * bytes);
	}
	return status;
}

static int copy(struct peak_task *task, struct tare_span from, struct tare_span to,
                struct tare_error *error)
{
	struct tare_operation operation = { .type = TARE_OPERATION_COPY,
		                            .source = from,
		                            .destination = to };

	return from.bytes ? tare_bench_run(task->peak->bench.timed, &operation, error) : 0;
}

// Fills a factor with the pool from number `first` on: once from the host, then by doubling.
static int fill_factor(struct peak_task *task, struct tare_memory *factor, uint32_t first,
                       struct tare_error *error)
{
	uint64_t number = tare_precision_bytes(task->precision), total = factor->bytes;
	uint64_t skipped = first * number, whole = POOL * number;
	uint64_t head = whole - skipped < total ? whole - skipped : total;
	uint64_t tail = total - head < skipped ? total - head : skipped;
	int status = copy(task, (struct tare_span){ task->pool, skipped, head },
	                  (struct tare_span){ factor, 0, head }, error);

	if (status == 0)
		status = copy(task, (struct tare_span){ task->pool, 0, tail },
		              (struct tare_span){ factor, head, tail }, error);
	for (uint64_t done = whole; status == 0 && done < total; done *= 2) {
		uint64_t more = total - done < done ? total - done : done;
		status = copy(task, (struct tare_span){ factor, 0, more },
		              (struct tare_span){ factor, done, more }, error);
	}
	return status;
}

static int open_matrices(struct peak_task *task, struct tare_error *error)
{
	struct tare_device *device = task->peak->bench.device;
	struct tare_product product = product_of(task);
	const uint64_t bytes[MATRICES] = { product.c.bytes, product.a.bytes, product.b.bytes };
	int status = fill_pool(task, error);

	for (int i = 0; status == 0 && i < MATRICES; i++)
		status = tare_memory_create(device, TARE_MEMORY_DEVICE, bytes[i],
		                            &task->matrices[i], error);
	status = status ?: fill_factor(task, task->matrices[A], 0, error);
	return status < 0 ? status : fill_factor(task, task->matrices[B], POOL_MIDDLE, error);
}

// The first product of a size loads its kernels, and is not timed.
static int time_second(struct peak_task *task, int64_t *ps, struct tare_error *error)
{
	const struct tare_bench *bench = &task->peak->bench;
	struct tare_product product = product_of(task);
	int status = tare_blas_gemm(bench->timed, product.precision, product.n, product.c,
	                            product.a, product.b, NULL, error);

	status = status < 0 ? status : tare_finish(bench->timed, TARE_LIMIT_DEFAULT_NS, error);
	return status < 0 ? status : tare_blas_batch_ps(bench, &product, 1, ps, error);
}

// ---- which sizes

static bool has_room(const struct peak *peak, uint32_t n)
{
	const struct tare_facts *facts = peak->run->facts;
	uint64_t bytes = (uint64_t)MATRICES * n * n * sizeof(float);

	return !facts || !facts->fact[TARE_FACT_MEMORY].present ||
	       bytes <= facts->fact[TARE_FACT_MEMORY].count / 4;
}

static void keep_size(struct peak_tensor *tensor, uint32_t n)
{
	if (tensor->count == PEAK_TENSOR_SIZES) {
		memmove(tensor->n, tensor->n + 1, sizeof tensor->n - sizeof tensor->n[0]);
		tensor->count--;
	}
	tensor->n[tensor->count++] = n;
}

static int survey(struct peak *peak, enum tare_blas_precision precision, struct tare_error *error)
{
	struct peak_tensor *tensor = &peak->tensors[precision];
	struct tare_error why = { 0 };
	int status = 0;

	for (uint32_t n = LEAST_N; status == 0 && n <= MOST_N && has_room(peak, n); n *= 2) {
		struct peak_task task = { .peak = peak, .precision = precision, .n = n };
		int64_t ps = 0;
		status = open_matrices(&task, &why);
		status = status ?: time_second(&task, &ps, &why);
		close_matrices(&task);
		if (status == 0)
			keep_size(tensor, n);
		if (8 * ps > LONGEST * peak->target_ps)
			break;
	}
	if (status < 0 && !peak_may_go_on(status)) {
		*error = why;
		return status;
	}
	if (tensor->count == 0)
		snprintf(tensor->absent, sizeof tensor->absent, "%.310s",
		         status < 0 ? why.message : "no room for its matrices");
	return 0;
}

int peak_survey_tensor(struct peak *peak, struct tare_error *error)
{
	int status = 0;

	peak->has_library = peak->bench.device->backend->blas_gemm != NULL;
	for (int i = TARE_BLAS_TF32;
	     peak->has_library && status == 0 && i < TARE_BLAS_PRECISION_COUNT; i++) {
		if (!peak->bench.stamped)
			snprintf(peak->tensors[i].absent, sizeof peak->tensors[i].absent, "%.310s",
			         peak->bench.unstamped);
		else
			status = survey(peak, (enum tare_blas_precision)i, error);
	}
	return status;
}

// ---- a measurement

int peak_begin_tensor(struct tare_measurement *measurement, struct tare_error *error)
{
	struct peak_task *task = measurement->context;
	struct tare_figure *figure = &measurement->figures[0];
	int64_t ps = 0;
	int status;

	if (task->n == 0)
		return tare_fail(error, ENOTSUP, "%s", task->peak->tensors[task->precision].absent);
	status = open_matrices(task, error);
	status = status ?: time_second(task, &ps, error);
	if (status < 0)
		return status;
	task->turns =
	    (uint32_t)fmin(32, fmax(1, ceil((double)task->peak->target_ps / fmax(1, (double)ps))));
	figure->quantum = task->peak->bench.step_ps / task->turns;
	figure->work = 2.0 * task->n * task->n * task->n;
	return 0;
}

int peak_sample_tensor(struct peak_task *task, int64_t *ps, struct tare_error *error)
{
	struct tare_product product = product_of(task);

	return tare_blas_batch_ps(&task->peak->bench, &product, task->turns, ps, error);
}

// What element (row, column) must be, within what.
static double expect(const struct peak_task *task, uint32_t row, uint32_t column, double *bound)
{
	const void *pool = task->pool->host;
	uint64_t n = task->n, a = (row * n) % POOL, b = (column + POOL_MIDDLE) % POOL;
	double sum = 0, magnitude = 0, unit = (double)n * tare_precision_unit(task->precision);

	for (uint64_t k = 0; k < n; k++) {
		double term = (double)tare_precision_get(task->precision, pool, a) *
		              (double)tare_precision_get(task->precision, pool, b);
		sum += term;
		magnitude += fabs(term);
		a = a + 1 == POOL ? 0 : a + 1;
		b = (b + n) % POOL;
	}
	*bound = unit / (1 - unit) * magnitude;
	return sum;
}

// All of a row is there, and some of its elements are what they must be.
static int check_row(struct peak_task *task, uint32_t row, struct tare_random *random, bool *right,
                     struct tare_error *error)
{
	uint64_t bytes = (uint64_t)task->n * sizeof(float), after = POOL * sizeof(float);
	const float *numbers = (const float *)((char *)task->pool->host + after);
	int status = copy(task, (struct tare_span){ task->matrices[C], row * bytes, bytes },
	                  (struct tare_span){ task->pool, after, bytes }, error);

	if (status < 0)
		return status;
	for (uint32_t column = 0; column < task->n; column++)
		*right = *right && isfinite(numbers[column]);
	for (uint32_t i = 0; i < CHECK_COLUMNS; i++) {
		uint32_t column = (uint32_t)tare_random_below(random, task->n);
		double bound, expected = expect(task, row, column, &bound);
		*right = *right && fabs((double)numbers[column] - expected) <= bound;
	}
	return 0;
}

// Of one more product, into a c that held no numbers.
static int check(struct peak_task *task, bool *right, struct tare_error *error)
{
	struct tare_queue *queue = task->peak->bench.timed;
	struct tare_random random = { .state = task->peak->run->seed ^ task->n };
	struct tare_product product = product_of(task);
	int status =
	    peak_fill(task->peak, task->matrices[C], task->matrices[C]->bytes, 0xffffffffu, error);

	*right = true;
	if (status == 0)
		status = tare_blas_gemm(queue, product.precision, product.n, product.c, product.a,
		                        product.b, NULL, error);
	status = status ?: tare_finish(queue, TARE_LIMIT_DEFAULT_NS, error);
	for (uint32_t i = 0; status == 0 && i < CHECK_ROWS; i++)
		status =
		    check_row(task, i ? (uint32_t)tare_random_below(&random, task->n) : task->n - 1,
		              &random, right, error);
	return status;
}

int peak_end_tensor(struct tare_measurement *measurement, enum tare_verified *verified,
                    struct tare_error *error)
{
	struct peak_task *task = measurement->context;
	bool right = false;
	int status = 0;

	if (task->turns > 0)
		status = check(task, &right, error);
	if (task->turns > 0 && status == 0) {
		*verified = peak_judge(task->peak, right);
		peak_method(
		    measurement,
		    "products of %u x %u by %.60s in a row, %u a sample; factors from "
		    "[-1, 1) in %s, sums and result in FP32; checked: %u rows are there, and "
		    "%u elements of each within the bound of docs/ceilings.md",
		    task->n, task->n, tare_blas_name(task->peak->bench.device), task->turns,
		    tare_precision_name(task->precision), CHECK_ROWS, CHECK_COLUMNS);
	}
	close_matrices(task);
	return status;
}
