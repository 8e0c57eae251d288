// SPDX-License-Identifier: Apache-2.0
#include "result/number.h"
#include "tare_config.h"

#include <float.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "json_rig.h"

static void numbers_have_the_digits_to_read_the_same_value_back(void **state)
{
	static const struct {
		double value;
		const char *text;
	} rows[] = {
		{ 0, "0" },
		{ -0.0, "0" },
		{ 5, "5" },
		{ -2.5, "-2.5" },
		{ 0.1, "0.1" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 66.9e12, "66900000000000" },
		{ 1e22, "1e+22" },
		{ 5e-324, "4.94065645841247e-324" },
		{ DBL_MAX, "1.7976931348623157e+308" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[TARE_NUMBER_TEXT];
		assert_string_equal(tare_number_text(rows[i].value, text), rows[i].text);
		assert_true(strtod(text, NULL) == rows[i].value);
	}
}

static void numbers_have_a_point_in_every_locale(void **state)
{
	static const struct {
		const char *printed, *separator, *text;
	} rows[] = {
		{ "2,5", ",", "2.5" }, { "-2,5e-07", ",", "-2.5e-07" }, { "2.5", ".", "2.5" },
		{ "25", ",", "25" },   { "2\u066b5", "\u066b", "2.5" }, { "2.5", "", "2.5" },
	};
	static const char *const names[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", NULL };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[TARE_NUMBER_TEXT];
		strcpy(text, rows[i].printed);
		tare_number_point(text, rows[i].separator);
		assert_string_equal(text, rows[i].text);
	}
	// Where one with a comma is installed, also in earnest.
	for (int i = 0; names[i]; i++) {
		char text[TARE_NUMBER_TEXT];
		setlocale(LC_NUMERIC, names[i]);
		tare_number_text(2.5, text);
		setlocale(LC_NUMERIC, "C");
		assert_string_equal(text, "2.5");
	}
}

#if TARE_HAVE_JSON
#include <jansson.h>

static struct tare_result *rich_parts(void)
{
	struct tare_result *result = tare_result_new("checkup");
	assert_non_null(result);
	assert_int_equal(rich_fill_parts(result), 0);
	return result;
}

// With TARE_TEST_OUTPUT set, what the tests write is left there, to be validated with the schema.
static void keep(const char *name, const char *text)
{
	const char *folder = getenv("TARE_TEST_OUTPUT");
	char path[4096];
	FILE *file;
	if (!folder)
		return;
	snprintf(path, sizeof path, "%s/%s.json", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void a_document_reads_back_byte_for_byte(void **state)
{
	(void)state;
	for (int list_devices = 0; list_devices < 2; list_devices++) {
		struct tare_result *result = rich(list_devices);
		struct tare_result *read = NULL;
		struct tare_error error = { 0 };
		char *first = write_text(result), *second;
		keep(list_devices ? "devices" : "bandwidth", first);
		if (tare_result_read_json(first, strlen(first), &read, &error) < 0)
			fail_msg("%s", error.message);
		second = write_text(read);
		assert_string_equal(first, second);
		assert_int_equal(read->device_count, 1 + list_devices);
		assert_null(read->devices[0].same_by);
		if (list_devices)
			assert_string_equal(read->devices[1].same_by, "PCI address");
		tare_result_free(result);
		tare_result_free(read);
		free(first);
		free(second);
	}
}

static void a_document_with_parts_reads_back_byte_for_byte(void **state)
{
	static const char *const commands[] = { "devices", "latency" };
	struct tare_result *result = rich_parts(), *read = NULL;
	struct tare_error error = { 0 };
	char *first = write_text(result), *second;
	(void)state;
	keep("checkup", first);
	if (tare_result_read_json(first, strlen(first), &read, &error) < 0)
		fail_msg("%s", error.message);
	second = write_text(read);
	assert_string_equal(first, second);
	assert_int_equal(read->part_count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(read->parts[i]->command, commands[i]);
	assert_int_equal(read->parts[0]->device_count, 2);
	assert_int_equal(read->parts[1]->cells[0].samples[11], 1033);
	assert_int_equal(read->parts[1]->conclusion_count, 2);
	assert_int_equal(read->conclusion_count, 1);
	assert_int_equal(read->warning_count, 1);
	tare_result_free(result);
	tare_result_free(read);
	free(first);
	free(second);
}

// Saved results must be written again as they were.
static void what_a_document_lacks_is_not_written(void **state)
{
	struct tare_result *result = tare_result_new("latency");
	char *text = write_text(result);
	(void)state;
	assert_null(strstr(text, "\"conclusions\""));
	assert_null(strstr(text, "\"parts\""));
	tare_result_free(result);
	free(text);
}

static void an_empty_document_reads_back(void **state)
{
	struct tare_result *result = tare_result_new("latency");
	struct tare_result *read = NULL;
	char *first = write_text(result), *second;
	(void)state;
	keep("empty", first);
	assert_int_equal(tare_result_read_json(first, strlen(first), &read, NULL), 0);
	second = write_text(read);
	assert_string_equal(first, second);
	assert_false(read->clock.present);
	assert_int_equal(read->clock.floor_ns, -1);
	tare_result_free(result);
	tare_result_free(read);
	free(first);
	free(second);
}

// Byte-identical text would also come from a reader and a writer that both forget a field.
static void the_fields_come_back_with_their_values(void **state)
{
	struct tare_result *result = rich(false), *read = NULL;
	char *text = write_text(result);
	const struct tare_cell *cell;
	const struct tare_device_entry *device;
	(void)state;
	assert_int_equal(tare_result_read_json(text, strlen(text), &read, NULL), 0);
	assert_string_equal(read->command, "bandwidth");
	assert_string_equal(read->written_at, "1970-01-01T00:00:00Z");
	assert_true(read->interrupted);
	assert_int_equal(tare_labels_find(&read->parameters, "seed")->number, INT64_MAX);
	assert_string_equal(tare_labels_find(&read->host, "cpu")->text, "a CPU");
	device = &read->devices[0];
	assert_string_equal(device->facts.fact[TARE_FACT_NAME].text, "GPU \"one\" \\ µ");
	assert_int_equal(device->facts.fact[TARE_FACT_TYPE].origin, TARE_ORIGIN_GUESS);
	assert_int_equal(device->facts.fact[TARE_FACT_MEMORY].count, UINT64_C(150754820096));
	assert_true(device->facts.fact[TARE_FACT_TIMER_RESOLUTION].rate == 1000.0 / 12);
	assert_true(device->facts.fact[TARE_FACT_UNIFIED].present);
	assert_false(device->facts.fact[TARE_FACT_UUID].present);
	assert_string_equal(tare_fact_reason(&device->facts, TARE_FACT_UUID),
	                    "OpenCL does not tell");
	assert_int_equal(device->number, 7);
	assert_int_equal(device->engines[1].class, TARE_ENGINE_COPY);
	assert_false(device->engines[1].known);
	assert_int_equal(read->clock.rate.hz_denominator, 2);
	assert_int_equal(read->clock.fit.rate.valid_bits, 36);
	assert_true(read->clock.fit.origin_ticks == UINT64_MAX);
	assert_int_equal(read->clock.fit.origin_host.ns, -5);
	assert_true(read->clock.fit.drift_error_ppm == 0.1 + 0.2);
	assert_int_equal(read->absence_count, 2);
	assert_null(read->absences[1].action);
	cell = &read->cells[0];
	assert_int_equal(cell->samples[11], 1033);
	assert_int_equal(cell->summary.outliers_mild, 2);
	assert_int_equal(cell->summary.outliers_severe, 1);
	assert_true(cell->summary.drifting && cell->summary.quantised && cell->converged);
	assert_true(cell->summary.autocorrelation == -0.25 && cell->summary.effective_n == 7.5);
	assert_int_equal(cell->verified, TARE_VERIFIED);
	assert_true(cell->rate.work == 65536 && cell->rate.present);
	assert_string_equal(cell->method, "blocking write, own queue");
	assert_int_equal(read->cells[1].verified, TARE_WRONG);
	assert_false(read->cells[1].converged);
	assert_true(isnan(read->cells[2].summary.ci_high));
	assert_int_equal(tare_labels_find(&read->cells[2].labels, "queues")->number, -1);
	assert_string_equal(read->cells[3].absent, "this device has no shared memory");
	assert_int_equal(read->plots[0].kind, TARE_PLOT_LINE);
	assert_int_equal(read->plots[1].kind, TARE_PLOT_BAR);
	assert_int_equal(read->plots[2].kind, TARE_PLOT_TIMELINE);
	assert_true(read->plots[2].series[0].points[1].high == 251);
	assert_int_equal(read->conclusion_count, 2);
	assert_string_equal(read->conclusions[0].id, "worth-it");
	assert_string_equal(read->conclusions[1].text, "The link limits it.");
	assert_true(read->plots[0].x.logarithmic && !read->plots[0].y.logarithmic);
	assert_true(read->plots[0].series[0].points[0].low == 17.25);
	assert_true(isnan(read->plots[0].series[0].points[1].low));
	assert_int_equal(read->warning_count, 2);
	assert_null(read->warnings[1].action);
	tare_result_free(result);
	tare_result_free(read);
	free(text);
}

static void unknown_is_null_and_never_zero(void **state)
{
	struct tare_result *result = rich(false);
	char *text = write_text(result);
	json_t *root = json_loads(text, 0, NULL);
	json_t *absent = json_array_get(json_object_get(root, "cells"), 3);
	static const char *const keys[] = {
		"min",         "median",   "p95",  "max",     "autocorrelation",
		"effective_n", "outliers", "rate", "verified"
	};
	(void)state;
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (!json_is_null(json_object_get(absent, keys[i])))
			fail_msg("%s is not null", keys[i]);
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "inf"));
	json_decref(root);
	tare_result_free(result);
	free(text);
}

static void samples_are_one_line(void **state)
{
	struct tare_result *result = tare_result_new("latency");
	struct tare_series series = { 0 };
	char *text, *at, *end;
	(void)state;
	assert_int_equal(rich_series(&series, 1000), 0);
	assert_int_equal(tare_cell_take_series(tare_result_add_cell(result, "time", "ns", "host"),
	                                       &series, TARE_CONVERGED),
	                 0);
	text = write_text(result);
	at = strstr(text, "\"samples\": [1000, 1003, ");
	assert_non_null(at);
	end = strchr(at, '\n');
	assert_non_null(end);
	*end = '\0';
	assert_non_null(strstr(at, ", 3997]"));
	tare_result_free(result);
	free(text);
}

static void what_a_driver_calls_a_name_cannot_break_the_document(void **state)
{
	static const struct {
		const char *name, *written;
	} rows[] = {
		{ "caf\xc3\xa9", "caf\xc3\xa9" },
		{ "\xff", "\xef\xbf\xbd" },
		{ "a\xc3", "a\xef\xbf\xbd" },
		{ "\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
		{ "a\nb\tc", "a b c" },
		{ "\x1b[31m", "\xef\xbf\xbd[31m" },
		{ "\xc2\x9b"
		  "1m",
		  "\xef\xbf\xbd"
		  "1m" },
		{ "\x7f", "\xef\xbf\xbd" },
		{ "\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_result *result = tare_result_new("latency"), *read = NULL;
		struct tare_error error;
		char *text;
		assert_int_equal(tare_labels_set_text(&result->host, "cpu", rows[i].name), 0);
		assert_int_equal(tare_labels_set_number(&result->parameters, rows[i].name, 1), 0);
		text = write_text(result);
		if (tare_result_read_json(text, strlen(text), &read, &error) < 0)
			fail_msg("row %zu: %s", i, error.message);
		assert_string_equal(read->host.at[0].text, rows[i].written);
		assert_string_equal(read->parameters.at[0].name, rows[i].written);
		tare_result_free(result);
		tare_result_free(read);
		free(text);
	}
}

static void a_full_disk_is_an_error(void **state)
{
	struct tare_result *result = rich(false);
	struct tare_error error = { 0 };
	FILE *file = fopen("/dev/full", "w");
	(void)state;
	assert_non_null(file);
	assert_int_equal(tare_result_write_json(result, file, &error), -EIO);
	assert_non_null(strstr(error.message, "No space left"));
	fclose(file);
	tare_result_free(result);
}

#define JSON_TESTS                                                                                 \
	cmocka_unit_test(a_document_reads_back_byte_for_byte),                                     \
	    cmocka_unit_test(a_document_with_parts_reads_back_byte_for_byte),                      \
	    cmocka_unit_test(what_a_document_lacks_is_not_written),                                \
	    cmocka_unit_test(an_empty_document_reads_back),                                        \
	    cmocka_unit_test(the_fields_come_back_with_their_values),                              \
	    cmocka_unit_test(unknown_is_null_and_never_zero),                                      \
	    cmocka_unit_test(samples_are_one_line),                                                \
	    cmocka_unit_test(what_a_driver_calls_a_name_cannot_break_the_document),                \
	    cmocka_unit_test(a_full_disk_is_an_error),
#else

static void without_jansson_reading_and_writing_say_so(void **state)
{
	struct tare_result *result = tare_result_new("latency"), *read = NULL;
	struct tare_error error = { 0 };
	(void)state;
	assert_int_equal(tare_result_write_json(result, stdout, &error), -ENOSYS);
	assert_non_null(strstr(error.message, "without JSON"));
	assert_int_equal(tare_result_read_json("{}", 2, &read, &error), -ENOSYS);
	assert_int_equal(tare_result_read_file("/dev/null", &read, &error), -ENOSYS);
	tare_result_free(result);
}

#define JSON_TESTS cmocka_unit_test(without_jansson_reading_and_writing_say_so),
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_the_digits_to_read_the_same_value_back),
		cmocka_unit_test(numbers_have_a_point_in_every_locale), JSON_TESTS
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
