// SPDX-License-Identifier: Apache-2.0
// Any bytes as a module of CUDA's: its functions are divided into blocks, which must be all of
// their instructions, in order; each instruction's line is looked up.
#include "blocks/cuda/cubin.h"
#include "blocks/cuda/sass.h"
#include "target.h"

#include <string.h>

// A map of blocks, as LLVM's compiler writes one beside code for other machines.
static void look_at_map(const uint8_t *data, size_t size)
{
	struct tare_elf_block block;
	struct tare_elf elf;

	if (tare_elf_look(data, size, 190, &elf) < 0)
		return;
	for (uint32_t section = 0; section < 4; section++)
		if (tare_elf_block_at(&elf, section, 16, &block) == 0)
			FUZZ_CHECK(block.from == block.to || (block.from <= 16 && 16 < block.to));
}

static void look(const struct tare_cubin *cubin, const struct tare_cubin_function *function)
{
	struct tare_sass_blocks blocks;
	size_t next = 0;

	FUZZ_CHECK(tare_cubin_find(cubin, function->symbol, function->name) != NULL);
	if (!function->code)
		return;
	if (tare_sass_split(function->code, function->bytes, cubin->sm, &blocks) == 0)
		for (uint32_t i = 0; i < blocks.count; i++) {
			FUZZ_CHECK(blocks.at[i].first == next && blocks.at[i].count);
			next += blocks.at[i].count;
		}
	FUZZ_CHECK(next == function->bytes / TARE_SASS_BYTES);
	free(blocks.at);
	for (uint64_t pc = 0; pc < function->bytes; pc += TARE_SASS_BYTES) {
		const struct tare_elf_row *row = tare_cubin_line(cubin, function, pc);
		FUZZ_CHECK(!row || row->file < cubin->lines.file_count);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);
	struct tare_cubin cubin;

	memcpy(copy, data, size);
	look_at_map(data, size);
	if (tare_cubin_read(copy, size, &cubin) == 0)
		for (size_t i = 0; i < cubin.function_count && i < 64; i++)
			look(&cubin, &cubin.functions[i]);
	tare_cubin_free(&cubin);
	return 0;
}
