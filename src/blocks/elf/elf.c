// SPDX-License-Identifier: Apache-2.0
#include "blocks/elf/elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const void *at(const struct tare_elf *elf, uint64_t offset, uint64_t bytes)
{
	return offset <= elf->bytes && bytes <= elf->bytes - offset ? elf->data + offset : NULL;
}

bool tare_elf_section(const struct tare_elf *elf, size_t index, Elf64_Shdr *section)
{
	const void *found =
	    index < elf->sections
	        ? at(elf, elf->header.e_shoff + index * sizeof *section, sizeof *section)
	        : NULL;

	if (!found)
		return false;
	memcpy(section, found, sizeof *section);
	return true;
}

const void *tare_elf_contents(const struct tare_elf *elf, const Elf64_Shdr *section)
{
	return section->sh_type == SHT_NOBITS ? NULL
	                                      : at(elf, section->sh_offset, section->sh_size);
}

const char *tare_elf_text(const struct tare_elf *elf, const Elf64_Shdr *strings, uint64_t offset)
{
	const char *table = tare_elf_contents(elf, strings);

	return table && offset < strings->sh_size &&
	               memchr(table + offset, '\0', strings->sh_size - offset)
	           ? table + offset
	           : "";
}

bool tare_elf_symbol(const struct tare_elf *elf, size_t index, Elf64_Sym *symbol)
{
	const uint8_t *table = tare_elf_contents(elf, &elf->symbols);

	if (!table || index >= elf->symbol_count)
		return false;
	memcpy(symbol, table + index * sizeof *symbol, sizeof *symbol);
	return true;
}

int tare_elf_look(const uint8_t *data, size_t bytes, uint16_t machine, struct tare_elf *elf)
{
	*elf = (struct tare_elf){ .data = data, .bytes = bytes };
	const void *head = at(elf, 0, sizeof elf->header);
	if (!head)
		return -EINVAL;
	memcpy(&elf->header, head, sizeof elf->header);
	if (memcmp(elf->header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    elf->header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf->header.e_ident[EI_DATA] != ELFDATA2LSB || elf->header.e_machine != machine ||
	    elf->header.e_shentsize != sizeof(Elf64_Shdr))
		return -EINVAL;
	elf->sections = elf->header.e_shnum;
	for (size_t i = 0; i < elf->sections; i++) {
		Elf64_Shdr section, strings;
		if (!tare_elf_section(elf, i, &section))
			return -EINVAL;
		bool whole = section.sh_type == SHT_SYMTAB;
		if ((!whole && (section.sh_type != SHT_DYNSYM || elf->symbol_count)) ||
		    section.sh_entsize != sizeof(Elf64_Sym) ||
		    !tare_elf_section(elf, section.sh_link, &strings) ||
		    !tare_elf_contents(elf, &section))
			continue;
		elf->symbols = section;
		elf->strings = strings;
		elf->symbol_count = section.sh_size / sizeof(Elf64_Sym);
	}
	return 0;
}

// ---- relocations

// Of a section of relocations, with addends or without.
static int take_places(const struct tare_elf *elf, const Elf64_Shdr *section,
                       struct tare_elf_place **places, size_t *count)
{
	bool addends = section->sh_type == SHT_RELA;
	size_t each = addends ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
	const uint8_t *table = tare_elf_contents(elf, section);

	if (!table)
		return 0;
	size_t have = section->sh_size / each;
	struct tare_elf_place *more = realloc(*places, (*count + have + 1) * sizeof *more);
	if (!more)
		return -ENOMEM;
	*places = more;
	for (size_t i = 0; i < have; i++) {
		Elf64_Rela relocation = { 0 };
		Elf64_Sym symbol;
		memcpy(&relocation, table + i * each, each);
		if (tare_elf_symbol(elf, ELF64_R_SYM(relocation.r_info), &symbol))
			more[(*count)++] =
			    (struct tare_elf_place){ .offset = relocation.r_offset,
				                     .type = ELF64_R_TYPE(relocation.r_info),
				                     .section = symbol.st_shndx,
				                     .value = symbol.st_value +
				                              (uint64_t)relocation.r_addend };
	}
	return 0;
}

int tare_elf_places(const struct tare_elf *elf, size_t index, struct tare_elf_place **places,
                    size_t *count)
{
	Elf64_Shdr section;
	int status = 0;

	*places = NULL;
	*count = 0;
	for (size_t i = 1; index && status == 0 && i < elf->sections; i++)
		if (tare_elf_section(elf, i, &section) && section.sh_info == index &&
		    (section.sh_type == SHT_REL || section.sh_type == SHT_RELA))
			status = take_places(elf, &section, places, count);
	return status;
}

// ---- lines

static int compare_rows(const void *a, const void *b)
{
	const struct tare_elf_row *x = a, *y = b;

	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	// A sequence's end comes before another one's begin.
	return (int)y->ends - (int)x->ends;
}

int tare_elf_lines_read(const struct tare_elf *elf, struct tare_elf_lines *lines)
{
	struct tare_elf_place *places = NULL;
	size_t place_count = 0, table = 0;
	Elf64_Shdr section, names;

	*lines = (struct tare_elf_lines){ .files = NULL };
	if (!tare_elf_section(elf, elf->header.e_shstrndx, &names))
		return 0;
	for (size_t i = 1; i < elf->sections; i++)
		if (tare_elf_section(elf, i, &section) &&
		    strcmp(tare_elf_text(elf, &names, section.sh_name), ".debug_line") == 0)
			table = i;
	int status = tare_elf_places(elf, table, &places, &place_count);
	if (table && status == 0 && tare_elf_section(elf, table, &section) &&
	    tare_elf_contents(elf, &section))
		status = tare_elf_lines_table(lines, tare_elf_contents(elf, &section),
		                              section.sh_size, places, place_count);
	if (status == 0 && lines->row_count)
		qsort(lines->rows, lines->row_count, sizeof *lines->rows, compare_rows);
	free(places);
	return status;
}

void tare_elf_lines_free(struct tare_elf_lines *lines)
{
	for (size_t i = 0; i < lines->file_count; i++)
		free(lines->files[i]);
	free(lines->files);
	free(lines->rows);
	*lines = (struct tare_elf_lines){ .files = NULL };
}

const struct tare_elf_row *tare_elf_line(const struct tare_elf_lines *lines, uint32_t section,
                                         uint64_t address)
{
	size_t low = 0, high = lines->row_count;

	// The first row behind it.
	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct tare_elf_row *row = &lines->rows[middle];
		if (row->section < section || (row->section == section && row->address <= address))
			low = middle + 1;
		else
			high = middle;
	}
	const struct tare_elf_row *row = low ? &lines->rows[low - 1] : NULL;
	return row && row->section == section && !row->ends && row->line ? row : NULL;
}
