// SPDX-License-Identifier: Apache-2.0
// (Facts: the SPIR-V specification, unified 1.6; OpenCL extended instruction set 1.00.)
#include "spirv/spirv_half.h"

#include "backend/spirv_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	IMPORT_SET = 11,
	SET_INSTRUCTION = 12,
	COMPOSITE_EXTRACT = 81,
	COMPOSITE_INSERT = 82,
	FLOAT_CONVERT = 115,
};
// Words of an OpExtInst before its operands; of a type; of the OpUndef that a vector begins as; of
// each part's OpCompositeExtract, OpFConvert and OpCompositeInsert.
enum { WORDS_BEFORE = 5, WORDS_OF_A_TYPE = 4, WORDS_OF_A_VECTOR = 3, WORDS_OF_A_PART = 15 };
enum { LARGEST_VECTOR = 16, MOST_OPERANDS = 3 };

// Operands by instruction of OpenCL.std, from acos (0) to normalize (107): how many there are, and
// how many of them, from the first on, have the type of the result. The others are integers or
// pointers to integers, and mean the same for floats. None: it is left as it is.
static const struct function {
	unsigned char first, last, operands, halves;
} functions[] = {
	{ 0, 6, 1, 1 },     // acos … atan
	{ 7, 7, 2, 2 },     // atan2
	{ 8, 9, 1, 1 },     // atanh, atanpi
	{ 10, 10, 2, 2 },   // atan2pi
	{ 11, 12, 1, 1 },   // cbrt, ceil
	{ 13, 13, 2, 2 },   // copysign
	{ 14, 23, 1, 1 },   // cos … fabs
	{ 24, 24, 2, 2 },   // fdim
	{ 25, 25, 1, 1 },   // floor
	{ 26, 26, 3, 3 },   // fma
	{ 27, 29, 2, 2 },   // fmax, fmin, fmod
	{ 31, 31, 2, 1 },   // frexp
	{ 32, 32, 2, 2 },   // hypot
	{ 34, 34, 2, 1 },   // ldexp
	{ 35, 35, 1, 1 },   // lgamma
	{ 36, 36, 2, 1 },   // lgamma_r
	{ 37, 41, 1, 1 },   // log … logb
	{ 42, 42, 3, 3 },   // mad
	{ 43, 44, 2, 2 },   // maxmag, minmag
	{ 48, 48, 2, 2 },   // pow
	{ 49, 49, 2, 1 },   // pown
	{ 50, 51, 2, 2 },   // powr, remainder
	{ 52, 52, 3, 2 },   // remquo
	{ 53, 53, 1, 1 },   // rint
	{ 54, 54, 2, 1 },   // rootn
	{ 55, 57, 1, 1 },   // round, rsqrt, sin
	{ 59, 66, 1, 1 },   // sinh … trunc
	{ 95, 95, 3, 3 },   // fclamp
	{ 96, 96, 1, 1 },   // degrees
	{ 97, 98, 2, 2 },   // fmax_common, fmin_common
	{ 99, 99, 3, 3 },   // mix
	{ 100, 100, 1, 1 }, // radians
	{ 101, 101, 2, 2 }, // step
	{ 102, 102, 3, 3 }, // smoothstep
	{ 103, 103, 1, 1 }, // sign
	{ 104, 104, 2, 2 }, // cross
	{ 107, 107, 1, 1 }, // normalize
};

// A module that is being written again.
struct lowering {
	const struct spirv_words *from;
	uint32_t *words;
	size_t count;
	uint32_t bound, set;   // id of OpenCL.std; 0: not imported
	size_t functions_from; // word of the first function
	// types by size of vector, 1: the scalar; 0: not there
	uint32_t floats[LARGEST_VECTOR + 1];
	bool ours[LARGEST_VECTOR + 1];
	size_t more_words, more_ids;
};

