// SPDX-License-Identifier: Apache-2.0
// An estimate of what a kernel spills, since OpenCL tells none: the most bytes of values that are
// alive at once in its SPIR-V, read from top to bottom (loops are not followed), beyond 16
// registers of 8 bytes. A word that is a number may be taken for the name of a value: it is an
// upper bound.
#include "kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

#define REGISTER_BYTES (16 * 8)

enum {
	TYPE_INT = 21,
	TYPE_FLOAT = 22,
	TYPE_VECTOR = 23,
	TYPE_POINTER = 32,
	ENTRY_POINT = 15,
	FUNCTION = 54,
	FUNCTION_END = 56,
	FUNCTION_CALL = 57
};

struct spill {
	uint32_t bound;
	uint32_t *type_bytes;             // by id of a type
	uint32_t *value_bytes, *last_use; // by id of a value of the function being read
	uint32_t *callers;                // by id of a function: the function that calls it
	uint32_t *most;                   // by id of a function: bytes alive at once
};

static void read_type(struct spill *spill, const uint32_t *word, uint32_t length)
{
	uint32_t op = word[0] & 0xffff;

	if (length < 3 || word[1] >= spill->bound)
		return;
	if (op == TYPE_INT || op == TYPE_FLOAT)
		spill->type_bytes[word[1]] = word[2] / 8;
	else if (op == TYPE_POINTER)
		spill->type_bytes[word[1]] = 8;
	else if (op == TYPE_VECTOR && length > 3 && word[2] < spill->bound && word[3] <= 16)
		spill->type_bytes[word[1]] = spill->type_bytes[word[2]] * word[3];
}

// A result's type comes first, and no other operand at that place is a type.
static bool has_result(const struct spill *spill, const uint32_t *word, uint32_t length)
{
	return length > 2 && word[1] < spill->bound && spill->type_bytes[word[1]] &&
	       word[2] < spill->bound;
}

static uint32_t most_alive(struct spill *spill, const uint32_t *words, size_t begin, size_t end)
{
	uint64_t alive = 0, most = 0;

	memset(spill->value_bytes, 0, spill->bound * sizeof *spill->value_bytes);
	for (size_t at = begin; at < end; at += words[at] >> 16) {
		const uint32_t *word = words + at;
		uint32_t length = word[0] >> 16, first = has_result(spill, word, length) ? 3 : 1;
		if (first == 3)
			spill->value_bytes[word[2]] = spill->type_bytes[word[1]];
		for (uint32_t i = first; i < length; i++)
			if (word[i] < spill->bound && spill->value_bytes[word[i]])
				spill->last_use[word[i]] = (uint32_t)at;
		if (first == 3)
			spill->last_use[word[2]] = 0;
	}
	for (size_t at = begin; at < end; at += words[at] >> 16) {
		const uint32_t *word = words + at;
		uint32_t length = word[0] >> 16, first = has_result(spill, word, length) ? 3 : 1;
		for (uint32_t i = first; i < length; i++)
			if (word[i] < spill->bound && spill->last_use[word[i]] == at) {
				alive -= alive < spill->value_bytes[word[i]]
				             ? alive
				             : spill->value_bytes[word[i]];
				spill->last_use[word[i]] = 0;
			}
		if (first == 3 && spill->last_use[word[2]])
			alive += spill->value_bytes[word[2]];
		most = alive > most ? alive : most;
	}
	return most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
}

static uint32_t read_module(struct spill *spill, const struct _ze_kernel_handle_t *kernel)
{
	const uint32_t *words = kernel->program->il;
	size_t count = kernel->program->il_bytes / sizeof *words, begin = 0, length;
	uint32_t entry = 0, function = 0, most = 0;

	for (size_t at = 5; at < count; at += length) {
		const uint32_t *word = words + at;
		uint32_t op = word[0] & 0xffff;
		length = word[0] >> 16;
		if (!length || length > count - at)
			return 0;
		read_type(spill, word, (uint32_t)length);
		if (op == ENTRY_POINT && length > 3 && word[2] < spill->bound &&
		    strncmp((const char *)(word + 3), kernel->spirv->name, (length - 3) * 4) == 0)
			entry = word[2];
		if (op == FUNCTION && length > 2 && word[2] < spill->bound) {
			function = word[2];
			begin = at + length;
		}
		if (op == FUNCTION_CALL && length > 3 && word[3] < spill->bound &&
		    function == entry)
			spill->callers[word[3]] = function;
		if (op == FUNCTION_END && function)
			spill->most[function] = most_alive(spill, words, begin, at);
	}
	for (uint32_t id = 0; entry && id < spill->bound; id++)
		if ((id == entry || spill->callers[id] == entry) && spill->most[id] > most)
			most = spill->most[id];
	return most > REGISTER_BYTES ? most - REGISTER_BYTES : 0;
}

uint32_t kernel_spill_bytes(const struct _ze_kernel_handle_t *kernel)
{
	const uint32_t *words = kernel->program->il;
	uint32_t bytes = 0;

	// A module has fewer names than words; one of the other byte order is not read.
	if (words[0] != 0x07230203 || words[3] > kernel->program->il_bytes)
		return 0;
	uint32_t *all = calloc(words[3] + (size_t)1, 5 * sizeof *all);
	if (!all)
		return 0;
	struct spill spill = { words[3],
		               all,
		               all + words[3],
		               all + 2 * (size_t)words[3],
		               all + 3 * (size_t)words[3],
		               all + 4 * (size_t)words[3] };
	bytes = read_module(&spill, kernel);
	free(all);
	return bytes;
}
