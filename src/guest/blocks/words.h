// SPDX-License-Identifier: Apache-2.0
// The words of a set of build options: which of the program's own stay, and pragmas that go before
// loops of its sources. Text alone, for the layers and for tare.
//
// A set is build options, then pragmas: "-cl-mad-enable #14 unroll 4 #turned:20 unroll 2". Each
// begins with a word "#LINE" or "#NAME:LINE", and ends at the next one or with the set.
#pragma once
#include "guest/blocks/shared.h"

#include <stddef.h>

struct blocks_pragma {
	// Of sources in which this name stands; no bytes: of all.
	const char *name;
	size_t name_bytes;
	uint32_t line;
	const char *text; // without "#pragma"
	size_t text_bytes;
};

// How many bytes of a set are build options; pragmas are behind them.
size_t blocks_words_options(const char *set);
// The pragmas of a set; they point into it. How many; -1: what *wrong points at is none, or there
// are more than BLOCKS_MOST_PRAGMAS.
int blocks_words_pragmas(const char *set, struct blocks_pragma pragmas[BLOCKS_MOST_PRAGMAS],
                         const char **wrong);
// What stays of the program's own options, and the first `bytes` of a set behind it, into `text`,
// with room for 2 * strlen(own) + bytes + 1.
void blocks_words_compose(enum blocks_api api, const char *own, const char *set, size_t bytes,
                          char *text);
// A source of OpenCL C with the pragmas before the first loops of their lines, as _Pragma: lines
// stay where they are. Into `text`, with room for blocks_words_room(); how many bytes that are.
// *placed: a bit for each that has a loop here.
size_t blocks_words_place(const struct blocks_pragma *pragmas, unsigned count, const char *source,
                          size_t bytes, char *text, uint64_t *placed);
size_t blocks_words_room(const struct blocks_pragma *pragmas, unsigned count, size_t bytes);
