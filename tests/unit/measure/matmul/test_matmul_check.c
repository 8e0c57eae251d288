// SPDX-License-Identifier: Apache-2.0
// Whether a product is right: the error bound of `matmul`, from both sides.
#include "measure/core/precision.h"
#include "measure/matmul/check.h"

#include "base/random.h"
#include "measure/matmul/host_matmul.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

struct matrices {
	uint32_t n;
	float *a, *b, *c;
};

static struct matrices random_matrices(uint32_t n)
{
	struct matrices m = { .n = n };
	struct tare_random random = { .state = n };
	size_t count = (size_t)n * n;
	m.a = malloc(count * sizeof *m.a);
	m.b = malloc(count * sizeof *m.b);
	m.c = malloc(count * sizeof *m.c);
	for (size_t i = 0; i < count; i++) {
		m.a[i] = (float)(tare_random_next(&random) >> 40) * 0x1p-23f - 1;
		m.b[i] = (float)(tare_random_next(&random) >> 40) * 0x1p-23f - 1;
	}
	return m;
}

static void free_matrices(struct matrices *m)
{
	free(m->a);
	free(m->b);
	free(m->c);
}

// Sums in an order drawn anew for each element, without fused multiply-adds.
static void multiply_in_random_order(struct matrices *m)
{
	struct tare_random random = { .state = 7 };
	uint32_t *order = malloc(m->n * sizeof *order);
	for (uint32_t k = 0; k < m->n; k++)
		order[k] = k;
	for (uint32_t i = 0; i < m->n; i++)
		for (uint32_t j = 0; j < m->n; j++) {
			volatile float sum = 0;
			for (uint32_t k = m->n; k > 1; k--) {
				uint32_t other = (uint32_t)tare_random_below(&random, k), held;
				held = order[k - 1];
				order[k - 1] = order[other];
				order[other] = held;
			}
			for (uint32_t k = 0; k < m->n; k++) {
				volatile float product =
				    m->a[i * m->n + order[k]] * m->b[order[k] * m->n + j];
				sum = sum + product;
			}
			m->c[i * m->n + j] = sum;
		}
	free(order);
}

static struct matmul_reference reference_of(const struct matrices *m)
{
	struct matmul_reference reference;
	assert_int_equal(matmul_reference_make(m->a, m->b, m->n, 1, 0x1p-24, &reference), 0);
	return reference;
}

static void sums_in_any_order_are_within_the_bound(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 33, 100 };
	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct matrices m = random_matrices(sizes[i]);
		struct matmul_reference reference = reference_of(&m);
		assert_int_equal(reference.row_count, m.n);
		multiply_in_random_order(&m);
		assert_true(matmul_check(&reference, m.c, NULL));
		tare_host_matmul(m.c, m.a, m.b, m.n);
		assert_true(matmul_check(&reference, m.c, NULL));
		matmul_reference_free(&reference);
		free_matrices(&m);
	}
}

// The reference itself against a plain loop in extended precision.
static void the_reference_is_the_product(void **state)
{
	struct matrices m = random_matrices(33);
	struct matmul_reference reference = reference_of(&m);
	(void)state;
	for (uint32_t i = 0; i < m.n; i++)
		for (uint32_t j = 0; j < m.n; j++) {
			long double sum = 0, size = 0;
			for (uint32_t k = 0; k < m.n; k++) {
				long double product =
				    (long double)m.a[i * m.n + k] * m.b[k * m.n + j];
				sum += product;
				size += fabsl(product);
			}
			assert_true(fabsl(reference.element[i * m.n + j] - sum) < 1e-14);
			assert_true(fabs(reference.element_bound[i * m.n + j] -
			                 (double)size * matmul_gamma(m.n, 0x1p-24)) < 1e-15);
		}
	assert_true(fabs(matmul_gamma(33, 0x1p-24) - 33 * 0x1p-24 / (1 - 33 * 0x1p-24)) < 1e-13);
	matmul_reference_free(&reference);
	free_matrices(&m);
}

