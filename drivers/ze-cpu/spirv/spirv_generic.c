// SPDX-License-Identifier: Apache-2.0
// (Facts: the SPIR-V specification, unified 1.6.)
#include "spirv/spirv_generic.h"

#include "backend/spirv_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	CAST_TO_POINTER = 122, // OpGenericCastToPtr
	ATOMIC_LOAD = 227,
	ATOMIC_STORE = 228,
	ATOMIC_XOR = 242,
	ATOMIC_FLAG_SET = 318,
	ATOMIC_FLAG_CLEAR = 319,
	ATOMIC_FLOAT_MIN = 5614,
	ATOMIC_FLOAT_MAX = 5615,
	ATOMIC_FLOAT_ADD = 6035,
};
enum { WORDS_OF_A_TYPE = 4, WORDS_OF_A_CAST = 4 };

// Ids that are so far apart are not indexed; compilers count them.
#define MOST_IDS_A_WORD 4

// The type of a generic pointer, and what it becomes.
struct pair {
	uint32_t generic, global;
	bool needed; // by an atomic; the global type is then ours unless `there`
	bool there;  // the module has it, before its functions
};

// What there is to know of an id.
struct about {
	uint32_t type;   // of a generic pointer type: its number in `pairs`, from 1
	uint32_t value;  // of a value: that of its type
	uint32_t global; // of any type: that of a pointer to it in global memory
};

struct lowering {
	const struct spirv_words *from;
	uint32_t *words;
	size_t count;
	uint32_t bound;
	size_t functions_from; // word of the first function
	struct pair *pairs;
	size_t pair_count;
	struct about *ids; // by id
	size_t casts;
};

// The word of an atomic's pointer; 0: it is none.
static uint32_t pointer_word(uint32_t op)
{
	if (op == ATOMIC_STORE || op == ATOMIC_FLAG_CLEAR)
		return 1;
	if ((op >= ATOMIC_LOAD && op <= ATOMIC_XOR) || op == ATOMIC_FLAG_SET ||
	    op == ATOMIC_FLOAT_MIN || op == ATOMIC_FLOAT_MAX || op == ATOMIC_FLOAT_ADD)
		return 3;
	return 0;
}

// Pointer types, and where the functions begin.
static void find_types(struct lowering *to)
{
	const struct spirv_words *from = to->from;
	const uint32_t *words;
	size_t at;

	for (at = SPIRV_HEADER_WORDS; at < from->count; at += spirv_length(from, at)) {
		words = from->words + at;
		if (spirv_op(from, at) == SPIRV_FUNCTION)
			break;
		if (spirv_op(from, at) != SPIRV_TYPE_POINTER || words[3] >= from->bound)
			continue;
		if (words[2] == SPIRV_CROSS_WORKGROUP)
			to->ids[words[3]].global = words[1];
		if (words[2] != SPIRV_GENERIC)
			continue;
		to->pairs[to->pair_count++].generic = words[1];
		to->ids[words[1]].type = (uint32_t)to->pair_count;
	}
	to->functions_from = at;
	for (size_t i = 0; i < to->pair_count; i++) {
		size_t generic = spirv_find_op(from, to->pairs[i].generic, SPIRV_TYPE_POINTER);
		to->pairs[i].global = to->ids[from->words[generic + 3]].global;
		to->pairs[i].there = to->pairs[i].global;
	}
}

// What an instruction defines follows its type. Before functions that is so of constants only;
// within them no other instruction begins with the id of a type.
static bool may_define(const struct lowering *to, size_t at)
{
	uint32_t op = spirv_op(to->from, at);

	if (spirv_length(to->from, at) < 3)
		return false;
	return at >= to->functions_from || op == SPIRV_UNDEF ||
	       (op >= SPIRV_CONSTANT_TRUE && op <= SPIRV_SPEC_OP);
}

static void find_values(struct lowering *to)
{
	const struct spirv_words *from = to->from;

	for (size_t at = SPIRV_HEADER_WORDS; at < from->count; at += spirv_length(from, at)) {
		const uint32_t *words = from->words + at;
		if (may_define(to, at) && words[1] < from->bound && words[2] < from->bound &&
		    to->ids[words[1]].type)
			to->ids[words[2]].value = to->ids[words[1]].type;
	}
}

