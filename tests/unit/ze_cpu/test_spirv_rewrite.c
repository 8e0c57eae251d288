// SPDX-License-Identifier: Apache-2.0
// Specialisation constants and program-scope variables worked into SPIR-V modules.
#include "spirv/spirv_rewrite.h"

#include "tests/unit/backend/spirv_rig.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>

#include <cmocka.h>

enum { FUNCTION_TYPE = 190, KERNEL, LABEL };

// Closes a module with a kernel "k" that does nothing.
static void put_kernel(struct assembly *to)
{
	PUT(to, I(33, 3), FUNCTION_TYPE, VOID, I(54, 5), VOID, KERNEL, 0, FUNCTION_TYPE, I(248, 2),
	    LABEL, I(253, 1), I(56, 1));
}

// The changed module; fails the test where there is none, or spirv-val does not like it.
static struct spirv_words changed_module(const struct assembly *from,
                                         const struct spirv_specialisation *constants,
                                         uint32_t constant_count,
                                         const struct spirv_placement *placements,
                                         uint32_t placement_count)
{
	struct tare_error error = { 0 };
	struct spirv_words words;
	void *changed;
	size_t bytes;

	if (spirv_rewrite(from->words, from->count * 4, constants, constant_count, placements,
	                  placement_count, &changed, &bytes, &error) < 0)
		fail_msg("%s", error.message);
	assert_true(validated(changed, bytes, "spv1.4") <= 0);
	if (spirv_words_read(changed, bytes, &words, &error) < 0)
		fail_msg("%s", error.message);
	free(changed);
	return words;
}

static int refused(const struct assembly *from, const struct spirv_specialisation *constant,
                   const struct spirv_placement *placement, const char *says)
{
	struct tare_error error = { 0 };
	size_t bytes = 1;
	void *changed = &bytes;
	int status = spirv_rewrite(from->words, from->count * 4, constant, constant != NULL,
	                           placement, placement != NULL, &changed, &bytes, &error);

	if (status == 0 || changed || bytes || !strstr(error.message, says))
		fail_msg("%d, '%s' instead of '%s'", status, error.message, says);
	return status;
}

// ---- specialisation constants

// One of each kind, 50 to 55, with SpecIds 0 to 5, and a kernel.
static void put_constants(struct assembly *to)
{
	put_head(to);
	ENTRY(to, KERNEL, "k");
	for (uint32_t i = 0; i < 6; i++)
		PUT(to, I(71, 4), 50 + i, SPIRV_SPEC_ID, i);
	put_types(to);
	PUT(to, I(21, 4), 20, 16, 0, I(50, 4), UINT, 50, 7, I(50, 5), ULONG, 51, 7, 7, I(50, 4),
	    UCHAR, 52, 7, I(50, 4), FLOAT, 53, 7, I(48, 3), BOOL, 54, I(50, 4), 20, 55, 7, I(52, 6),
	    UINT, 56, 128, 50, 50);
	put_kernel(to);
}

