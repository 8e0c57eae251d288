// SPDX-License-Identifier: Apache-2.0
// A module of PTX as it is read: what read.c, body.c, steps.c and names.c share.
#pragma once
#include "blocks/ptx/classify.h"
#include "blocks/ptx/ptx.h"

// A name in a function: a register, a label, a list of labels, or a parameter.
struct symbol {
	struct word word;
	uint32_t block;         // of a label: its place, counted from 1; 0: it is none (yet)
	uint32_t scope;         // of a label: how many braces it stands in
	struct word targets;    // of a list of labels: the text behind .branchtargets
	bool parameter;         // of the function
	uint32_t defined, used; // steps, counted from 1, that first do so; 0: none
};

// A label that is seen until its braces close, and the one of its name that is seen behind them.
struct seen_label {
	uint32_t symbol, block, scope;
};

enum { MOST_SCOPES = 64 };
struct scope {
	size_t pending, seen; // how many there were where it begins
};

// A list with room for more.
struct room {
	size_t count, most;
};

struct ptx_reading {
	struct ptx *ptx;
	struct ptx_scan scan;
	struct tare_error *error;
	struct room functions, blocks, pieces, successors, edits, steps, registers, written;
	// of the function that is read
	struct symbol *symbols;
	uint32_t *slots; // a table of them by their names, counted from 1
	uint32_t symbol_count, slot_count, first_register;
	uint32_t
	    *labels; // symbols that the function's successors are, by their places from first on
	struct room pending;
	uint32_t first_successor;
	struct seen_label *seen;
	struct room seen_room;
	struct scope scopes[MOST_SCOPES];
	uint32_t depth;        // scopes that are open
	uint32_t *piece_slots; // a table of pieces (pieces.c)
	uint32_t piece_slot_count, piece_slots_used;
	size_t names;          // used of the module's names
	bool open;             // a block is
	bool must;             // a block has to follow
	bool empty;            // the open one, so far
	struct word predicate; // of the open block; no bytes: it has none
	uint32_t guard;        // symbol of its register
	uint32_t file, line;
};

// One more place in a list of ptx's or the module's; NULL: no memory, which is told.
void *reading_more(struct ptx_reading *reading, void *list, struct room *room, size_t bytes);
// Notes a place of the text that has to become another, of the last function; NULL: no memory,
// which is told.
struct ptx_edit *reading_edit(struct ptx_reading *reading, enum ptx_edit_kind kind, size_t at,
                              size_t end);
int reading_failed(struct ptx_reading *reading, size_t at, const char *what);

bool reading_is_same(const struct ptx_reading *reading, struct word a, struct word b);
// The symbol of a name of the function; UINT32_MAX: no memory.
uint32_t reading_symbol(struct ptx_reading *reading, struct word word);

// Reads the body of the last function, from behind its '{' to behind its '}'. 0 or a negative
// errno.
int reading_body(struct ptx_reading *reading);

// The tally of the line that is read, in the last block (pieces.c). NULL: no memory.
struct tare_blocks_tally *reading_tally(struct ptx_reading *reading);

// A .param in a body hides the function's parameter of that name.
int reading_hide_parameters(struct ptx_reading *reading, struct ptx_scan declaration);
// Notes what an instruction in the open block does to registers.
int reading_step(struct ptx_reading *reading, const struct ptx_instruction *instruction);
// That the open block is left by a register.
int reading_branch(struct ptx_reading *reading, uint32_t symbol);
// Whether an instruction's result is the symbol.
bool reading_writes(struct ptx_reading *reading, const struct ptx_instruction *instruction,
                    uint32_t symbol);