// The pair of the atomic at `at`, if its pointer is generic; else NULL.
static struct pair *to_lower(const struct lowering *to, size_t at)
{
	uint32_t word = at >= to->functions_from ? pointer_word(spirv_op(to->from, at)) : 0;
	uint32_t id = word && word < spirv_length(to->from, at) ? to->from->words[at + word] : 0;

	// No id is 0, but a damaged module may define it.
	return id && id < to->from->bound && to->ids[id].value ? &to->pairs[to->ids[id].value - 1]
	                                                       : NULL;
}

static void count_casts(struct lowering *to)
{
	for (size_t at = to->functions_from; at < to->from->count;
	     at += spirv_length(to->from, at)) {
		struct pair *pair = to_lower(to, at);
		if (!pair)
			continue;
		to->casts++;
		pair->needed = true;
	}
}

static void put(struct lowering *to, uint32_t word)
{
	to->words[to->count++] = word;
}

static void put_types(struct lowering *to)
{
	for (size_t i = 0; i < to->pair_count; i++) {
		struct pair *pair = &to->pairs[i];
		if (!pair->needed || pair->there)
			continue;
		pair->global = to->bound++;
		put(to, WORDS_OF_A_TYPE << 16 | SPIRV_TYPE_POINTER);
		put(to, pair->global);
		put(to, SPIRV_CROSS_WORKGROUP);
		put(to,
		    to->from
		        ->words[spirv_find_op(to->from, pair->generic, SPIRV_TYPE_POINTER) + 3]);
	}
}

static void put_all(struct lowering *to)
{
	const struct spirv_words *from = to->from;

	memcpy(to->words, from->words, to->functions_from * sizeof *to->words);
	to->count = to->functions_from;
	put_types(to);
	for (size_t at = to->functions_from; at < from->count; at += spirv_length(from, at)) {
		const struct pair *pair = to_lower(to, at);
		uint32_t length = spirv_length(from, at), word = pointer_word(spirv_op(from, at));
		if (pair) {
			put(to, WORDS_OF_A_CAST << 16 | CAST_TO_POINTER);
			put(to, pair->global);
			put(to, to->bound++);
			put(to, from->words[at + word]);
		}
		memcpy(to->words + to->count, from->words + at, length * sizeof *to->words);
		if (pair)
			to->words[to->count + word] = to->bound - 1;
		to->count += length;
	}
	to->words[3] = to->bound;
}

static int lower(struct lowering *to, struct tare_error *error)
{
	const struct spirv_words *from = to->from;

	if (to->casts + to->pair_count > UINT32_MAX - from->bound)
		return tare_fail(error, EINVAL,
		                 "this SPIR-V is damaged: its bound leaves no ids, at word 3");
	to->words =
	    malloc((from->count + to->casts * WORDS_OF_A_CAST + to->pair_count * WORDS_OF_A_TYPE) *
	           sizeof *to->words);
	if (!to->words)
		return tare_fail(error, ENOMEM, "no memory for a changed SPIR-V module");
	put_all(to);
	return 0;
}

// Looks what there is to change, and changes it.
static int look_and_lower(struct lowering *to, struct tare_error *error)
{
	find_types(to);
	if (to->pair_count == 0)
		return 0;
	find_values(to);
	count_casts(to);
	return to->casts > 0 ? lower(to, error) : 0;
}

int spirv_generic(const void *data, size_t bytes, void **changed, size_t *changed_bytes,
                  struct tare_error *error)
{
	struct spirv_words words;

	*changed = NULL;
	*changed_bytes = 0;
	int status = spirv_words_read(data, bytes, &words, error);
	if (status < 0)
		return status;
	struct lowering to = { .from = &words, .bound = words.bound };
	if (words.bound / MOST_IDS_A_WORD <= words.count) {
		to.pairs = calloc(words.count, sizeof *to.pairs);
		to.ids = calloc(words.bound, sizeof *to.ids);
		if (to.pairs && to.ids)
			status = look_and_lower(&to, error);
		else
			status =
			    tare_fail(error, ENOMEM, "no memory for the ids of a SPIR-V module");
	}
	if (status == 0 && to.words) {
		*changed = to.words;
		*changed_bytes = to.count * sizeof *to.words;
	}
	free(to.ids);
	free(to.pairs);
	spirv_words_free(&words);
	return status;
}
