// SPDX-License-Identifier: Apache-2.0
// Samples of as many blocks as unrolled source makes: what is looked up for each of all others
// takes minutes.
#include "blocks/report/timed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FILE_ID = 1, BLOCKS = 2000, LINES = 2 * BLOCKS };

// A module that is nothing but the name of its file: OpString.
static uint32_t words[] = { 0x07230203, 0x00010000, 0, 2, 0, 4 << 16 | 7, FILE_ID, 0, 0 };

// Each block has two lines of its own, and is a block of code of its own.
static struct tare_blocks_piece pieces[LINES];
static struct tare_blocks_block blocks[BLOCKS];
static struct tare_blocks_line lines[LINES];
static uint64_t executions[BLOCKS];
static struct tare_blocks_line_time met[LINES];
static struct tare_blocks_code_time codes[BLOCKS];

static int fill(void **state)
{
	static char own[] = "";

	(void)state;
	for (uint32_t i = 0; i < LINES; i++) {
		pieces[i] = (struct tare_blocks_piece){ .file = FILE_ID, .line = LINES - i };
		lines[i] = (struct tare_blocks_line){ .file = FILE_ID, .line = i + 1 };
		met[i] = (struct tare_blocks_line_time){ own, i + 1, 1 };
	}
	for (uint32_t i = 0; i < BLOCKS; i++) {
		blocks[i] = (struct tare_blocks_block){ .first_piece = 2 * i, .pieces = 2 };
		executions[i] = 10;
		codes[i] = (struct tare_blocks_code_time){ .lines = &met[2 * i],
			                                   .line_count = 2,
			                                   .no_line = 1 };
	}
	return 0;
}

static void many_blocks_are_joined_at_once(void **state)
{
	struct tare_blocks_build build = { .source = "k.cl" };
	struct tare_blocks_kernel kernel = { .build = &build, .executions = executions };
	struct tare_blocks_kernel_time time = {
		.lines = met, .line_count = LINES, .codes = codes, .code_count = BLOCKS
	};
	struct tare_blocks_timed timed;
	struct tare_error error;

	(void)state;
	memcpy(&words[7], "k.cl", 4);
	build.module.blocks = blocks;
	build.module.pieces = pieces;
	build.module.block_count = BLOCKS;
	build.module.piece_count = LINES;
	assert_int_equal(spirv_words_read(words, sizeof words, &build.module.words, &error), 0);
	assert_int_equal(tare_blocks_timed_make(&kernel, &time, lines, LINES, &timed), 0);
	assert_int_equal(timed.counted, LINES);
	for (uint32_t i = 0; i < BLOCKS; i++) {
		assert_int_equal(timed.least[i], 3);
		assert_int_equal(timed.most[i], 3);
	}
	tare_blocks_timed_free(&timed);
	spirv_words_free(&build.module.words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(many_blocks_are_joined_at_once, fill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
