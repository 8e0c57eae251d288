// SPDX-License-Identifier: Apache-2.0
// The twin's printf goes through the driver as the kernel's does. What differs was found with PoCL
// 3.1, which gets the twin as bitcode.
#include "blocks/module/printing.h"

#include "blocks/module/calls.h"
#include "blocks/module/classify.h"

#include <string.h>

enum { EXTENDED = 12, OPENCL_PRINTF = 184, FIRST_VALUE = 6, BITS_IN_A_REGISTER = 128 };

// The next call of printf from the word `at` on, with the function that it is in; 0: there is none.
static size_t next(const struct tare_blocks_module *module, size_t at,
                   const struct tare_blocks_function **function)
{
	const struct spirv_words *words = &module->words;

	for (; at < words->count; at += spirv_length(words, at)) {
		uint32_t op = spirv_op(words, at);
		if (op == SPIRV_FUNCTION)
			*function = tare_blocks_function_of(module, words->words[at + 2]);
		if (op == EXTENDED && spirv_length(words, at) > 4 &&
		    words->words[at + 4] == OPENCL_PRINTF && !tare_blocks_is_silent(module, at))
			return at;
	}
	return 0;
}

// Of a vector's type; 0: it is none.
static uint64_t vector_bits(const struct spirv_words *words, uint32_t type)
{
	size_t vector = spirv_find_op(words, type, SPIRV_TYPE_VECTOR);

	if (!vector)
		return 0;
	uint32_t of = words->words[vector + 2];
	size_t number = spirv_find_op(words, of, SPIRV_TYPE_INT);
	number = number ? number : spirv_find_op(words, of, SPIRV_TYPE_FLOAT);
	return number ? (uint64_t)words->words[number + 2] * words->words[vector + 3] : 1;
}

// Vectors that fill a register are passed alike by all. Others clang passes as C of the processor
// wants it, and bitcode that is of no processor as they are.
static bool has_other_vectors(const struct tare_blocks_module *module, size_t at)
{
	const struct spirv_words *words = &module->words;

	for (uint32_t i = FIRST_VALUE; i < spirv_length(words, at); i++) {
		uint32_t id = words->words[at + i];
		uint64_t bits = id < words->bound ? vector_bits(words, module->types[id]) : 0;
		if (bits != 0 && bits != BITS_IN_A_REGISTER)
			return true;
	}
	return false;
}

const char *tare_blocks_print_obstacle(const struct tare_blocks_module *module)
{
	const struct tare_blocks_function *in = NULL;
	size_t at = SPIRV_HEADER_WORDS;

	while ((at = next(module, at, &in)) != 0) {
		// PoCL then prints nothing, or without an end.
		if (!in || !in->kernel)
			return "it calls printf in a function that was not inlined into a kernel, "
			       "whose output a driver may lose";
		if (has_other_vectors(module, at))
			return "it prints vectors of another size than 16 bytes, which a driver "
			       "may "
			       "read otherwise";
		at += spirv_length(&module->words, at);
	}
	return NULL;
}

bool tare_blocks_prints(const struct tare_blocks_module *module, const char *kernel)
{
	const struct tare_blocks_function *in = NULL;
	size_t at = SPIRV_HEADER_WORDS;

	while ((at = next(module, at, &in)) != 0) {
		if (in && in->kernel && strcmp(in->kernel, kernel) == 0)
			return true;
		at += spirv_length(&module->words, at);
	}
	return false;
}
