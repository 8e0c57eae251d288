// SPDX-License-Identifier: Apache-2.0
// Sets of build options: what stays of the program's own, and where pragmas go in a source.
#include "guest/blocks/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct blocks_pragma pragmas[BLOCKS_MOST_PRAGMAS];
static char made[4096];

// The source with the set's pragmas, in `made`; a bit for each that was placed.
static uint64_t place(const char *set, const char *source)
{
	const char *wrong;
	uint64_t placed;

	int count = blocks_words_pragmas(set, pragmas, &wrong);
	assert_true(count >= 0);
	size_t room = blocks_words_room(pragmas, (unsigned)count, strlen(source));
	assert_true(room < sizeof made);
	size_t bytes =
	    blocks_words_place(pragmas, (unsigned)count, source, strlen(source), made, &placed);
	assert_true(bytes <= room);
	made[bytes] = '\0';
	return placed;
}

static void composed_is(enum blocks_api api, const char *own, const char *set, const char *all)
{
	char text[256];

	blocks_words_compose(api, own, set, blocks_words_options(set), text);
	assert_string_equal(text, all);
}

static void what_a_source_needs_stays(void **state)
{
	(void)state;
	composed_is(BLOCKS_OPENCL, "-cl-mad-enable -DA=1 -I \"a b\" -O3 -include x.h -w", "-g",
	            "-DA=1 -I \"a b\" -include x.h -g");
	composed_is(BLOCKS_OPENCL, "-D 'A=x -y' -cl-opt-disable", "-g #14 unroll 4",
	            "-D 'A=x -y' -g ");
	composed_is(BLOCKS_LEVEL_ZERO, "-ze-opt-disable -ze-opt-greater-than-4GB-buffer-required",
	            "-g", "-ze-opt-greater-than-4GB-buffer-required -g");
	composed_is(BLOCKS_OPENCL, "", "-DA=\"x #1 y\" #2 z", "-DA=\"x #1 y\" ");
}

static void what_is_no_pragma_is_told(void **state)
{
	static const char *const none[] = { "#",       "#5",      "#x unroll",     "#x: unroll",
		                            "#0 y",    "#5 #6 y", "#5x unroll",    "#-5 unroll",
		                            "#5 a\"b", "#5 a\\b", "#99999999999 y" };
	const char *wrong;

	(void)state;
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		assert_int_equal(blocks_words_pragmas(none[i], pragmas, &wrong), -1);
	assert_int_equal(blocks_words_pragmas("-g #5 a #x", pragmas, &wrong), -1);
	assert_string_equal(wrong, "#x");
	assert_int_equal(
	    blocks_words_pragmas("#1 a #2 a #3 a #4 a #5 a #6 a #7 a #8 a", pragmas, &wrong),
	    BLOCKS_MOST_PRAGMAS);
	assert_int_equal(
	    blocks_words_pragmas("#1 a #2 a #3 a #4 a #5 a #6 a #7 a #8 a #9 a", pragmas, &wrong),
	    -1);
	assert_int_equal(blocks_words_pragmas("-g", pragmas, &wrong), 0);
}

static void pragmas_go_before_the_first_loop_of_their_line(void **state)
{
	(void)state;
	assert_int_equal(place("#2 unroll 4", "a\nif (x) for (;;) for (;;);\nfor (;;);\n"), 1);
	assert_string_equal(made,
	                    "a\nif (x) _Pragma(\"unroll 4\") for (;;) for (;;);\nfor (;;);\n");
	assert_int_equal(place("-g #1 a b #3 c ", "while (1);\n\ndo\n;"), 3);
	assert_string_equal(made, "_Pragma(\"a b\") while (1);\n\n_Pragma(\"c\") do\n;");
	assert_int_equal(place("#1 a #1 b", "for(;;)"), 3);
	assert_string_equal(made, "_Pragma(\"a\") _Pragma(\"b\") for(;;)");
}

static void what_is_no_loop_gets_none(void **state)
{
	static const char *const none[] = {
		"// for\n",         "/* \n for */",        "\"for\"",          "x\nfor (;;);",
		"forward fore_for", "do { } while (1);\n", "'\\'' \"\\\" for", "/*/ for */",
	};

	(void)state;
	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		uint64_t placed = place("#1 a", none[i]);
		// The line of the sixth begins a loop with its first word.
		assert_int_equal(placed, i == 5);
		if (i != 5)
			assert_string_equal(made, none[i]);
	}
	assert_int_equal(place("#2 a", "do {\n} while (1);"), 0);
	assert_int_equal(place("#2 a", "do i++;\nwhile (i < n);"), 0);
	assert_int_equal(place("#3 a", "do {\nif (a) { }\n} while (1);"), 0);
	assert_int_equal(place("#2 a", "if (a) { b(); }\nwhile (i < n) i++;"), 1);
	assert_int_equal(place("#3 a", "do {\nif (a) { }\nwhile (i < n) i++;\n} while (1);"), 1);
	assert_int_equal(place("#4 a", "do { } while (1);\ndo\n{ while (a) ; }\nwhile (b);"), 0);
	assert_int_equal(place("#3 a", "\"a\\\nb\";\nfor (;;);"), 1);
	assert_int_equal(place("#3 a", "/* \n */ \"\n for (;;);"), 1);
}

static void a_name_chooses_sources(void **state)
{
	(void)state;
	assert_int_equal(place("#add:1 a", "for (;;) adder();"), 0);
	assert_int_equal(place("#add:1 a", "for (;;) add();"), 1);
	assert_int_equal(place("#add:1 a", "for (;;); // add"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_source_needs_stays),
		cmocka_unit_test(what_is_no_pragma_is_told),
		cmocka_unit_test(pragmas_go_before_the_first_loop_of_their_line),
		cmocka_unit_test(what_is_no_loop_gets_none),
		cmocka_unit_test(a_name_chooses_sources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
