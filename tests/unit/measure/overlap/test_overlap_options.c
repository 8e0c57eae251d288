// SPDX-License-Identifier: Apache-2.0
// What `overlap` makes of the texts of its options: lists, ranges, breaks.
#include "measure/overlap/overlap.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void lists_and_ranges_are_read(void **state)
{
	static const struct {
		const char *text;
		size_t count;
		uint64_t values[8];
	} cycles[] = {
		{ "64", 1, { 64 } },
		{ "0", 1, { 0 } },
		{ "128,64,128", 2, { 64, 128 } },
		{ "0..256:64", 5, { 0, 64, 128, 192, 256 } },
		{ "1..10:4,7", 4, { 1, 5, 7, 9 } },
		{ "2147483647", 1, { 2147483647 } },
	}, chunks[] = {
		{ "1..8", 6, { 1, 2, 3, 4, 6, 8 } },
		{ "5..7", 3, { 5, 6, 7 } },
		{ "32,8", 2, { 8, 32 } },
		{ "1", 1, { 1 } },
	}, queues[] = { { "1..4", 4, { 1, 2, 3, 4 } }, { "8,2", 2, { 2, 8 } } };
	struct tare_overlap_options options;
	struct tare_error error;
	(void)state;
	for (size_t i = 0; i < sizeof cycles / sizeof *cycles; i++) {
		options = (struct tare_overlap_options){ 0 };
		assert_int_equal(tare_parse_cycles(cycles[i].text, &options, &error), 0);
		assert_int_equal(options.cycle_count, cycles[i].count);
		for (size_t k = 0; k < cycles[i].count; k++)
			assert_int_equal(options.cycles[k], cycles[i].values[k]);
	}
	for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
		options = (struct tare_overlap_options){ 0 };
		assert_int_equal(tare_parse_chunks(chunks[i].text, &options, &error), 0);
		assert_int_equal(options.space.chunk_count, chunks[i].count);
		for (size_t k = 0; k < chunks[i].count; k++)
			assert_int_equal(options.space.chunks[k], chunks[i].values[k]);
	}
	for (size_t i = 0; i < sizeof queues / sizeof *queues; i++) {
		options = (struct tare_overlap_options){ 0 };
		assert_int_equal(tare_parse_queues(queues[i].text, &options, &error), 0);
		assert_int_equal(options.space.queue_count, queues[i].count);
		for (size_t k = 0; k < queues[i].count; k++)
			assert_int_equal(options.space.queues[k], queues[i].values[k]);
	}
}

typedef int parser(const char *text, struct tare_overlap_options *options,
                   struct tare_error *error);

static void other_texts_are_refused_with_a_sentence(void **state)
{
	static const struct {
		parser *parse;
		const char *text, *says;
	} rows[] = {
		{ tare_parse_cycles, "", "not a number of cycles" },
		{ tare_parse_cycles, "x", "not a number" },
		{ tare_parse_cycles, "-1", "not a number" },
		{ tare_parse_cycles, "0..64", "needs a step" },
		{ tare_parse_cycles, "0..64:0", "above 0" },
		{ tare_parse_cycles, "0..64:", "above 0" },
		{ tare_parse_cycles, "64..0:8", "empty" },
		{ tare_parse_cycles, "0..1024:1", "more than 64" },
		{ tare_parse_cycles, "2147483648", "go from 0 to 2147483647" },
		{ tare_parse_cycles, "99999999999999999999", "go from" },
		{ tare_parse_cycles, "64,", "not a number" },
		{ tare_parse_cycles, "64 ", "not part of a list" },
		{ tare_parse_chunks, "0", "go from 1" },
		{ tare_parse_chunks, "1..8:2", "not part of a list" },
		{ tare_parse_chunks, "4097", "to 4096" },
		{ tare_parse_queues, "1..40", "more than 16" },
		{ tare_parse_queues, "65", "to 64" },
		{ tare_parse_breaks, "pageable,nonsense", "no break 'nonsense'" },
		{ tare_parse_breaks, "", "no break ''" },
		{ tare_parse_breaks, "pageable,", "no break ''" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_overlap_options options = { 0 };
		struct tare_error error = { 0 };
		if (rows[i].parse(rows[i].text, &options, &error) != -EINVAL)
			fail_msg("'%s' was taken", rows[i].text);
		if (!strstr(error.message, rows[i].says))
			fail_msg("'%s': %s", rows[i].text, error.message);
	}
}

static void breaks_are_read(void **state)
{
	static const struct {
		const char *text;
		uint32_t bits;
	} rows[] = {
		{ "none", 0 },
		{ "all", TARE_OVERLAP_ALL_BREAKS },
		{ "pageable", 1u << TARE_BREAK_PAGEABLE },
		{ "blocking,default-queue",
		  1u << TARE_BREAK_BLOCKING | 1u << TARE_BREAK_DEFAULT_QUEUE },
		{ "allocation,all", TARE_OVERLAP_ALL_BREAKS },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_overlap_options options = { .breaks = 77 };
		assert_int_equal(tare_parse_breaks(rows[i].text, &options, NULL), 0);
		assert_int_equal(options.breaks, rows[i].bits);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_and_ranges_are_read),
		cmocka_unit_test(other_texts_are_refused_with_a_sentence),
		cmocka_unit_test(breaks_are_read),
	};
	return cmocka_run_group_tests_name("overlap_options", tests, NULL, NULL);
}
