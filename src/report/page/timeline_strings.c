// SPDX-License-Identifier: Apache-2.0
// Texts that are there once and have a number.
#include "report/page/timeline.h"

#include <stdlib.h>
#include <string.h>

struct timeline_strings {
	char **at;
	size_t count;
	uint32_t *slots;   // 1 + number; 0: free
	size_t slot_count; // a power of two, more than twice the texts
	bool failed;
};

static uint64_t hash(const char *text)
{
	uint64_t sum = UINT64_C(14695981039346656037); // FNV-1a

	for (; *text; text++)
		sum = (sum ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return sum;
}

static uint32_t *slot_of(const struct timeline_strings *strings, const char *text)
{
	size_t mask = strings->slot_count - 1;
	size_t at = (size_t)hash(text) & mask;

	while (strings->slots[at] && strcmp(strings->at[strings->slots[at] - 1], text) != 0)
		at = (at + 1) & mask;
	return &strings->slots[at];
}

static bool grow(struct timeline_strings *strings)
{
	size_t slot_count = strings->slot_count ? 2 * strings->slot_count : 256;
	uint32_t *slots = calloc(slot_count, sizeof *slots);
	char **at = reallocarray(strings->at, slot_count / 2, sizeof *at);

	if (at)
		strings->at = at;
	if (!slots || !at) {
		free(slots);
		return false;
	}
	free(strings->slots);
	strings->slots = slots;
	strings->slot_count = slot_count;
	for (size_t i = 0; i < strings->count; i++)
		*slot_of(strings, strings->at[i]) = (uint32_t)(i + 1);
	return true;
}

struct timeline_strings *timeline_strings_new(void)
{
	struct timeline_strings *strings = calloc(1, sizeof *strings);

	if (strings && !grow(strings)) {
		timeline_strings_free(strings);
		return NULL;
	}
	if (strings)
		timeline_string(strings, "");
	return strings;
}

void timeline_strings_free(struct timeline_strings *strings)
{
	if (!strings)
		return;
	for (size_t i = 0; i < strings->count; i++)
		free(strings->at[i]);
	free(strings->at);
	free(strings->slots);
	free(strings);
}

uint32_t timeline_string(struct timeline_strings *strings, const char *text)
{
	uint32_t *slot;

	if (!text)
		return 0;
	if (2 * (strings->count + 1) > strings->slot_count && !grow(strings)) {
		strings->failed = true;
		return 0;
	}
	slot = slot_of(strings, text);
	if (*slot)
		return *slot - 1;
	strings->at[strings->count] = strdup(text);
	if (!strings->at[strings->count]) {
		strings->failed = true;
		return 0;
	}
	*slot = (uint32_t)++strings->count;
	return *slot - 1;
}

bool timeline_strings_failed(const struct timeline_strings *strings)
{
	return strings->failed;
}

size_t timeline_string_count(const struct timeline_strings *strings)
{
	return strings->count;
}

const char *timeline_string_at(const struct timeline_strings *strings, size_t number)
{
	return strings->at[number];
}
