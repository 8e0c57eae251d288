// SPDX-License-Identifier: Apache-2.0
// Any bytes as what Intel's offline compiler writes, of kernels, as assembly and as a listing: read
// without harm, names are those of files, and no more instructions are found than there are lines.
#include "target.h"

#include "blocks/intel/listing.h"

#include <string.h>

static void read_listing(const char *text)
{
	struct tare_blocks_listing listing;

	if (tare_blocks_listing_read(text, 16, &listing)) {
		for (uint32_t i = 0; i < listing.piece_count; i++)
			FUZZ_CHECK(listing.pieces[i].block < listing.block_count &&
			           (!listing.pieces[i].line ||
			            listing.pieces[i].file < listing.file_count));
		for (uint32_t i = 0; i < listing.successor_count; i++)
			FUZZ_CHECK(listing.successors[i] < listing.block_count);
	}
	tare_blocks_listing_free(&listing);
}

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
	read_listing(text);
	free(kernels);
	free(text);
	return 0;
}