static void values_of_constants(void **state)
{
	static const struct {
		uint32_t id, bytes;
		uint64_t value;
		uint32_t op, words[2];
	} rows[] = {
		{ 0, 4, 0xfedcba98, SPIRV_CONSTANT, { 0xfedcba98, 0 } },
		{ 1, 8, UINT64_C(0x123456789abcdef0), SPIRV_CONSTANT, { 0x9abcdef0, 0x12345678 } },
		{ 2, 1, 0xff, SPIRV_CONSTANT, { 0xff, 0 } },
		{ 3, 4, 0x3f800000, SPIRV_CONSTANT, { 0x3f800000, 0 } },
		{ 4, 1, 0, SPIRV_CONSTANT_FALSE, { 0, 0 } },
		{ 4, 1, 1, SPIRV_CONSTANT_TRUE, { 0, 0 } },
		{ 5, 2, 0x8001, SPIRV_CONSTANT, { 0x8001, 0 } },
	};
	struct assembly assembly;
	(void)state;
	put_constants(&assembly);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct spirv_specialisation given = { rows[i].id, &rows[i].value, rows[i].bytes };
		struct spirv_words words = changed_module(&assembly, &given, 1, NULL, 0);
		uint32_t id = 50 + rows[i].id;
		size_t at = spirv_find_op(&words, id, rows[i].op);
		assert_int_not_equal(at, 0);
		if (rows[i].op == SPIRV_CONSTANT)
			assert_memory_equal(words.words + at + 3, rows[i].words,
			                    rows[i].bytes > 4 ? 8 : 4);
		assert_int_equal(spirv_length(&words, at), rows[i].op != SPIRV_CONSTANT ? 3
		                                           : rows[i].bytes > 4          ? 5
		                                                                        : 4);
		// It can be specialised no more, the others can, and what is made of it stays as it
		// is.
		assert_int_equal(spirv_decorated(&words, id, SPIRV_SPEC_ID), 0);
		assert_int_not_equal(spirv_decorated(&words, id == 50 ? 51 : 50, SPIRV_SPEC_ID), 0);
		assert_int_not_equal(spirv_find_op(&words, 56, SPIRV_SPEC_OP), 0);
		spirv_words_free(&words);
	}
}

// A narrow number with a sign is kept extended in its word.
static void a_constant_with_a_sign(void **state)
{
	static const struct {
		int16_t value;
		uint32_t word;
	} rows[] = { { -2, 0xfffffffe }, { 5, 5 } };
	struct assembly assembly;
	(void)state;
	put_head(&assembly);
	ENTRY(&assembly, KERNEL, "k");
	PUT(&assembly, I(71, 4), 50, SPIRV_SPEC_ID, 0);
	put_types(&assembly);
	PUT(&assembly, I(21, 4), 20, 16, 1, I(50, 4), 20, 50, 7);
	put_kernel(&assembly);
	for (size_t i = 0; i < 2; i++) {
		struct tare_error error;
		struct spirv_words words;
		void *changed;
		size_t bytes;
		struct spirv_specialisation given = { 0, &rows[i].value, 2 };
		assert_int_equal(spirv_rewrite(assembly.words, assembly.count * 4, &given, 1, NULL,
		                               0, &changed, &bytes, &error),
		                 0);
		assert_int_equal(spirv_words_read(changed, bytes, &words, &error), 0);
		assert_int_equal(words.words[spirv_find_op(&words, 50, SPIRV_CONSTANT) + 3],
		                 rows[i].word);
		spirv_words_free(&words);
		free(changed);
	}
}

static void constants_that_are_not_there(void **state)
{
	uint64_t value = 1;
	struct assembly assembly;
	(void)state;
	put_constants(&assembly);
	assert_int_equal(refused(&assembly, &(struct spirv_specialisation){ 9, &value, 4 }, NULL,
	                         "no specialisation constant 9"),
	                 -EINVAL);
	assert_int_equal(refused(&assembly, &(struct spirv_specialisation){ 1, &value, 4 }, NULL,
	                         "constant 1 has another size than the 4 bytes given"),
	                 -EINVAL);
}

// ---- variables

struct pair {
	uint8_t first;
	uint64_t second;
	uint32_t third[3];
};

