// SPDX-License-Identifier: Apache-2.0
// Samples of machine code become those of counted blocks only where they can be no other block's.
#include "blocks/report/timed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FILE_ID = 1, BLOCKS = 4, LINES = 4 };

// A module that is nothing but the name of its file: OpString.
static uint32_t words[] = { 0x07230203, 0x00010000, 0, 2, 0, 4 << 16 | 7, FILE_ID, 0, 0 };

// An entry (lines 1 and 2), what leads to the loop (2), the loop (2 and 3), and the end (4 and 2).
static struct tare_blocks_piece pieces[] = { { FILE_ID, 1, { { 0 } } }, { FILE_ID, 2, { { 0 } } },
	                                     { FILE_ID, 2, { { 0 } } }, { FILE_ID, 2, { { 0 } } },
	                                     { FILE_ID, 3, { { 0 } } }, { FILE_ID, 4, { { 0 } } },
	                                     { FILE_ID, 2, { { 0 } } } };
static struct tare_blocks_block blocks[BLOCKS] = { { .first_piece = 0, .pieces = 2 },
	                                           { .first_piece = 2, .pieces = 1 },
	                                           { .first_piece = 3, .pieces = 2 },
	                                           { .first_piece = 5, .pieces = 2 } };
static uint64_t executions[BLOCKS] = { 10, 10, 1000, 10 };
static const struct tare_blocks_line lines[LINES] = { { .file = FILE_ID, .line = 1 },
	                                              { .file = FILE_ID, .line = 2 },
	                                              { .file = FILE_ID, .line = 3 },
	                                              { .file = FILE_ID, .line = 4 } };

static struct tare_blocks_timed joined(struct tare_blocks_kernel_time *time)
{
	struct tare_blocks_build build = { .source = "k.cl" };
	struct tare_blocks_kernel kernel = { .build = &build, .executions = executions };
	struct tare_blocks_timed timed;
	struct tare_error error;

	memcpy(&words[7], "k.cl", 4);
	build.module.blocks = blocks;
	build.module.pieces = pieces;
	build.module.block_count = BLOCKS;
	build.module.piece_count = 7;
	assert_int_equal(spirv_words_read(words, sizeof words, &build.module.words, &error), 0);
	assert_int_equal(tare_blocks_timed_make(&kernel, time, lines, LINES, &timed), 0);
	spirv_words_free(&build.module.words);
	return timed;
}

// The lines of one block of code, whose samples are also the kernel's.
static struct tare_blocks_timed met(struct tare_blocks_line_time *at, size_t count,
                                    uint64_t no_line)
{
	struct tare_blocks_code_time code = { .lines = at,
		                              .line_count = count,
		                              .no_line = no_line };
	struct tare_blocks_kernel_time time = { .lines = at,
		                                .line_count = count,
		                                .codes = &code,
		                                .code_count = 1,
		                                .no_line = no_line };

	return joined(&time);
}

static void expect(struct tare_blocks_timed *timed, const uint64_t least[BLOCKS],
                   const uint64_t most[BLOCKS])
{
	assert_true(timed->known);
	for (int i = 0; i < BLOCKS; i++) {
		assert_int_equal(timed->least[i], least[i]);
		assert_int_equal(timed->most[i], most[i]);
	}
	tare_blocks_timed_free(timed);
}

static void code_is_the_block_that_alone_has_lines_of_its_own_in_it(void **state)
{
	struct tare_blocks_line_time at[] = { { "", 2, 60 }, { "", 3, 30 } };

	(void)state;
	struct tare_blocks_timed timed = met(at, 2, 10);
	assert_int_equal(timed.counted, 90);
	assert_int_equal(timed.lines[1], 60);
	assert_int_equal(timed.lines[2], 30);
	expect(&timed, (uint64_t[]){ 0, 0, 100, 0 }, (uint64_t[]){ 0, 0, 100, 0 });
}

static void a_block_without_lines_of_its_own_shares_code_that_runs_as_often(void **state)
{
	struct tare_blocks_line_time at[] = { { "", 1, 5 }, { "", 2, 7 } };

	(void)state;
	struct tare_blocks_timed timed = met(at, 2, 0);
	expect(&timed, (uint64_t[]){ 5, 0, 0, 0 }, (uint64_t[]){ 12, 7, 0, 0 });
}

static void of_code_of_two_blocks_lines_tell(void **state)
{
	struct tare_blocks_line_time at[] = { { "", 3, 4 }, { "", 4, 6 }, { "", 2, 3 } };

	(void)state;
	struct tare_blocks_timed timed = met(at, 3, 2);
	expect(&timed, (uint64_t[]){ 0, 0, 4, 6 }, (uint64_t[]){ 5, 5, 9, 11 });
}

static void other_lines_and_files_are_elsewhere(void **state)
{
	struct tare_blocks_line_time at[] = { { "", 99, 1 }, { "/usr/include/other.h", 3, 2 } };

	(void)state;
	struct tare_blocks_timed timed = met(at, 2, 4);
	assert_int_equal(timed.elsewhere, 3);
	assert_int_equal(timed.counted, 0);
	expect(&timed, (uint64_t[BLOCKS]){ 0 }, (uint64_t[BLOCKS]){ 0 });
}

static void without_lines_nothing_is_known(void **state)
{
	(void)state;
	struct tare_blocks_timed timed = joined(NULL);
	assert_false(timed.known);
	tare_blocks_timed_free(&timed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_is_the_block_that_alone_has_lines_of_its_own_in_it),
		cmocka_unit_test(a_block_without_lines_of_its_own_shares_code_that_runs_as_often),
		cmocka_unit_test(of_code_of_two_blocks_lines_tell),
		cmocka_unit_test(other_lines_and_files_are_elsewhere),
		cmocka_unit_test(without_lines_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
