// SPDX-License-Identifier: Apache-2.0
// Whether a kernel computes the same in work-groups of any size.
#include "blocks/gains/change.h"

#include <string.h>

enum {
	EXTENDED = 12,
	LOAD = 61,
	STORE = 62,
	VECTOR_SHUFFLE = 79,
	COMPOSITE_EXTRACT = 81,
	COMPOSITE_INSERT = 82,
	CONTROL_BARRIER = 224,
	BRANCH_CONDITIONAL = 250,
	SWITCH = 251,
	LIFETIME_START = 256,
	LIFETIME_STOP = 257,
	FIRST_OF_GROUPS = 259, // OpGroupAsyncCopy .. OpGroupSMax
	LAST_OF_GROUPS = 271,
	// OpGroupNonUniformElect: from here on more of them, and extensions that nobody here knows
	FIRST_OF_SUB_GROUPS = 333,
	EXECUTION_LOCAL_SIZE = 17,
	EXECUTION_SUB_GROUP_SIZE = 35, // .. LocalSizeHintId
	EXECUTION_SIZE_HINT_ID = 39,
	GLOBAL_INVOCATION_ID = 28,
	WORK_DIM = 30,
	GLOBAL_SIZE = 31,
	GLOBAL_OFFSET = 33,
	GLOBAL_LINEAR_ID = 34,
};

// Whether an id is a variable that tells of groups.
static bool tells_of_groups(const struct spirv_words *words, uint32_t id)
{
	size_t variable = spirv_find_op(words, id, SPIRV_VARIABLE);
	size_t built_in = variable ? spirv_decorated(words, id, SPIRV_BUILT_IN) : 0;

	if (!variable)
		return false;
	if (!built_in)
		return words->words[variable + 3] == SPIRV_WORKGROUP;
	switch (words->words[built_in + 3]) {
	case GLOBAL_INVOCATION_ID:
	case WORK_DIM:
	case GLOBAL_SIZE:
	case GLOBAL_OFFSET:
	case GLOBAL_LINEAR_ID:
		return false;
	default:
		return true;
	}
}

// Local memory that is an argument.
static bool is_local_parameter(const struct tare_blocks_module *module, size_t at)
{
	const struct spirv_words *words = &module->words;
	size_t pointer = spirv_find_op(words, words->words[at + 1], SPIRV_TYPE_POINTER);

	return pointer && words->words[pointer + 2] == SPIRV_WORKGROUP;
}

uint32_t tare_blocks_ids_of(const struct spirv_words *words, size_t at, uint32_t *first)
{
	uint32_t op = spirv_op(words, at), length = spirv_length(words, at), end = length;

	*first = op == EXTENDED ? 5 : 1;
	if (op == SPIRV_LINE || op == SPIRV_VARIABLE || op == SWITCH)
		end = 0;
	else if (op == LIFETIME_START || op == LIFETIME_STOP || op == BRANCH_CONDITIONAL)
		end = 2;
	else if (op == STORE)
		end = 3;
	else if (op == LOAD || op == COMPOSITE_EXTRACT)
		end = 4;
	else if (op == COMPOSITE_INSERT || op == VECTOR_SHUFFLE)
		end = 5;
	return end < length ? end : length;
}

static bool is_grouped(const struct tare_blocks_module *module, size_t at)
{
	const struct spirv_words *words = &module->words;
	uint32_t op = spirv_op(words, at), first, end = tare_blocks_ids_of(words, at, &first);

	// What is called is not looked into.
	if (op == CONTROL_BARRIER || op == SPIRV_CALL ||
	    (op >= FIRST_OF_GROUPS && op <= LAST_OF_GROUPS) || op >= FIRST_OF_SUB_GROUPS)
		return true;
	if (op == SPIRV_PARAMETER)
		return is_local_parameter(module, at);
	for (uint32_t i = first; i < end; i++)
		if (tells_of_groups(words, words->words[at + i]))
			return true;
	return false;
}

static bool has_size(const struct spirv_words *words, uint32_t entry)
{
	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		uint32_t op = spirv_op(words, at);
		if (op == SPIRV_FUNCTION)
			return false;
		if ((op != SPIRV_EXECUTION_MODE && op != SPIRV_EXECUTION_MODE_ID) ||
		    spirv_length(words, at) < 3 || words->words[at + 1] != entry)
			continue;
		uint32_t mode = words->words[at + 2];
		if (mode == EXECUTION_LOCAL_SIZE ||
		    (mode >= EXECUTION_SUB_GROUP_SIZE && mode <= EXECUTION_SIZE_HINT_ID))
			return true;
	}
	return false;
}

bool tare_blocks_is_free_of_groups(const struct tare_blocks_module *module,
                                   const struct tare_blocks_function *function)
{
	const struct spirv_words *words = &module->words;
	size_t at = spirv_find_op(words, function->id, SPIRV_FUNCTION);

	// What says a size stands with the entry point, which may only hand arguments on.
	for (size_t i = SPIRV_HEADER_WORDS;
	     i < words->count && spirv_op(words, i) != SPIRV_FUNCTION;
	     i += spirv_length(words, i)) {
		const char *name =
		    spirv_op(words, i) == SPIRV_ENTRY_POINT ? spirv_text(words, i, 3) : NULL;
		if (name && function->kernel && strcmp(name, function->kernel) == 0 &&
		    has_size(words, words->words[i + 2]))
			return false;
	}
	for (at += at ? spirv_length(words, at) : words->count; at < words->count;
	     at += spirv_length(words, at)) {
		if (spirv_op(words, at) == SPIRV_FUNCTION_END)
			return true;
		if (is_grouped(module, at))
			return false;
	}
	return false;
}
