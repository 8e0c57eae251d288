// SPDX-License-Identifier: Apache-2.0
// A module of CUDA's as the driver loads it: an ELF file of one architecture with the functions'
// instructions, and lines of the source where it was compiled with them (-lineinfo). Any bytes are
// taken; nothing is read outside of them.
#pragma once
#include "blocks/elf/elf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TARE_SASS_BYTES = 16 }; // of an instruction, on every architecture since Volta

struct tare_cubin_function {
	const char *name;    // of the file
	uint32_t symbol;     // its place among the symbols
	uint32_t section;    // in which its code is
	uint64_t value;      // where in that
	const uint8_t *code; // NULL: there is none
	size_t bytes;        // a multiple of TARE_SASS_BYTES
};

struct tare_cubin {
	uint8_t *data; // the file, malloc; 8 bytes aligned
	size_t bytes;
	uint32_t sm; // 90: compute capability 9.0
	struct tare_cubin_function *functions;
	size_t function_count;
	bool launches; // its kernels may launch others
	struct tare_elf_lines lines;
};

// Takes the bytes, which tare_cubin_free frees. 0; -EINVAL: that is no module of CUDA's for a
// device; or -ENOMEM. To free in either case.
int tare_cubin_read(uint8_t *data, size_t bytes, struct tare_cubin *cubin);
void tare_cubin_free(struct tare_cubin *cubin);
// The function of that symbol, if it is called so, else the one that is called so; NULL: none.
const struct tare_cubin_function *tare_cubin_find(const struct tare_cubin *cubin, uint32_t symbol,
                                                  const char *name);
// Of an instruction its row; NULL: it has none.
const struct tare_elf_row *tare_cubin_line(const struct tare_cubin *cubin,
                                           const struct tare_cubin_function *function, uint64_t pc);
