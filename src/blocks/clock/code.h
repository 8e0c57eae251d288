// SPDX-License-Identifier: Apache-2.0
// Of which lines of the source the code of a kernel is that PoCL has built with -g and keeps as a
// library. What runs there has no table of lines: PoCL's function of a work-group is not described,
// though its instructions are, in the module beside the library (parallel.bc). clang makes code of
// that module once more, with that function described. Only where this code is the library's, byte
// for byte, are its lines told.
#pragma once
#include "base/error.h"
#include "blocks/elf/elf.h"

// What a function is described as in the module, and whether anything is changed for it.
enum tare_blocks_described {
	TARE_BLOCKS_AS_IT_IS,
	TARE_BLOCKS_WORKGROUP,      // as the kernel: _pocl_kernel_NAME_workgroup
	TARE_BLOCKS_WORKGROUP_FAST, // _pocl_kernel_NAME_workgroup_fast
	TARE_BLOCKS_DESCRIBED
};

// The module's code as clang makes it.
struct tare_blocks_made_code {
	bool tried;
	struct tare_error why; // it could not be made
	uint8_t *data;         // malloc
	struct tare_elf elf;
	struct tare_elf_lines lines;
};

struct tare_blocks_code {
	const char *path, *kernel, *clang, *folder; // the caller's
	uint8_t *data;                              // the library, malloc
	struct tare_elf elf;
	struct tare_error why; // nothing of it can be told
	char *text;            // of the module, malloc; NULL: not made yet
	struct tare_blocks_made_code made[TARE_BLOCKS_DESCRIBED];
};

// Reads the library at `path`. `folder` is where files may be made. -ENOMEM; other errors are in
// the code. To free in any case. The texts must outlive it.
int tare_blocks_code_open(const char *path, const char *kernel, const char *clang,
                          const char *folder, struct tare_blocks_code *code);
void tare_blocks_code_free(struct tare_blocks_code *code);

// What lies at an offset of the library's file. It lives as long as the code.
struct tare_blocks_code_at {
	const struct tare_elf_lines *lines;
	uint32_t section;               // among these
	const struct tare_elf_row *row; // NULL: it is of no line, a compiler's own
	struct tare_elf_block block;    // the instruction alone where it is not known
};
// 0; -ENOENT with a sentence where it cannot be told; or -ENOMEM.
int tare_blocks_code_look(struct tare_blocks_code *code, uint64_t offset,
                          struct tare_blocks_code_at *at, struct tare_error *error);

// The module's text with the function described, malloc. NULL: it has no lines, or no memory.
char *tare_blocks_describe(const char *text, const char *kernel, enum tare_blocks_described what);
