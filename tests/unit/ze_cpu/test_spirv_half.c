// SPDX-License-Identifier: Apache-2.0
// Functions of halves written as functions of float.
#include "spirv/spirv_half.h"

#include "tests/unit/backend/spirv_rig.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>

#include <cmocka.h>

enum { IMPORT = 11, FUNCTION = 12, UNDEF = 1, EXTRACT = 81, INSERT = 82, CONVERT = 115 };
enum { FMA = 26, FRACT = 30, LDEXP = 34, MAD = 42, NEXTAFTER = 47, BITSELECT = 186 };
// Ids: types, the set, constants, the kernel.
enum {
	HALF = 20,
	HALF2,
	HALF3,
	FLOAT2,
	UINT2,
	SET = 30,
	A = 40,
	B,
	A2,
	N,
	N2,
	A3,
	TYPE = 50,
	KERNEL,
	LABEL,
	RESULT = 60,
};

static void put_half_head(struct assembly *to, const char *set, bool float2)
{
	put_head(to);
	// Float16 belongs among the capabilities: before the memory model.
	to->count -= 3;
	PUT(to, I(17, 2), 9);
	put_text(to, IMPORT, 1, (const uint32_t[]){ SET }, set, 0);
	PUT(to, I(SPIRV_MEMORY_MODEL, 3), 2, 2);
	ENTRY(to, KERNEL, "k");
	if (float2)
		put_types(to);
	else
		PUT(to, I(SPIRV_TYPE_VOID, 2), VOID, I(SPIRV_TYPE_INT, 4), UINT, 32, 0);
	PUT(to, I(22, 3), HALF, 16, I(23, 4), HALF2, HALF, 2, I(23, 4), HALF3, HALF, 3, I(23, 4),
	    UINT2, UINT, 2, I(43, 4), HALF, A, 0x3c00, I(43, 4), HALF, B, 0x4000, I(44, 5), HALF2,
	    A2, A, B, I(43, 4), UINT, N, 2, I(44, 5), UINT2, N2, N, N, I(44, 6), HALF3, A3, A, B,
	    B);
	if (float2)
		PUT(to, I(23, 4), FLOAT2, FLOAT, 2);
	PUT(to, I(33, 3), TYPE, VOID, I(54, 5), VOID, KERNEL, 0, TYPE, I(248, 2), LABEL);
}

static void put_end(struct assembly *to)
{
	PUT(to, I(253, 1), I(56, 1));
}

// The changed module, checked; .words is NULL where nothing was to change.
static struct spirv_words lowered(const struct assembly *from)
{
	struct tare_error error = { 0 };
	struct spirv_words words = { 0 };
	void *changed;
	size_t bytes;

	if (spirv_half(from->words, from->count * 4, &changed, &bytes, &error) < 0)
		fail_msg("%s", error.message);
	if (!changed)
		return words;
	assert_true(validated(changed, bytes, "spv1.4") <= 0);
	if (spirv_words_read(changed, bytes, &words, &error) < 0)
		fail_msg("%s", error.message);
	free(changed);
	return words;
}

static size_t count_of(const struct spirv_words *words, uint32_t op)
{
	size_t count = 0;

	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at))
		count += spirv_op(words, at) == op;
	return count;
}

// The instruction whose result is `id`; fails the test where there is none of this kind.
static const uint32_t *made_by(const struct spirv_words *words, uint32_t id, uint32_t op)
{
	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at))
		if (spirv_op(words, at) == op && words->words[at + 2] == id)
			return words->words + at;
	fail_msg("nothing of kind %u makes %u", op, id);
	return NULL;
}

static void a_scalar(void **state)
{
	struct assembly assembly;
	(void)state;
	for (int there = 0; there < 2; there++) {
		put_half_head(&assembly, "OpenCL.std", there);
		PUT(&assembly, I(FUNCTION, 8), HALF, RESULT, SET, MAD, A, B, A);
		put_end(&assembly);
		struct spirv_words words = lowered(&assembly);
		const uint32_t *back = made_by(&words, RESULT, CONVERT);
		assert_int_equal(back[1], HALF);
		const uint32_t *function = made_by(&words, back[3], FUNCTION);
		assert_int_equal(function[0], I(FUNCTION, 8));
		size_t type = spirv_find_op(&words, function[1], SPIRV_TYPE_FLOAT);
		assert_int_equal(words.words[type + 2], 32);
		assert_int_equal(function[3], SET);
		assert_int_equal(function[4], MAD);
		const uint32_t from[3] = { A, B, A };
		for (int i = 0; i < 3; i++) {
			const uint32_t *operand = made_by(&words, function[5 + i], CONVERT);
			assert_int_equal(operand[1], function[1]);
			assert_int_equal(operand[3], from[i]);
		}
		// The operand that comes twice is converted once; a type that is there is no other.
		assert_int_equal(count_of(&words, CONVERT), 3);
		assert_int_equal(count_of(&words, SPIRV_TYPE_FLOAT), there ? 3 : 2);
		spirv_words_free(&words);
	}
}

