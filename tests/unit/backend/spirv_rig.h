// SPDX-License-Identifier: Apache-2.0
// SPIR-V modules written by hand, word by word.
#pragma once
#include "backend/spirv_words.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct assembly {
	uint32_t words[2048];
	size_t count;
};

// An instruction's first word.
#define I(op, length) ((uint32_t)(length) << 16 | (uint32_t)(op))
// Appends words: instructions, each begun by I().
#define PUT(assembly, ...)                                                                         \
	put_words(assembly, (const uint32_t[]){ __VA_ARGS__ },                                     \
	          sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

static inline void put_words(struct assembly *to, const uint32_t *words, size_t count)
{
	if (to->count + count > sizeof to->words / sizeof *to->words)
		abort();
	for (size_t i = 0; i < count; i++)
		to->words[to->count++] = words[i];
}

// An instruction with a text between its operands: `before` of them stand ahead of it.
static inline void put_text(struct assembly *to, uint32_t op, size_t before,
                            const uint32_t *operands, const char *text, size_t after)
{
	uint32_t words[64] = { 0 };
	size_t text_words = strlen(text) / 4 + 1;

	memcpy(words + 1, operands, before * sizeof *words);
	memcpy(words + 1 + before, text, strlen(text));
	memcpy(words + 1 + before + text_words, operands + before, after * sizeof *words);
	words[0] = I(op, 1 + before + text_words + after);
	put_words(to, words, 1 + before + text_words + after);
}

#define NAME(assembly, id, text)                                                                   \
	put_text(assembly, SPIRV_NAME, 1, (const uint32_t[]){ id }, text, 0)
#define LINKAGE(assembly, id, text, import)                                                        \
	put_text(assembly, SPIRV_DECORATE, 2, (const uint32_t[]){ id, SPIRV_LINKAGE, import },     \
	         text, 1)
#define ENTRY(assembly, id, text)                                                                  \
	put_text(assembly, SPIRV_ENTRY_POINT, 2, (const uint32_t[]){ 6, id }, text, 0)
#define STRING(assembly, id, text)                                                                 \
	put_text(assembly, SPIRV_STRING, 1, (const uint32_t[]){ id }, text, 0)

enum { VOID = 2, UINT, FLOAT, ULONG, UCHAR, THREE, DOUBLE, BOOL };

// Header, capabilities (Addresses, Linkage, Kernel, Int64, Int8, Float64, Int16) and memory model.
static inline void put_head(struct assembly *to)
{
	to->count = 0;
	PUT(to, SPIRV_MAGIC, 0x00010200, 0, 200, 0, I(17, 2), 4, I(17, 2), 5, I(17, 2), 6, I(17, 2),
	    11, I(17, 2), 39, I(17, 2), 10, I(17, 2), 22, I(SPIRV_MEMORY_MODEL, 3), 2, 2);
}

// void, uint, float, ulong, uchar, 3 (a ulong), double and bool, under the ids above.
static inline void put_types(struct assembly *to)
{
	PUT(to, I(SPIRV_TYPE_VOID, 2), VOID, I(SPIRV_TYPE_INT, 4), UINT, 32, 0,
	    I(SPIRV_TYPE_FLOAT, 3), FLOAT, 32, I(SPIRV_TYPE_INT, 4), ULONG, 64, 0,
	    I(SPIRV_TYPE_INT, 4), UCHAR, 8, 0, I(SPIRV_CONSTANT, 5), ULONG, THREE, 3, 0,
	    I(SPIRV_TYPE_FLOAT, 3), DOUBLE, 64, I(SPIRV_TYPE_BOOL, 2), BOOL);
}

// 0: `spirv-val` finds nothing to say of it; -1: it is not installed; else what it said is printed.
static inline int validated(const void *words, size_t bytes, const char *target)
{
	char path[] = "/tmp/tare-spirv-XXXXXX", command[128];
	int descriptor = mkstemp(path);

	if (system("command -v spirv-val >/dev/null 2>&1") != 0) {
		if (descriptor >= 0)
			remove(path);
		return -1;
	}
	FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
	if (!file || fwrite(words, 1, bytes, file) != bytes || fclose(file) != 0)
		abort();
	snprintf(command, sizeof command, "spirv-val --target-env %s %s >&2", target, path);
	int status = system(command);
	remove(path);
	return status == 0 ? 0 : 1;
}
