// SPDX-License-Identifier: Apache-2.0
// A first column that is kept whole is not cut where the others leave it little room.
#include "report/core/table_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char long_text[] = "a text that is longer than what the other columns leave to it";

static struct tare_cell_value text_of_row(const void *source, const void *row)
{
	(void)source;
	return tare_string(row);
}

static struct tare_cell_value one(const void *source, const void *row)
{
	(void)source, (void)row;
	return tare_integer(1);
}

static size_t one_row(const void *source)
{
	(void)source;
	return 1;
}

static const void *that_row(const void *source, size_t index)
{
	(void)source, (void)index;
	return long_text;
}

// Whether the table's text has all of it.
static bool is_whole(unsigned flags, bool flush)
{
	const struct tare_column columns[] = {
		{ .id = "text",
		  .title = "text",
		  .shown = TARE_SHOWN_TEXT,
		  .value = text_of_row,
		  .flags = flags,
		  .on = TARE_ON_TEXT },
		{ .id = "count",
		  .title = "count",
		  .shown = TARE_SHOWN_COUNT,
		  .value = one,
		  .on = TARE_ON_TEXT },
	};
	const struct tare_table table = { .id = "made",
		                          .columns = columns,
		                          .column_count = 2,
		                          .count = one_row,
		                          .row = that_row };
	const struct tare_table_part part = { .on = TARE_ON_TEXT, .others = 60, .flush = flush };
	const struct tare_text_options options = { .columns = 80 };
	char *written = NULL;
	size_t bytes = 0;
	struct tare_text text = { .options = &options, .file = open_memstream(&written, &bytes) };

	assert_non_null(text.file);
	tare_table_text(&text, &table, NULL, &part);
	assert_int_equal(fclose(text.file), 0);
	assert_false(text.failed);
	bool whole = strstr(written, long_text) != NULL;
	free(written);
	return whole;
}

static void a_first_column_is_cut_unless_it_is_whole(void **state)
{
	(void)state;
	assert_false(is_whole(0, false));
	assert_true(is_whole(TARE_WHOLE, false));
	assert_true(is_whole(TARE_WHOLE, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_first_column_is_cut_unless_it_is_whole),
	};
	return cmocka_run_group_tests_name("whole_cells", tests, NULL, NULL);
}
