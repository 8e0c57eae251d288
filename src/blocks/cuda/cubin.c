// SPDX-License-Identifier: Apache-2.0
#include "blocks/cuda/cubin.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MACHINE_CUDA = 190, NEW_FLAGS = 8, MOST_SECTIONS = 1 << 20 };

// What lies in the file: the header, sections, symbols.
struct view {
	const struct tare_cubin *cubin;
	Elf64_Ehdr header;
	size_t sections;
	Elf64_Shdr symbols, strings;
	size_t symbol_count;
};

static const void *at(const struct tare_cubin *cubin, uint64_t offset, uint64_t bytes)
{
	return offset <= cubin->bytes && bytes <= cubin->bytes - offset ? cubin->data + offset
	                                                                : NULL;
}

static bool section_of(const struct view *view, size_t index, Elf64_Shdr *section)
{
	const void *found =
	    index < view->sections
	        ? at(view->cubin, view->header.e_shoff + index * sizeof *section, sizeof *section)
	        : NULL;

	if (!found)
		return false;
	memcpy(section, found, sizeof *section);
	return true;
}

static const void *contents(const struct view *view, const Elf64_Shdr *section)
{
	return section->sh_type == SHT_NOBITS
	           ? NULL
	           : at(view->cubin, section->sh_offset, section->sh_size);
}

// A text of a table of texts; "" where there is none.
static const char *text(const struct view *view, const Elf64_Shdr *strings, uint64_t offset)
{
	const char *table = contents(view, strings);

	return table && offset < strings->sh_size &&
	               memchr(table + offset, '\0', strings->sh_size - offset)
	           ? table + offset
	           : "";
}

static bool symbol_of(const struct view *view, size_t index, Elf64_Sym *symbol)
{
	const uint8_t *table = contents(view, &view->symbols);

	if (!table || index >= view->symbol_count)
		return false;
	memcpy(symbol, table + index * sizeof *symbol, sizeof *symbol);
	return true;
}

