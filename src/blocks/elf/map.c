// SPDX-License-Identifier: Apache-2.0
// The map of a function's blocks that LLVM writes (-fbasic-block-sections=labels):
// llvm.org/docs/Extensions.html, "SHT_LLVM_BB_ADDR_MAP". Of its versions those without features.
#include "blocks/elf/elf.h"
#include "blocks/elf/reader.h"

#include <errno.h>
#include <stdlib.h>

enum { BLOCK_MAP = 0x6fff4c0a, FIRST = 1, WITH_NUMBERS = 2 };

// Reads one function, whose first block begins at `begin`. True: the address is in it.
static bool is_in(struct reader *reader, uint64_t version, uint64_t begin, uint64_t address,
                  struct tare_elf_block *block)
{
	uint64_t count = variable(reader, false), at = begin;
	bool found = false;

	for (uint64_t i = 0; i < count && !reader->failed; i++) {
		if (version >= WITH_NUMBERS)
			variable(reader, false);
		uint64_t gap = variable(reader, false), bytes = variable(reader, false);
		variable(reader, false);
		// A block beyond the last address is no map's.
		if (gap > UINT64_MAX - at || bytes > UINT64_MAX - at - gap) {
			reader->failed = true;
			break;
		}
		at += gap;
		if (!reader->failed && address >= at && address - at < bytes) {
			*block = (struct tare_elf_block){ at, at + bytes };
			found = true;
		}
		at += bytes;
	}
	return found;
}

static bool look_up(const struct tare_elf_place *places, size_t count, struct reader *reader,
                    uint32_t section, uint64_t address, struct tare_elf_block *block)
{
	while (reader->at < reader->end && !reader->failed) {
		uint64_t version = fixed(reader, 1), features = fixed(reader, 1), begin = 0;
		uint64_t offset = (uint64_t)(reader->at - reader->start);
		bool ours = false;
		if (version < FIRST || version > WITH_NUMBERS || features)
			return false;
		fixed(reader, 8);
		for (size_t i = 0; i < count; i++)
			if (places[i].offset == offset && places[i].section == section) {
				begin = places[i].value;
				ours = true;
			}
		struct tare_elf_block found;
		if (is_in(reader, version, begin, address, &found) && ours) {
			*block = found;
			return true;
		}
	}
	return false;
}

int tare_elf_block_at(const struct tare_elf *elf, uint32_t section, uint64_t address,
                      struct tare_elf_block *block)
{
	Elf64_Shdr map;
	int status = 0;

	*block = (struct tare_elf_block){ 0, 0 };
	for (size_t i = 1; status == 0 && i < elf->sections; i++) {
		struct tare_elf_place *places;
		size_t count;
		const uint8_t *data = tare_elf_section(elf, i, &map) && map.sh_type == BLOCK_MAP
		                          ? tare_elf_contents(elf, &map)
		                          : NULL;
		if (!data)
			continue;
		struct reader reader = { data, data, data + map.sh_size, false };
		status = tare_elf_places(elf, i, &places, &count);
		bool found =
		    status == 0 && look_up(places, count, &reader, section, address, block);
		free(places);
		if (found)
			return 0;
	}
	return status;
}
