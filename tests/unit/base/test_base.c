// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "base/time.h"
#include "base/units.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void sizes_are_read_as_people_write_them(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} rows[] = {
		{ "0", 0 },
		{ "512", 512 },
		{ "8K", 8192 },
		{ "8 KB", 8192 },
		{ "8KiB", 8192 },
		{ "1.5M", 1572864 },
		{ "1G", UINT64_C(1) << 30 },
		{ "2t", UINT64_C(2) << 40 },
		{ "64 B", 64 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint64_t bytes = 1;
		assert_int_equal(tare_parse_bytes(rows[i].text, &bytes, NULL), 0);
		assert_int_equal(bytes, rows[i].bytes);
	}
}

static void bad_sizes_are_refused_by_name(void **state)
{
	static const char *const rows[] = { "",      "K",   "-1", "8Q",           "0x10", "1e3",
		                            "8 K x", "1..", ".",  "99999999999T", "nan",  "inf" };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint64_t bytes = 7;
		struct tare_error error;
		assert_int_equal(tare_parse_bytes(rows[i], &bytes, &error), -EINVAL);
		assert_non_null(strstr(error.message, rows[i]));
		assert_int_equal(bytes, 7);
	}
}

static void ranges(void **state)
{
	uint64_t from, to;
	(void)state;
	assert_int_equal(tare_parse_byte_range("8K..1G", &from, &to, NULL), 0);
	assert_int_equal(from, 8192);
	assert_int_equal(to, 1 << 30);
	assert_int_equal(tare_parse_byte_range("8..64", &from, &to, NULL), 0);
	assert_int_equal(from, 8);
	assert_int_equal(to, 64);
	assert_int_equal(tare_parse_byte_range("1M", &from, &to, NULL), 0);
	assert_int_equal(from, to);
	assert_int_equal(tare_parse_byte_range("1M..1K", &from, &to, NULL), -EINVAL);
	assert_int_equal(tare_parse_byte_range("0..1K", &from, &to, NULL), -EINVAL);
	assert_int_equal(tare_parse_byte_range("1K..", &from, &to, NULL), -EINVAL);
}

static void numbers_are_written_to_three_digits(void **state)
{
	char text[TARE_UNIT_TEXT];
	(void)state;
	assert_string_equal(tare_format_bytes(8192, text), "8 KB");
	assert_string_equal(tare_format_bytes(12345, text), "12.1 KB");
	assert_string_equal(tare_format_bytes(1000, text), "1000 B");
	assert_string_equal(tare_format_bytes(UINT64_C(1) << 30, text), "1 GB");
	assert_string_equal(tare_format_ns(22, text), "22.0 ns");
	assert_string_equal(tare_format_ns(2850, text), "2.85 µs");
	assert_string_equal(tare_format_ns(43903514, text), "43.9 ms");
	assert_string_equal(tare_format_ns(999.6, text), "1.00 µs");
	assert_string_equal(tare_format_hz(12.5e6, text), "12.5 MHz");
	assert_string_equal(tare_format_significant(0.0041, 2, text), "0.0041");
	assert_string_equal(tare_format_significant(9.996, 3, text), "10.0");
}

static void unknown_numbers_are_not_printed(void **state)
{
	char text[TARE_UNIT_TEXT];
	(void)state;
	assert_string_equal(tare_format_ns(1.0 / 0.0, text), "n/a");
	assert_string_equal(tare_format_ns(0, text), "0 s");
	assert_string_equal(tare_format_significant(0.0 / 0.0, 3, text), "n/a");
}

