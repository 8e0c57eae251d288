// SPDX-License-Identifier: Apache-2.0
// What stands in front of a module's functions.
#include "blocks/rewriting.h"

#include <string.h>

enum {
	CAPABILITY_INT64 = 11,
	CAPABILITY_INT64_ATOMICS = 12,
	LINKAGE_IMPORT = 1,
	SCOPE_DEVICE = 1,
};

// The vendors' names are those that translators know.
static const struct {
	uint32_t built_in;
	char name[36];
} places[PLACES] = {
	[PLACE_GROUP] = { 26, "__spirv_BuiltInWorkgroupId" },
	[PLACE_ITEM] = { 27, "__spirv_BuiltInLocalInvocationId" },
	[PLACE_SIZE] = { 25, "__spirv_BuiltInWorkgroupSize" },
	[PLACE_COUNT] = { 24, "__spirv_BuiltInNumWorkgroups" },
};

// A type of the module that is written with these operands; 0: it has none.
static uint32_t find_type(const struct spirv_words *words, uint32_t op, const uint32_t *operands,
                          uint32_t count)
{
	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		if (spirv_op(words, at) == SPIRV_FUNCTION)
			return 0;
		if (spirv_op(words, at) == op && spirv_length(words, at) == count + 2 &&
		    (count == 0 ||
		     memcmp(words->words + at + 2, operands, count * sizeof *operands) == 0))
			return words->words[at + 1];
	}
	return 0;
}

// Such a type, written where the module has none.
static uint32_t type_with(struct rewriting *rewriting, uint32_t op, uint32_t first, uint32_t second)
{
	uint32_t operands[] = { first, second };
	uint32_t found = find_type(&rewriting->module->words, op, operands, 2);

	if (found)
		return found;
	uint32_t id = rewrite_fresh(rewriting);
	EMIT(rewriting, op, id, first, second);
	return id;
}

static uint32_t bool_type(struct rewriting *rewriting)
{
	uint32_t found = find_type(&rewriting->module->words, SPIRV_TYPE_BOOL, NULL, 0);

	if (found)
		return found;
	uint32_t id = rewrite_fresh(rewriting);
	EMIT(rewriting, SPIRV_TYPE_BOOL, id);
	return id;
}

static uint32_t constant(struct rewriting *rewriting, uint32_t type, uint64_t value)
{
	uint32_t id = rewrite_fresh(rewriting);

	if (type == rewriting->uint_type)
		EMIT(rewriting, SPIRV_CONSTANT, type, id, (uint32_t)value);
	else
		EMIT(rewriting, SPIRV_CONSTANT, type, id, (uint32_t)value, (uint32_t)(value >> 32));
	return id;
}

// The module's own variable for a place, or 0.
static uint32_t find_place(const struct spirv_words *words, uint32_t built_in)
{
	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		if (spirv_op(words, at) == SPIRV_FUNCTION)
			return 0;
		if (spirv_op(words, at) == SPIRV_DECORATE && spirv_length(words, at) == 4 &&
		    words->words[at + 2] == SPIRV_BUILT_IN && words->words[at + 3] == built_in)
			return words->words[at + 1];
	}
	return 0;
}

void rewrite_places(struct rewriting *rewriting)
{
	for (int i = 0; i < PLACES; i++) {
		rewriting->places[i] = find_place(&rewriting->module->words, places[i].built_in);
		rewriting->place_is_new[i] = rewriting->places[i] == 0;
		if (rewriting->place_is_new[i])
			rewriting->places[i] = rewrite_fresh(rewriting);
	}
}

// Function types with the memory as their last parameter.
static void put_function_types(struct rewriting *rewriting)
{
	const struct spirv_words *words = &rewriting->module->words;

	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		if (spirv_op(words, at) == SPIRV_FUNCTION)
			return;
		if (spirv_op(words, at) != SPIRV_TYPE_FUNCTION)
			continue;
		uint32_t old = words->words[at + 1];
		size_t begin = rewriting->count;
		rewriting->function_types[old] = rewrite_fresh(rewriting);
		rewrite_copy_with(rewriting, at, rewriting->pointer_type);
		if (!rewriting->failed)
			rewriting->words[begin + 1] = rewriting->function_types[old];
	}
}

// What additions by words of 32 bits take.
static void put_halves(struct rewriting *rewriting)
{
	rewriting->half_type =
	    type_with(rewriting, SPIRV_TYPE_POINTER, SPIRV_CROSS_WORKGROUP, rewriting->uint_type);
	rewriting->half_zero = constant(rewriting, rewriting->uint_type, 0);
	rewriting->half_one = constant(rewriting, rewriting->uint_type, 1);
	rewriting->half_bits = constant(rewriting, rewriting->ulong_type, 32);
}

