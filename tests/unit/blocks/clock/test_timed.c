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

// A kernel that was counted.
struct counted {
	struct tare_blocks_block *blocks;
	struct tare_blocks_piece *pieces;
	uint32_t block_count;
	uint64_t *executions;
	const struct tare_blocks_line *lines;
	size_t line_count;
};

static struct tare_blocks_timed joined_of(const struct counted *of,
                                          struct tare_blocks_kernel_time *time)
{
	struct tare_blocks_build build = { .source = "k.cl" };
	struct tare_blocks_kernel kernel = { .build = &build, .executions = of->executions };
	struct tare_blocks_timed timed;
	struct tare_error error;

	memcpy(&words[7], "k.cl", 4);
	build.module.blocks = of->blocks;
	build.module.pieces = of->pieces;
	build.module.block_count = of->block_count;
	assert_int_equal(spirv_words_read(words, sizeof words, &build.module.words, &error), 0);
	assert_int_equal(tare_blocks_timed_make(&kernel, time, of->lines, of->line_count, &timed),
	                 0);
	spirv_words_free(&build.module.words);
	return timed;
}

static struct tare_blocks_timed joined(struct tare_blocks_kernel_time *time)
{
	return joined_of(
	    &(const struct counted){ blocks, pieces, BLOCKS, executions, lines, LINES }, time);
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

// As many of each as unrolled source makes: what is looked up for each of all others takes minutes.
static void many_blocks_are_joined_at_once(void **state)
{
	enum { MANY = 2000 };
	static struct tare_blocks_piece many_pieces[2 * MANY];
	static struct tare_blocks_block many_blocks[MANY];
	static struct tare_blocks_line many_lines[2 * MANY];
	static uint64_t many_executions[MANY];
	static struct tare_blocks_line_time at[2 * MANY];
	static struct tare_blocks_code_time codes[MANY];
	static char own[] = "";
	const struct counted all = { many_blocks,     many_pieces, MANY,
		                     many_executions, many_lines,  2 * MANY };

	(void)state;
	for (uint32_t i = 0; i < 2 * MANY; i++) {
		many_pieces[i] =
		    (struct tare_blocks_piece){ .file = FILE_ID, .line = 2 * MANY - i };
		many_lines[i] = (struct tare_blocks_line){ .file = FILE_ID, .line = i + 1 };
		at[i] = (struct tare_blocks_line_time){ own, i + 1, 1 };
	}
	for (uint32_t i = 0; i < MANY; i++) {
		many_blocks[i] = (struct tare_blocks_block){ .first_piece = 2 * i, .pieces = 2 };
		many_executions[i] = 10;
		codes[i] = (struct tare_blocks_code_time){ .lines = &at[2 * i],
			                                   .line_count = 2,
			                                   .no_line = 1 };
	}
	struct tare_blocks_kernel_time time = {
		.lines = at, .line_count = 2 * MANY, .codes = codes, .code_count = MANY
	};
	struct tare_blocks_timed timed = joined_of(&all, &time);
	assert_int_equal(timed.counted, 2 * MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		assert_int_equal(timed.least[i], 3);
		assert_int_equal(timed.most[i], 3);
	}
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
		cmocka_unit_test(many_blocks_are_joined_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
