// SPDX-License-Identifier: Apache-2.0
#include "measure/matmul/check.h"

#include "base/random.h"
#include "measure/matmul/host_matmul.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Multiply-adds that the sums may cost; beyond n = 2048 their groups grow.
#define SUMS_COST (UINT64_C(1) << 29)
#define GROUP_LEAST 16u
// A fifth of what rounding both factors to 10 bits of fraction does.
#define ROUNDED_SHARE 4e-5
// Five times as much: what is off by more is off for another reason.
#define MOST_SHARE 1e-3

double matmul_gamma(uint32_t n, double unit)
{
	double error = (double)n * unit;

	// The reference has an error of its own, of n 2^-53.
	return error / (1 - error) * (1 + 0x1p-28);
}

void matmul_reference_free(struct matmul_reference *reference)
{
	free(reference->rows);
	free(reference->element);
	free(reference->element_bound);
	free(reference->sign);
	free(reference->sum);
	free(reference->sum_bound);
	*reference = (struct matmul_reference){ 0 };
}

// Distinct rows in ascending order: each row is taken with the chance that is left for it.
static void draw_rows(struct matmul_reference *reference, struct tare_random *random)
{
	uint32_t taken = 0, n = reference->n;

	for (uint32_t row = 0; row < n && taken < reference->row_count; row++)
		if (tare_random_below(random, n - row) < reference->row_count - taken)
			reference->rows[taken++] = row;
}

static int compare_elements(struct matmul_reference *reference, const float *a, const float *b,
                            struct tare_random *random)
{
	size_t n = reference->n, count;

	reference->row_count = n <= MATMUL_CHECK_ALL ? (uint32_t)n : MATMUL_CHECK_ROWS;
	count = reference->row_count * n;
	reference->rows = calloc(reference->row_count, sizeof *reference->rows);
	reference->element = calloc(count, sizeof *reference->element);
	reference->element_bound = calloc(count, sizeof *reference->element_bound);
	if (!reference->rows || !reference->element || !reference->element_bound)
		return -ENOMEM;
	draw_rows(reference, random);
	for (uint32_t i = 0; i < reference->row_count; i++)
		tare_host_row(a + reference->rows[i] * n, b, (uint32_t)n, (uint32_t)n,
		              reference->element + i * n, reference->element_bound + i * n);
	for (size_t i = 0; i < count; i++)
		reference->element_bound[i] *= reference->gamma;
	return 0;
}

static uint32_t choose_group(uint64_t n)
{
	uint32_t group = GROUP_LEAST;

	while (n * n * n / group > SUMS_COST && group < n)
		group *= 2;
	return group;
}

// Columns of b added up by groups, with their signs and by their magnitudes.
static void add_columns(const struct matmul_reference *reference, const float *b, double *sums,
                        double *magnitudes)
{
	size_t n = reference->n;

	for (size_t k = 0; k < n; k++)
		for (size_t j = 0; j < n; j++) {
			size_t at = k * reference->group_count + j / reference->group;
			sums[at] += reference->sign[j] * (double)b[k * n + j];
			magnitudes[at] += fabs((double)b[k * n + j]);
		}
}

static int compare_sums(struct matmul_reference *reference, const float *a, const float *b,
                        struct tare_random *random)
{
	size_t n = reference->n, count;
	double *sums, *magnitudes;

	reference->group = choose_group(n);
	reference->group_count = ((uint32_t)n + reference->group - 1) / reference->group;
	count = n * reference->group_count;
	reference->sign = calloc(n, sizeof *reference->sign);
	reference->sum = calloc(count, sizeof *reference->sum);
	reference->sum_bound = calloc(count, sizeof *reference->sum_bound);
	sums = calloc(count, sizeof *sums);
	magnitudes = calloc(count, sizeof *magnitudes);
	if (reference->sign && reference->sum && reference->sum_bound && sums && magnitudes) {
		for (size_t j = 0; j < n; j++)
			reference->sign[j] = tare_random_next(random) >> 63 ? 1 : -1;
		add_columns(reference, b, sums, magnitudes);
		for (size_t i = 0; i < n; i++)
			tare_host_grouped_row(a + i * n, sums, magnitudes, (uint32_t)n,
			                      reference->group_count,
			                      reference->sum + i * reference->group_count,
			                      reference->sum_bound + i * reference->group_count);
		for (size_t i = 0; i < count; i++)
			reference->sum_bound[i] *= reference->gamma;
	} else {
		count = 0;
	}
	free(sums);
	free(magnitudes);
	return count ? 0 : -ENOMEM;
}

int matmul_reference_make(const float *a, const float *b, uint32_t n, uint64_t seed, double unit,
                          struct matmul_reference *reference)
{
	struct tare_random random = { .state = seed ^ n };
	int status;

	*reference = (struct matmul_reference){ .n = n, .gamma = matmul_gamma(n, unit) };
	status = compare_elements(reference, a, b, &random);
	if (status == 0 && n > MATMUL_CHECK_ALL)
		status = compare_sums(reference, a, b, &random);
	return status;
}

static bool wrong(double got, double expected, double bound)
{
	return !(fabs(got - expected) <= bound);
}

static bool sums_are_right(const struct matmul_reference *reference, const float *c,
                           struct matmul_mismatch *mismatch)
{
	size_t n = reference->n;

	for (size_t row = 0; row < n; row++)
		for (size_t g = 0; g < reference->group_count; g++) {
			size_t first = g * reference->group, at = row * reference->group_count + g;
			double got = 0;
			for (size_t j = first; j < n && j < first + reference->group; j++)
				got += reference->sign[j] * (double)c[row * n + j];
			if (!wrong(got, reference->sum[at], reference->sum_bound[at]))
				continue;
			*mismatch = (struct matmul_mismatch){
				.is_sum = true,
				.row = (uint32_t)row,
				.column = (uint32_t)first,
				.got = got,
				.expected = reference->sum[at],
				.bound = reference->sum_bound[at],
			};
			return false;
		}
	return true;
}

bool matmul_check(const struct matmul_reference *reference, const float *c,
                  struct matmul_mismatch *mismatch)
{
	struct matmul_mismatch unused;
	size_t n = reference->n;

	mismatch = mismatch ? mismatch : &unused;
	for (size_t i = 0; i < reference->row_count; i++)
		for (size_t j = 0; j < n; j++) {
			size_t at = i * n + j;
			double got = (double)c[reference->rows[i] * n + j];
			if (!wrong(got, reference->element[at], reference->element_bound[at]))
				continue;
			*mismatch = (struct matmul_mismatch){
				.row = reference->rows[i],
				.column = (uint32_t)j,
				.got = got,
				.expected = reference->element[at],
				.bound = reference->element_bound[at],
			};
			return false;
		}
	return reference->group == 0 || sums_are_right(reference, c, mismatch);
}

bool matmul_looks_rounded(const struct matmul_reference *reference, const float *c)
{
	size_t n = reference->n, count = reference->row_count * n;
	double squares = 0, magnitudes = 0;

	for (size_t i = 0; i < count; i++) {
		double off = (double)c[reference->rows[i / n] * n + i % n] - reference->element[i];
		squares += off * off;
		magnitudes += reference->element_bound[i] / reference->gamma;
	}
	double share = sqrt(squares / (double)count * (double)n) / (magnitudes / (double)count);
	return share > ROUNDED_SHARE && share < MOST_SHARE;
}
