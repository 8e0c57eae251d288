// SPDX-License-Identifier: Apache-2.0
#include "blocks/cuda/cubin.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MACHINE_CUDA = 190, NEW_FLAGS = 8 };

static void take_function(struct tare_cubin *cubin, const struct tare_elf *elf, size_t index,
                          const Elf64_Sym *symbol)
{
	struct tare_cubin_function *made = &cubin->functions[cubin->function_count];
	Elf64_Shdr section;

	*made = (struct tare_cubin_function){ .name = tare_elf_text(elf, &elf->strings,
		                                                    symbol->st_name),
		                              .symbol = (uint32_t)index,
		                              .section = symbol->st_shndx,
		                              .value = symbol->st_value };
	if (!tare_elf_section(elf, symbol->st_shndx, &section))
		return;
	const uint8_t *code = tare_elf_contents(elf, &section);
	if (code && symbol->st_value <= section.sh_size &&
	    symbol->st_size <= section.sh_size - symbol->st_value) {
		made->code = code + symbol->st_value;
		made->bytes = symbol->st_size / TARE_SASS_BYTES * TARE_SASS_BYTES;
	}
	cubin->function_count++;
}

static int take_functions(struct tare_cubin *cubin, const struct tare_elf *elf)
{
	size_t count = 0;
	Elf64_Sym symbol;

	for (size_t i = 0; tare_elf_symbol(elf, i, &symbol); i++)
		count += ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
	cubin->functions = calloc(count + 1, sizeof *cubin->functions);
	if (!cubin->functions)
		return -ENOMEM;
	for (size_t i = 0; tare_elf_symbol(elf, i, &symbol); i++) {
		if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
			take_function(cubin, elf, i, &symbol);
		// What a kernel launches another one by.
		const char *name = tare_elf_text(elf, &elf->strings, symbol.st_name);
		cubin->launches |= strncmp(name, "cudaLaunchDevice", 16) == 0 ||
		                   strncmp(name, "cudaGetParameterBuffer", 22) == 0;
	}
	return 0;
}

int tare_cubin_read(uint8_t *data, size_t bytes, struct tare_cubin *cubin)
{
	struct tare_elf elf;

	*cubin = (struct tare_cubin){ .data = data, .bytes = bytes };
	int status = tare_elf_look(data, bytes, MACHINE_CUDA, &elf);
	// The flags have the architecture elsewhere since CUDA 13.
	if (status == 0)
		cubin->sm = elf.header.e_ident[EI_ABIVERSION] >= NEW_FLAGS
		                ? elf.header.e_flags >> 8 & 0xff
		                : elf.header.e_flags & 0xff;
	status = status ?: take_functions(cubin, &elf);
	status = status ?: tare_elf_lines_read(&elf, &cubin->lines);
	return status;
}

void tare_cubin_free(struct tare_cubin *cubin)
{
	tare_elf_lines_free(&cubin->lines);
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

const struct tare_elf_row *tare_cubin_line(const struct tare_cubin *cubin,
                                           const struct tare_cubin_function *function, uint64_t pc)
{
	return tare_elf_line(&cubin->lines, function->section, function->value + pc);
}
