// SPDX-License-Identifier: Apache-2.0
#include "result/document.h"
#include "result/json.h"

#include "result/number.h"
#include "rich_result.h"
#include "tare_config.h"

#include <float.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

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

// gcc 12 at -O3, once it is inlined, takes the stream's text for the local that points to it.
__attribute__((noinline)) static char *write_text(const struct tare_result *result)
{
	char *text = NULL;
	size_t length = 0;
	struct tare_error error = { 0 };
	FILE *file = open_memstream(&text, &length);
	assert_non_null(file);
	assert_int_equal(tare_result_write_json(result, file, &error), 0);
	fclose(file);
	return text;
}

static struct tare_result *rich(bool list_devices)
{
	struct tare_result *result = tare_result_new(list_devices ? "devices" : "bandwidth");
	assert_non_null(result);
	assert_int_equal(rich_fill(result, list_devices), 0);
	return result;
}

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

// The fields of a record and of those within it, for the test that compares them with the schema.
static json_t *declared(const struct tare_json_record *record)
{
	json_t *list = json_array();

	for (size_t i = 0; i < record->count; i++) {
		const struct tare_json_field *field = &record->fields[i];
		bool left_out = field->flags & TARE_JSON_LEFT_OUT;
		json_t *words = json_array(), *one;
		for (size_t k = 0; field->words && field->words[k]; k++)
			json_array_append_new(words, json_string(field->words[k]));
		one = json_pack(
		    "{s:s,s:b,s:b,s:o,s:o}", "key", field->key, "left_out", left_out, "null",
		    field->flags & (TARE_JSON_OR_NULL | TARE_JSON_MINUS_NULL) ||
		        ((field->known || field->known_size) && !left_out) ||
		        field->kind == TARE_JSON_NUMBER || field->kind == TARE_JSON_SHARE,
		    "words", words, "of", field->of ? declared(field->of) : json_null());
		json_array_append_new(list, one);
	}
	return list;
}

