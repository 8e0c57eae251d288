// SPDX-License-Identifier: Apache-2.0
// Launches of different sizes are not mixed: what a kernel's figures are from is of one size.
#include "analysis/hotspots/collect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { SMALL, LARGE, SIZES, MOST = 8 };

// A counted launch, and what one group of counters said of it.
struct launch {
	int size; // SIZES: its command is not known
	uint16_t group, counter;
	double value;
};

// Counts launches of the one kernel that was chosen.
static void count(const struct launch *launches, size_t number, struct tare_counted_kernel *kernel)
{
	struct tare_recorded_shape shapes[SIZES] = {
		[SMALL] = { .dimensions = 2, .global = { 16, 16, 1 }, .local = { 16, 16, 1 } },
		[LARGE] = { .dimensions = 2, .global = { 2048, 2048, 1 }, .local = { 16, 16, 1 } },
	};
	struct tare_recorded_command commands[MOST] = { 0 };
	struct tare_recorded_count counts[MOST];
	struct tare_recorded_kernel kernels[] = { { .name = "k" } };
	struct tare_collected collected = { .chosen = true };
	struct tare_collection collection = { .run.kernels = kernel,
		                              .run.kernel_count = 1,
		                              .kernels = &collected };
	struct tare_recording recording = { .shapes = shapes,
		                            .shape_count = SIZES,
		                            .commands.plain = commands,
		                            .command_count = number,
		                            .kernels = kernels,
		                            .kernel_count = 1,
		                            .counts = counts,
		                            .count_count = number };
	struct tare_error error;

	for (uint32_t i = 0; i < number; i++) {
		bool known = launches[i].size < SIZES;
		commands[i].kind = TARE_KIND_KERNEL;
		commands[i].amount = known ? (uint64_t)launches[i].size : TARE_NO_INDEX;
		counts[i] = (struct tare_recorded_count){ .launch = i,
			                                  .command = known ? i : TARE_NO_INDEX,
			                                  .counter = launches[i].counter,
			                                  .group = launches[i].group,
			                                  .value = launches[i].value };
	}
	*kernel = (struct tare_counted_kernel){ .name = "k" };
	assert_int_equal(tare_collection_count(&collection, &recording, &error), 0);
}

static double mean(const struct tare_counted_kernel *kernel, enum tare_counter_role role)
{
	assert_int_equal(kernel->values[role].state, TARE_COUNTER_COUNTED);
	return kernel->values[role].mean;
}

static void bytes_of_a_large_launch_have_no_time_of_a_small_one(void **state)
{
	static const struct launch launches[] = {
		{ SMALL, 0, TARE_TRACE_COUNTER_DURATION_NS, 6000 },
		{ LARGE, 1, TARE_TRACE_COUNTER_L1_BYTES, 4e9 },
		{ SMALL, 0, TARE_TRACE_COUNTER_DURATION_NS, 6200 },
		{ LARGE, 0, TARE_TRACE_COUNTER_DURATION_NS, 2.7e6 },
	};
	struct tare_counted_kernel kernel;
	(void)state;

	count(launches, 4, &kernel);
	assert_float_equal(mean(&kernel, TARE_COUNTER_DURATION_NS), 2.7e6, 0);
	assert_float_equal(mean(&kernel, TARE_COUNTER_L1_BYTES), 4e9, 0);
	assert_int_equal(kernel.counted_launches, 2);
	assert_int_equal(kernel.other_sizes, 2);
}

static void a_size_without_a_group_has_no_figure_of_another_s(void **state)
{
	static const struct launch launches[] = {
		{ SMALL, 0, TARE_TRACE_COUNTER_DURATION_NS, 6000 },
		{ LARGE, 1, TARE_TRACE_COUNTER_L1_BYTES, 4e9 },
	};
	struct tare_counted_kernel kernel;
	(void)state;

	// As many groups of each: the larger one stays.
	count(launches, 2, &kernel);
	assert_int_equal(kernel.values[TARE_COUNTER_DURATION_NS].state, TARE_COUNTER_NO_INSTANCE);
	assert_float_equal(mean(&kernel, TARE_COUNTER_L1_BYTES), 4e9, 0);
}

static void launches_of_one_size_or_of_none_that_is_known_all_stay(void **state)
{
	struct launch launches[] = {
		{ SMALL, 0, TARE_TRACE_COUNTER_DURATION_NS, 6000 },
		{ SMALL, 1, TARE_TRACE_COUNTER_L1_BYTES, 2e6 },
		{ SMALL, 0, TARE_TRACE_COUNTER_DURATION_NS, 7000 },
	};
	struct tare_counted_kernel kernel;
	(void)state;

	for (int size = SMALL; size <= SIZES; size++) {
		for (int i = 0; i < 3; i++)
			launches[i].size = size;
		count(launches, 3, &kernel);
		assert_float_equal(mean(&kernel, TARE_COUNTER_DURATION_NS), 6500, 1e-9);
		assert_int_equal(kernel.counted_launches, 3);
		assert_int_equal(kernel.other_sizes, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_of_a_large_launch_have_no_time_of_a_small_one),
		cmocka_unit_test(a_size_without_a_group_has_no_figure_of_another_s),
		cmocka_unit_test(launches_of_one_size_or_of_none_that_is_known_all_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
