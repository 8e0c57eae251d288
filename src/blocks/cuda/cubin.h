// SPDX-License-Identifier: Apache-2.0
// A module of CUDA's as the driver loads it: an ELF file of one architecture with the functions'
// instructions, and lines of the source where it was compiled with them (-lineinfo). Any bytes are
// taken; nothing is read outside of them.
#pragma once
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

// From an address on, up to the next row's, instructions are of this line.
struct tare_cubin_row {
	uint32_t section, file, line; // file: in `files`
	uint64_t address;             // in the section
	bool ends;                    // no more instructions from here on
};

struct tare_cubin {
	uint8_t *data; // the file, malloc; 8 bytes aligned
	size_t bytes;
	uint32_t sm; // 90: compute capability 9.0
	struct tare_cubin_function *functions;
	size_t function_count;
	bool launches; // its kernels may launch others
	char **files;
	size_t file_count;
	struct tare_cubin_row *rows; // by section and address
	size_t row_count;
};

// Takes the bytes, which tare_cubin_free frees. 0; -EINVAL: that is no module of CUDA's for a
// device; or -ENOMEM. To free in either case.
int tare_cubin_read(uint8_t *data, size_t bytes, struct tare_cubin *cubin);
void tare_cubin_free(struct tare_cubin *cubin);
// The function of that symbol, if it is called so, else the one that is called so; NULL: none.
const struct tare_cubin_function *tare_cubin_find(const struct tare_cubin *cubin, uint32_t symbol,
                                                  const char *name);
// Of an instruction its row; NULL: it has none.
const struct tare_cubin_row *tare_cubin_line(const struct tare_cubin *cubin,
                                             const struct tare_cubin_function *function,
                                             uint64_t pc);

// lines.c: reads a table of lines (DWARF 2 to 4). `place` says for the offset of an address in it
// to which section that belongs, and corrects the address. 0, or -ENOMEM; what cannot be read is
// left out.
struct tare_cubin_place {
	uint64_t offset; // in the table
	uint32_t section;
	uint64_t value; // to be added
};
int tare_cubin_lines(struct tare_cubin *cubin, const uint8_t *table, size_t bytes,
                     const struct tare_cubin_place *places, size_t place_count);