// Follows a vector made part by part: each part is the conversion of that part of `from`.
static void check_parts(const struct spirv_words *words, uint32_t vector, uint32_t size,
                        uint32_t from)
{
	for (uint32_t i = size; i-- > 0;) {
		const uint32_t *insert = made_by(words, vector, INSERT);
		assert_int_equal(insert[5], i);
		const uint32_t *extract =
		    made_by(words, made_by(words, insert[3], CONVERT)[3], EXTRACT);
		assert_int_equal(extract[3], from);
		assert_int_equal(extract[4], i);
		vector = insert[4];
	}
	made_by(words, vector, UNDEF);
}

static void vectors(void **state)
{
	static const struct {
		uint32_t type, size, value;
	} rows[] = { { HALF2, 2, A2 }, { HALF3, 3, A3 } };
	struct assembly assembly;
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		put_half_head(&assembly, "OpenCL.std", true);
		PUT(&assembly, I(FUNCTION, 8), rows[i].type, RESULT, SET, FMA, rows[i].value,
		    rows[i].value, rows[i].value);
		put_end(&assembly);
		struct spirv_words words = lowered(&assembly);
		const uint32_t *last = made_by(&words, RESULT, INSERT);
		assert_int_equal(last[1], rows[i].type);
		const uint32_t *extract =
		    made_by(&words, made_by(&words, last[3], CONVERT)[3], EXTRACT);
		const uint32_t *function = made_by(&words, extract[3], FUNCTION);
		check_parts(&words, RESULT, rows[i].size, function[2]);
		check_parts(&words, function[5], rows[i].size, rows[i].value);
		assert_int_equal(function[7], function[5]);
		size_t type = spirv_find_op(&words, function[1], SPIRV_TYPE_VECTOR);
		assert_int_equal(words.words[type + 2], FLOAT);
		assert_int_equal(words.words[type + 3], rows[i].size);
		assert_true(rows[i].size == 3 || function[1] == FLOAT2);
		spirv_words_free(&words);
	}
}

// What is an integer stays one.
static void an_exponent(void **state)
{
	struct assembly assembly;
	(void)state;
	put_half_head(&assembly, "OpenCL.std", true);
	PUT(&assembly, I(FUNCTION, 7), HALF2, RESULT, SET, LDEXP, A2, N2);
	put_end(&assembly);
	struct spirv_words words = lowered(&assembly);
	size_t at = SPIRV_HEADER_WORDS;
	while (spirv_op(&words, at) != FUNCTION)
		at += spirv_length(&words, at);
	assert_int_equal(words.words[at + 1], FLOAT2);
	assert_int_equal(words.words[at + 6], N2);
	spirv_words_free(&words);
}

// Functions of bits and pointers, of other sets and other types, and calls of a wrong length.
static void what_stays(void **state)
{
	static const struct {
		const char *set;
		uint32_t words[8], count;
	} rows[] = {
		{ "OpenCL.std", { I(FUNCTION, 7), HALF, RESULT, SET, NEXTAFTER, A, B }, 7 },
		{ "OpenCL.std", { I(FUNCTION, 8), HALF, RESULT, SET, BITSELECT, A, B, A }, 8 },
		{ "OpenCL.std", { I(FUNCTION, 7), HALF, RESULT, SET, FRACT, A, B }, 7 },
		{ "OpenCL.std", { I(FUNCTION, 7), HALF, RESULT, SET, MAD, A, B }, 7 },
		{ "OpenCL.std", { I(FUNCTION, 8), FLOAT, RESULT, SET, MAD, A, B, A }, 8 },
		{ "OpenCL.std", { I(FUNCTION, 4), HALF, RESULT, SET }, 4 },
		{ "OpenCL.std", { I(FUNCTION, 8), HALF, RESULT, SET + 1, MAD, A, B, A }, 8 },
		{ "OpenCL.std", { I(129, 5), HALF, RESULT, A, B }, 5 },
		{ "other", { I(FUNCTION, 8), HALF, RESULT, SET, MAD, A, B, A }, 8 },
	};
	struct assembly assembly;
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		put_half_head(&assembly, rows[i].set, true);
		put_words(&assembly, rows[i].words, rows[i].count);
		put_end(&assembly);
		if (lowered(&assembly).words)
			fail_msg("row %zu was changed", i);
	}
}

static void damage_is_told(void **state)
{
	struct tare_error error = { 0 };
	struct assembly assembly;
	void *changed = &error;
	size_t bytes = 1;
	(void)state;
	put_half_head(&assembly, "OpenCL.std", true);
	PUT(&assembly, I(FUNCTION, 8), HALF, RESULT, SET, MAD, A, B, A);
	put_end(&assembly);
	// No ids are left for the floats.
	assembly.words[3] = UINT32_MAX;
	assert_int_equal(spirv_half(assembly.words, assembly.count * 4, &changed, &bytes, &error),
	                 -EINVAL);
	assert_non_null(strstr(error.message, "leaves no ids"));
	assert_null(changed);
	assert_int_equal(bytes, 0);
	assembly.words[5] = 0;
	assert_int_equal(spirv_half(assembly.words, assembly.count * 4, &changed, &bytes, &error),
	                 -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_scalar),       cmocka_unit_test(vectors),
		cmocka_unit_test(an_exponent),    cmocka_unit_test(what_stays),
		cmocka_unit_test(damage_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
