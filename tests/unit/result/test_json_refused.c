// SPDX-License-Identifier: Apache-2.0
// Documents that are cut, damaged, newer or large are read, or refused with the place.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "json_rig.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(truncated_documents_are_refused_in_one_sentence),
		cmocka_unit_test(bad_documents_are_refused_with_the_place),
		cmocka_unit_test(what_a_later_tare_adds_is_passed_over),
		cmocka_unit_test(files_are_named_in_the_error),
		cmocka_unit_test(a_file_larger_than_the_first_read_comes_back_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