// Variables 60 (a structure), 61 (an array of 3 ulong), 62 (a pointer to 61's third), 63 (a uint in
// constant memory), 64 (without a value), 65 (a pointer to the second array behind 61).
static void put_variables(struct assembly *to)
{
	put_head(to);
	put_text(to, SPIRV_ENTRY_POINT, 2, (const uint32_t[]){ 6, KERNEL, 60, 61, 64 }, "k", 3);
	to->words[1] = 0x00010400;
	NAME(to, 60, "pair");
	LINKAGE(to, 60, "pair", 0);
	NAME(to, 64, "kept");
	PUT(to, I(71, 4), 60, SPIRV_ALIGNMENT, 8, I(71, 4), 90, SPIRV_ALIGNMENT, 8,
	    I(SPIRV_GROUP, 2), 90, I(74, 4), 90, 61, 64, I(71, 4), 50, SPIRV_SPEC_ID, 3);
	put_types(to);
	PUT(to, I(28, 4), 20, UINT, THREE, I(30, 5), 21, UCHAR, ULONG, 20, I(28, 4), 22, ULONG,
	    THREE, I(32, 4), 23, 5, ULONG, I(32, 4), 30, 5, 21, I(32, 4), 31, 5, 22, I(32, 4), 32,
	    5, 23, I(32, 4), 33, 0, UINT, I(43, 4), UCHAR, 40, 200, I(43, 5), ULONG, 41, 1, 2,
	    I(43, 4), UINT, 42, 9, I(43, 4), UINT, 43, 2, I(46, 3), ULONG, 44, I(50, 4), UINT, 50,
	    5, I(52, 6), UINT, 51, 128, 50, 42, I(44, 6), 20, 45, 42, 51, 43, I(44, 6), 21, 46, 40,
	    41, 45, I(1, 3), ULONG, 47, I(44, 6), 22, 48, 41, 44, 47, I(59, 5), 30, 60, 5, 46,
	    I(59, 5), 31, 61, 5, 48, I(52, 7), 23, 52, 70, 61, 44, 43, I(59, 5), 32, 62, 5, 52,
	    I(59, 5), 33, 63, 0, 51, I(59, 4), 31, 64, 5, I(52, 7), 23, 53, 67, 61, 43, 44,
	    I(59, 5), 32, 65, 5, 53);
	put_kernel(to);
}

static void variables_become_their_addresses(void **state)
{
	struct assembly assembly;
	struct pair pair;
	uint64_t array[3], *pointer, *beyond;
	uint32_t number, value = 100;
	const struct spirv_placement placements[] = {
		{ 60, &pair }, { 61, array }, { 62, &pointer }, { 63, &number }, { 65, &beyond },
	};
	const struct spirv_specialisation given = { 3, &value, 4 };
	(void)state;
	put_variables(&assembly);
	memset(&pair, 0xaa, sizeof pair);
	memset(array, 0xaa, sizeof array);
	struct spirv_words words = changed_module(&assembly, &given, 1, placements, 5);
	for (size_t i = 0; i < 5; i++) {
		size_t at = spirv_find_op(&words, placements[i].id, SPIRV_SPEC_OP);
		assert_int_not_equal(at, 0);
		assert_int_equal(words.words[at + 3], SPIRV_CONVERT_U_TO_PTR);
		uint64_t address;
		assert_true(spirv_constant_value(&words, words.words[at + 4], &address));
		assert_int_equal(address, (uintptr_t)placements[i].at);
		assert_string_equal(spirv_name(&words, placements[i].id), "");
		assert_int_equal(spirv_decorated(&words, placements[i].id, SPIRV_ALIGNMENT), 0);
	}
	// What was not placed is as it was.
	assert_int_not_equal(spirv_find_op(&words, 64, SPIRV_VARIABLE), 0);
	assert_string_equal(spirv_name(&words, 64), "kept");
	assert_int_not_equal(spirv_decorated(&words, 64, SPIRV_ALIGNMENT), 0);
	size_t entry = SPIRV_HEADER_WORDS;
	while (spirv_op(&words, entry) != SPIRV_ENTRY_POINT)
		entry += spirv_length(&words, entry);
	assert_int_equal(spirv_length(&words, entry), 5);
	assert_int_equal(words.words[entry + 4], 64);
	spirv_words_free(&words);

	assert_int_equal(pair.first, 200);
	assert_int_equal(pair.second, UINT64_C(0x200000001));
	assert_memory_equal(pair.third, ((uint32_t[]){ 9, 109, 2 }), 12);
	assert_memory_equal(array, ((uint64_t[]){ UINT64_C(0x200000001), 0, 0 }), 24);
	assert_ptr_equal(pointer, &array[2]);
	assert_int_equal((uintptr_t)beyond - (uintptr_t)array, 48);
	assert_int_equal(number, 109);
}

