// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia_peaks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void assert_near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.6g is not %.6g within %.3g", value, expected, tolerance);
}

// Data sheets: the figure NVIDIA prints for the board, in TFLOP/s and TB/s.
static void peaks_match_the_data_sheets(void **state)
{
	static const struct {
		const char *board;
		int major, minor;
		uint32_t units;
		double clock_ghz, fp32, fp64, tensor;
	} rows[] = {
		{ "Tesla V100-SXM2", 7, 0, 80, 1.530, 15.7, 7.8, 125 },
		{ "Tesla T4", 7, 5, 40, 1.590, 8.1, 0.25, 65 },
		{ "NVIDIA A100-SXM4-40GB", 8, 0, 108, 1.410, 19.5, 9.7, 312 },
		{ "NVIDIA GeForce RTX 3090", 8, 6, 82, 1.695, 35.6, 0.56, 71 },
		{ "NVIDIA GeForce RTX 4090", 8, 9, 128, 2.520, 82.6, 1.29, 165.2 },
		{ "NVIDIA L40S", 8, 9, 142, 2.520, 91.6, 1.43, 362.05 },
		{ "NVIDIA H200", 9, 0, 132, 1.980, 66.9, 33.5, 1070 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct cuda_lanes *lanes = cuda_lanes_find(rows[i].major, rows[i].minor);
		uint64_t clock_hz = (uint64_t)(rows[i].clock_ghz * 1e9);
		assert_non_null(lanes);
		assert_near(cuda_peak_flops(lanes->fp32, rows[i].units, clock_hz) / 1e12,
		            rows[i].fp32, 0.006 * rows[i].fp32);
		assert_near(cuda_peak_flops(lanes->fp64, rows[i].units, clock_hz) / 1e12,
		            rows[i].fp64, 0.02 * rows[i].fp64);
		assert_near(cuda_peak_flops(cuda_lanes_tensor(lanes, rows[i].board) / 2,
		                            rows[i].units, clock_hz) /
		                1e12,
		            rows[i].tensor, 0.015 * rows[i].tensor);
	}
}

static void unknown_capabilities_have_no_peak(void **state)
{
	static const struct {
		int major, minor;
	} rows[] = { { 6, 1 }, { 9, 1 }, { 11, 0 }, { 13, 0 }, { -1, -1 }, { 0, 0 } };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_null(cuda_lanes_find(rows[i].major, rows[i].minor));
	assert_int_equal(cuda_lanes_find(10, 3)->fp64, 0);
	assert_int_equal(cuda_lanes_find(8, 7)->tensor, 0);
	// Its data sheet has half of what the L40S's has, which the table does not explain.
	assert_int_equal(cuda_lanes_tensor(cuda_lanes_find(8, 9), "NVIDIA L40"), 0);
}

// Measured on an H200: clpeak reached 4.46 TB/s of these 4.917, nvbandwidth 55.6 GB/s of these 63.
static void memory_and_link_peaks_follow_their_formulas(void **state)
{
	(void)state;
	assert_near(cuda_peak_memory(3201000000, 6144) / 1e12, 4.917, 0.001);
	static const struct {
		uint32_t generation, width;
		double gigabytes;
	} rows[] = {
		{ 1, 16, 4.0 },    { 2, 16, 8.0 },   { 3, 16, 15.754 }, { 4, 16, 31.508 },
		{ 5, 16, 63.015 }, { 6, 16, 121.0 }, { 3, 4, 3.938 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_near(cuda_peak_link(rows[i].generation, rows[i].width) / 1e9,
		            rows[i].gigabytes, 0.001);
	assert_near(cuda_peak_link(0, 16), 0, 0);
	assert_near(cuda_peak_link(7, 16), 0, 0);
}

// The same data sheets, dense: TF32, BF16, INT8 and FP64 on matrix units, in T/s; 0: the board has
// none. Shared memory: 128 bytes a clock, half of that on Turing (GA102's paper says both).
static void matrix_peaks_match_the_data_sheets(void **state)
{
	static const struct {
		const char *board;
		int major, minor;
		uint32_t units, clock_mhz, local;
		double tf32, bf16, int8, fp64;
	} rows[] = {
		{ "Tesla V100-SXM2", 7, 0, 80, 1530, 128, 0, 0, 0, 0 },
		{ "Tesla T4", 7, 5, 40, 1590, 64, 0, 0, 130, 0 },
		{ "NVIDIA A100-SXM4-40GB", 8, 0, 108, 1410, 128, 156, 312, 624, 19.5 },
		{ "NVIDIA GeForce RTX 3090", 8, 6, 82, 1695, 128, 35.6, 71, 284, 0 },
		{ "NVIDIA GeForce RTX 4090", 8, 9, 128, 2520, 128, 82.6, 165.2, 660.6, 0 },
		{ "NVIDIA H200", 9, 0, 132, 1980, 128, 535, 1070, 2140, 66.9 },
		{ "NVIDIA GeForce RTX 5090", 12, 0, 170, 2407, 128, 104.8, 209.5, 838, 0 },
		{ "Unknown", 9, 9, 100, 2000, 0, 0, 0, 0, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_facts facts = { 0 };
		double clock_hz = rows[i].clock_mhz * 1e6;
		const struct {
			enum tare_fact_id id;
			double expected;
		} peaks[] = {
			{ TARE_FACT_PEAK_TF32, rows[i].tf32 },
			{ TARE_FACT_PEAK_BF16, rows[i].bf16 },
			{ TARE_FACT_PEAK_INT8, rows[i].int8 },
			{ TARE_FACT_PEAK_FP64_TENSOR, rows[i].fp64 },
			{ TARE_FACT_PEAK_LOCAL, rows[i].local * rows[i].units * clock_hz / 1e12 },
		};
		tare_fact_set_text(&facts, TARE_FACT_NAME, TARE_ORIGIN_DRIVER, rows[i].board);
		tare_fact_set_count(&facts, TARE_FACT_UNITS, TARE_ORIGIN_DRIVER, rows[i].units);
		tare_fact_set_count(&facts, TARE_FACT_CLOCK, TARE_ORIGIN_DRIVER,
		                    (uint64_t)clock_hz);
		cuda_set_peaks(&facts, rows[i].major, rows[i].minor, "");
		for (size_t k = 0; k < sizeof peaks / sizeof *peaks; k++) {
			const struct tare_fact *fact = &facts.fact[peaks[k].id];
			assert_int_equal(fact->present, peaks[k].expected > 0);
			if (fact->present)
				assert_near(fact->rate / 1e12, peaks[k].expected,
				            0.006 * peaks[k].expected);
			else
				assert_true(fact->text[0]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(peaks_match_the_data_sheets),
		cmocka_unit_test(unknown_capabilities_have_no_peak),
		cmocka_unit_test(matrix_peaks_match_the_data_sheets),
		cmocka_unit_test(memory_and_link_peaks_follow_their_formulas),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
