// SPDX-License-Identifier: Apache-2.0
// Quantiles by counting, against those of values that are selected.
#include "analysis/core/lengths.h"

#include "base/random.h"
#include "model/statistics/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 5000, ROUNDS = 200 };

// Bits that a value may have: few make ties, 32 fill each bin, 33 are too many for the narrow ones.
static const int bits[] = { 1, 4, 10, 11, 12, 21, 22, 32, 33 };

static void compare(const int64_t *values, size_t count, double p)
{
	struct tare_lengths lengths = { 0 };
	int64_t *selected = malloc(count * sizeof *selected);
	assert_non_null(selected);
	for (size_t i = 0; i < count; i++) {
		selected[i] = values[i];
		assert_int_equal(tare_lengths_add(&lengths, values[i]), 0);
	}
	assert_int_equal(lengths.count, count);
	double expected = tare_select_quantile(selected, count, p);
	double got = tare_lengths_quantile(&lengths, p);
	assert_memory_equal(&got, &expected, sizeof got);
	tare_lengths_free(&lengths);
	free(selected);
}

static void quantiles_are_those_of_selection(void **state)
{
	static const double places[] = { 0, 0.05, 0.5, 0.95, 1 };
	struct tare_random random = { 11 };
	int64_t *values = malloc(MOST * sizeof *values);
	(void)state;
	assert_non_null(values);
	for (int round = 0; round < ROUNDS; round++) {
		size_t count = 1 + (size_t)tare_random_below(&random, round % 4 ? 9 : MOST);
		int width = bits[(size_t)round % (sizeof bits / sizeof *bits)];
		for (size_t i = 0; i < count; i++)
			values[i] = (int64_t)tare_random_below(&random, UINT64_C(1) << width);
		for (size_t i = 0; i < sizeof places / sizeof *places; i++)
			compare(values, count, places[i]);
	}
	free(values);
}

static void what_does_not_fit_is_kept(void **state)
{
	(void)state;
	const int64_t values[] = { 7, UINT32_MAX, -5, (int64_t)UINT32_MAX + 1, INT64_MAX / 2, 3 };
	for (size_t count = 1; count <= sizeof values / sizeof *values; count++)
		compare(values, count, 0.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_those_of_selection),
		cmocka_unit_test(what_does_not_fit_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