// Elements a little inside the bound pass, a little outside are found, each of them.
static void an_element_beyond_the_bound_is_found(void **state)
{
	struct matrices m = random_matrices(33);
	struct matmul_reference reference = reference_of(&m);
	struct matmul_mismatch mismatch;
	(void)state;
	tare_host_matmul(m.c, m.a, m.b, m.n);
	for (size_t i = 0; i < (size_t)m.n * m.n; i += 37) {
		float right = m.c[i];
		double bound = reference.element_bound[i];
		m.c[i] = (float)(reference.element[i] + 0.9 * bound);
		assert_true(matmul_check(&reference, m.c, NULL));
		m.c[i] = (float)(reference.element[i] - 1.1 * bound);
		assert_false(matmul_check(&reference, m.c, &mismatch));
		assert_int_equal(mismatch.row * m.n + mismatch.column, i);
		assert_false(mismatch.is_sum);
		m.c[i] = right;
	}
	m.c[5] = NAN;
	assert_false(matmul_check(&reference, m.c, NULL));
	matmul_reference_free(&reference);
	free_matrices(&m);
}

// Above 512 not every element is compared, but every one counts.
static void in_large_products_every_element_counts(void **state)
{
	struct matrices m = random_matrices(600);
	struct matmul_reference reference = reference_of(&m);
	struct matmul_mismatch mismatch;
	size_t in_sums = 0;
	(void)state;
	assert_int_equal(reference.row_count, MATMUL_CHECK_ROWS);
	for (uint32_t i = 1; i < reference.row_count; i++)
		assert_true(reference.rows[i] > reference.rows[i - 1]);
	assert_true(reference.rows[MATMUL_CHECK_ROWS - 1] < 600);
	tare_host_matmul(m.c, m.a, m.b, m.n);
	assert_true(matmul_check(&reference, m.c, NULL));
	for (size_t i = 0; i < (size_t)m.n * m.n; i += 9973) {
		float right = m.c[i];
		m.c[i] += 2;
		assert_false(matmul_check(&reference, m.c, &mismatch));
		assert_int_equal(mismatch.row, i / m.n);
		in_sums += mismatch.is_sum;
		if (mismatch.is_sum)
			assert_int_equal(mismatch.column, i % m.n / 16 * 16);
		m.c[i] = right;
	}
	assert_true(in_sums > 20);
	matmul_reference_free(&reference);
	free_matrices(&m);
}

// Factors of 10 bits of fraction leave their mark, whatever n; other errors are not taken for it.
static void rounded_factors_are_told_apart(void **state)
{
	static const uint32_t sizes[] = { 8, 33, 200, 600 };
	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct matrices m = random_matrices(sizes[i]);
		struct matmul_reference reference = reference_of(&m);
		tare_host_matmul(m.c, m.a, m.b, m.n);
		assert_false(matmul_looks_rounded(&reference, m.c));
		m.c[reference.rows[0] * m.n] += 2;
		assert_false(matmul_looks_rounded(&reference, m.c));
		m.c[reference.rows[0] * m.n] = NAN;
		assert_false(matmul_looks_rounded(&reference, m.c));
		tare_precision_put(TARE_BLAS_TF32, m.a, (size_t)m.n * m.n, m.a);
		tare_precision_put(TARE_BLAS_TF32, m.b, (size_t)m.n * m.n, m.b);
		tare_host_matmul(m.c, m.a, m.b, m.n);
		assert_true(matmul_looks_rounded(&reference, m.c));
		matmul_reference_free(&reference);
		free_matrices(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_in_any_order_are_within_the_bound),
		cmocka_unit_test(the_reference_is_the_product),
		cmocka_unit_test(an_element_beyond_the_bound_is_found),
		cmocka_unit_test(rounded_factors_are_told_apart),
		cmocka_unit_test(in_large_products_every_element_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