static int look(struct tare_cubin *cubin, struct view *view)
{
	const void *head = at(cubin, 0, sizeof view->header);

	*view = (struct view){ .cubin = cubin };
	if (!head)
		return -EINVAL;
	memcpy(&view->header, head, sizeof view->header);
	if (memcmp(view->header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    view->header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    view->header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    view->header.e_machine != MACHINE_CUDA ||
	    view->header.e_shentsize != sizeof(Elf64_Shdr))
		return -EINVAL;
	// The flags have the architecture elsewhere since CUDA 13.
	cubin->sm = view->header.e_ident[EI_ABIVERSION] >= NEW_FLAGS
	                ? view->header.e_flags >> 8 & 0xff
	                : view->header.e_flags & 0xff;
	view->sections = view->header.e_shnum;
	for (size_t i = 0; i < view->sections; i++) {
		Elf64_Shdr section;
		if (!section_of(view, i, &section))
			return -EINVAL;
		if (section.sh_type != SHT_SYMTAB || section.sh_entsize != sizeof(Elf64_Sym) ||
		    !section_of(view, section.sh_link, &view->strings) || !contents(view, &section))
			continue;
		view->symbols = section;
		view->symbol_count = section.sh_size / sizeof(Elf64_Sym);
	}
	return 0;
}

static void take_function(struct tare_cubin *cubin, const struct view *view, size_t index,
                          const Elf64_Sym *symbol)
{
	struct tare_cubin_function *made = &cubin->functions[cubin->function_count];
	Elf64_Shdr section;

	*made = (struct tare_cubin_function){ .name = text(view, &view->strings, symbol->st_name),
		                              .symbol = (uint32_t)index,
		                              .section = symbol->st_shndx,
		                              .value = symbol->st_value };
	if (!section_of(view, symbol->st_shndx, &section))
		return;
	const uint8_t *code = contents(view, &section);
	if (code && symbol->st_value <= section.sh_size &&
	    symbol->st_size <= section.sh_size - symbol->st_value) {
		made->code = code + symbol->st_value;
		made->bytes = symbol->st_size / TARE_SASS_BYTES * TARE_SASS_BYTES;
	}
	cubin->function_count++;
}

static int take_functions(struct tare_cubin *cubin, const struct view *view)
{
	size_t count = 0;
	Elf64_Sym symbol;

	for (size_t i = 0; symbol_of(view, i, &symbol); i++)
		count += ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
	cubin->functions = calloc(count + 1, sizeof *cubin->functions);
	if (!cubin->functions)
		return -ENOMEM;
	for (size_t i = 0; symbol_of(view, i, &symbol); i++) {
		if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
			take_function(cubin, view, i, &symbol);
		// What a kernel launches another one by.
		const char *name = text(view, &view->strings, symbol.st_name);
		cubin->launches |= strncmp(name, "cudaLaunchDevice", 16) == 0 ||
		                   strncmp(name, "cudaGetParameterBuffer", 22) == 0;
	}
	return 0;
}

// ---- lines

// Of a section of relocations, with addends or without, those that name a symbol.
static int take_places(const struct view *view, const Elf64_Shdr *section,
                       struct tare_cubin_place **places, size_t *count)
{
	bool addends = section->sh_type == SHT_RELA;
	size_t each = addends ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
	const uint8_t *table = contents(view, section);

	if (!table)
		return 0;
	size_t have = section->sh_size / each;
	struct tare_cubin_place *more = realloc(*places, (*count + have + 1) * sizeof *more);
	if (!more)
		return -ENOMEM;
	*places = more;
	for (size_t i = 0; i < have; i++) {
		Elf64_Rela relocation = { 0 };
		Elf64_Sym symbol;
		memcpy(&relocation, table + i * each, each);
		if (symbol_of(view, ELF64_R_SYM(relocation.r_info), &symbol))
			more[(*count)++] =
			    (struct tare_cubin_place){ .offset = relocation.r_offset,
				                       .section = symbol.st_shndx,
				                       .value = symbol.st_value +
				                                (uint64_t)relocation.r_addend };
	}
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct tare_cubin_row *x = a, *y = b;

	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	// A sequence's end comes before another one's begin.
	return (int)y->ends - (int)x->ends;
}

static int take_lines(struct tare_cubin *cubin, const struct view *view)
{
	struct tare_cubin_place *places = NULL;
	size_t place_count = 0, table = 0;
	Elf64_Shdr section, names;
	int status = 0;

	if (!section_of(view, view->header.e_shstrndx, &names))
		return 0;
	for (size_t i = 1; i < view->sections; i++)
		if (section_of(view, i, &section) &&
		    strcmp(text(view, &names, section.sh_name), ".debug_line") == 0)
			table = i;
	for (size_t i = 1; table && status == 0 && i < view->sections; i++)
		if (section_of(view, i, &section) && section.sh_info == table &&
		    (section.sh_type == SHT_REL || section.sh_type == SHT_RELA))
			status = take_places(view, &section, &places, &place_count);
	if (table && status == 0 && section_of(view, table, &section) && contents(view, &section))
		status = tare_cubin_lines(cubin, contents(view, &section), section.sh_size, places,
		                          place_count);
	if (status == 0 && cubin->row_count)
		qsort(cubin->rows, cubin->row_count, sizeof *cubin->rows, compare_rows);
	free(places);
	return status;
}

int tare_cubin_read(uint8_t *data, size_t bytes, struct tare_cubin *cubin)
{
	struct view view;

	*cubin = (struct tare_cubin){ .data = data, .bytes = bytes };
	int status = look(cubin, &view);
	status = status ?: take_functions(cubin, &view);
	status = status ?: take_lines(cubin, &view);
	return status;
}

void tare_cubin_free(struct tare_cubin *cubin)
{
	for (size_t i = 0; i < cubin->file_count; i++)
		free(cubin->files[i]);
	free(cubin->files);
	free(cubin->rows);
	free(cubin->functions);
	free(cubin->data);
	*cubin = (struct tare_cubin){ 0 };
}

const struct tare_cubin_function *tare_cubin_find(const struct tare_cubin *cubin, uint32_t symbol,
                                                  const char *name)
{
	const struct tare_cubin_function *found = NULL;

	for (size_t i = 0; i < cubin->function_count; i++) {
		const struct tare_cubin_function *function = &cubin->functions[i];
		if (strcmp(function->name, name) != 0)
			continue;
		if (function->symbol == symbol)
			return function;
		found = function;
	}
	return found;
}

const struct tare_cubin_row *tare_cubin_line(const struct tare_cubin *cubin,
                                             const struct tare_cubin_function *function,
                                             uint64_t pc)
{
	uint64_t address = function->value + pc;
	size_t low = 0, high = cubin->row_count;

	// The first row behind it.
	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct tare_cubin_row *row = &cubin->rows[middle];
		if (row->section < function->section ||
		    (row->section == function->section && row->address <= address))
			low = middle + 1;
		else
			high = middle;
	}
	const struct tare_cubin_row *row = low ? &cubin->rows[low - 1] : NULL;
	return row && row->section == function->section && !row->ends && row->line ? row : NULL;
}
