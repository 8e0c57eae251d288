// SPDX-License-Identifier: Apache-2.0
// Any bytes as what Intel's offline compiler writes, of kernels and as assembly: read without harm,
// names are those of files, and no more instructions are found than there are lines.
#include "target.h"

#include "blocks/intel/ze_info.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	uint64_t mix[TARE_BLOCKS_ISAS] = { 0 }, found = 0, lines = 1;
	size_t count;

	FUZZ_CHECK(text);
	memcpy(text, data, size);
	text[size] = '\0';
	struct tare_blocks_static *kernels = tare_blocks_ze_info(text, &count);
	for (size_t i = 0; i < count; i++) {
		FUZZ_CHECK(memchr(kernels[i].kernel, '\0', sizeof kernels[i].kernel));
		FUZZ_CHECK(kernels[i].kernel[0] && !strchr(kernels[i].kernel, '/'));
	}
	tare_blocks_assembly(text, mix);
	for (int i = 0; i < TARE_BLOCKS_ISAS; i++)
		found += mix[i];
	for (const char *at = text; *at; at++)
		lines += *at == '\n';
	FUZZ_CHECK(found <= lines);
	free(kernels);
	free(text);
	return 0;
}
