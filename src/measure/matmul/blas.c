// SPDX-License-Identifier: Apache-2.0
// The rungs of the device's library: factors of fewer bits, what they are compared with, and what
// the library is called.
#include "measure/matmul/internal.h"

#include "backend/call.h"

#include <errno.h>
#include <stdlib.h>

struct tare_memory *matmul_host_matrix(const struct matmul_product *product, int matrix)
{
	const struct matmul *matmul = product->matmul;

	return matrix != MATMUL_C && matmul_is_rounded(product->rung) ? matmul->rounded[matrix]
	                                                              : matmul->host[matrix];
}

// Outside what is timed. One memory serves every such rung: it is filled anew for each product.
int matmul_round(struct matmul_product *product, struct tare_error *error)
{
	struct matmul *matmul = product->matmul;
	enum tare_blas_precision precision = matmul_rungs[product->rung].precision;
	int status = 0;

	if (!matmul_is_rounded(product->rung))
		return 0;
	for (int i = MATMUL_A; status == 0 && i < MATMUL_MATRICES; i++) {
		if (!matmul->rounded[i])
			status =
			    tare_memory_create(matmul->run->device, matmul->host[i]->kind,
			                       matmul->host[i]->bytes, &matmul->rounded[i], error);
		if (status == 0)
			tare_precision_put(precision, matmul->host[i]->host,
			                   (size_t)product->n * product->n,
			                   matmul->rounded[i]->host);
	}
	return status;
}

struct tare_product matmul_library_product(const struct matmul_product *product)
{
	struct tare_span spans[MATMUL_MATRICES];

	for (int i = 0; i < MATMUL_MATRICES; i++)
		spans[i] = (struct tare_span){ product->device[i], 0,
			                       matmul_matrix_bytes(product->rung, i, product->n) };
	return (struct tare_product){
		.precision = matmul_rungs[product->rung].precision,
		.n = product->n,
		.c = spans[MATMUL_C],
		.a = spans[MATMUL_A],
		.b = spans[MATMUL_B],
	};
}

const char *matmul_library_name(const struct matmul *matmul)
{
	return tare_blas_name(matmul->run->device);
}

// The first n x n numbers of a matrix of the host, rounded, as floats again. NULL: out of memory.
static float *rounded_numbers(const struct matmul_product *product, int matrix)
{
	enum tare_blas_precision precision = matmul_rungs[product->rung].precision;
	size_t count = (size_t)product->n * product->n;
	const float *from = product->matmul->host[matrix]->host;
	float *numbers = malloc(count * sizeof *numbers);

	for (size_t i = 0; numbers && i < count; i++) {
		uint32_t one[1];
		tare_precision_put(precision, &from[i], 1, one);
		numbers[i] = tare_precision_get(precision, one, 0);
	}
	return numbers;
}

int matmul_make_reference(struct matmul_product *product, struct matmul_reference *reference)
{
	const struct matmul *matmul = product->matmul;
	double unit = tare_precision_unit(matmul_rungs[product->rung].precision);
	float *a, *b;
	int status = -ENOMEM;

	if (!matmul_is_rounded(product->rung))
		return matmul_reference_make(matmul->host[MATMUL_A]->host,
		                             matmul->host[MATMUL_B]->host, product->n,
		                             matmul->run->seed, unit, reference);
	a = rounded_numbers(product, MATMUL_A);
	b = rounded_numbers(product, MATMUL_B);
	if (a && b)
		status =
		    matmul_reference_make(a, b, product->n, matmul->run->seed, unit, reference);
	free(a);
	free(b);
	return status;
}
