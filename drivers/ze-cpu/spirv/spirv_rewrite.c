// SPDX-License-Identifier: Apache-2.0
#include "spirv/spirv_rewrite.h"

#include "spirv/spirv_value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CAPABILITY_ADDRESSES = 4, CAPABILITY_INT64 = 11 };
// What a placed variable takes at most: an OpConstant of 64 bits and an OpSpecConstantOp.
enum { WORDS_OF_A_PLACEMENT = 10, WORDS_ADDED_ONCE = 8 };

// A module that is being written again.
struct spirv_rewriting {
	struct spirv_values values;
	const struct spirv_words *from;
	uint32_t *words;
	size_t count;
	uint32_t bound;
	uint32_t wide;    // id of the integer type that addresses have; 0: none yet
	size_t wide_from; // word of its definition in `from`; 0: it is ours
	bool wide_written;
};

static void put(struct spirv_rewriting *to, uint32_t word)
{
	to->words[to->count++] = word;
}

static void put_all(struct spirv_rewriting *to, size_t at)
{
	uint32_t length = spirv_length(to->from, at);

	memcpy(to->words + to->count, to->from->words + at, length * sizeof(uint32_t));
	to->count += length;
}

// ---- specialisation constants

// The constant of the given value in place of the specialisation constant at `at`.
static void put_given(struct spirv_rewriting *to, size_t at,
                      const struct spirv_specialisation *given)
{
	const uint32_t *words = to->from->words + at;
	const struct spirv_id *type = spirv_find(to->from, words[1]);
	size_t number = spirv_find_op(to->from, words[1], SPIRV_TYPE_INT);
	uint32_t parts[2] = { 0, 0 };
	bool truth = (words[0] & 0xffff) != SPIRV_SPEC_CONSTANT;

	memcpy(parts, given->value, given->bytes);
	if (truth) {
		put(to, 3u << 16 | (parts[0] ? SPIRV_CONSTANT_TRUE : SPIRV_CONSTANT_FALSE));
		put(to, words[1]);
		put(to, words[2]);
		return;
	}
	// Numbers of fewer bits than a word are extended by their sign, where the type has one.
	if (number && to->from->words[number + 3] == 1 && type->bytes < 4 &&
	    parts[0] >> (type->bytes * 8 - 1))
		parts[0] |= UINT32_MAX << (type->bytes * 8);
	put(to, (type->bytes > 4 ? 5u : 4u) << 16 | SPIRV_CONSTANT);
	put(to, words[1]);
	put(to, words[2]);
	put(to, parts[0]);
	if (type->bytes > 4)
		put(to, parts[1]);
}

// Every value that is given must be some constant's, and of its size.
static int check_constants(const struct spirv_values *values, struct tare_error *error)
{
	const struct spirv_words *module = values->module;

	for (uint32_t i = 0; i < values->constant_count; i++) {
		const struct spirv_specialisation *given = &values->constants[i];
		uint64_t bytes = 0;
		for (size_t at = SPIRV_HEADER_WORDS; at < module->count && bytes != given->bytes;
		     at += spirv_length(module, at)) {
			uint32_t op = spirv_op(module, at);
			if (op != SPIRV_SPEC_TRUE && op != SPIRV_SPEC_FALSE &&
			    op != SPIRV_SPEC_CONSTANT)
				continue;
			size_t decoration =
			    spirv_decorated(module, module->words[at + 2], SPIRV_SPEC_ID);
			const struct spirv_id *type = spirv_find(module, module->words[at + 1]);
			if (decoration && spirv_length(module, decoration) > 3 && type &&
			    module->words[decoration + 3] == given->id)
				bytes = type->bytes;
		}
		if (bytes == 0)
			return tare_fail(error, EINVAL,
			                 "the module has no specialisation constant %u", given->id);
		if (bytes != given->bytes || bytes > 8)
			return tare_fail(
			    error, EINVAL,
			    "specialisation constant %u has another size than the %zu bytes given",
			    given->id, given->bytes);
	}
	return 0;
}

// ---- variables

static const struct spirv_id *variable_type(const struct spirv_words *module, size_t at)
{
	size_t pointer = spirv_find_op(module, module->words[at + 1], SPIRV_TYPE_POINTER);
	const struct spirv_id *type =
	    pointer ? spirv_find(module, module->words[pointer + 3]) : NULL;

	return type && type->bytes != SPIRV_UNKNOWN_BYTES ? type : NULL;
}

