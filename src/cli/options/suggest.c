// SPDX-License-Identifier: Apache-2.0
#include "cli/options/suggest.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

// Longer words are no names of ours.
#define LONGEST 32

static size_t smallest(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;
	return least < c ? least : c;
}

size_t tare_word_distance(const char *a, const char *b)
{
	size_t rows = strlen(a), columns = strlen(b);
	size_t distance[LONGEST + 1][LONGEST + 1];

	if (rows > LONGEST || columns > LONGEST)
		return LONGEST;
	for (size_t i = 0; i <= rows; i++)
		for (size_t j = 0; j <= columns; j++) {
			if (i == 0 || j == 0) {
				distance[i][j] = i + j;
				continue;
			}
			int here_a = tolower((unsigned char)a[i - 1]);
			int here_b = tolower((unsigned char)b[j - 1]);
			distance[i][j] = smallest(distance[i - 1][j] + 1, distance[i][j - 1] + 1,
			                          distance[i - 1][j - 1] + (here_a != here_b));
			if (i > 1 && j > 1 && here_a == tolower((unsigned char)b[j - 2]) &&
			    here_b == tolower((unsigned char)a[i - 2]) &&
			    distance[i][j] > distance[i - 2][j - 2] + 1)
				distance[i][j] = distance[i - 2][j - 2] + 1;
		}
	return distance[rows][columns];
}

void tare_suggestion_offer(struct tare_suggestion *suggestion, const char *word)
{
	size_t length = strlen(suggestion->wanted);
	size_t distance = tare_word_distance(suggestion->wanted, word);

	// What was typed so far is the beginning of the word: nearer than any typing error, though
	// not than the word itself.
	if (distance > 1 && length >= 2 && strncasecmp(suggestion->wanted, word, length) == 0)
		distance = 1;
	if (distance > (length + 2) / 3 || distance >= strlen(word))
		return;
	if (!suggestion->nearest || distance < suggestion->distance) {
		suggestion->nearest = word;
		suggestion->distance = distance;
	}
}