static void the_fields_are_left_for_the_schema(void **state)
{
	json_t *fields = declared(&tare_document_record);
	char *text = json_dumps(fields, JSON_INDENT(1));

	(void)state;
	assert_non_null(text);
	keep("fields", text);
	free(text);
	json_decref(fields);
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

static void truncated_documents_are_refused_in_one_sentence(void **state)
{
	struct tare_result *result = rich(false), *read = NULL;
	char *text = write_text(result);
	size_t length = strlen(text);
	(void)state;
	// The last bytes are the closing brace and a line end: without the line end it is complete.
	// Each cut costs a whole reading, so not every one is tried.
	for (size_t n = 0; n + 2 <= length; n += n < 1000 ? 1 : 7) {
		struct tare_error error = { 0 };
		// A copy of that size lets the sanitizer see a read beyond it.
		char *part = malloc(n ? n : 1);
		memcpy(part, text, n);
		if (tare_result_read_json(part, n, &read, &error) != -EINVAL)
			fail_msg("%zu bytes were accepted", n);
		assert_true(strlen(error.message) > 10);
		assert_null(strchr(error.message, '\n'));
		assert_null(read);
		if (n > 0 && !strstr(error.message, "line "))
			fail_msg("%zu bytes: no line in '%s'", n, error.message);
		free(part);
	}
	tare_result_free(result);
	free(text);
}

// In a good document, replaces the text `from` by `to`; NULL `from`: the document is `to`.
struct bad_row {
	const char *from, *to;
	const char *complaint; // which the message must hold
};

static const struct bad_row bad_rows[] = {
	{ NULL, "", "empty" },
	{ NULL, "hello", "line 1" },
	{ NULL, "\x89PNG\r\n", "line 1" },
	{ NULL, "[]", "not a tare result" },
	{ NULL, "{}", "not a tare result" },
	{ NULL, "{\"schema\": 1}", "not a tare result" },
	{ NULL, "{\"schema\": \"\\u001b[31m\"}", "not a tare result" },
	{ NULL, "{\"schema\": \"other/1\"}", "its schema is 'other/1'" },
	{ NULL, "{\"schema\": \"tare.result/2\"}", "update tare" },
	{ NULL, "{\"schema\": \"tare.result/10\", \"cells\": 1}", "update tare" },
	{ NULL, "{\"schema\": \"tare.result/0\"}", "not a tare result" },
	{ NULL, "{\"schema\": \"tare.result/x\"}", "not a tare result" },
	{ NULL, "{\"schema\": \"tare.result/1\"}", "tool: is missing" },
	{ NULL, "{\"schema\": \"tare.result/1\"} x", "line 1" },
	{ NULL, "{\"schema\": \"tare.result/1\", \"a\": \"\\u0000\"}", "line 1" },
	{ "\"command\": \"bandwidth\"", "\"command\": 7",
	  "command: must be a text, is a whole number" },
	{ "\"command\": \"bandwidth\"", "\"command\": \"\\u001b[2J\"",
	  "command: holds control characters" },
	{ "\"command\": \"bandwidth\"", "\"command\": \"\\u009b2J\"",
	  "command: holds control characters" },
	{ "\"command\": \"bandwidth\"", "\"command\": \"a\", \"command\": \"b\"", "duplicate" },
	{ "\"command\": \"bandwidth\"", "\"command\": \"\xff\"", "line " },
	{ "\"interrupted\": true", "\"interrupted\": 1", "interrupted: must be true or false" },
	{ "\"host\": {", "\"host\": { \"\\u001b\": 1,",
	  "host: has a name with control characters" },
	{ "\"cpu\": \"a CPU\"", "\"cpu\": [1]", "host.cpu: must be a text or a whole number" },
	{ "\"cpu\": \"a CPU\"", "\"cpu\": 1.5", "host.cpu: must be a text or a whole number" },
	{ "\"cpu\": \"a CPU\"", "\"cpu\": \"\\u0007\"", "host.cpu: holds control characters" },
	{ "\"seed\": 9223372036854775807", "\"seed\": 9223372036854775808", "too big integer" },
	{ "\"backend\": \"opencl\"", "\"backend\": null",
	  "device.backend: must be a text, is null" },
	{ "\"origin\": \"guess\"", "\"origin\": \"rumour\"",
	  "device.facts.type.origin: must be 'driver', 'system', 'measured', 'formula' or "
	  "'guess'" },
	{ "\"value\": 132", "\"value\": -1", "device.facts.compute_units.value: must be from 0" },
	{ "\"value\": 132", "\"value\": \"many\"",
	  "device.facts.compute_units.value: must be a whole" },
	{ "\"value\": 66900000000000", "\"value\": 1e999", "line " },
	{ "\"class\": \"copy\"", "\"class\": \"warp\"",
	  "device.engines[1].class: must be 'compute'" },
	{ "\"engines\": [", "\"engines\": [3, ",
	  "device.engines[0]: must be an object, is a whole" },
	{ "\"valid_bits\": 36", "\"valid_bits\": 65",
	  "clock.rate.valid_bits: must be from 1 to 64" },
	{ "\"hz_denominator\": 2", "\"hz_denominator\": 0",
	  "clock.rate.hz_denominator: must be from 1" },
	{ "\"18446744073709551615\"", "\"18446744073709551616\"",
	  "clock.fit.origin_ticks: must be the digits" },
	{ "\"18446744073709551615\"", "\"-1\"", "clock.fit.origin_ticks: must be the digits" },
	{ "\"18446744073709551615\"", "\"\"", "clock.fit.origin_ticks: must be the digits" },
	{ "\"residual_ns\": 40", "\"residual_ns\": -1", "clock.fit.residual_ns: must be from 0" },
	{ "\"n\": 12,", "\"n\": 13,", "cells[0].n: is 13, but there are 12 samples" },
	{ "\"n\": 12,", "\"n\": -1,", "cells[0].n: must be from 0" },
	{ "\"n\": 12,", "\"n\": 1e3,", "cells[0].n: must be a whole number, is a fraction" },
	{ "\"n\": 12,", "", "cells[0].n: is missing" },
	{ "\"samples\": [1000, 1003", "\"samples\": [1000, null",
	  "cells[0].samples[1]: must be a whole" },
	{ "\"samples\": [1000, 1003", "\"samples\": [1000, 1003.5",
	  "cells[0].samples[1]: must be a whole" },
	{ "\"samples\": [1000, 1003", "\"samples\": [1000, 9223372036854775807",
	  "cells[0].samples[1]: must be" },
	{ "\"min\": 1000", "\"min\": 1001e300", "cells[0].min: must be a whole number" },
	{ "\"max\": 1033", "\"max\": 999", "cells[0].max: must be from 1000" },
	{ "\"median\": 1016.5", "\"median\": \"fast\"",
	  "cells[0].median: must be a number or null" },
	{ "\"ci\": [1004, 1010]", "\"ci\": [1004]", "cells[0].ci: must be a list of 2 numbers" },
	{ "\"ci\": [1004, 1010]", "\"ci\": [1004, true]",
	  "cells[0].ci: must be a list of numbers" },
	{ "\"source\": \"host\"", "\"source\": \"oracle\"",
	  "cells[1].source: must be 'device', 'host' or 'model'" },
	{ "\"verified\": false", "\"verified\": \"no\"",
	  "cells[1].verified: must be true or false" },
	{ "\"absent\": null", "\"absent\": \"why\"", "cells[0].absent: gives a reason" },
	{ "\"kind\": \"bar\"", "\"kind\": \"pie\"",
	  "plots[1].kind: must be 'line', 'bar' or 'timeline'" },
	{ "[8192, 17.3, 17.25, 17.5]", "[8192, 17.3]",
	  "plots[0].series[0].points[0]: must be a list of 4" },
	{ "\"scale\": \"linear\"", "\"scale\": 1", "plots[0].y.scale: must be a text" },
	{ "\"id\": \"no-action\"", "\"id\": null", "warnings[1].id: must be a text, is null" },
	{ "\"cells\": [", "\"cells\": [null, ", "cells[0]: must be an object, is null" },
	{ "\"cells\": [", "\"sells\": [", "cells: is missing" },
	{ "\"plots\": [", "\"devices\": [], \"plots\": [", "device: must be null" },
	{ "\"conclusions\": [", "\"conclusions\": [null, ",
	  "conclusions[0]: must be an object, is null" },
	{ "\"conclusions\": [", "\"conclusions\": 3, \"x\": [", "conclusions: must be a list" },
	{ "\"id\": \"limit\"", "\"id\": 1", "conclusions[1].id: must be a text" },
	{ "\"text\": \"The", "\"text\": \"\\u001b[2JThe", "conclusions[1].text: holds control" },
	{ "\"plots\": [", "\"parts\": {}, \"plots\": [", "parts: must be a list, is an object" },
	{ "\"plots\": [", "\"parts\": [7], \"plots\": [",
	  "parts[0]: must be an object, is a whole" },
	{ "\"plots\": [", "\"parts\": [{}], \"plots\": [", "parts[0].schema: is missing" },
	{ "\"plots\": [", "\"parts\": [{\"schema\": \"tare.result/2\"}], \"plots\": [",
	  "parts[0].schema: must be 'tare.result/1'" },
	{ "\"plots\": [", "\"parts\": [{\"schema\": \"tare.result/1\"}], \"plots\": [",
	  "parts[0].tool: is missing" },
};

static char *replaced(const char *text, const struct bad_row *row)
{
	const char *at = row->from ? strstr(text, row->from) : NULL;
	char *changed = NULL;
	if (!row->from)
		return strdup(row->to);
	if (!at)
		fail_msg("the good document has no %s", row->from);
	assert_true(asprintf(&changed, "%.*s%s%s", (int)(at - text), text, row->to,
	                     at + strlen(row->from)) > 0);
	return changed;
}

static void bad_documents_are_refused_with_the_place(void **state)
{
	struct tare_result *result = rich(false), *read = NULL;
	char *text = write_text(result);
	(void)state;
	for (size_t i = 0; i < sizeof bad_rows / sizeof *bad_rows; i++) {
		char *bad = replaced(text, &bad_rows[i]);
		struct tare_error error = { 0 };
		int status = tare_result_read_json(bad, strlen(bad), &read, &error);
		if (status != -EINVAL || !strstr(error.message, bad_rows[i].complaint))
			fail_msg("%s -> %s: status %d, '%s', not '%s'", bad_rows[i].from,
			         bad_rows[i].to, status, error.message, bad_rows[i].complaint);
		for (const char *at = error.message; *at; at++)
			assert_true(*at >= 0x20 && *at < 0x7f);
		assert_null(read);
		assert_int_equal(tare_result_read_json(bad, strlen(bad), &read, NULL), -EINVAL);
		free(bad);
	}
	tare_result_free(result);
	free(text);
}

static void what_a_later_tare_adds_is_passed_over(void **state)
{
	struct tare_result *result = rich(false), *read = NULL;
	char *text = write_text(result), *again, *more;
	struct tare_error error = { 0 };
	(void)state;
	more = replaced(text,
	                &(struct bad_row){ "\"host\":", "\"new\": {\"a\": [1]}, \"host\":", "" });
	again = replaced(more, &(struct bad_row){ "\"name\": {",
	                                          "\"colour\": {\"value\": 1}, \"name\": {", "" });
	if (tare_result_read_json(again, strlen(again), &read, &error) < 0)
		fail_msg("%s", error.message);
	free(more);
	more = write_text(read);
	assert_string_equal(text, more);
	tare_result_free(result);
	tare_result_free(read);
	free(text);
	free(again);
	free(more);
}

static void files_are_named_in_the_error(void **state)
{
	static const struct {
		const char *path;
		int code;
		const char *complaint;
	} rows[] = {
		{ "/nonexistent/result.json", -ENOENT,
		  "cannot read /nonexistent/result.json: No such file" },
		{ "/", -EISDIR, "cannot read /: Is a directory" },
		{ "/dev/null", -EINVAL, "/dev/null: not a tare result: it is empty" },
		{ "/dev/zero", -EINVAL, "/dev/zero: not a tare result: it is larger" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_result *read = NULL;
		struct tare_error error = { 0 };
		assert_int_equal(tare_result_read_file(rows[i].path, &read, &error), rows[i].code);
		if (!strstr(error.message, rows[i].complaint))
			fail_msg("'%s'", error.message);
	}
}

static void a_file_larger_than_the_first_read_comes_back_whole(void **state)
{
	struct tare_result *result = tare_result_new("latency"), *read = NULL;
	struct tare_series series = { 0 };
	char path[] = "/tmp/tare-test-XXXXXX";
	int descriptor = mkstemp(path);
	FILE *file = fdopen(descriptor, "w");
	(void)state;
	assert_non_null(file);
	assert_int_equal(rich_series(&series, 100000), 0);
	assert_int_equal(tare_cell_take_series(tare_result_add_cell(result, "time", "ns", "host"),
	                                       &series, TARE_CONVERGED),
	                 0);
	assert_int_equal(tare_result_write_json(result, file, NULL), 0);
	fclose(file);
	assert_int_equal(tare_result_read_file(path, &read, NULL), 0);
	unlink(path);
	assert_int_equal(read->cells[0].summary.n, 100000);
	assert_int_equal(read->cells[0].samples[99999], 1000 + 3 * 99999);
	tare_result_free(result);
	tare_result_free(read);
}

#define JSON_TESTS                                                                                 \
	cmocka_unit_test(the_fields_are_left_for_the_schema),                                      \
	    cmocka_unit_test(a_document_reads_back_byte_for_byte),                                 \
	    cmocka_unit_test(a_document_with_parts_reads_back_byte_for_byte),                      \
	    cmocka_unit_test(what_a_document_lacks_is_not_written),                                \
	    cmocka_unit_test(an_empty_document_reads_back),                                        \
	    cmocka_unit_test(the_fields_come_back_with_their_values),                              \
	    cmocka_unit_test(unknown_is_null_and_never_zero),                                      \
	    cmocka_unit_test(samples_are_one_line),                                                \
	    cmocka_unit_test(what_a_driver_calls_a_name_cannot_break_the_document),                \
	    cmocka_unit_test(a_full_disk_is_an_error),                                             \
	    cmocka_unit_test(truncated_documents_are_refused_in_one_sentence),                     \
	    cmocka_unit_test(bad_documents_are_refused_with_the_place),                            \
	    cmocka_unit_test(what_a_later_tare_adds_is_passed_over),                               \
	    cmocka_unit_test(files_are_named_in_the_error),                                        \
	    cmocka_unit_test(a_file_larger_than_the_first_read_comes_back_whole),
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
