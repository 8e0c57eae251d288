// SPDX-License-Identifier: Apache-2.0
// Instructions of a module that is made by hand, as texts.
#include "blocks/module/disassembly.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum {
	VOID = 1, // ids
	FLOAT,
	LONG,
	FLOAT4,
	GLOBAL_FLOAT,
	FUNCTION_TYPE,
	BOOL,
	HALF,
	THREE,
	MINUS,
	FOURS,
	FUNCTION,
	POINTER,
	FIRST,
	LOADED,
	PRODUCT,
	ROOT,
	IS_LESS,
	SECOND,
	THIRD,
	MERGED,
	SET,
	BOUND
};
// The table has a line an instruction.
// clang-format off
#define OP(length, op) ((uint32_t)(length) << 16 | (op))

static const uint32_t words[] = {
	SPIRV_MAGIC, 0x10000, 0, BOUND, 0,
	OP(2, SPIRV_CAPABILITY), 6, // Kernel
	OP(2, SPIRV_CAPABILITY), 4, // Addresses
	OP(5, 11), SET, 0x6e65704f, 0x732e4c43, 0x00006474, // "OpenCL.std"
	OP(3, SPIRV_MEMORY_MODEL), 2, 2,
	OP(4, SPIRV_NAME), PRODUCT, 0x646f7270, 0, // "prod"
	OP(2, SPIRV_TYPE_VOID), VOID,
	OP(3, SPIRV_TYPE_FLOAT), FLOAT, 32,
	OP(4, SPIRV_TYPE_INT), LONG, 64, 0,
	OP(2, SPIRV_TYPE_BOOL), BOOL,
	OP(4, SPIRV_TYPE_VECTOR), FLOAT4, FLOAT, 4,
	OP(4, SPIRV_TYPE_POINTER), GLOBAL_FLOAT, SPIRV_CROSS_WORKGROUP, FLOAT,
	OP(4, SPIRV_TYPE_FUNCTION), FUNCTION_TYPE, VOID, GLOBAL_FLOAT,
	OP(4, SPIRV_CONSTANT), FLOAT, HALF, 0x3f000000,
	OP(5, SPIRV_CONSTANT), LONG, THREE, 3, 0,
	OP(5, SPIRV_CONSTANT), LONG, MINUS, 0xfffffffe, 0xffffffff,
	OP(7, SPIRV_CONSTANT_COMPOSITE), FLOAT4, FOURS, HALF, HALF, HALF, HALF,
	OP(5, SPIRV_FUNCTION), VOID, FUNCTION, 0, FUNCTION_TYPE,
	OP(3, SPIRV_PARAMETER), GLOBAL_FLOAT, POINTER,
	OP(2, SPIRV_LABEL), FIRST,
	OP(6, 61), FLOAT, LOADED, POINTER, 2, 4,
	OP(5, 133), FLOAT, PRODUCT, LOADED, HALF,
	OP(6, 12), FLOAT, ROOT, SET, 61, PRODUCT,
	OP(5, 62), POINTER, ROOT, 2, 4,
	OP(5, 177), BOOL, IS_LESS, MINUS, THREE,
	OP(4, 250), IS_LESS, SECOND, THIRD,
	OP(2, SPIRV_LABEL), SECOND,
	OP(6, 251), THREE, THIRD, 7, 0, THIRD,
	OP(2, SPIRV_LABEL), THIRD,
	OP(7, 245), FLOAT4, MERGED, FOURS, FIRST, FOURS, SECOND,
	OP(2, 700), 5,
	OP(1, 253),
	OP(1, SPIRV_FUNCTION_END),
};
// clang-format on

struct texts {
	const struct tare_blocks_module *module;
	char at[16][TARE_BLOCKS_INSTRUCTION_TEXT];
	size_t count;
};

static void gather(void *context, size_t at, uint32_t file, uint32_t line)
{
	struct texts *texts = context;

	(void)file, (void)line;
	tare_blocks_disassemble(texts->module, at, texts->at[texts->count++],
	                        TARE_BLOCKS_INSTRUCTION_TEXT);
}

static void test_instructions_are_read(void **state)
{
	static const char *const wanted[] = {
		"float %15 = Load global %13",
		"float %prod = FMul %15, 0.5",
		"float %17 = sqrt %prod",
		"Store global %13, %17",
		"bool %18 = SLessThan -2, 3",
		"BranchConditional %18, block 1, else block 2",
		"Switch 3, else block 2, 7: block 2",
		("float4 %21 = Phi {0.5, 0.5, 0.5, 0.5} from block 0, {0.5, 0.5, 0.5, 0.5} from "
		 "block 1"),
		"instruction 700",
		"Return",
	};
	struct tare_blocks_module module;
	struct tare_error error = { 0 };
	struct texts texts = { .module = &module };

	(void)state;
	assert_int_equal(tare_blocks_module_read(words, sizeof words, &module, &error), 0);
	for (uint32_t i = 0; i < module.block_count; i++)
		tare_blocks_each(&module, i, gather, &texts);
	assert_int_equal(texts.count, sizeof wanted / sizeof *wanted);
	for (size_t i = 0; i < texts.count; i++)
		assert_string_equal(texts.at[i], wanted[i]);
	tare_blocks_module_free(&module);
}

static void test_a_text_is_cut_where_its_room_ends(void **state)
{
	struct tare_blocks_module module;
	struct tare_error error = { 0 };

	(void)state;
	assert_int_equal(tare_blocks_module_read(words, sizeof words, &module, &error), 0);
	size_t at = module.blocks[0].at + 2;
	for (size_t size = 1; size < 40; size++) {
		char text[41];
		memset(text, '#', sizeof text);
		tare_blocks_disassemble(&module, at, text, size);
		assert_true(strlen(text) == (size - 1 < 27 ? size - 1 : 27));
		assert_int_equal(text[size], '#');
	}
	tare_blocks_module_free(&module);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions_are_read),
		cmocka_unit_test(test_a_text_is_cut_where_its_room_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