static void a_packed_structure(void **state)
{
	struct assembly assembly;
	unsigned char at[13];
	const struct spirv_placement placement = { 60, at };
	(void)state;
	put_head(&assembly);
	ENTRY(&assembly, KERNEL, "k");
	PUT(&assembly, I(71, 3), 21, SPIRV_PACKED);
	put_types(&assembly);
	PUT(&assembly, I(30, 5), 21, UCHAR, ULONG, UINT, I(32, 4), 30, 5, 21, I(43, 4), UCHAR, 40,
	    200, I(43, 5), ULONG, 41, 1, 2, I(43, 4), UINT, 42, 9, I(44, 6), 21, 46, 40, 41, 42,
	    I(59, 5), 30, 60, 5, 46);
	put_kernel(&assembly);
	struct spirv_words words = changed_module(&assembly, NULL, 0, &placement, 1);
	spirv_words_free(&words);
	assert_memory_equal(at, "\310\1\0\0\0\2\0\0\0\11\0\0", 13);
}

// A module without numbers of 64 bits gets them; one that has them later than they are needed has
// them there.
static void the_type_of_addresses(void **state)
{
	struct assembly assembly;
	uint32_t number;
	const struct spirv_placement placement = { 60, &number };
	(void)state;
	for (int later = 0; later < 2; later++) {
		assembly.count = 0;
		PUT(&assembly, SPIRV_MAGIC, 0x00010000, 0, 200, 0, I(17, 2), 4, I(17, 2), 6);
		if (later)
			PUT(&assembly, I(17, 2), 11);
		PUT(&assembly, I(14, 3), 2, 2);
		ENTRY(&assembly, KERNEL, "k");
		PUT(&assembly, I(19, 2), VOID, I(21, 4), UINT, 32, 0, I(43, 4), UINT, 40, 123,
		    I(32, 4), 30, 5, UINT, I(59, 5), 30, 60, 5, 40);
		if (later)
			PUT(&assembly, I(21, 4), ULONG, 64, 0);
		put_kernel(&assembly);
		struct spirv_words words = changed_module(&assembly, NULL, 0, &placement, 1);
		assert_int_equal(number, 123);
		size_t types = 0;
		for (size_t at = SPIRV_HEADER_WORDS; at < words.count;
		     at += spirv_length(&words, at))
			types +=
			    spirv_op(&words, at) == SPIRV_TYPE_INT && words.words[at + 2] == 64;
		assert_int_equal(types, 1);
		spirv_words_free(&words);
	}
}

