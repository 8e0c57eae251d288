// SPDX-License-Identifier: Apache-2.0
// A module cut into basic blocks: what each executes at one pass, and from which lines of the
// source. It is SPIR-V, which is read here, or PTX (blocks/ptx).
#pragma once
#include "backend/spirv_words.h"
#include "blocks/module/tally.h"

#include <stdbool.h>

// What a block executes of one line of the source.
struct tare_blocks_piece {
	uint32_t file; // id of the OpString that names it; 0: the line is not known
	uint32_t line;
	struct tare_blocks_tally tally;
};

struct tare_blocks_block {
	uint32_t function; // its index
	uint32_t label;    // id
	size_t at;         // word of its OpLabel
	uint32_t first_piece, pieces;
	uint32_t first_successor, successors;
	struct tare_blocks_tally tally; // of all its pieces
};

struct tare_blocks_function {
	uint32_t id;
	const char *name;   // of the source, or ""; the module's own
	const char *kernel; // name of the kernel that it is the body of; NULL: a function
	bool counted;       // false: it only hands a kernel's arguments on
	uint32_t first_block, blocks;
};

// An instruction of a module that is text.
struct tare_blocks_written {
	size_t at;      // of the text; it ends with ';'
	uint32_t block; // in rising order
	uint32_t file, line;
};

struct tare_blocks_module {
	struct spirv_words words;
	uint32_t *types;                        // of each id below the bound: its type's id, or 0
	struct tare_blocks_function *functions; // those with a body
	struct tare_blocks_block *blocks;
	struct tare_blocks_piece *pieces;
	uint32_t *successors; // blocks' places; UINT32_MAX: none such
	uint32_t function_count, block_count, piece_count, successor_count;
	// Of a module that is no SPIR-V (words has none): names of its files, of file 1 first, all
	// names in one memory, and what tells which blocks all work-items of a group pass equally
	// often.
	char **files;
	uint32_t file_count;
	char *names;
	bool *uniform;
	char *text; // NULL: not kept
	struct tare_blocks_written *written;
	size_t written_count;
};

// Reads a module for OpenCL kernels with 64-bit addresses. 0; -EINVAL (damaged), -ENOTSUP (another
// kind of module) or -ENOMEM with a sentence. To free with tare_blocks_module_free, also after an
// error.
int tare_blocks_module_read(const void *data, size_t bytes, struct tare_blocks_module *module,
                            struct tare_error *error);
void tare_blocks_module_free(struct tare_blocks_module *module);

// Whether it has words of SPIR-V; else what asks for them finds nothing.
static inline bool tare_blocks_has_words(const struct tare_blocks_module *module)
{
	return module->words.count != 0;
}

// The name of a file of lines, "" for 0.
const char *tare_blocks_file_name(const struct tare_blocks_module *module, uint32_t file);

// Whether `op` stands in front of a block's first instruction: OpPhi, OpVariable, lines.
bool tare_blocks_is_head(const struct tare_blocks_module *module, size_t at);

// Calls `visit` for each instruction of a block behind its label, with its file and line (0: not
// known).
void tare_blocks_each(const struct tare_blocks_module *module, uint32_t block,
                      void (*visit)(void *context, size_t at, uint32_t file, uint32_t line),
                      void *context);
