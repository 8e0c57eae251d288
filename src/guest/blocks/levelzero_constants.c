// SPDX-License-Identifier: Apache-2.0
// Specialisation constants of Level Zero modules. Their values are worked into the words of the
// module, so that a module with other values is another one, and all that is known of it (sizes,
// what ocloc makes of it) is of these values. (Facts: the SPIR-V specification, unified 1.6.)
#include "guest/blocks/levelzero.h"

#include <string.h>

enum {
	MAGIC = 0x07230203,
	HEADER_WORDS = 5,
	TYPE_INT = 21,
	TYPE_FLOAT = 22,
	CONSTANT_TRUE = 41,
	CONSTANT_FALSE = 42,
	CONSTANT = 43,
	SPEC_TRUE = 48,
	SPEC_FALSE = 49,
	SPEC_CONSTANT = 50,
	FUNCTION = 54,
	DECORATE = 71,
	SPEC_ID = 1,
};

struct words {
	uint32_t *words;
	size_t count; // up to the first function
};

static uint32_t op_of(const struct words *module, size_t at)
{
	return module->words[at] & 0xffff;
}

static uint32_t length_of(const struct words *module, size_t at)
{
	return module->words[at] >> 16;
}

// Finds out where the functions begin. False: it is no module in the byte order of this machine.
static bool read_words(struct words *module, size_t count)
{
	size_t at = HEADER_WORDS;

	if (count < HEADER_WORDS || module->words[0] != MAGIC)
		return false;
	while (at < count && op_of(module, at) != FUNCTION) {
		uint32_t length = length_of(module, at);
		if (length == 0 || length > count - at)
			return false;
		at += length;
	}
	module->count = at;
	return true;
}

// The word of the constant that is one to be specialised; 0: there is none of that id.
static size_t find_constant(const struct words *module, uint32_t id)
{
	for (size_t at = HEADER_WORDS; at < module->count; at += length_of(module, at)) {
		uint32_t op = op_of(module, at);
		if (op >= SPEC_TRUE && op <= SPEC_CONSTANT && length_of(module, at) >= 3 &&
		    module->words[at + 2] == id)
			return at;
	}
	return 0;
}

// The bits of a type of numbers, and whether it has a sign; 0: it is none.
static uint32_t bits_of(const struct words *module, uint32_t type, bool *has_sign)
{
	for (size_t at = HEADER_WORDS; at < module->count; at += length_of(module, at)) {
		const uint32_t *words = module->words + at;
		uint32_t op = op_of(module, at), length = length_of(module, at);
		if ((op != TYPE_INT && op != TYPE_FLOAT) || length < 3 || words[1] != type)
			continue;
		*has_sign = op == TYPE_INT && length > 3 && words[3] == 1;
		return words[2];
	}
	return 0;
}

// Makes the constant an ordinary one of that value. False: what its value is cannot be told.
static bool give(struct words *module, size_t at, const void *value)
{
	uint32_t *words = module->words + at, length = length_of(module, at), parts[2] = { 0, 0 };
	bool has_sign = false;

	if (op_of(module, at) != SPEC_CONSTANT) {
		uint8_t truth;
		memcpy(&truth, value, sizeof truth);
		words[0] = length << 16 | (truth != 0 ? CONSTANT_TRUE : CONSTANT_FALSE);
		return true;
	}
	uint32_t bits = bits_of(module, words[1], &has_sign);
	if ((bits != 8 && bits != 16 && bits != 32 && bits != 64) || length != (bits > 32 ? 5 : 4))
		return false;
	memcpy(parts, value, bits / 8);
	// A number of fewer bits than a word is extended by its sign.
	if (has_sign && bits < 32 && parts[0] >> (bits - 1) != 0)
		parts[0] |= UINT32_MAX << bits;
	words[0] = length << 16 | CONSTANT;
	memcpy(words + 3, parts, (length - 3) * sizeof *words);
	return true;
}

// The value given for a SpecId; NULL: none.
static const void *given_for(const ze_module_constants_t *given, uint32_t id)
{
	for (uint32_t i = 0; i < given->numConstants; i++)
		if (given->pConstantIds[i] == id)
			return given->pConstantValues[i];
	return NULL;
}

static bool is_plain(const ze_module_constants_t *given)
{
	if (given->pConstantIds == NULL || given->pConstantValues == NULL)
		return false;
	for (uint32_t i = 0; i < given->numConstants; i++) {
		if (given->pConstantValues[i] == NULL)
			return false;
		// Which of two values a driver takes is its own.
		for (uint32_t k = 0; k < i; k++)
			if (given->pConstantIds[k] == given->pConstantIds[i])
				return false;
	}
	return true;
}

size_t blocks_ze_specialise(const ze_module_constants_t *given, uint32_t *words, size_t bytes)
{
	struct words module = { .words = words };
	size_t count = bytes / sizeof *words, kept = HEADER_WORDS;

	if (bytes % sizeof *words != 0 || !is_plain(given) || !read_words(&module, count))
		return 0;
	for (size_t at = HEADER_WORDS; at < module.count; at += length_of(&module, at)) {
		if (op_of(&module, at) != DECORATE || length_of(&module, at) != 4 ||
		    words[at + 2] != SPEC_ID)
			continue;
		const void *value = given_for(given, words[at + 3]);
		size_t constant = value != NULL ? find_constant(&module, words[at + 1]) : 0;
		// A group of decorations, for one.
		if (value != NULL && (constant == 0 || !give(&module, constant, value)))
			return 0;
	}
	// What is no specialisation constant any more has no SpecId.
	for (size_t at = HEADER_WORDS; at < module.count;) {
		uint32_t length = length_of(&module, at);
		bool goes = op_of(&module, at) == DECORATE && length == 4 &&
		            words[at + 2] == SPEC_ID && given_for(given, words[at + 3]) != NULL;
		if (!goes)
			memmove(words + kept, words + at, length * sizeof *words);
		kept += goes ? 0 : length;
		at += length;
	}
	memmove(words + kept, words + module.count, (count - module.count) * sizeof *words);
	return (kept + count - module.count) * sizeof *words;
}