// Initial values by operations on constants: the second and third operands of each are 0xfffffff9
// (-7 with a sign) and 2.
static void operations_on_constants(void **state)
{
	static const struct {
		uint32_t op, operands[3], count, result;
	} rows[] = {
		{ 128, { 40, 41 }, 2, 0xfffffffb },
		{ 130, { 40, 41 }, 2, 0xfffffff7 },
		{ 132, { 40, 41 }, 2, 0xfffffff2 },
		{ 134, { 40, 41 }, 2, 0x7ffffffc },
		{ 135, { 40, 41 }, 2, 0xfffffffd },
		{ 137, { 40, 41 }, 2, 1 },
		{ 138, { 40, 41 }, 2, 0xffffffff },
		{ 194, { 40, 41 }, 2, 0x3ffffffe },
		{ 195, { 40, 41 }, 2, 0xfffffffe },
		{ 196, { 40, 41 }, 2, 0xffffffe4 },
		{ 197, { 40, 41 }, 2, 0xfffffffb },
		{ 198, { 40, 41 }, 2, 0xfffffffb },
		{ 199, { 40, 41 }, 2, 0 },
		{ 200, { 40 }, 1, 6 },
		{ 126, { 40 }, 1, 7 },
		{ 114, { 42 }, 1, 0xfffffff9 },
		{ 113, { 42 }, 1, 0xf9 },
		{ 169, { 43, 40, 41 }, 3, 0xfffffff9 },
		{ 169, { 44, 40, 41 }, 3, 2 },
		{ 134, { 40, 45 }, 2, 0 },
		{ 135, { 46, 40 }, 2, 0x12492492 },
		// By zero, by more places than there are, beyond the width, the quotient that does
		// not fit.
		{ 135, { 40, 45 }, 2, 0 },
		{ 195, { 40, 40 }, 2, 0xffffffff },
		{ 196, { 40, 40 }, 2, 0 },
		{ 134, { 47, 41 }, 2, 4 },
		{ 113, { 52 }, 1, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct assembly assembly;
		uint32_t number = 77;
		const struct spirv_placement placement = { 60, &number };
		put_head(&assembly);
		ENTRY(&assembly, KERNEL, "k");
		put_types(&assembly);
		PUT(&assembly, I(43, 4), UINT, 40, 0xfffffff9, I(43, 4), UINT, 41, 2, I(43, 4),
		    UCHAR, 42, 0xf9, I(41, 3), BOOL, 43, I(42, 3), BOOL, 44, I(46, 3), UINT, 45,
		    I(43, 4), UINT, 46, 0x80000000, I(43, 4), UINT, 48, 16, I(52, 6), UINT, 47, 128,
		    40, 48, I(43, 5), ULONG, 49, 0, 0x80000000, I(43, 5), ULONG, 51, UINT32_MAX,
		    UINT32_MAX, I(52, 6), ULONG, 52, 135, 49, 51, I(32, 4), 30, 5, UINT,
		    I(52, 4 + rows[i].count), UINT, 50, rows[i].op);
		put_words(&assembly, rows[i].operands, rows[i].count);
		PUT(&assembly, I(59, 5), 30, 60, 5, 50);
		put_kernel(&assembly);
		struct spirv_words words = changed_module(&assembly, NULL, 0, &placement, 1);
		spirv_words_free(&words);
		if (number != rows[i].result)
			fail_msg("operation %u: 0x%x instead of 0x%x", rows[i].op, number,
			         rows[i].result);
	}
}

static void variables_that_cannot_be_placed(void **state)
{
	struct assembly assembly;
	uint64_t at[4];
	(void)state;
	put_variables(&assembly);
	assert_int_equal(
	    refused(&assembly, NULL, &(struct spirv_placement){ 42, at }, "no variable 42"),
	    -EINVAL);
	assert_int_equal(
	    refused(&assembly, NULL, &(struct spirv_placement){ 62, at }, "has the address of"),
	    -ENOTSUP);
	// Operation 65535 is none; a constant of another type; a constant that is itself.
	static const struct {
		uint32_t words[8], count, initial;
		const char *says;
		int status;
	} rows[] = {
		{ { I(52, 5), UINT, 50, 65535, 40 }, 5, 50, "operation 65535", -ENOTSUP },
		{ { I(52, 8), UINT, 50, 128, 40, 40, 40, 40 }, 8, 50, "operation 128", -ENOTSUP },
		{ { I(43, 4), FLOAT, 50, 1 }, 4, 50, "a constant of a wrong type", -EINVAL },
		{ { I(52, 6), UINT, 50, 128, 50, 50 },
		  6,
		  50,
		  "a constant of a wrong type",
		  -EINVAL },
		{ { I(52, 6), UINT, 50, 128, 40, 177 },
		  6,
		  50,
		  "a constant of a wrong type",
		  -EINVAL },
		{ { I(52, 4), UINT, 50, 128 }, 4, 50, "a constant of a wrong type", -EINVAL },
		{ { I(43, 4), UINT, 50, 1 }, 4, VOID, "a constant of a wrong type", -EINVAL },
		{ { I(43, 4), UINT, 50, 1 }, 4, 150, "a constant of a wrong type", -EINVAL },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		put_head(&assembly);
		ENTRY(&assembly, KERNEL, "k");
		put_types(&assembly);
		PUT(&assembly, I(43, 4), UINT, 40, 9, I(32, 4), 30, 5, UINT);
		put_words(&assembly, rows[i].words, rows[i].count);
		PUT(&assembly, I(59, 5), 30, 60, 5, rows[i].initial);
		put_kernel(&assembly);
		assert_int_equal(
		    refused(&assembly, NULL, &(struct spirv_placement){ 60, at }, rows[i].says),
		    rows[i].status);
	}
}

// A number that takes 2^40 steps to work out is refused at once.
static void constants_of_constants_of_constants(void **state)
{
	struct assembly assembly;
	uint32_t number;
	(void)state;
	put_head(&assembly);
	ENTRY(&assembly, KERNEL, "k");
	put_types(&assembly);
	PUT(&assembly, I(32, 4), 30, 5, UINT, I(43, 4), UINT, 100, 1);
	for (uint32_t i = 0; i < 40; i++)
		PUT(&assembly, I(52, 6), UINT, 101 + i, 128, 100 + i, 100 + i);
	PUT(&assembly, I(59, 5), 30, 60, 5, 140);
	put_kernel(&assembly);
	assert_int_equal(
	    refused(&assembly, NULL, &(struct spirv_placement){ 60, &number }, "too many steps"),
	    -ENOTSUP);
}

// Constants of 64 bits that have one word each grow to two; a group gives all of them one number,
// so that nothing else becomes shorter.
static void constants_that_grow(void **state)
{
	enum { COUNT = 300, FIRST = 1000 };
	const uint64_t value = UINT64_C(0x123456789);
	const struct spirv_specialisation given = { 3, &value, sizeof value };
	struct tare_error error = { 0 };
	struct assembly assembly;
	struct spirv_words words;
	void *changed;
	size_t bytes;
	(void)state;
	put_head(&assembly);
	assembly.words[3] = FIRST + COUNT;
	PUT(&assembly, I(SPIRV_DECORATE, 4), 20, SPIRV_SPEC_ID, 3, I(SPIRV_GROUP, 2), 20,
	    I(SPIRV_GROUP_DECORATE, 2 + COUNT), 20);
	for (uint32_t i = 0; i < COUNT; i++)
		PUT(&assembly, FIRST + i);
	PUT(&assembly, I(SPIRV_TYPE_INT, 4), ULONG, 64, 0);
	for (uint32_t i = 0; i < COUNT; i++)
		PUT(&assembly, I(SPIRV_SPEC_CONSTANT, 4), ULONG, FIRST + i, 1);
	assert_int_equal(spirv_rewrite(assembly.words, assembly.count * 4, &given, 1, NULL, 0,
	                               &changed, &bytes, &error),
	                 0);
	assert_true(bytes > (assembly.count + COUNT / 2) * 4);
	assert_int_equal(spirv_words_read(changed, bytes, &words, &error), 0);
	spirv_words_free(&words);
	free(changed);
}

static void damage_is_told(void **state)
{
	struct assembly assembly;
	(void)state;
	put_constants(&assembly);
	assembly.words[5] = 0;
	assert_int_equal(refused(&assembly, NULL, NULL, "an instruction of no words"), -EINVAL);
	// The last instruction's operands would lie behind the module.
	put_constants(&assembly);
	PUT(&assembly, I(SPIRV_DECORATE_STRING, 1));
	assert_int_equal(refused(&assembly, NULL, NULL, "shorter than it can be"), -EINVAL);
	// No ids are left for the address.
	put_variables(&assembly);
	assembly.words[3] = UINT32_MAX;
	uint64_t at[4];
	assert_int_equal(
	    refused(&assembly, NULL, &(struct spirv_placement){ 60, at }, "leaves no ids"),
	    -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_constants),
		cmocka_unit_test(a_constant_with_a_sign),
		cmocka_unit_test(constants_that_are_not_there),
		cmocka_unit_test(variables_become_their_addresses),
		cmocka_unit_test(a_packed_structure),
		cmocka_unit_test(the_type_of_addresses),
		cmocka_unit_test(operations_on_constants),
		cmocka_unit_test(variables_that_cannot_be_placed),
		cmocka_unit_test(constants_of_constants_of_constants),
		cmocka_unit_test(constants_that_grow),
		cmocka_unit_test(damage_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