// 1: a half; 2 to 16: a vector of so many; 0: another type.
static uint32_t halves_of(const struct spirv_words *module, uint32_t type)
{
	uint32_t size = 1;
	size_t vector = spirv_find_op(module, type, SPIRV_TYPE_VECTOR);

	if (vector) {
		size = module->words[vector + 3];
		type = module->words[vector + 2];
	}
	size_t scalar = spirv_find_op(module, type, SPIRV_TYPE_FLOAT);
	// A fourth word names an encoding other than IEEE's.
	bool half = scalar && module->words[scalar + 2] == 16 && spirv_length(module, scalar) == 3;

	return half && size <= LARGEST_VECTOR ? size : 0;
}

// How the instruction at `at` is called, if it is to be lowered; else NULL.
static const struct function *to_lower(const struct lowering *to, size_t at)
{
	const struct spirv_words *from = to->from;
	const uint32_t *words = from->words + at;

	if (spirv_op(from, at) != SET_INSTRUCTION || spirv_length(from, at) < WORDS_BEFORE ||
	    words[3] != to->set || at < to->functions_from || !halves_of(from, words[1]))
		return NULL;
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (words[4] >= functions[i].first && words[4] <= functions[i].last &&
		    spirv_length(from, at) - WORDS_BEFORE == functions[i].operands)
			return &functions[i];
	return NULL;
}

// The set, the types that the module has, and where its functions begin.
static void find_places(struct lowering *to)
{
	const struct spirv_words *from = to->from;

	to->functions_from = from->count;
	for (size_t at = SPIRV_HEADER_WORDS; at < from->count; at += spirv_length(from, at)) {
		const uint32_t *words = from->words + at;
		const char *text;
		switch (words[0] & 0xffff) {
		case IMPORT_SET:
			text = spirv_text(from, at, 2);
			if (text && strcmp(text, "OpenCL.std") == 0)
				to->set = words[1];
			break;
		case SPIRV_TYPE_FLOAT:
			if (words[2] == 32 && spirv_length(from, at) == 3)
				to->floats[1] = words[1];
			break;
		case SPIRV_TYPE_VECTOR:
			if (to->floats[1] && words[2] == to->floats[1] && words[3] > 1 &&
			    words[3] <= LARGEST_VECTOR)
				to->floats[words[3]] = words[1];
			break;
		case SPIRV_FUNCTION:
			to->functions_from = at;
			return;
		}
	}
}

static void need_type(struct lowering *to, uint32_t size)
{
	if (to->floats[size])
		return;
	to->ours[size] = true;
	to->more_ids++;
	to->more_words += WORDS_OF_A_TYPE;
	to->floats[size] = to->bound++;
}

// Counts the most that is to come. The scalar type is there before the vectors of it.
static void count_all(struct lowering *to)
{
	const struct spirv_words *from = to->from;

	for (size_t at = to->functions_from; at < from->count; at += spirv_length(from, at)) {
		const struct function *function = to_lower(to, at);
		if (!function)
			continue;
		uint32_t size = halves_of(from, from->words[at + 1]),
		         values = function->halves + 1u;
		to->more_ids += values * (3 * size + 1);
		to->more_words += values * (size * WORDS_OF_A_PART + WORDS_OF_A_VECTOR);
		need_type(to, 1);
		need_type(to, size);
	}
}

static void put(struct lowering *to, uint32_t word)
{
	to->words[to->count++] = word;
}

static void put_types(struct lowering *to)
{
	if (to->ours[1]) {
		put(to, 3u << 16 | SPIRV_TYPE_FLOAT);
		put(to, to->floats[1]);
		put(to, 32);
	}
	for (uint32_t size = 2; size <= LARGEST_VECTOR; size++) {
		if (!to->ours[size])
			continue;
		put(to, 4u << 16 | SPIRV_TYPE_VECTOR);
		put(to, to->floats[size]);
		put(to, to->floats[1]);
		put(to, size);
	}
}

static void put_conversion(struct lowering *to, uint32_t type, uint32_t result, uint32_t value)
{
	put(to, 4u << 16 | FLOAT_CONVERT);
	put(to, type);
	put(to, result);
	put(to, value);
}

