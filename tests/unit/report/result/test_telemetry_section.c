// SPDX-License-Identifier: Apache-2.0
// The document's section on what a device did while it was measured.
#include "measure/core/telemetry.h"
#include "report/report.h"
#include "result/json.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/telemetry_rig.h"

static struct tare_result *document(void)
{
	struct tare_result *result = tare_result_new("latency");
	struct tare_telemetry readings[] = { clock_and_reasons(1980000000, BIT(POWER_CAP)),
		                             clock_and_reasons(1760000000, 0),
		                             clock_and_reasons(345000000, BIT(IDLE)) };

	assert_non_null(result);
	result->telemetry.present = true;
	for (size_t i = 0; i < 3; i++) {
		readings[i].present |= HAS(POWER) | HAS(LINK) | HAS(TEMPERATURE);
		readings[i].power_w = 100 * (double)(i + 1);
		readings[i].temperature_c = 40 + (double)i;
		readings[i].link_generation = 5;
		readings[i].link_width = 16;
		assert_int_equal(tare_result_add_reading(result, &readings[i]), 0);
	}
	assert_int_equal(
	    tare_telemetry_summarise(result->telemetry.readings, 3, &result->telemetry.summary), 0);
	return result;
}

static char *as_json(const struct tare_result *result)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	assert_int_equal(tare_result_write_json(result, file, NULL), 0);
	fclose(file);
	return text;
}

static char *as_text(const struct tare_result *result, int verbosity)
{
	struct tare_text_options options = { .columns = 200, .verbosity = verbosity };
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	assert_int_equal(tare_report_text(result, &options, file, NULL), 0);
	fclose(file);
	return text;
}

static void the_section_survives_json(void **state)
{
	struct tare_result *first = document(), *second = NULL;
	char *text = as_json(first), *again;
	(void)state;

	assert_int_equal(tare_result_read_json(text, strlen(text), &second, NULL), 0);
	again = as_json(second);
	assert_string_equal(text, again);
	assert_int_equal(second->telemetry.summary.of[TARE_TELEMETRY_OF_CLOCK].n, 2);
	assert_float_equal(second->telemetry.summary.throttle_share[TARE_THROTTLE_POWER_CAP], 0.5,
	                   0);
	assert_float_equal(second->telemetry.summary.throttle_share[TARE_THROTTLE_HEAT], 0, 0);
	free(text);
	free(again);
	tare_result_free(first);
	tare_result_free(second);
}

static void an_absent_section_keeps_its_reason(void **state)
{
	struct tare_result *first = tare_result_new("latency"), *second = NULL;
	char *text;
	(void)state;

	first->telemetry.present = true;
	assert_int_equal(tare_set_string(&first->telemetry.absent, "no library"), 0);
	text = as_json(first);
	assert_int_equal(tare_result_read_json(text, strlen(text), &second, NULL), 0);
	assert_true(second->telemetry.present);
	assert_string_equal(second->telemetry.absent, "no library");
	free(text);
	text = as_text(second, 0);
	assert_null(strstr(text, "while measuring"));
	free(text);
	text = as_text(second, 1);
	assert_non_null(strstr(text, "while measuring: n/a: no library"));
	free(text);
	tare_result_free(first);
	tare_result_free(second);
}

static void a_section_that_cannot_be_is_refused(void **state)
{
	static const struct {
		const char *from, *to, *path;
	} rows[] = {
		{ "\"slowed_share\": 0.5", "\"slowed_share\": 1.5",
		  "telemetry.throttle.slowed_share" },
		{ "\"power_cap\": 0.5", "\"power_cap\": -1",
		  "telemetry.throttle.reasons.power_cap" },
		{ "\"readings\": 3", "\"readings\": 0", "telemetry.readings" },
		{ "\"clock_moved_share\": 0.5", "\"clock_moved_share\": [5]",
		  "telemetry.clock_moved_share" },
	};
	struct tare_result *first = document();
	char *text = as_json(first);
	(void)state;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *at = strstr(text, rows[i].from);
		struct tare_error error = { 0 };
		struct tare_result *read = NULL;
		char *wrong;
		assert_non_null(at);
		assert_true(asprintf(&wrong, "%.*s%s%s", (int)(at - text), text, rows[i].to,
		                     at + strlen(rows[i].from)) > 0);
		assert_int_equal(tare_result_read_json(wrong, strlen(wrong), &read, &error),
		                 -EINVAL);
		assert_non_null(strstr(error.message, rows[i].path));
		free(wrong);
	}
	free(text);
	tare_result_free(first);
}

