// SPDX-License-Identifier: Apache-2.0
// Numbers of fewer bits: FP16, BF16 and TF32.
#include "measure/core/precision.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void numbers_are_rounded_to_the_nearest_even(void **state)
{
	static const struct {
		float from, fp16, bf16, tf32;
	} rows[] = {
		{ 0, 0, 0, 0 },
		{ 1, 1, 1, 1 },
		{ -2.5f, -2.5f, -2.5f, -2.5f },
		{ 1 + 0x1p-11f, 1, 1, 1 },                                  // a tie, to even
		{ 1 + 0x3p-11f, 1 + 0x1p-9f, 1, 1 + 0x1p-9f },              // a tie, to even
		{ 1 + 0x1p-11f + 0x1p-20f, 1 + 0x1p-10f, 1, 1 + 0x1p-10f }, // just above it
		{ 1 + 0x1p-8f, 1 + 0x1p-8f, 1, 1 + 0x1p-8f },
		{ 1 + 0x3p-8f, 1 + 0x3p-8f, 1 + 0x1p-6f, 1 + 0x3p-8f },
		{ 65504, 65504, 65536, 65504 },
		{ 65519, 65504, 65536, 65504 },
		{ 65520, INFINITY, 65536, 65536 },
		{ 0x1p-14f, 0x1p-14f, 0x1p-14f, 0x1p-14f },
		// a subnormal tie, to even
		{ 0x3p-25f, 0x1p-23f, 0x3p-25f, 0x3p-25f },
		{ 0x1p-25f, 0, 0x1p-25f, 0x1p-25f },
		{ -0x1.8p-25f, -0x1p-24f, -0x1.8p-25f, -0x1.8p-25f },
		{ INFINITY, INFINITY, INFINITY, INFINITY },
		{ -INFINITY, -INFINITY, -INFINITY, -INFINITY },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_true(tare_fp16_value(tare_fp16_of(rows[i].from)) == rows[i].fp16);
		assert_true(tare_bf16_value(tare_bf16_of(rows[i].from)) == rows[i].bf16);
		assert_true(tare_tf32_of(rows[i].from) == rows[i].tf32);
	}
	for (uint32_t bits = 0; bits < 0x10000; bits++) {
		float half = tare_fp16_value((uint16_t)bits),
		      brain = tare_bf16_value((uint16_t)bits);
		assert_true(isnan(half) ? isnan(tare_fp16_value(tare_fp16_of(half)))
		                        : tare_fp16_of(half) == bits);
		assert_true(isnan(brain) ? isnan(tare_bf16_value(tare_bf16_of(brain)))
		                         : tare_bf16_of(brain) == bits);
	}
	assert_true(isnan(tare_tf32_of(NAN)) && isnan(tare_fp16_value(tare_fp16_of(NAN))));
	assert_true(signbit(tare_fp16_value(tare_fp16_of(-0.0f))));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_rounded_to_the_nearest_even),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
