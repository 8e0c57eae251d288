// SPDX-License-Identifier: Apache-2.0
// A total of a sample in the text: estimated with its interval, or at least what the timed took.
#include "report/tables/values.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

static const struct tare_estimate told = { 900, 40e6, 38e6, 42e6 };
static const struct tare_estimate too_few = { 900, NAN, NAN, NAN };
static const struct tare_estimate none_left_out = { 0, NAN, NAN, NAN };

// What is written of it in milliseconds; "-": the cell is as if all were timed.
static const char *text_of(const struct tare_estimate *estimate, int64_t timed_ns)
{
	static char text[64];
	const struct tare_cell_text cell = { .unit_ns = 1e6, .text = text, .size = sizeof text };
	text[0] = '\0';
	if (!tare_run_estimate_cell(estimate, timed_ns, &cell)) {
		assert_string_equal(text, "");
		return "-";
	}
	return text;
}

static void a_sample_that_tells_nothing_gives_a_lower_limit(void **state)
{
	(void)state;
	assert_string_equal(text_of(&too_few, 12 * MS), "≥12.0");
}

static void an_estimate_has_its_interval(void **state)
{
	(void)state;
	assert_string_equal(text_of(&told, 12 * MS), "~40.0 ±2.0");
}

static void a_total_of_all_is_exact(void **state)
{
	(void)state;
	assert_string_equal(text_of(&none_left_out, 12 * MS), "-");
}

// No command of it was timed: "at least 0" says nothing.
static void nothing_timed_is_no_limit(void **state)
{
	(void)state;
	assert_string_equal(text_of(&too_few, 0), "-");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_that_tells_nothing_gives_a_lower_limit),
		cmocka_unit_test(an_estimate_has_its_interval),
		cmocka_unit_test(a_total_of_all_is_exact),
		cmocka_unit_test(nothing_timed_is_no_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