// The vector `value` as one of `type`, part by part: OpFConvert of a whole vector would be a
// function of halves again, and OpCompositeConstruct aborts translators. part[]: the types of its
// parts before and after.
static void put_parts(struct lowering *to, uint32_t size, const uint32_t part[2], uint32_t type,
                      uint32_t result, uint32_t value)
{
	uint32_t before = to->bound++;

	put(to, 3u << 16 | SPIRV_UNDEF);
	put(to, type);
	put(to, before);
	for (uint32_t i = 0; i < size; i++) {
		uint32_t taken = to->bound++, converted = to->bound++;
		uint32_t after = i + 1 < size ? to->bound++ : result;
		put(to, 5u << 16 | COMPOSITE_EXTRACT);
		put(to, part[0]);
		put(to, taken);
		put(to, value);
		put(to, i);
		put_conversion(to, part[1], converted, taken);
		put(to, 6u << 16 | COMPOSITE_INSERT);
		put(to, type);
		put(to, after);
		put(to, converted);
		put(to, before);
		put(to, i);
		before = after;
	}
}

static void put_lowered(struct lowering *to, size_t at, const struct function *function)
{
	const uint32_t *words = to->from->words + at;
	uint32_t size = halves_of(to->from, words[1]), type = to->floats[size], result;
	size_t vector = spirv_find_op(to->from, words[1], SPIRV_TYPE_VECTOR);
	uint32_t half = vector ? to->from->words[vector + 2] : words[1];
	uint32_t wide[MOST_OPERANDS];

	for (uint32_t i = 0; i < function->halves; i++) {
		uint32_t same = 0;
		while (words[WORDS_BEFORE + same] != words[WORDS_BEFORE + i])
			same++;
		wide[i] = same < i ? wide[same] : to->bound++;
		if (same == i && vector)
			put_parts(to, size, (uint32_t[]){ half, to->floats[1] }, type, wide[i],
			          words[WORDS_BEFORE + i]);
		else if (same == i)
			put_conversion(to, type, wide[i], words[WORDS_BEFORE + i]);
	}
	result = to->bound++;
	put(to, words[0]);
	put(to, type);
	put(to, result);
	put(to, words[3]);
	put(to, words[4]);
	for (uint32_t i = 0; i < function->operands; i++)
		put(to, i < function->halves ? wide[i] : words[WORDS_BEFORE + i]);
	if (vector)
		put_parts(to, size, (uint32_t[]){ to->floats[1], half }, words[1], words[2],
		          result);
	else
		put_conversion(to, words[1], words[2], result);
}

static int lower(struct lowering *to, struct tare_error *error)
{
	const struct spirv_words *from = to->from;

	if (to->more_ids > UINT32_MAX - from->bound)
		return tare_fail(error, EINVAL,
		                 "this SPIR-V is damaged: its bound leaves no ids, at word 3");
	to->words = malloc((from->count + to->more_words) * sizeof *to->words);
	if (!to->words)
		return tare_fail(error, ENOMEM, "no memory for a changed SPIR-V module");
	to->count = to->functions_from;
	memcpy(to->words, from->words, to->count * sizeof *to->words);
	put_types(to);
	for (size_t at = to->functions_from; at < from->count; at += spirv_length(from, at)) {
		const struct function *function = to_lower(to, at);
		uint32_t length = spirv_length(from, at);
		if (function) {
			put_lowered(to, at, function);
			continue;
		}
		memcpy(to->words + to->count, from->words + at, length * sizeof *to->words);
		to->count += length;
	}
	to->words[3] = to->bound;
	return 0;
}

int spirv_half(const void *data, size_t bytes, void **changed, size_t *changed_bytes,
               struct tare_error *error)
{
	struct spirv_words words;

	*changed = NULL;
	*changed_bytes = 0;
	int status = spirv_words_read(data, bytes, &words, error);
	if (status < 0)
		return status;
	struct lowering to = { .from = &words, .bound = words.bound };
	find_places(&to);
	if (to.set)
		count_all(&to);
	if (to.more_ids)
		status = lower(&to, error);
	if (status == 0 && to.words) {
		*changed = to.words;
		*changed_bytes = to.count * sizeof *to.words;
	}
	spirv_words_free(&words);
	return status;
}
