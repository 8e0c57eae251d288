// SPDX-License-Identifier: Apache-2.0
#include "measure/core/blas.h"

#include "backend/call.h"

// Of a product that the library may split into several kernels; a gate holds 256 operations.
#define MOST_BATCH 32u

static const struct tare_operation marker = { .type = TARE_OPERATION_MARKER };

static int append_one(const struct tare_bench *bench, const struct tare_product *product,
                      struct tare_event **event, struct tare_error *error)
{
	return tare_blas_gemm(bench->timed, product->precision, product->n, product->c, product->a,
	                      product->b, event, error);
}

int tare_blas_append(const struct tare_bench *bench, const struct tare_product *product,
                     struct tare_event **first, struct tare_event **last, struct tare_error *error)
{
	int status = 0;

	*first = *last = NULL;
	if (bench->stamped)
		status = tare_append(bench->timed, &marker, first, error);
	return status < 0 ? status
	                  : append_one(bench, product, bench->stamped ? last : NULL, error);
}

int tare_blas_batch_ps(const struct tare_bench *bench, const struct tare_product *product,
                       uint32_t batch, int64_t *ps, struct tare_error *error)
{
	struct tare_event *first = NULL, *last = NULL;
	struct tare_gate *gate = NULL;
	struct tare_host_time begin = tare_device_now(bench->device);
	int64_t span = 0;
	int status = 0, opened;

	if (batch > 1 && bench->gated)
		status = tare_gate_shut(bench->timed, &gate, error);
	status = status ?: tare_append(bench->timed, &marker, &first, error);
	for (uint32_t i = 0; status == 0 && i < batch; i++)
		status = append_one(bench, product, i + 1 == batch ? &last : NULL, error);
	opened = gate ? tare_gate_open(gate, status < 0 ? NULL : error) : 0;
	status = status < 0 ? status : opened;
	status = status ?: tare_submit(bench->timed, error);
	status = status < 0 ? tare_bench_settle(bench->timed, status, error)
	                    : tare_finish(bench->timed, TARE_LIMIT_DEFAULT_NS, error);
	if (status == 0)
		status = tare_bench_span_ps(
		    bench, first, last, tare_host_elapsed_ns(begin, tare_device_now(bench->device)),
		    &span, error);
	if (status == 0)
		*ps = span / batch;
	tare_event_free(first);
	tare_event_free(last);
	tare_gate_free(gate);
	return status;
}

uint32_t tare_blas_batch(const struct tare_bench *bench, int64_t ps)
{
	if (!bench->stamped || !bench->gated || bench->brackets)
		return 1;
	return tare_batch((double)ps, bench->step_ps, MOST_BATCH);
}