// Every placement must be a variable's, in memory that a program can have.
static int check_placements(const struct spirv_values *values, struct tare_error *error)
{
	for (uint32_t i = 0; i < values->placement_count; i++) {
		const struct spirv_placement *placement = &values->placements[i];
		size_t at = spirv_find_op(values->module, placement->id, SPIRV_VARIABLE);
		uint32_t storage = at ? values->module->words[at + 3] : SPIRV_INPUT;
		if ((storage != SPIRV_CROSS_WORKGROUP && storage != SPIRV_UNIFORM_CONSTANT) ||
		    !variable_type(values->module, at))
			return tare_fail(error, EINVAL,
			                 "the module has no variable %u in global or constant "
			                 "memory",
			                 placement->id);
		if (values->module->address_bits == 32 && (uintptr_t)placement->at > UINT32_MAX)
			return tare_fail(error, ENOTSUP,
			                 "a module of 32-bit addresses cannot have a variable "
			                 "beyond 4 GiB; compile it for 64 bits (spir64)");
	}
	return 0;
}

static int write_initial(const struct spirv_values *values, const struct spirv_placement *placement,
                         struct tare_error *error)
{
	const struct spirv_words *module = values->module;
	size_t at = spirv_find_op(module, placement->id, SPIRV_VARIABLE);
	const struct spirv_id *type = variable_type(module, at);

	memset(placement->at, 0, type->bytes);
	if (spirv_length(module, at) < 5)
		return 0;
	return spirv_write_value(values, module->words[at + 4], type, placement->at, error);
}

// The type of addresses, before the first constant that has it.
static void put_wide(struct spirv_rewriting *to)
{
	if (to->wide_written)
		return;
	to->wide_written = true;
	put(to, 4u << 16 | SPIRV_TYPE_INT);
	put(to, to->wide);
	put(to, to->from->address_bits);
	put(to, 0);
}

// An address in place of the variable at `at`.
static void put_placed(struct spirv_rewriting *to, size_t at,
                       const struct spirv_placement *placement)
{
	const uint32_t *words = to->from->words + at;
	uint64_t address = (uint64_t)(uintptr_t)placement->at;
	uint32_t constant = to->bound++;
	bool wide = to->from->address_bits == 64;

	put_wide(to);
	put(to, (wide ? 5u : 4u) << 16 | SPIRV_CONSTANT);
	put(to, to->wide);
	put(to, constant);
	put(to, (uint32_t)address);
	if (wide)
		put(to, (uint32_t)(address >> 32));
	put(to, 5u << 16 | SPIRV_SPEC_OP);
	put(to, words[1]);
	put(to, words[2]);
	put(to, SPIRV_CONVERT_U_TO_PTR);
	put(to, constant);
}

// The instruction at `at` without the ids from word `first` on that are placed variables.
static void put_without_placed(struct spirv_rewriting *to, size_t at, uint32_t first)
{
	size_t begins = to->count;

	put_all(to, at);
	to->count = begins + first;
	for (uint32_t i = first; i < spirv_length(to->from, at); i++)
		if (!spirv_placed(&to->values, to->from->words[at + i]))
			put(to, to->from->words[at + i]);
	to->words[begins] = (uint32_t)(to->count - begins) << 16 | spirv_op(to->from, at);
}

// ---- the whole

