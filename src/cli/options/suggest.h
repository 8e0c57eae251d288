// SPDX-License-Identifier: Apache-2.0
// "Did you mean": the nearest word of a list.
#pragma once
#include <stddef.h>

// Letters to insert, delete, replace or swap to get from one word to the other, without regard
// to case (optimal string alignment).
size_t tare_word_distance(const char *a, const char *b);

// The best word so far in a search over any list. Zero-initialise with `wanted` set, offer every
// word, then read `nearest`: NULL when nothing is near enough to be meant.
struct tare_suggestion {
	const char *wanted;
	const char *nearest;
	size_t distance;
};
void tare_suggestion_offer(struct tare_suggestion *suggestion, const char *word);
