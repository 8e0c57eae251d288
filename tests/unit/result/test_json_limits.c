// SPDX-License-Identifier: Apache-2.0
// What the reader of result documents refuses because there is too much of it.
#include "result/json.h"

#include "rich_result.h"
#include "tare_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#if TARE_HAVE_JSON

// gcc 12 at -O3, once it is inlined, takes the stream's text for the local that points to it.
__attribute__((noinline)) static char *write_text(const struct tare_result *result)
{
	char *text = NULL;
	size_t length = 0;
	FILE *file = open_memstream(&text, &length);
	assert_non_null(file);
	assert_int_equal(tare_result_write_json(result, file, NULL), 0);
	fclose(file);
	return text;
}

// Parts within a part are refused whatever they hold; a hostile document could nest them for ever.
static void a_part_has_no_parts(void **state)
{
	struct tare_result *result = tare_result_new("checkup"), *read = NULL;
	struct tare_error error = { 0 };
	char *text, *inner, *nested = NULL, *to = NULL, *at;
	(void)state;
	assert_int_equal(rich_fill_parts(result), 0);
	text = write_text(result);
	inner = write_text(result->parts[1]);
	inner[strlen(inner) - 2] = '\0';
	assert_true(asprintf(&to, "\"parts\": [%s, \"parts\": []},", inner) > 0);
	at = strstr(text, "\"parts\": [");
	assert_non_null(at);
	assert_true(asprintf(&nested, "%.*s%s%s", (int)(at - text), text, to,
	                     at + strlen("\"parts\": [")) > 0);
	assert_int_equal(tare_result_read_json(nested, strlen(nested), &read, &error), -EINVAL);
	assert_string_equal(error.message, "parts[0].parts: a part has no parts of its own");
	tare_result_free(result);
	free(text);
	free(inner);
	free(nested);
	free(to);
}

static char *repeated(const char *head, const char *piece, size_t n, const char *tail)
{
	size_t length = strlen(piece);
	char *text = malloc(strlen(head) + n * length + strlen(tail) + 1), *at = text;
	assert_non_null(text);
	at = stpcpy(at, head);
	for (size_t i = 0; i < n; i++)
		at = (char *)memcpy(at, piece, length) + length;
	strcpy(at, tail);
	return text;
}

static void absurd_documents_are_refused_before_they_cost_memory(void **state)
{
	static const struct {
		const char *head, *piece;
		size_t n;
		const char *tail, *complaint;
	} rows[] = {
		{ "{\"schema\": ", "[", 1000000, "", "nested too deeply" },
		{ "{\n\n\"a\":", "{\"a\":", 40, "",
		  "line 3: lists and objects are nested too deeply" },
		{ "[", "1,", 20000000, "1]", "too many values" },
		{ "[", "[],", 2000000, "1]", "too many values" },
		{ "", "\"\\\\\\\"[[[[[[\"", 100, "", "line 1" },
		{ "", "        ", (256 << 17) + 1, "", "larger than 256 MB" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char *text = repeated(rows[i].head, rows[i].piece, rows[i].n, rows[i].tail);
		struct tare_result *read = NULL;
		struct tare_error error = { 0 };
		assert_int_equal(tare_result_read_json(text, strlen(text), &read, &error), -EINVAL);
		if (!strstr(error.message, rows[i].complaint))
			fail_msg("row %zu: '%s'", i, error.message);
		free(text);
	}
}

static void too_many_labels_are_refused(void **state)
{
	struct tare_result *result = tare_result_new("latency"), *read = NULL;
	struct tare_error error = { 0 };
	char *text, name[16];
	(void)state;
	for (int i = 0; i < 257; i++) {
		snprintf(name, sizeof name, "n%d", i);
		assert_int_equal(tare_labels_set_number(&result->host, name, i), 0);
	}
	text = write_text(result);
	assert_int_equal(tare_result_read_json(text, strlen(text), &read, &error), -EINVAL);
	assert_non_null(strstr(error.message, "host: has more than 256 members"));
	tare_result_free(result);
	free(text);
}

static void too_many_parts_are_refused(void **state)
{
	struct tare_result *result = tare_result_new("checkup"), *read = NULL;
	struct tare_error error = { 0 };
	char *text;
	(void)state;
	for (int i = 0; i < 65; i++)
		assert_int_equal(tare_result_add_part(result, tare_result_new("latency")), 0);
	text = write_text(result);
	assert_int_equal(tare_result_read_json(text, strlen(text), &read, &error), -EINVAL);
	assert_string_equal(error.message, "parts: has more than 64 documents");
	tare_result_free(result);
	free(text);
}

#define LIMIT_TESTS                                                                                \
	cmocka_unit_test(a_part_has_no_parts),                                                     \
	    cmocka_unit_test(absurd_documents_are_refused_before_they_cost_memory),                \
	    cmocka_unit_test(too_many_labels_are_refused),                                         \
	    cmocka_unit_test(too_many_parts_are_refused),
#else

static void there_is_nothing_to_read(void **state)
{
	struct tare_result *read = NULL;
	(void)state;
	assert_int_equal(tare_result_read_json("{}", 2, &read, NULL), -ENOSYS);
}

#define LIMIT_TESTS cmocka_unit_test(there_is_nothing_to_read),
#endif

int main(void)
{
	const struct CMUnitTest tests[] = { LIMIT_TESTS };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
