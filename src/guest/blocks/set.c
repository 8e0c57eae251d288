// SPDX-License-Identifier: Apache-2.0
#include "guest/blocks/set.h"

#include "guest/blocks/files.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const char *set; // NULL: programs keep their own options
static size_t options_bytes;
static struct blocks_pragma pragmas[BLOCKS_MOST_PRAGMAS];
static unsigned pragma_count;

static void begin(void)
{
	const char *wrong;

	set = getenv(BLOCKS_ENVIRONMENT_OPTIONS);
	if (set == NULL)
		return;
	options_bytes = blocks_words_options(set);
	int count = blocks_words_pragmas(set, pragmas, &wrong);
	pragma_count = count > 0 ? (unsigned)count : 0;
}

void blocks_set_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, begin);
}

bool blocks_set_given(void)
{
	return set != NULL;
}

// Memory for a text, whose length is kept in *bytes; NULL: there is none.
static char *text_of(size_t *bytes)
{
	void *text = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (text != MAP_FAILED)
		return text;
	*bytes = 0;
	return NULL;
}

void blocks_set_give_back(const char *text, size_t bytes)
{
	if (bytes != 0)
		munmap((void *)(uintptr_t)text, bytes);
}

const char *blocks_set_options(enum blocks_api api, const char *own, size_t *bytes)
{
	*bytes = 0;
	if (set == NULL)
		return own;
	size_t length = own != NULL ? strlen(own) : 0;
	*bytes = 2 * length + options_bytes + 1;
	char *text = text_of(bytes);
	if (text != NULL)
		blocks_words_compose(api, own != NULL ? own : "", set, options_bytes, text);
	return text != NULL ? text : own;
}

// ---- pragmas

static size_t length_of(const char *part, const size_t *lengths, unsigned index)
{
	return lengths != NULL && lengths[index] != 0 ? lengths[index] : strlen(part);
}

const char *blocks_set_source(unsigned count, const char *const *parts, const size_t *lengths,
                              size_t *length, size_t *bytes)
{
	uint64_t placed = 0;
	size_t whole = 0, used = 0;

	*bytes = 0;
	if (pragma_count == 0 || count == 0 || parts == NULL)
		return NULL;
	for (unsigned i = 0; i < count; i++) {
		if (parts[i] == NULL)
			return NULL; // the driver refuses it
		whole += length_of(parts[i], lengths, i);
	}
	// The source as one text, and behind it the one with pragmas.
	*bytes = whole + blocks_words_room(pragmas, pragma_count, whole) + 1;
	char *text = text_of(bytes);
	if (text == NULL)
		return NULL;
	for (unsigned i = 0; i < count; i++) {
		size_t part = length_of(parts[i], lengths, i);
		memcpy(text + used, parts[i], part);
		used += part;
	}
	*length = blocks_words_place(pragmas, pragma_count, text, whole, text + whole, &placed);
	if (placed != 0) {
		__atomic_fetch_or(&blocks_counts->pragmas, placed, __ATOMIC_RELAXED);
		memmove(text, text + whole, *length);
		return text;
	}
	blocks_set_give_back(text, *bytes);
	*bytes = 0;
	return NULL;
}

// ---- builds that fail

bool blocks_set_failed(int code)
{
	int32_t none = 0;

	return set != NULL && code != 0 &&
	       __atomic_compare_exchange_n(&blocks_counts->build_code, &none, code, false,
	                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void blocks_set_log(const char *log, size_t bytes)
{
	size_t most = sizeof blocks_counts->build_log - 1;

	memcpy(blocks_counts->build_log, log, bytes < most ? bytes : most);
}
