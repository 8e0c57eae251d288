// SPDX-License-Identifier: Apache-2.0
// Instructions in place of counters: what is taken, and what is not.
#include "analysis/hotspots/instructions.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct tare_instruction_counts made(const char *name, uint64_t launches)
{
	return (struct tare_instruction_counts){
		.name = name,
		.launches = launches,
		.counted = launches,
		.instructions = 50 * (double)launches,
		.flop = { [TARE_FLOP_FP32] = 2000 * (double)launches },
		.bytes = 8000 * (double)launches,
	};
}

// One kernel "k", of 4 launches of 2 us; of this device local memory was measured at 8 GB/s.
static void take(const struct tare_instruction_counts *counts, size_t count,
                 struct tare_hotspot *hotspot, struct tare_counted_kernel *kernel)
{
	struct tare_collection collection = { 0 };

	*kernel = (struct tare_counted_kernel){
		.name = "k", .launches = 4, .total_ns = 8000, .mean_ns = 2000
	};
	kernel->uncounted = TARE_UNCOUNTED_NOT_CHOSEN;
	collection.run.kernels = kernel;
	collection.run.kernel_count = 1;
	collection.run.device.measured_l1_bytes_per_s = 8e9;
	tare_instructions_take(counts, count, NULL, &collection);
	assert_true(collection.run.by_instructions);
	tare_hotspot_derive(kernel, &collection.run.device, hotspot);
	assert_int_equal(hotspot->verdict.bound, TARE_KERNEL_BOUND_NOT_KNOWN);
}

static void sums_are_over_launches_and_the_recorded_time(void **state)
{
	struct tare_instruction_counts counts[] = { made("k", 3), made("other", 9), made("k", 1) };
	struct tare_counted_kernel kernel;
	struct tare_hotspot hotspot;
	const struct tare_edge_traffic *edge = &hotspot.edges[TARE_EDGE_REGISTERS_L1];

	(void)state;
	take(counts, 3, &hotspot, &kernel);
	assert_int_equal(kernel.uncounted, TARE_UNCOUNTED_NONE);
	assert_true(edge->bytes == 8000 && edge->origin == TARE_RATE_ASKED);
	assert_true(fabs(edge->bytes_per_s - 4e9) < 1 && fabs(edge->measured_share - 50) < 1e-9);
	assert_true(fabs(hotspot.arithmetic.flop_per_s - 1e9) < 1 && !hotspot.arithmetic.partial);
	assert_true(fabs(hotspot.arithmetic.intensity[TARE_EDGE_REGISTERS_L1] - 0.25) < 1e-12);
	assert_true(isnan(hotspot.edges[TARE_EDGE_L2_DEVICE].bytes));
	assert_true(isnan(hotspot.time.active) && isnan(hotspot.gain.at_ceiling));
	assert_false(edge->binding);
}

static void what_was_not_counted_in_full_is_no_figure(void **state)
{
	struct tare_instruction_counts counts = made("k", 4);
	struct tare_counted_kernel kernel;
	struct tare_hotspot hotspot;

	(void)state;
	counts.counted = 3;
	take(&counts, 1, &hotspot, &kernel);
	assert_int_equal(kernel.uncounted, TARE_UNCOUNTED_NO_INSTRUCTIONS);
	assert_true(isnan(hotspot.edges[TARE_EDGE_REGISTERS_L1].bytes));
	counts = made("k", 5);
	take(&counts, 1, &hotspot, &kernel);
	assert_int_equal(kernel.uncounted, TARE_UNCOUNTED_OTHER_LAUNCHES);
	assert_true(isnan(hotspot.arithmetic.total_flop));
	take(&counts, 0, &hotspot, &kernel);
	assert_int_equal(kernel.uncounted, TARE_UNCOUNTED_NOT_LAUNCHED);
}

static void bytes_that_instructions_do_not_tell_are_said(void **state)
{
	struct tare_instruction_counts counts = made("k", 4);
	struct tare_counted_kernel kernel;
	struct tare_hotspot hotspot;

	(void)state;
	counts.unsized_known = 40; // 320 bytes at most of 32000: one in a hundred
	counts.special = 1;
	take(&counts, 1, &hotspot, &kernel);
	assert_true(hotspot.edges[TARE_EDGE_REGISTERS_L1].bytes == 8000);
	assert_true(hotspot.arithmetic.partial);
	counts.unsized_known = 41;
	take(&counts, 1, &hotspot, &kernel);
	assert_true(isnan(hotspot.edges[TARE_EDGE_REGISTERS_L1].bytes));
	assert_int_equal(hotspot.edges[TARE_EDGE_REGISTERS_L1].state, TARE_COUNTER_IN_PART);
	assert_true(hotspot.arithmetic.total_flop == 2000);
	counts.unsized_known = 0;
	counts.unsized_unknown = 1;
	take(&counts, 1, &hotspot, &kernel);
	assert_true(isnan(hotspot.edges[TARE_EDGE_REGISTERS_L1].bytes));
	assert_true(isnan(hotspot.arithmetic.intensity[TARE_EDGE_REGISTERS_L1]));
}

static void kernels_of_cuda_are_not_counted_so(void **state)
{
	struct tare_recorded_device devices[3] = { { .api = TARE_TRACE_OPENCL, .type = 4 },
		                                   { .api = TARE_TRACE_LEVELZERO, .type = 4 },
		                                   { .api = TARE_TRACE_CUDA, .type = 4 } };
	struct tare_recording recorded = { .devices = devices };

	(void)state;
	assert_false(tare_instructions_may(&recorded));
	recorded.device_count = 2;
	assert_true(tare_instructions_may(&recorded));
	recorded.device_count = 3;
	assert_false(tare_instructions_may(&recorded));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_over_launches_and_the_recorded_time),
		cmocka_unit_test(what_was_not_counted_in_full_is_no_figure),
		cmocka_unit_test(bytes_that_instructions_do_not_tell_are_said),
		cmocka_unit_test(kernels_of_cuda_are_not_counted_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
