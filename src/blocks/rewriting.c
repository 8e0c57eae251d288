// SPDX-License-Identifier: Apache-2.0
#include "blocks/rewriting.h"

#include <stdlib.h>

enum { COMPOSITE_EXTRACT = 81 };

void rewrite_put(struct rewriting *rewriting, uint32_t word)
{
	if (rewriting->count == rewriting->room) {
		size_t room = rewriting->room ? 2 * rewriting->room : 1024;
		uint32_t *words = realloc(rewriting->words, room * sizeof *words);
		if (!words) {
			rewriting->failed = true;
			return;
		}
		rewriting->words = words;
		rewriting->room = room;
	}
	rewriting->words[rewriting->count++] = word;
}

void rewrite_emit(struct rewriting *rewriting, uint32_t op, const uint32_t *operands,
                  uint32_t count)
{
	rewrite_put(rewriting, (count + 1) << 16 | op);
	for (uint32_t i = 0; i < count; i++)
		rewrite_put(rewriting, operands[i]);
}

uint32_t rewrite_fresh(struct rewriting *rewriting)
{
	return rewriting->bound++;
}

void rewrite_copy(struct rewriting *rewriting, size_t at)
{
	const struct spirv_words *words = &rewriting->module->words;

	for (uint32_t i = 0; i < spirv_length(words, at); i++)
		rewrite_put(rewriting, words->words[at + i]);
}

// The same instruction with one more operand.
void rewrite_copy_with(struct rewriting *rewriting, size_t at, uint32_t operand)
{
	size_t begin = rewriting->count;

	rewrite_copy(rewriting, at);
	rewrite_put(rewriting, operand);
	if (!rewriting->failed)
		rewriting->words[begin] += UINT32_C(1) << 16;
}

void rewrite_place(struct rewriting *rewriting, enum rewriting_place place, uint32_t part[3])
{
	uint32_t triple = rewrite_fresh(rewriting);

	EMIT(rewriting, REWRITE_LOAD, rewriting->triple_type, triple, rewriting->places[place], 2,
	     32);
	for (uint32_t i = 0; i < 3; i++) {
		part[i] = rewrite_fresh(rewriting);
		EMIT(rewriting, COMPOSITE_EXTRACT, rewriting->ulong_type, part[i], triple, i);
	}
}
