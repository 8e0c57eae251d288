// SPDX-License-Identifier: Apache-2.0
// A module of PTX, the assembly language of NVIDIA's drivers, read as text (PTX ISA 9.0): its
// functions, basic blocks and instructions, and the places at which counters are put in.
#pragma once
#include "blocks/module/module.h"

#include <stddef.h>

// What the text has to become at a place.
enum ptx_edit_kind {
	PTX_EDIT_PARAMETER, // a function's list of parameters gets one more
	PTX_EDIT_BODY,      // a body begins
	PTX_EDIT_BLOCK,     // a block begins
	PTX_EDIT_LEAVE, // an instruction that leaves the function; or a body's end, with no text
	PTX_EDIT_CALL,  // a call of a function that is counted, too
};

// A piece of text that no other edit is in.
struct ptx_edit {
	enum ptx_edit_kind kind;
	uint32_t function; // index
	uint32_t block;    // of BLOCK
	size_t at, end;    // of the text: from its first byte to behind its last one
	// Where the list of parameters, or of what is handed over, ends: at its ')', or where one
	// would stand. Of PARAMETER and CALL.
	size_t list;
	bool listed; // there is a list
	bool empty;  // with nothing in it
	// The predicate: "%p1" or "!%p1"; of BLOCK the one that all its instructions have, of LEAVE
	// the instruction's own.
	size_t predicate, predicate_bytes; // 0 bytes: none
	size_t name, name_bytes;           // of the function that is declared or called
};

// A function, beside that of the module with the same index.
struct ptx_function {
	size_t name, name_bytes; // in the text
	bool entry;              // a kernel
	bool calls;              // functions that are counted
	bool exits;              // an instruction of it ends the thread
	bool spread;             // its parameters are no .param variables
};

// A step of a function, as far as it tells which registers are the same in all threads of a group.
struct ptx_step {
	uint32_t block;          // of the module
	uint32_t first, results; // registers: results, then operands
	uint32_t operands;
	bool differs;  // its results hang on more than its operands
	bool branches; // by its operands
};

struct ptx {
	struct tare_blocks_module module; // its counts of functions, blocks and pieces
	char *text;
	size_t bytes;
	struct ptx_function *functions; // as many as the module has
	struct ptx_edit *edits;         // by their place in the text
	struct ptx_step *steps;
	uint32_t *registers; // of steps, numbers below register_count
	size_t edit_count, step_count, register_entries;
	uint32_t register_count;
	unsigned long version; // of PTX, as in .version, times 100: 7.8 is 708
	unsigned long target;  // the lowest in .target: sm_90 is 90; 0: none was told
	size_t globals;        // where variables of a module may be put
	const char *obstacle;  // why counters cannot be put in; NULL: they can
};

// Reads PTX with 64-bit addresses; the text need not end with 0, and is copied. 0; -EINVAL
// (damaged), -ENOTSUP (another kind) or -ENOMEM with a sentence. To free in either case.
int ptx_read(const char *text, size_t bytes, struct ptx *ptx, struct tare_error *error);
void ptx_free(struct ptx *ptx);

// Which blocks all threads of a group pass equally often (uniform.c): fills in module->uniform.
// False: no memory.
bool ptx_find_uniform(struct ptx *ptx);