static void numbers_that_are_missing_are_not_printed(void **state)
{
	struct tare_result *first = document(), *second = NULL;
	char *text, *shown;
	(void)state;

	first->telemetry.summary.of[TARE_TELEMETRY_OF_CLOCK].low = NAN;
	first->telemetry.summary.of[TARE_TELEMETRY_OF_POWER].mean = NAN;
	first->telemetry.summary.throttle_n = 0;
	text = as_json(first);
	assert_int_equal(tare_result_read_json(text, strlen(text), &second, NULL), 0);
	shown = as_text(second, 0);
	assert_non_null(strstr(shown, "while measuring: 41 C, throttling not told\n"));
	free(text);
	free(shown);
	tare_result_free(first);
	tare_result_free(second);
}

static void one_line_says_it(void **state)
{
	struct tare_result *result = document();
	char *text = as_text(result, 0);
	struct tare_device_entry *device;
	(void)state;

	assert_non_null(strstr(text, "while measuring: clock 1.87 GHz (1.76 to 1.98 GHz), 150 W "
	                             "(at most 200 W), 41 C, slowed down by power cap (50 %)\n"));
	free(text);
	device = tare_result_add_device(result);
	assert_non_null(device);
	tare_fact_set_text(&device->facts, TARE_FACT_POWER_LIMIT, TARE_ORIGIN_DRIVER, "700 W");
	tare_fact_set_text(&device->facts, TARE_FACT_LINK_NOW, TARE_ORIGIN_DRIVER, "PCIe 1.0 x16");
	text = as_text(result, 0);
	assert_non_null(strstr(text, "(at most 200 W) of 700 W, 41 C, PCIe 5.0 x16, slowed"));
	free(text);
	text = as_text(result, 1);
	assert_non_null(strstr(text, "PCIe 5.0 x16"));
	assert_non_null(strstr(text, "3 readings, 2 of them not idle"));
	free(text);
	tare_result_free(result);
}

static void the_table_has_a_row_a_number(void **state)
{
	struct tare_result *result = document();
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	(void)state;

	assert_int_equal(tare_report_csv(result, file, NULL), 0);
	fclose(file);
	assert_non_null(strstr(text, "\nclock_highest,Hz,2,,1980000000,,,,,telemetry,,,,,,,,\r\n"));
	assert_non_null(strstr(text, "\npower_mean,W,2,,150,"));
	assert_non_null(strstr(text, "\nslowed_share,,2,,0.5,"));
	assert_null(strstr(text, "memory_clock"));
	free(text);
	tare_result_free(result);
}

static void parts_are_put_together(void **state)
{
	struct tare_result *whole = tare_result_new("checkup"), *silent = tare_result_new("peak");
	(void)state;

	silent->telemetry.present = true;
	assert_int_equal(tare_set_string(&silent->telemetry.absent, "no answer"), 0);
	assert_int_equal(tare_result_add_part(whole, silent), 0);
	tare_telemetry_join(whole);
	assert_string_equal(whole->telemetry.absent, "no answer");
	assert_int_equal(tare_result_add_part(whole, document()), 0);
	assert_int_equal(tare_result_add_part(whole, document()), 0);
	tare_telemetry_join(whole);
	assert_null(whole->telemetry.absent);
	assert_int_equal(whole->telemetry.summary.readings, 6);
	assert_int_equal(whole->telemetry.summary.of[TARE_TELEMETRY_OF_CLOCK].n, 4);
	tare_result_free(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_section_survives_json),
		cmocka_unit_test(an_absent_section_keeps_its_reason),
		cmocka_unit_test(a_section_that_cannot_be_is_refused),
		cmocka_unit_test(numbers_that_are_missing_are_not_printed),
		cmocka_unit_test(one_line_says_it),
		cmocka_unit_test(the_table_has_a_row_a_number),
		cmocka_unit_test(parts_are_put_together),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
