// SPDX-License-Identifier: Apache-2.0
// Divisors that a program gives as an argument, the same in each launch.
#include "blocks/gains/change.h"

#include "blocks/module/calls.h"
#include "blocks/module/classify.h"

#include <stdio.h>
#include <string.h>

enum {
	EXTENDED = 12, // debug information, and functions, whose operands are no such variables
	LOAD = 61,
	STORE = 62,
	COPY_OBJECT = 83,
	U_CONVERT = 113,
	S_CONVERT = 114,
	U_DIV = 134,
	F_DIV = 136,
	S_MOD = 139,
	DIVISOR = 4, // word of a division
	MOST_STEPS = 4,
};

// A word of an instruction; 0: it has none such.
static uint32_t operand(const struct spirv_words *words, size_t at, uint32_t index)
{
	return index < spirv_length(words, at) ? words->words[at + index] : 0;
}

static uint32_t integer_bits(const struct spirv_words *words, uint32_t type)
{
	size_t at = spirv_find_op(words, type, SPIRV_TYPE_INT);

	return at ? words->words[at + 2] : 0;
}

static uint64_t low_bits(uint64_t value, uint32_t bits)
{
	return bits >= 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

static uint64_t converted(uint64_t value, uint32_t from, uint32_t to, bool is_signed)
{
	if (is_signed && from < to && from > 0 && value >> (from - 1) & 1)
		value |= ~low_bits(UINT64_MAX, from);
	return low_bits(value, to);
}

// What a variable of a function holds from its beginning to its end: what the one store to it puts
// there, where nothing else than loads names it; 0: it is not known.
static uint32_t kept_in(const struct spirv_words *words, uint32_t function, uint32_t variable)
{
	size_t at = spirv_find_op(words, function, SPIRV_FUNCTION);
	uint32_t kept = 0;

	if (!at || !spirv_find_op(words, variable, SPIRV_VARIABLE))
		return 0;
	for (; at < words->count; at += spirv_length(words, at)) {
		uint32_t op = spirv_op(words, at);
		if (op == SPIRV_FUNCTION_END)
			return kept;
		if (op == SPIRV_VARIABLE || op == SPIRV_LINE || op == EXTENDED)
			continue;
		for (uint32_t i = 1; i < spirv_length(words, at); i++) {
			if (words->words[at + i] != variable || (op == LOAD && i == 3))
				continue;
			if (op != STORE || i != 1 || kept)
				return 0;
			kept = operand(words, at, 2);
		}
	}
	return 0;
}

// The place of a parameter in its function; UINT32_MAX: it is none of it.
static uint32_t parameter_of(const struct spirv_words *words, uint32_t function, uint32_t id)
{
	size_t at = spirv_find_op(words, function, SPIRV_FUNCTION);
	uint32_t index = 0;

	for (at += at ? spirv_length(words, at) : words->count; at < words->count;
	     at += spirv_length(words, at)) {
		uint32_t op = spirv_op(words, at);
		if (op == SPIRV_LABEL || op == SPIRV_FUNCTION_END)
			break;
		if (op != SPIRV_PARAMETER)
			continue;
		if (operand(words, at, 2) == id)
			return index;
		index++;
	}
	return UINT32_MAX;
}

// The kernel that a function is the body of, launched by the program and by no call.
static const struct tare_blocks_kernel *kernel_of(const struct tare_blocks_build *build,
                                                  const struct tare_blocks_profile *profile,
                                                  uint32_t id)
{
	const struct tare_blocks_function *function = tare_blocks_function_of(&build->module, id);

	if (!function || !function->kernel || !tare_blocks_is_launched(&build->module, function))
		return NULL;
	for (size_t i = 0; i < profile->kernel_count; i++)
		if (profile->kernels[i].build && profile->kernels[i].build->hash == build->hash &&
		    strcmp(profile->kernels[i].name, function->kernel) == 0)
			return &profile->kernels[i];
	return NULL;
}

// The parameter at this place of a function at this word; 0: it has none such.
static uint32_t parameter_at(const struct spirv_words *words, size_t function, uint32_t index)
{
	for (size_t at = function; at < words->count; at += spirv_length(words, at)) {
		if (spirv_op(words, at) == SPIRV_LABEL || spirv_op(words, at) == SPIRV_FUNCTION_END)
			break;
		if (spirv_op(words, at) == SPIRV_PARAMETER && index-- == 0)
			return operand(words, at, 2);
	}
	return 0;
}

// Whether an instruction takes a value otherwise than as a divisor. A value that is kept in a
// variable or widened is not followed further.
static bool is_other_use(const struct tare_blocks_module *module, size_t at, uint32_t id)
{
	const struct spirv_words *words = &module->words;
	uint32_t op = spirv_op(words, at), first, end = tare_blocks_ids_of(words, at, &first);
	bool divides = op >= U_DIV && op <= S_MOD && op != F_DIV;

	if (op == SPIRV_LINE || op == SPIRV_PARAMETER ||
	    (op == EXTENDED && tare_blocks_is_silent(module, at)))
		return false;
	for (uint32_t i = first; i < end; i++)
		if (words->words[at + i] == id && !(divides && i == DIVISOR))
			return true;
	return false;
}

bool tare_blocks_only_divides(const struct tare_blocks_module *module,
                              const struct blocks_fixed *fixed)
{
	const struct spirv_words *words = &module->words;

	for (uint32_t i = 0; i < module->function_count; i++) {
		const struct tare_blocks_function *function = &module->functions[i];
		size_t at = spirv_find_op(words, function->id, SPIRV_FUNCTION);
		uint32_t id = at ? parameter_at(words, at, fixed->argument) : 0;
		if (!function->counted || !function->kernel || !id ||
		    strcmp(function->kernel, fixed->kernel) != 0)
			continue;
		for (; at < words->count && spirv_op(words, at) != SPIRV_FUNCTION_END;
		     at += spirv_length(words, at))
			if (is_other_use(module, at, id))
				return false;
		return true;
	}
	return false;
}

bool tare_blocks_divisor_of(const struct tare_blocks_build *build,
                            const struct tare_blocks_profile *profile, const size_t *defined,
                            size_t at, uint32_t function, struct tare_blocks_divisor *divisor)
{
	const struct tare_blocks_module *module = &build->module;
	const struct spirv_words *words = &module->words;
	const struct tare_blocks_kernel *kernel = kernel_of(build, profile, function);
	uint32_t id = operand(words, at, DIVISOR), steps = 0;
	size_t step[MOST_STEPS];

	if (!kernel)
		return false;
	divisor->type = id < words->bound ? module->types[id] : 0;
	// From the division back to where its divisor comes from.
	for (; id < words->bound && defined[id] && steps < MOST_STEPS; steps++) {
		uint32_t op = spirv_op(words, defined[id]);
		if (op != U_CONVERT && op != S_CONVERT && op != COPY_OBJECT && op != LOAD)
			return false;
		step[steps] = defined[id];
		id = operand(words, defined[id], 3);
		if (op == LOAD)
			id = kept_in(words, function, id);
	}
	uint32_t index = parameter_of(words, function, id);
	if (index >= BLOCKS_ARGUMENTS || id >= words->bound || !integer_bits(words, divisor->type))
		return false;
	const struct blocks_argument *argument = &kernel->arguments[index];
	uint32_t bits = integer_bits(words, module->types[id]);
	if (argument->varies || argument->bytes == 0 || argument->bytes * 8 != bits)
		return false;
	divisor->value = argument->value;
	while (steps-- > 0) {
		uint32_t to = integer_bits(words, words->words[step[steps] + 1]);
		divisor->value =
		    converted(divisor->value, bits, to, spirv_op(words, step[steps]) == S_CONVERT);
		bits = to;
	}
	divisor->fixed = (struct blocks_fixed){ .argument = index,
		                                .bytes = argument->bytes,
		                                .value = argument->value };
	snprintf(divisor->fixed.kernel, sizeof divisor->fixed.kernel, "%s", kernel->name);
	return divisor->value != 0;
}
