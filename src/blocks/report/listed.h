// SPDX-License-Identifier: Apache-2.0
// The instructions of a module by block, as text, and the texts that its lines are of.
#pragma once
#include "blocks/module/disassembly.h"
#include "blocks/profile.h"
#include "blocks/report/source.h"
#include "report/core/texts.h"

// An instruction of a block.
struct tare_blocks_listed_row {
	size_t at;           // word of the module, or byte of its text
	uint32_t file, line; // 0: not known
};
// The instructions of one block, those that execute nothing left out.
struct tare_blocks_listed_block {
	const struct tare_blocks_build *build;
	struct tare_blocks_listed_row *at;
	size_t count;
	char *words; // TARE_BLOCKS_INSTRUCTION_TEXT: the instruction that was asked for last
};
struct tare_blocks_listed {
	const struct tare_blocks_build *build;
	struct tare_blocks_listed_block *blocks; // of the module, by their places
	struct tare_blocks_listed_row *rows;     // of all
	char words[TARE_BLOCKS_INSTRUCTION_TEXT];
};
// 0 or -ENOMEM; to free in either case. It must not be moved.
int tare_blocks_listed_make(const struct tare_blocks_build *build, struct tare_blocks_listed *code);
void tare_blocks_listed_free(struct tare_blocks_listed *code);
// As text, until the next one of the same module is asked for.
const char *tare_blocks_listed_text(const struct tare_blocks_listed_block *block,
                                    const struct tare_blocks_listed_row *row);

// A text that counted lines are of.
struct tare_blocks_text {
	const struct tare_blocks_build *build;
	const char *file;  // as the module names it
	const char *label; // for a person; "": the build's only one
	enum tare_blocks_source_from from;
	struct tare_text_list lines; // none: it cannot be read
	bool shown;                  // for who writes each whole but once
};
struct tare_blocks_texts {
	struct tare_blocks_text *at;
	size_t count;
	size_t bytes; // of files that were read
};
// Adds those of a kernel that was counted; `lines` are its own. 0 or -ENOMEM; to free in either
// case. Files beyond 16 MiB in all are not read.
int tare_blocks_texts_add(const struct tare_blocks_kernel *kernel,
                          const struct tare_blocks_line *lines, size_t count,
                          struct tare_blocks_texts *texts);
void tare_blocks_texts_free(struct tare_blocks_texts *texts);
// The one that a file of the build's module is; NULL: none.
const struct tare_blocks_text *tare_blocks_texts_find(const struct tare_blocks_texts *texts,
                                                      const struct tare_blocks_build *build,
                                                      uint32_t file);
