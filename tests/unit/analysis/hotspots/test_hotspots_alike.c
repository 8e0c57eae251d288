// SPDX-License-Identifier: Apache-2.0
// Which launches of a kernel are alike, and what of them the second run is told.
#include "analysis/hotspots/collect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SMALL, LARGE, SIZES, MOST = 8000 };

struct launch {
	int size;
	int64_t took_ns; // 0: it has no times
};

static struct tare_counted_kernel kernel;
static struct tare_collected collected;

// Looks at launches of one kernel, in the order in which they were called.
static void look(const struct launch *launches, size_t count, uint32_t processes, uint32_t chosen)
{
	static struct tare_recorded_command commands[MOST];
	static const uint32_t rows[] = { 0 };
	struct tare_recorded_shape shapes[SIZES] = {
		[SMALL] = { .dimensions = 1, .global = { 64 }, .local = { 64 } },
		[LARGE] = { .dimensions = 1, .global = { 640 }, .local = { 64 } },
	};
	struct tare_collection collection = { .run.kernels = &kernel,
		                              .run.kernel_count = 1,
		                              .kernels = &collected };
	struct tare_recording recording = { .shapes = shapes,
		                            .shape_count = SIZES,
		                            .commands.plain = commands,
		                            .command_count = count,
		                            .process_count = processes,
		                            .kernel_count = 1 };

	free(collected.places);
	kernel = (struct tare_counted_kernel){ .name = "k", .launches = count };
	collected = (struct tare_collected){ .chosen = true, .launches = count };
	for (size_t i = 0; i < count; i++) {
		// The last command was called first: their order is that of the calls.
		size_t at = count - 1 - i;
		commands[at] = (struct tare_recorded_command){
			.kind = TARE_KIND_KERNEL,
			.amount = (uint64_t)launches[i].size,
			.enter_ns = (int64_t)i * 1000,
			.start_ns = launches[i].took_ns ? (int64_t)i * 1000000 : TARE_NO_TIME,
			.end_ns = launches[i].took_ns ? (int64_t)i * 1000000 + launches[i].took_ns
			                              : TARE_NO_TIME,
			.part = TARE_ALONE,
		};
	}
	assert_int_equal(tare_collection_look_alike(&recording, rows, chosen, &collection), 0);
}

static void launches_that_are_alike_need_no_choice(void **state)
{
	static const struct launch launches[] = {
		{ SMALL, 100 }, { SMALL, 140 }, { SMALL, 0 }, { SMALL, 90 }
	};
	(void)state;

	look(launches, 4, 1, 1);
	assert_null(collected.places);
	assert_int_equal(kernel.unlike_launches, 0);
	assert_int_equal(kernel.like_ns, 0);
}

static void short_ones_among_long_ones_are_left_out(void **state)
{
	// Trials with fewer turns of a loop, then the work itself.
	static const struct launch launches[] = { { SMALL, 10 },   { SMALL, 200 },  { SMALL, 5000 },
		                                  { SMALL, 5200 }, { SMALL, 10 },   { SMALL, 4800 },
		                                  { SMALL, 0 },    { SMALL, 12000 } };
	(void)state;

	look(launches, 8, 1, 1);
	assert_string_equal(collected.places, "2-3+5-6");
	assert_int_equal(collected.like_launches, 4);
	assert_int_equal(kernel.unlike_launches, 4);
	assert_int_equal(kernel.unlike_ns, 10 + 200 + 10 + 12000);
	assert_int_equal(kernel.like_ns, 5000);
}

static void the_size_with_most_time_is_taken(void **state)
{
	static const struct launch launches[] = {
		{ SMALL, 100 }, { LARGE, 150 }, { SMALL, 100 }, { LARGE, 150 }, { SMALL, 50 }
	};
	(void)state;

	look(launches, 5, 1, 1);
	assert_string_equal(collected.places, "1-1+3-3");
	assert_int_equal(kernel.unlike_launches, 3);
	assert_int_equal(kernel.like_ns, 150);
}

static void places_are_few_and_spread_over_all(void **state)
{
	static struct launch launches[MOST];
	unsigned long from, last = 0;
	size_t places = 0;
	uint64_t sum = 0;
	char *at;
	(void)state;

	for (size_t i = 0; i < MOST; i++)
		launches[i] = (struct launch){ SMALL, i % 4 < 2 ? 1000 : 10 };
	look(launches, MOST, 1, 32);
	for (at = collected.places; *at; places++) {
		from = strtoul(at, &at, 10);
		assert_int_equal(*at++, '-');
		assert_true(places == 0 || from > last);
		last = strtoul(at, &at, 10);
		sum += last - from + 1;
		at += *at == '+';
	}
	assert_int_equal(places, 2048 / 32);
	assert_int_equal(sum, collected.like_launches);
	assert_int_equal(sum, 2 * places);
	assert_true(last > MOST - MOST / 32);
	assert_int_equal(kernel.unlike_launches, MOST / 2);
}

static void of_several_processes_no_place_is_known(void **state)
{
	static const struct launch launches[] = { { SMALL, 10 }, { SMALL, 5000 } };
	(void)state;

	look(launches, 2, 2, 1);
	assert_null(collected.places);
	assert_int_equal(kernel.unlike_launches, 0);
}

static int end(void **state)
{
	(void)state;
	free(collected.places);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(launches_that_are_alike_need_no_choice),
		cmocka_unit_test(short_ones_among_long_ones_are_left_out),
		cmocka_unit_test(the_size_with_most_time_is_taken),
		cmocka_unit_test(places_are_few_and_spread_over_all),
		cmocka_unit_test(of_several_processes_no_place_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, end);
}
