// SPDX-License-Identifier: Apache-2.0
// Where branches lead: words that NVIDIA's compiler made, and targets that nvdisasm shows for them;
// those of calls are the called symbol's, and lanes meet behind a BSYNC.
#include "blocks/cuda/cubin.h"
#include "blocks/cuda/sass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct tare_sass read_words(uint64_t low, uint64_t high, uint32_t sm, uint64_t pc)
{
	uint8_t code[TARE_SASS_BYTES];

	memcpy(code, &low, sizeof low);
	memcpy(code + sizeof low, &high, sizeof high);
	return tare_sass_read(code, sm, pc);
}

static void targets_are_nvdisasms(void **state)
{
	static const struct {
		uint32_t sm;
		uint64_t pc, low, high;
		const char *name;
		int64_t target;
		bool leaves;
	} rows[] = {
		{ 75, 0x090, 0x0000029000008947, 0x000fea0003800000, "BRA", 0x330, true },
		{ 75, 0x360, 0x00000a0000007945, 0x000fe40003800000, "BSSY", 0xd70, false },
		{ 75, 0xcd0, 0x000000d000007944, 0x022fea0003c00000, "CALL", 0xdb0, true },
		{ 90, 0x0c0, 0x0000000000a48947, 0x000fea0003800000, "BRA", 0x360, true },
		{ 90, 0x390, 0x00000a2000007945, 0x000fe20003800000, "BSSY", 0xdc0, false },
		{ 90, 0xd20, 0x0000000000347944, 0x002fea0003c00000, "CALL", 0xe00, true },
		{ 120, 0x0c0, 0x0000000508a47547, 0x000fea000b800000, "BRA", 0x760, true },
		{ 120, 0x7a0, 0x0000098000007945, 0x000fe60003800200, "BSSY", 0x1130, false },
		{ 120, 0x1090, 0x0000000000347944, 0x002fea0003c00000, "CALL", 0x1170, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_sass read =
		    read_words(rows[i].low, rows[i].high, rows[i].sm, rows[i].pc);
		assert_string_equal(read.name, rows[i].name);
		assert_true(read.has_target);
		assert_int_equal(read.target, rows[i].target);
		assert_int_equal(read.leaves, rows[i].leaves);
	}
}

static void the_same_bits_are_another_instruction_on_other_devices(void **state)
{
	(void)state;
	assert_string_equal(read_words(0x235, 0, 90, 0).name, "HFMA2");
	assert_string_equal(read_words(0x235, 0, 100, 0).name, "IADD");
	assert_null(read_words(0x1ff, 0, 90, 0).name);
}

static void architectures_are_compared_assumed_or_foreign(void **state)
{
	(void)state;
	assert_int_equal(tare_sass_known(90), TARE_SASS_COMPARED);
	assert_int_equal(tare_sass_known(103), TARE_SASS_ASSUMED);
	assert_int_equal(tare_sass_known(61), TARE_SASS_FOREIGN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets_are_nvdisasms),
		cmocka_unit_test(the_same_bits_are_another_instruction_on_other_devices),
		cmocka_unit_test(architectures_are_compared_assumed_or_foreign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
