// SPDX-License-Identifier: Apache-2.0
// The names of `matmul`'s sizes and rungs.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "matmul_rig.h"

static void sizes_are_lists_and_ranges(void **state)
{
	static const struct {
		const char *text;
		uint32_t n[8]; // ends with 0; none at all: refused
		const char *why;
	} rows[] = {
		{ "256", { 256 }, "" },
		{ "1000,32,64", { 32, 64, 1000 }, "" },
		{ "32..256", { 32, 64, 128, 256 }, "" },
		{ "100..300", { 100, 128, 256, 300 }, "" },
		{ "64,32..64,64", { 32, 64 }, "" },
		{ "1..2,32768", { 1, 2, 32768 }, "" },
		{ "0", { 0 }, "1 to 32768" },
		{ "32769", { 0 }, "1 to 32768" },
		{ "99999999999999999999", { 0 }, "" },
		{ "", { 0 }, "not a size" },
		{ "12,", { 0 }, "not a size" },
		{ "12x", { 0 }, "'12x' is not a size" },
		{ "-3", { 0 }, "not a size" },
		{ "64..32", { 0 }, "ends before" },
		{ "..", { 0 }, "not a size" },
		{ "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", { 0 }, "more than 16" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_matmul_options options = { 0 };
		struct tare_error error = { 0 };
		int status = tare_parse_matmul_sizes(rows[i].text, &options, &error);
		size_t count = 0;
		while (rows[i].n[count])
			count++;
		if (status != (count ? 0 : -EINVAL))
			fail_msg("'%s': %d", rows[i].text, status);
		if (count && (options.n_count != count ||
		              memcmp(options.n, rows[i].n, count * sizeof options.n[0])))
			fail_msg("'%s': other sizes", rows[i].text);
		if (!strstr(error.message, rows[i].why))
			fail_msg("'%s': %s", rows[i].text, error.message);
	}
}

static void rungs_are_named(void **state)
{
	uint32_t rungs = 0;
	struct tare_error error = { 0 };
	(void)state;
	assert_int_equal(tare_parse_rungs("naive,blas", &rungs, &error), 0);
	assert_int_equal(rungs, 1u << TARE_RUNG_NAIVE | 1u << TARE_RUNG_BLAS);
	assert_int_equal(tare_parse_rungs("all", &rungs, &error), 0);
	assert_int_equal(rungs, (1u << TARE_RUNG_COUNT) - 1);
	for (int i = 0; i < TARE_RUNG_COUNT; i++) {
		assert_int_equal(tare_parse_rungs(tare_rung_name((enum tare_rung)i), &rungs, NULL),
		                 0);
		assert_int_equal(rungs, 1u << i);
		assert_true(tare_rung_title((enum tare_rung)i)[0]);
	}
	assert_int_equal(tare_parse_rungs("naive,til", &rungs, &error), -EINVAL);
	assert_non_null(strstr(error.message, "no rung 'til'; there are sequential, host-blas"));
	assert_int_equal(tare_parse_rungs("", &rungs, &error), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_lists_and_ranges),
		cmocka_unit_test(rungs_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
