// SPDX-License-Identifier: Apache-2.0
// Names in little room: tests/data/short_names.txt, which the page's shortenName is held to as
// well.
#include "report/terminal/names.h"
#include "report/terminal/write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LINE = 4096 };

static void names_are_shortened_as_the_file_says(void **state)
{
	FILE *file;
	char line[LINE], short_name[LINE];
	size_t lines = 0;

	(void)state;
	snprintf(line, sizeof line, "%s/short_names.txt", getenv("TARE_TEST_DATA"));
	file = fopen(line, "r");
	assert_non_null(file);
	while (fgets(line, sizeof line, file)) {
		char *rest = line, *columns = strsep(&rest, "\t"), *name = strsep(&rest, "\t");
		if (*line == '#')
			continue;
		assert_non_null(rest);
		rest[strcspn(rest, "\n")] = '\0';
		assert_string_equal(tare_name_shorten(name, strtoul(columns, NULL, 10), short_name,
		                                      sizeof short_name),
		                    rest);
		lines++;
	}
	fclose(file);
	assert_true(lines > 50);
}

static void what_tells_kernels_apart_is_kept(void **state)
{
	static const char add[] =
	    "at::native::vectorized_elementwise_kernel<4, "
	    "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >"
	    "(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
	                  fill[] = "at::native::vectorized_elementwise_kernel<4, "
	                           "at::native::FillFunctor<float>, std::array<char*, 1ul> >"
	                           "(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)";
	char one[LINE], other[LINE];

	(void)state;
	for (size_t columns = 12; columns < sizeof fill; columns++)
		assert_string_not_equal(tare_name_shorten(add, columns, one, sizeof one),
		                        tare_name_shorten(fill, columns, other, sizeof other));
	assert_string_equal(tare_name_shorten(fill, 50, one, sizeof one),
	                    "vectorized_elementwise_kernel<FillFunctor>");
}

// Whatever a program calls its kernels: as wide as asked for at most, and whole where it fits.
static void any_text_fits(void **state)
{
	static const char letters[] = "ab_1:<>(){}#, *&~\"\x01";
	char name[120], short_name[LINE];
	uint32_t random = 20;

	(void)state;
	for (int turn = 0; turn < 20000; turn++) {
		size_t bytes = 0, columns = 4 + (size_t)turn % 40;
		for (random = random * 1664525 + 1013904223; bytes < (random >> 8) % 119; bytes++)
			name[bytes] =
			    letters[((random >> 5) + bytes * bytes * 7 + bytes * (random >> 11)) %
			            (sizeof letters - 1)];
		name[bytes] = '\0';
		tare_name_shorten(name, columns, short_name, sizeof short_name);
		assert_true(tare_text_width(short_name) <= columns);
		if (tare_text_width(name) <= columns)
			assert_string_equal(short_name, name);
	}
	memset(name, '<', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	assert_string_equal(tare_name_shorten(name, 4, short_name, sizeof short_name), "<<<…");
	assert_string_equal(tare_name_shorten("long_name", 0, short_name, 4), "lon");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_shortened_as_the_file_says),
		cmocka_unit_test(what_tells_kernels_apart_is_kept),
		cmocka_unit_test(any_text_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
