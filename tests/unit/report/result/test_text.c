// SPDX-License-Identifier: Apache-2.0
// What the text report makes of conclusions and of documents with parts.
#include "report/report.h"
#include "report/terminal/write.h"

#include "tests/unit/result/rich_result.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char *verdict(const struct tare_text_options *options, const char *lead, const char *words)
{
	char *written = NULL;
	size_t length = 0;
	struct tare_text text = { options, open_memstream(&written, &length) };
	assert_non_null(text.file);
	tare_text_verdict(&text, lead, 2, words);
	assert_false(text.failed);
	fclose(text.file);
	return written;
}

static void the_first_sentence_of_a_verdict_is_bold_and_lines_are_wrapped(void **state)
{
	static const struct {
		unsigned columns;
		bool colour;
		const char *lead, *words, *written;
	} rows[] = {
		{ 80, false, "", "Worth it.", "Worth it.\n" },
		{ 80, true, "", "Worth it.", "\033[1mWorth it.\033[0m\n" },
		{ 80, true, "- ", "Worth it: 2.5 times. Use 3 queues. So.",
		  "- \033[1mWorth it: 2.5 times.\033[0m Use 3 queues. So.\n" },
		{ 80, true, "", "No stop at all", "\033[1mNo stop at all\033[0m\n" },
		{ 80, true, "", "", "\033[1m\033[0m\n" },
		{ 20, false, "", "Worth it: 2.5 times. Use three queues.",
		  "Worth it: 2.5 times.\n  Use three queues.\n" },
		{ 20, true, "", "Worth it: 2.5 times. Use three queues.",
		  "\033[1mWorth it: 2.5 times.\033[0m\n  Use three queues.\n" },
		{ 26, true, "", "Worth it: 2.5 times. Use three queues.",
		  "\033[1mWorth it: 2.5 times.\033[0m Use\n  three queues.\n" },
		// A number and its unit stay together.
		{ 20, false, "", "It took about 12.5 ms, no more.",
		  "It took about\n  12.5 ms, no more.\n" },
		{ 20, false, "", "It took only some 91 %: count.",
		  "It took only some\n  91 %: count.\n" },
		{ 20, false, "", "It took only some 91 rather dull",
		  "It took only some 91\n  rather dull\n" },
		{ 80, false, "", "A\033[2J name. B\n", "A?[2J name. B\n" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_text_options options = { .columns = rows[i].columns,
			                             .colour = rows[i].colour };
		char *written = verdict(&options, rows[i].lead, rows[i].words);
		if (strcmp(written, rows[i].written) != 0)
			fail_msg("row %zu: '%s', not '%s'", i, written, rows[i].written);
		free(written);
	}
}

static char *report(const struct tare_result *result, int verbosity)
{
	struct tare_text_options options = { .columns = 80, .verbosity = verbosity };
	char *text = NULL;
	size_t length = 0;
	FILE *file = open_memstream(&text, &length);
	assert_non_null(file);
	assert_int_equal(tare_report_text(result, &options, file, NULL), 0);
	fclose(file);
	return text;
}

// Each of `words` must follow the one before it.
static void assert_order(const char *text, const char *const *words, size_t count)
{
	const char *at = text;
	for (size_t i = 0; i < count; i++) {
		const char *found = strstr(at, words[i]);
		if (!found)
			fail_msg("no '%s' after '%s' in\n%s", words[i], i ? words[i - 1] : "",
			         text);
		at = found + strlen(words[i]);
	}
}

static size_t occurrences(const char *text, const char *word)
{
	size_t count = 0;
	for (const char *at = text; (at = strstr(at, word)); at++)
		count++;
	return count;
}

static void conclusions_come_after_the_figures_and_before_warnings(void **state)
{
	static const char *const order[] = { "host-to-device",
		                             "\n\nWorth it: 2.50 times. So say 3 queues.\n",
		                             "The link limits it.\n",
		                             "\n 3 of 46 cells: --budget 60", "Interrupted" };
	struct tare_result *result = tare_result_new("latency");
	char *text;
	(void)state;
	assert_int_equal(rich_fill(result, false), 0);
	text = report(result, 0);
	assert_order(text, order, 5);
	free(text);
	text = report(result, -1);
	assert_order(text, order, 3);
	assert_null(strstr(text, "--budget 60"));
	free(text);
	tare_result_free(result);
}

static void each_part_has_a_heading_and_all_have_one_head(void **state)
{
	static const char *const order[] = {
		"GPU \"one\"",      "Overlap pays.",
		"== devices ====",  "compute units 132",
		"== latency ====",  "host-to-device",
		"Worth it",         " 3 of 46 cells",
		"== together ====", " Two sizes were left out. --budget 120\n"
	};
	struct tare_result *result = tare_result_new("checkup");
	char *text;
	(void)state;
	assert_int_equal(rich_fill_parts(result), 0);
	text = report(result, 0);
	assert_order(text, order, 10);
	assert_int_equal(occurrences(text, "clock:"), 1);
	assert_int_equal(occurrences(text, "Overlap pays."), 1);
	free(text);
	tare_result_free(result);
}

static void a_checkup_that_got_nowhere_says_so(void **state)
{
	struct tare_result *result = tare_result_new("checkup");
	char *text;
	(void)state;
	assert_int_equal(tare_result_warn(result, "failed", NULL, "The device is gone."), 0);
	text = report(result, 0);
	assert_string_equal(text, "No figures.\n\n The device is gone.\n");
	free(text);
	tare_result_free(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_sentence_of_a_verdict_is_bold_and_lines_are_wrapped),
		cmocka_unit_test(conclusions_come_after_the_figures_and_before_warnings),
		cmocka_unit_test(each_part_has_a_heading_and_all_have_one_head),
		cmocka_unit_test(a_checkup_that_got_nowhere_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