static void put_instruction(struct spirv_rewriting *to, size_t at)
{
	const uint32_t *words = to->from->words + at;
	const struct spirv_specialisation *given;
	const struct spirv_placement *placement;

	switch (words[0] & 0xffff) {
	case SPIRV_NAME:
		if (!spirv_placed(&to->values, words[1]))
			put_all(to, at);
		return;
	case SPIRV_DECORATE:
	case SPIRV_DECORATE_ID:
	case SPIRV_DECORATE_STRING:
		if (!spirv_placed(&to->values, words[1]) &&
		    !(words[2] == SPIRV_SPEC_ID && spirv_given(&to->values, words[1])))
			put_all(to, at);
		return;
	case SPIRV_GROUP_DECORATE:
		put_without_placed(to, at, 2);
		return;
	case SPIRV_ENTRY_POINT:
		// From SPIR-V 1.4 on it lists the variables that it uses.
		put_without_placed(to, at, 4 + (uint32_t)(strlen(spirv_text(to->from, at, 3)) / 4));
		return;
	case SPIRV_SPEC_TRUE:
	case SPIRV_SPEC_FALSE:
	case SPIRV_SPEC_CONSTANT:
		given = spirv_given(&to->values, words[2]);
		if (given)
			put_given(to, at, given);
		else
			put_all(to, at);
		return;
	case SPIRV_VARIABLE:
		placement = spirv_placed(&to->values, words[2]);
		if (placement)
			put_placed(to, at, placement);
		else
			put_all(to, at);
		return;
	}
	if (at != to->wide_from || !to->wide_written)
		put_all(to, at);
	to->wide_written = to->wide_written || at == to->wide_from;
}

static void put_capability(struct spirv_rewriting *to, uint32_t capability)
{
	const struct spirv_words *from = to->from;

	for (size_t at = SPIRV_HEADER_WORDS; at < from->count; at += spirv_length(from, at))
		if (spirv_op(from, at) == SPIRV_CAPABILITY && from->words[at + 1] == capability)
			return;
	put(to, 2u << 16 | SPIRV_CAPABILITY);
	put(to, capability);
}

// The integer type of addresses: the module's, or one of ours.
static void find_wide(struct spirv_rewriting *to)
{
	const struct spirv_words *from = to->from;

	for (size_t at = SPIRV_HEADER_WORDS; at < from->count; at += spirv_length(from, at))
		if (spirv_op(from, at) == SPIRV_TYPE_INT &&
		    from->words[at + 2] == from->address_bits && from->words[at + 3] == 0) {
			to->wide = from->words[at + 1];
			to->wide_from = at;
			return;
		}
	to->wide = to->bound++;
}

static int rewrite(struct spirv_rewriting *to, struct tare_error *error)
{
	const struct spirv_words *from = to->from;
	// A constant of four words may become one of five.
	size_t room = from->count + from->count / 4 + WORDS_ADDED_ONCE +
	              (size_t)WORDS_OF_A_PLACEMENT * to->values.placement_count;

	if (from->bound > UINT32_MAX - to->values.placement_count - 1)
		return tare_fail(error, EINVAL,
		                 "this SPIR-V is damaged: its bound leaves no ids, at word 3");
	to->words = malloc(room * sizeof *to->words);
	if (!to->words)
		return tare_fail(error, ENOMEM, "no memory for a changed SPIR-V module");
	to->bound = from->bound;
	memcpy(to->words, from->words, SPIRV_HEADER_WORDS * sizeof *to->words);
	to->count = SPIRV_HEADER_WORDS;
	if (to->values.placement_count) {
		find_wide(to);
		put_capability(to, CAPABILITY_ADDRESSES);
		if (from->address_bits == 64)
			put_capability(to, CAPABILITY_INT64);
	}
	for (size_t at = SPIRV_HEADER_WORDS; at < from->count; at += spirv_length(from, at))
		put_instruction(to, at);
	to->words[3] = to->bound;
	return 0;
}

int spirv_rewrite(const void *data, size_t bytes, const struct spirv_specialisation *constants,
                  uint32_t constant_count, const struct spirv_placement *placements,
                  uint32_t placement_count, void **changed, size_t *changed_bytes,
                  struct tare_error *error)
{
	struct spirv_words words;

	*changed = NULL;
	*changed_bytes = 0;
	int status = spirv_words_read(data, bytes, &words, error);
	if (status < 0)
		return status;
	struct spirv_rewriting to = {
		.values = { &words, constants, constant_count, placements, placement_count },
		.from = &words,
	};
	status = check_constants(&to.values, error);
	if (status == 0)
		status = check_placements(&to.values, error);
	for (uint32_t i = 0; i < placement_count && status == 0; i++)
		status = write_initial(&to.values, &placements[i], error);
	if (status == 0)
		status = rewrite(&to, error);
	if (status == 0) {
		*changed = to.words;
		*changed_bytes = to.count * sizeof *to.words;
	}
	spirv_words_free(&words);
	return status;
}
