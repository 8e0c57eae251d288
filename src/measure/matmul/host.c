// SPDX-License-Identifier: Apache-2.0
// A product by the host, and whether any product is right.
#include "measure/matmul/internal.h"

#include "backend/call.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// OpenBLAS's threads look for more work for a while, at the cost of whoever comes next.
#define SETTLE_NS INT64_C(60000000)

// The host of a script takes its time, and computes nothing: no figure of this machine may enter.
static bool is_virtual(const struct matmul_product *product)
{
	return product->matmul->run->simulated;
}

static void multiply(const struct matmul_product *product)
{
	struct matmul *matmul = product->matmul;
	double n = product->n;
	float *c = matmul->host[MATMUL_C]->host;
	const float *a = matmul->host[MATMUL_A]->host, *b = matmul->host[MATMUL_B]->host;

	if (is_virtual(product))
		tare_device_pause(matmul->run->device,
		                  llround(1e9 * n * n * n / matmul->run->device->host_rate));
	else if (product->rung == TARE_RUNG_HOST_BLAS)
		tare_host_blas_sgemm(matmul->blas, c, a, b, product->n);
	else
		tare_host_matmul(c, a, b, product->n);
}

static void settle(const struct matmul_product *product)
{
	if (!is_virtual(product) && product->rung == TARE_RUNG_HOST_BLAS)
		tare_device_pause(product->matmul->run->device, SETTLE_NS);
}

int matmul_try_host(struct matmul_product *product, int64_t *ns, struct tare_error *error)
{
	struct tare_host_time begin = tare_run_now(product->matmul->run);

	(void)error;
	multiply(product);
	*ns = tare_host_elapsed_ns(begin, tare_run_now(product->matmul->run));
	settle(product);
	return 0;
}

static int begin_host(struct tare_measurement *measurement, struct tare_error *error)
{
	struct matmul_product *product = measurement->context;

	(void)error;
	memset(product->matmul->host[MATMUL_C]->host, 0xff, matmul_bytes(product->n));
	return 0;
}

static int sample_host(struct tare_measurement *measurement, int64_t *values,
                       struct tare_error *error)
{
	struct matmul_product *product = measurement->context;
	struct tare_host_time begin = tare_run_now(product->matmul->run);

	(void)error;
	multiply(product);
	values[0] = 1000 * tare_host_elapsed_ns(begin, tare_run_now(product->matmul->run));
	return 0;
}

static int end_host(struct tare_measurement *measurement, enum tare_verified *verified,
                    struct tare_error *error)
{
	struct matmul_product *product = measurement->context;

	settle(product);
	*verified = TARE_NOT_VERIFIABLE;
	return is_virtual(product) ? 0 : matmul_verify(measurement->context, verified, error);
}

void matmul_plan_host(struct matmul_product *product, struct tare_measurement *measurement)
{
	bool blas = product->rung == TARE_RUNG_HOST_BLAS;
	struct tare_figure *figure;
	char method[512];

	if (is_virtual(product))
		snprintf(method, sizeof method,
		         "one core of the script's host, at %.3g multiply-adds a second",
		         product->matmul->run->device->host_rate);
	else
		snprintf(
		    method, sizeof method, "%s: %.300s; data in memory already, nothing is copied",
		    blas ? "one call of cblas_sgemm"
		         : "one core, loops in the order i k j so that the inner one is made of "
		           "vectors",
		    blas ? tare_host_blas_name(product->matmul->blas) : tare_host_matmul_build());
	measurement->begin = begin_host;
	measurement->sample = sample_host;
	measurement->end = end_host;
	measurement->context = product;
	figure = matmul_figure(product, measurement, TARE_PART_TOTAL, "host", method);
	figure->rate_unit = "GFLOP/s";
	figure->work = matmul_flop(product->n);
}
