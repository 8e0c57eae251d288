// SPDX-License-Identifier: Apache-2.0
#include "blocks/bodies.h"

#include "backend/spirv.h"
#include "backend/spirv_words.h"
#include "blocks/inputs.h"

#include <stdlib.h>
#include <string.h>

// "_Z8popcountj", "__spirv_ocl_..." and "llvm.bswap.i32" are a driver's.
static bool is_of_the_program(const char *name)
{
	return strncmp(name, "_Z", 2) != 0 && strncmp(name, "__spirv", 7) != 0 &&
	       !strchr(name, '.');
}

bool tare_blocks_lacks_bodies(const char *spirv)
{
	size_t bytes = 0;
	void *data = tare_blocks_file_read(spirv, &bytes);
	struct tare_spirv *module = NULL;
	struct tare_error ignored = { 0 };
	bool lacks = false;

	if (data && tare_spirv_read(data, bytes, &module, &ignored) == 0)
		for (uint32_t i = 0; i < module->import_count; i++)
			lacks |= is_of_the_program(module->imports[i]);
	tare_spirv_free(module);
	free(data);
	return lacks;
}

void tare_blocks_let_inline(void *data, size_t bytes)
{
	enum { CONTROL = 3, DONT_INLINE = 2 };
	const size_t count = bytes / sizeof(uint32_t);
	uint32_t *words = data;

	for (size_t at = SPIRV_HEADER_WORDS, length; at < count; at += length) {
		length = words[at] >> 16;
		if (!length || length > count - at)
			return;
		if ((words[at] & 0xffff) == SPIRV_FUNCTION && length > CONTROL)
			words[at + CONTROL] &= ~(uint32_t)DONT_INLINE;
	}
}