// All that stands in front of the first function.
void rewrite_globals(struct rewriting *rewriting)
{
	rewriting->uint_type = type_with(rewriting, SPIRV_TYPE_INT, 32, 0);
	rewriting->ulong_type = type_with(rewriting, SPIRV_TYPE_INT, 64, 0);
	rewriting->bool_type = bool_type(rewriting);
	rewriting->triple_type = type_with(rewriting, SPIRV_TYPE_VECTOR, rewriting->ulong_type, 3);
	rewriting->input_type =
	    type_with(rewriting, SPIRV_TYPE_POINTER, REWRITE_INPUT, rewriting->triple_type);
	rewriting->pointer_type =
	    type_with(rewriting, SPIRV_TYPE_POINTER, SPIRV_CROSS_WORKGROUP, rewriting->ulong_type);
	rewriting->own_type =
	    type_with(rewriting, SPIRV_TYPE_POINTER, SPIRV_FUNCTION_STORAGE, rewriting->ulong_type);
	rewriting->scope = constant(rewriting, rewriting->uint_type, SCOPE_DEVICE);
	rewriting->relaxed = constant(rewriting, rewriting->uint_type, 0);
	rewriting->zero = constant(rewriting, rewriting->ulong_type, 0);
	rewriting->one = constant(rewriting, rewriting->ulong_type, 1);
	rewriting->mask = constant(rewriting, rewriting->ulong_type, rewriting->rows - 1);
	rewriting->stride = constant(rewriting, rewriting->ulong_type, rewriting->row_counters);
	if (rewriting->plan->carries)
		put_halves(rewriting);
	for (int i = 0; i < PLACES; i++)
		if (rewriting->place_is_new[i])
			EMIT(rewriting, SPIRV_VARIABLE, rewriting->input_type, rewriting->places[i],
			     REWRITE_INPUT);
	for (uint32_t i = 0; i < rewriting->plan->counter_count; i++)
		rewriting->constants[i] = constant(rewriting, rewriting->ulong_type, i);
	rewriting->sample_at = constant(rewriting, rewriting->ulong_type,
	                                (uint64_t)rewriting->rows * rewriting->row_counters);
	rewriting->sample_items =
	    constant(rewriting, rewriting->ulong_type, rewriting->layout.items);
	rewriting->sample_words =
	    constant(rewriting, rewriting->ulong_type, rewriting->layout.words);
	for (uint32_t i = 0; rewriting->layout.items && i < rewriting->layout.words; i++)
		rewriting->offsets[i] = constant(rewriting, rewriting->ulong_type, i);
	put_function_types(rewriting);
}

void rewrite_capabilities(struct rewriting *rewriting)
{
	static const uint32_t needed[] = { CAPABILITY_INT64, CAPABILITY_INT64_ATOMICS };
	const struct spirv_words *words = &rewriting->module->words;

	size_t count = sizeof needed / sizeof *needed - rewriting->plan->carries;

	for (size_t i = 0; i < count; i++) {
		bool there = false;
		for (size_t at = SPIRV_HEADER_WORDS;
		     at < words->count && spirv_op(words, at) == SPIRV_CAPABILITY;
		     at += spirv_length(words, at))
			there |= words->words[at + 1] == needed[i];
		if (!there)
			EMIT(rewriting, SPIRV_CAPABILITY, needed[i]);
	}
}

static void decorate(struct rewriting *rewriting, enum rewriting_place place)
{
	uint32_t text[sizeof places->name / 4] = { 0 }, id = rewriting->places[place];
	size_t words = strlen(places[place].name) / 4 + 1, begin = rewriting->count;

	memcpy(text, places[place].name, strlen(places[place].name));
	EMIT(rewriting, SPIRV_DECORATE, id, SPIRV_LINKAGE);
	for (size_t i = 0; i < words; i++)
		rewrite_put(rewriting, text[i]);
	rewrite_put(rewriting, LINKAGE_IMPORT);
	if (!rewriting->failed)
		rewriting->words[begin] =
		    (uint32_t)(rewriting->count - begin) << 16 | SPIRV_DECORATE;
	EMIT(rewriting, SPIRV_DECORATE, id, SPIRV_CONSTANT_DECORATION);
	EMIT(rewriting, SPIRV_DECORATE, id, SPIRV_BUILT_IN, places[place].built_in);
}

void rewrite_decorations(struct rewriting *rewriting)
{
	for (int i = 0; i < PLACES; i++)
		if (rewriting->place_is_new[i])
			decorate(rewriting, (enum rewriting_place)i);
}
