// SPDX-License-Identifier: Apache-2.0
// ELF files of 64 bits, as compilers write them: sections, symbols, relocations, and the table of
// lines. Any bytes are taken; nothing is read outside of them.
#pragma once
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What lies in a file. The bytes are the caller's.
struct tare_elf {
	const uint8_t *data;
	size_t bytes;
	Elf64_Ehdr header;
	size_t sections;
	Elf64_Shdr symbols, strings; // the whole table, or else that of the dynamic linker
	size_t symbol_count;
};

// 0, or -EINVAL: that is no such file for that machine (EM_...).
int tare_elf_look(const uint8_t *data, size_t bytes, uint16_t machine, struct tare_elf *elf);
// False: there is none of that number.
bool tare_elf_section(const struct tare_elf *elf, size_t index, Elf64_Shdr *section);
bool tare_elf_symbol(const struct tare_elf *elf, size_t index, Elf64_Sym *symbol);
// All sh_size bytes of it; NULL: they are not in the file.
const void *tare_elf_contents(const struct tare_elf *elf, const Elf64_Shdr *section);
// A text of a table of texts; "" where there is none.
const char *tare_elf_text(const struct tare_elf *elf, const Elf64_Shdr *strings, uint64_t offset);

// A relocation.
struct tare_elf_place {
	uint64_t offset;  // in the section that it is for
	uint32_t type;    // R_...
	uint32_t section; // that of the symbol that it names
	uint64_t value;   // to be added
};
// Those for a section that name a symbol; malloc. 0 or -ENOMEM; to free in either case.
int tare_elf_places(const struct tare_elf *elf, size_t index, struct tare_elf_place **places,
                    size_t *count);

// From an address on, up to the next row's, instructions are of this line.
struct tare_elf_row {
	uint32_t section, file, line; // file: in `files`
	uint64_t address;             // in the section
	bool ends;                    // no more instructions from here on
};
struct tare_elf_lines {
	char **files;
	size_t file_count;
	struct tare_elf_row *rows; // by section and address
	size_t row_count;
};
// Of a file that is not linked. 0, or -ENOMEM; what cannot be read is left out. To free in either
// case.
int tare_elf_lines_read(const struct tare_elf *elf, struct tare_elf_lines *lines);
void tare_elf_lines_free(struct tare_elf_lines *lines);
// Of an address its row; NULL: it has none.
const struct tare_elf_row *tare_elf_line(const struct tare_elf_lines *lines, uint32_t section,
                                         uint64_t address);

// lines.c: reads a table of lines (DWARF 2 to 4). `places` say of addresses in it to which section
// they belong, and correct them. 0, or -ENOMEM; what cannot be read is left out.
int tare_elf_lines_table(struct tare_elf_lines *lines, const uint8_t *table, size_t bytes,
                         const struct tare_elf_place *places, size_t place_count);

// Instructions that are passed one after another: a block of the machine's code.
struct tare_elf_block {
	uint64_t from, to; // in its section
};
// map.c: the block in which an address lies, where the file has a map of them; from == to: it is
// not known. 0 or -ENOMEM.
int tare_elf_block_at(const struct tare_elf *elf, uint32_t section, uint64_t address,
                      struct tare_elf_block *block);
