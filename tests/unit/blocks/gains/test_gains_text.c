// SPDX-License-Identifier: Apache-2.0
// What is known of OpenCL C before it is edited.
#include "blocks/gains/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void cleaned_is(const char *text, const char *clean)
{
	char *made = tare_blocks_text_clean(text);

	assert_string_equal(made, clean);
	free(made);
}

static void remarks_and_strings_are_blank_in_their_places(void **state)
{
	(void)state;
	cleaned_is("a /* / n */ / n; // / n\nb", "a           / n;       \nb");
	cleaned_is("\"a\\\"/*\" / '\\'' / n", "        /      / n");
	cleaned_is("a // b \\\nc\nd", "a       \n \nd");
	cleaned_is("a // b \\\r\nc\nd", "a       \r\n \nd");
	cleaned_is("#error don't\nn", "#error don  \nn");
	cleaned_is("a / b /* no end", "a / b          ");
	cleaned_is("a /", "a /");
	cleaned_is("\"no end", "       ");
	cleaned_is("\"ends in \\", "          ");
}

static void lines_are_the_texts_own(void **state)
{
	static const char *const moved[] = { "#line 3\n",   "# 3 \"x\"\n", "%: line 3\n",
		                             "#\\\nline 3", "a \?\?/\nb",  "a\rb" };
	(void)state;
	assert_true(tare_blocks_text_keeps_lines("#define A 1\r\n#if A\n#endif\na % b\n"));
	for (size_t i = 0; i < sizeof moved / sizeof *moved; i++)
		assert_false(tare_blocks_text_keeps_lines(moved[i]));
}

static void places_are_of_the_line(void **state)
{
	(void)state;
	assert_int_equal(tare_blocks_text_place("ab\nc\n", 1, 1), 0);
	assert_int_equal(tare_blocks_text_place("ab\nc\n", 2, 1), 3);
	assert_true(tare_blocks_text_place("ab\nc\n", 2, 2) == SIZE_MAX);
	assert_true(tare_blocks_text_place("ab\nc\n", 3, 1) == SIZE_MAX);
	assert_true(tare_blocks_text_place("ab\nc\n", 9, 1) == SIZE_MAX);
	assert_true(tare_blocks_text_place("ab\nc\n", 0, 1) == SIZE_MAX);
	assert_true(tare_blocks_text_place("ab\nc\n", 1, 0) == SIZE_MAX);
}

static bool is_found(const char *text, struct tare_blocks_definition *of)
{
	return tare_blocks_text_definition(text, "k", of);
}

static void a_kernel_is_found_where_it_is_named_once(void **state)
{
	struct tare_blocks_definition of;
	char name[8];

	(void)state;
	const char *text = "int kk; kernel void k (global int *a, int b[3], int cc)\n{ { x; } }";
	assert_true(is_found(text, &of));
	assert_string_equal(of.begin, "{ { x; } }");
	assert_string_equal(of.end, "}");
	assert_true(tare_blocks_text_parameter(&of, 1, name, sizeof name));
	assert_string_equal(name, "b");
	assert_true(tare_blocks_text_parameter(&of, 2, name, sizeof name));
	assert_string_equal(name, "cc");
	assert_false(tare_blocks_text_parameter(&of, 3, name, sizeof name));
	assert_false(is_found("void k(int a);\nvoid k(int a) { }", &of));
	assert_false(is_found("void k(int a) { }\nvoid j(int a) { k(a); }", &of));
	assert_false(is_found("void k(\n#if A\nint a\n#endif\n) { }", &of));
	assert_false(is_found("void k(int a) {\n#define a 3\n}", &of));
	assert_false(is_found("void k(int a) {\n# undef a\n}", &of));
	assert_false(is_found("void k(int a) {\n#include <x>\n}", &of));
	assert_true(is_found("void k(int a) {\n#if A\n#endif\n}", &of));
	assert_false(is_found("void k(int a) {", &of));
	assert_false(is_found("void k(int a", &of));
}

static bool is_written(const char *head, const char *body)
{
	struct tare_blocks_definition of;
	char text[256];

	snprintf(text, sizeof text, "%s\nvoid j(int n) { n = 3; }\nvoid k(int n) { %s }", head,
	         body);
	assert_true(is_found(text, &of));
	return tare_blocks_text_is_written(text, &of, "n");
}

static void what_gives_a_name_another_value_is_seen(void **state)
{
	static const char *const written[] = { "n = 3;",   "int n = a;", "n += 1;", "n <<= 2;",
		                               "n %= 2;",  "n++;",       "-- n;",   "f(&n);",
		                               "p = & n;", "(n) = 3;",   "++(n);",  "n \\\n= 3;",
		                               "n--;",     "a, n = 4;",  "n >>= 1;" };
	static const char *const read[] = { "a = n;",    "if (n == 3) ;", "a = b & n;", "n2 = 3;",
		                            "a.n2 = 3;", "a = n < b;",    "b <<= n;",   "a[n] & 3;",
		                            "n <= b;",   "a - n - b;",    "f(a) & n;",  "n >> 2;",
		                            "a++ / n;",  "(n) == 3;",     "a && n;",    "n != 2;" };
	(void)state;
	for (size_t i = 0; i < sizeof written / sizeof *written; i++)
		if (!is_written("", written[i]))
			fail_msg("\"%s\" writes", written[i]);
	for (size_t i = 0; i < sizeof read / sizeof *read; i++)
		if (is_written("", read[i]))
			fail_msg("\"%s\" only reads", read[i]);
	assert_true(is_written("#define BUMP(x) x; n++", "a = n;"));
	assert_true(is_written("#define BUMP(x) x; \\\n n++", "a = n;"));
	assert_false(is_written("#define READ(x) (x + n)", "a = n;"));
}

static void macros_are_known_by_name(void **state)
{
	(void)state;
	assert_true(tare_blocks_text_is_macro("# define  sin(x) y", "sin"));
	assert_true(tare_blocks_text_is_macro("#define \\\n sin y", "sin"));
	assert_false(tare_blocks_text_is_macro("#define sinf y sin", "sin"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(remarks_and_strings_are_blank_in_their_places),
		cmocka_unit_test(lines_are_the_texts_own),
		cmocka_unit_test(places_are_of_the_line),
		cmocka_unit_test(a_kernel_is_found_where_it_is_named_once),
		cmocka_unit_test(what_gives_a_name_another_value_is_seen),
		cmocka_unit_test(macros_are_known_by_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
