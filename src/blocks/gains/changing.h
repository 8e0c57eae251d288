// SPDX-License-Identifier: Apache-2.0
// A module while it is written anew with a change: what change.c and single.c share.
#pragma once
#include "blocks/gains/change.h"
#include "blocks/rewriting.h"

struct changing {
	const struct tare_blocks_build *build;
	const struct tare_blocks_profile *profile;
	enum tare_blocks_change change;
	struct tare_blocks_changed *changed;
	struct rewriting out;
	uint32_t *others; // of each id: the float for a double; of each word: a divisor's constant
	uint32_t column;
	size_t *defined; // of each id: the word of its instruction in a function, or 0
	// conversions to floats that take part: of each id the last one of it, of each word the one
	// before that; 0: none
	size_t *narrowed, *narrowed_too;
	bool *wanted; // of each id: what takes part takes it
	// of each id, while the module is written for the second time: it is left out, and which
	// float has its decorations (0: none)
	bool *dropped;
	uint32_t *singles;
};

static inline const struct spirv_words *tare_blocks_changing_words(const struct changing *changing)
{
	return &changing->build->module.words;
}

// A word of an instruction; 0: it has none such.
static inline uint32_t tare_blocks_changing_word(const struct changing *changing, size_t at,
                                                 uint32_t index)
{
	const struct spirv_words *words = tare_blocks_changing_words(changing);

	return index < spirv_length(words, at) ? words->words[at + index] : 0;
}

// Doubles become floats (single.c): constants before the first function, an instruction that stands
// before it, and one in functions.
void tare_blocks_single_constants(struct changing *changing);
void tare_blocks_single_global(struct changing *changing, size_t at);
void tare_blocks_single(struct changing *changing, size_t at);
// Finds what can be left out, once the module has been written: it is then to be written again. 0
// or -ENOMEM.
int tare_blocks_single_end(struct changing *changing);
