// SPDX-License-Identifier: Apache-2.0
// `peak`'s checks of what devices compute, against the kernels' recurrences written out.
#include "measure/peak/internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static double step(enum peak_type type, double x, bool fused)
{
	volatile float product = (float)x * (float)PEAK_FACTOR;
	volatile double wide = x * PEAK_FACTOR;
	if (type == PEAK_FP64)
		return fused ? fma(x, PEAK_FACTOR, PEAK_ADDEND) : wide + PEAK_ADDEND;
	return fused ? fmaf((float)x, (float)PEAK_FACTOR, (float)PEAK_ADDEND)
	             : product + (float)PEAK_ADDEND;
}

static double narrow(enum peak_type type, double x)
{
	return type == PEAK_FP32 ? (float)x : x;
}

// What kernels/peak_fp32.c and peak_fp64.c put out for work-item `item`.
static double compute(enum peak_type type, uint32_t width, uint32_t rounds, uint64_t item,
                      bool fused)
{
	uint32_t chains = peak_chains(type, width), steps = rounds * 512 / (chains * width);
	double x[8][16], lanes[16];
	for (uint32_t c = 0; c < chains; c++)
		for (uint32_t l = 0; l < width; l++) {
			x[c][l] = peak_start(c * width + l) + (double)(item & 7) / 8;
			for (uint32_t n = 0; n < steps; n++)
				x[c][l] = step(type, x[c][l], fused);
		}
	for (uint32_t l = 0; l < width; l++) {
		double low =
		    narrow(type, narrow(type, x[0][l] + x[1][l]) + narrow(type, x[2][l] + x[3][l]));
		lanes[l] = low;
		if (chains == 8)
			lanes[l] =
			    narrow(type, low + narrow(type, narrow(type, x[4][l] + x[5][l]) +
			                                        narrow(type, x[6][l] + x[7][l])));
	}
	for (uint32_t half = width / 2; half; half /= 2)
		for (uint32_t l = 0; l < half; l++)
			lanes[l] = narrow(type, lanes[l] + lanes[l + half]);
	return lanes[0];
}

static void put(enum peak_type type, void *output, uint64_t item, double value)
{
	if (type == PEAK_FP64)
		((double *)output)[item] = value;
	else
		((float *)output)[item] = (float)value;
}

static void checks_take_what_is_right_and_nothing_else(void **state)
{
	static const enum peak_type types[] = { PEAK_FP32, PEAK_FP64 };
	double output[32];
	(void)state;
	for (size_t t = 0; t < 2; t++)
		for (uint32_t width = 1; width <= 16; width *= 2)
			for (int fused = 0; fused < 2; fused++) {
				uint32_t few = peak_check_rounds(width);
				const char *said;
				for (uint64_t i = 0; i < 32; i++)
					put(types[t], output, i,
					    compute(types[t], width, few, i, fused));
				assert_true(peak_check_compute(types[t], width, few, output, 32));
				said = peak_tell_fused(types[t], width, output);
				if (!said)
					fail_msg("type %d, width %u, fused %d", types[t], width,
					         fused);
				assert_int_equal(strncmp(said, "fused", 5) == 0, fused);
				// Another number of rounds; nothing done; one item off.
				assert_false(
				    peak_check_compute(types[t], width, few + 1, output, 32));
				assert_false(peak_check_compute(types[t], width, 0, output, 32));
				put(types[t], output, 31, compute(types[t], width, few, 30, fused));
				assert_false(peak_check_compute(types[t], width, few, output, 32));
				for (uint64_t i = 0; i < 32; i++)
					put(types[t], output, i,
					    compute(types[t], width, 40, i, fused));
				assert_true(peak_check_compute(types[t], width, 40, output, 32));
				put(types[t], output, 3, NAN);
				assert_false(peak_check_compute(types[t], width, 40, output, 32));
			}
}

static void integers_are_checked_exactly(void **state)
{
	(void)state;
	for (uint32_t width = 1; width <= 16; width *= 2)
		for (uint32_t rounds = 1; rounds < 4; rounds++) {
			uint32_t output[32] = { 0 };
			for (uint32_t item = 0; item < 32; item++)
				for (uint32_t i = 0; i < 8 * width; i++) {
					uint32_t x = peak_start_int(i) + (item & 7);
					for (uint32_t n = 0; n < rounds * 64 / width; n++)
						x = x * PEAK_FACTOR_INT + PEAK_ADDEND_INT;
					output[item] += x;
				}
			assert_true(peak_check_compute(PEAK_INT32, width, rounds, output, 32));
			assert_false(peak_check_compute(PEAK_INT32, width, rounds + 1, output, 32));
			output[17] ^= 1;
			assert_false(peak_check_compute(PEAK_INT32, width, rounds, output, 32));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checks_take_what_is_right_and_nothing_else),
		cmocka_unit_test(integers_are_checked_exactly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