// The seed's sample: 528,958 ticks of 12 MHz are 44,079,833 ns, not 43,903,514.
static void ticks_keep_the_rational_rate(void **state)
{
	struct tare_clock_rate rate = { 12000000, 1, 32, 1 };
	(void)state;
	assert_int_equal(tare_ticks_to_ns(&rate, 528958), 44079833);
	rate.hz_numerator = 19200000;
	assert_int_equal(tare_ticks_to_ns(&rate, 19200000), 1000000000);
	rate.hz_numerator = 12500000;
	assert_int_equal(tare_ticks_to_ps(&rate, 1), 80000);
	// An uptime of 200 days in picoseconds does not fit: it saturates, it does not wrap.
	rate.hz_numerator = 1000000000;
	assert_int_equal(tare_ticks_to_ps(&rate, UINT64_C(200) * 86400 * 1000000000), INT64_MAX);
	assert_int_equal(tare_ticks_to_ns(&rate, UINT64_MAX), INT64_MAX);
	// The widest products stay exact: 2^64 - 1 ticks of a rational rate.
	rate = (struct tare_clock_rate){ UINT64_C(1) << 63, UINT64_C(1) << 33, 64, 1 };
	assert_int_equal(tare_ticks_to_ns(&rate, UINT64_C(1) << 40), UINT64_C(1024) * 1000000000);
}

static void differences_survive_a_wrap(void **state)
{
	static const uint32_t widths[] = { 1, 32, 36, 63, 64 };
	(void)state;
	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
		struct tare_clock_rate rate = { 1000000000, 1, widths[i], 1 };
		uint64_t top = widths[i] == 64 ? UINT64_MAX : (UINT64_C(1) << widths[i]) - 1;
		assert_int_equal(
		    tare_ticks_elapsed(&rate, (struct tare_ticks){ top }, (struct tare_ticks){ 0 }),
		    1);
		// Bits above the valid ones are noise.
		if (widths[i] < 64)
			assert_int_equal(tare_ticks_elapsed(&rate, (struct tare_ticks){ 0 },
			                                    (struct tare_ticks){ top + 1 }),
			                 0);
	}
	struct tare_clock_rate rate = { 12000000, 1, 32, 1 };
	assert_int_equal(
	    tare_ticks_elapsed_signed(&rate, (struct tare_ticks){ 100 }, (struct tare_ticks){ 90 }),
	    -10);
	assert_int_equal(tare_ticks_elapsed_signed(&rate, (struct tare_ticks){ 0xfffffff0 },
	                                           (struct tare_ticks){ 16 }),
	                 32);
}

static void errors_quote_nothing_that_drives_a_terminal(void **state)
{
	static const char hostile[] = "a\nb\x1b[2J\tc\x7f\xc3\xa9";
	static const char plain[] = "a?b?[2J?c?\xc3\xa9";
	struct tare_error error;
	char expected[64];
	(void)state;
	assert_int_equal(tare_fail(&error, EINVAL, "%s", hostile), -EINVAL);
	assert_string_equal(error.message, plain);
	tare_error_prefix(&error, "%s", hostile);
	snprintf(expected, sizeof expected, "%s: %s", plain, plain);
	assert_string_equal(error.message, expected);
	tare_fail_native(&error, EIO, "opencl", "clFinish", -36, NULL, "%s", hostile);
	snprintf(expected, sizeof expected, "%s (clFinish: code -36)", plain);
	assert_string_equal(error.message, expected);
}

static void errors_name_call_and_code(void **state)
{
	struct tare_error error;
	(void)state;
	assert_int_equal(tare_fail_native(&error, EIO, "opencl", "clFinish", -36,
	                                  "CL_INVALID_COMMAND_QUEUE", "cannot wait for %s",
	                                  "queue 1"),
	                 -EIO);
	assert_string_equal(error.message,
	                    "cannot wait for queue 1 (clFinish: CL_INVALID_COMMAND_QUEUE -36)");
	tare_error_prefix(&error, "latency");
	assert_int_equal(strncmp(error.message, "latency: cannot wait", 20), 0);
	assert_int_equal(error.native, -36);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_read_as_people_write_them),
		cmocka_unit_test(bad_sizes_are_refused_by_name),
		cmocka_unit_test(ranges),
		cmocka_unit_test(numbers_are_written_to_three_digits),
		cmocka_unit_test(unknown_numbers_are_not_printed),
		cmocka_unit_test(ticks_keep_the_rational_rate),
		cmocka_unit_test(differences_survive_a_wrap),
		cmocka_unit_test(errors_name_call_and_code),
		cmocka_unit_test(errors_quote_nothing_that_drives_a_terminal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
