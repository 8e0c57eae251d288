// SPDX-License-Identifier: Apache-2.0
// What instructions are of, and how many there are: of a line of a basic block, of a block, of a
// kernel's launches.
#pragma once
#include <stdint.h>

// Kinds of instructions, loads and stores left out.
enum tare_blocks_kind {
	TARE_BLOCKS_CONTROL,    // branches, returns, calls
	TARE_BLOCKS_MOVE,       // copies, parts of vectors, phi, select, casts of the same bits
	TARE_BLOCKS_ADDRESS,    // where an element lies
	TARE_BLOCKS_INTEGER,    // arithmetic, logic, comparisons
	TARE_BLOCKS_FLOAT16,    // arithmetic and comparisons
	TARE_BLOCKS_FLOAT32,    //
	TARE_BLOCKS_FLOAT64,    //
	TARE_BLOCKS_SPECIAL,    // functions as sin and sqrt
	TARE_BLOCKS_CONVERSION, // between types of numbers
	TARE_BLOCKS_WORK_ITEM,  // questions such as get_global_id()
	TARE_BLOCKS_ATOMIC,
	TARE_BLOCKS_BARRIER, // barriers and fences
	TARE_BLOCKS_GROUP,   // of a whole group: reductions, shuffles, asynchronous copies
	TARE_BLOCKS_IMAGE,
	TARE_BLOCKS_OTHER,
	TARE_BLOCKS_KINDS,
};

enum tare_blocks_space {
	TARE_BLOCKS_GLOBAL,
	TARE_BLOCKS_LOCAL,
	TARE_BLOCKS_CONSTANT,
	TARE_BLOCKS_PRIVATE,
	TARE_BLOCKS_GENERIC, // which of the others is known at run time only
	TARE_BLOCKS_SPACES,
};

// Widths of floating-point numbers.
enum tare_blocks_width {
	TARE_BLOCKS_HALF,
	TARE_BLOCKS_SINGLE,
	TARE_BLOCKS_DOUBLE,
	TARE_BLOCKS_WIDTHS
};

struct tare_blocks_tally {
	uint64_t kinds[TARE_BLOCKS_KINDS];
	uint64_t loads[TARE_BLOCKS_SPACES], stores[TARE_BLOCKS_SPACES]; // instructions
	uint64_t loaded_bytes[TARE_BLOCKS_SPACES], stored_bytes[TARE_BLOCKS_SPACES];
	// operations: one for each number that an addition, multiplication or division yields, two
	// for a fused multiply-add
	uint64_t flops[TARE_BLOCKS_WIDTHS];
	uint64_t unsized; // copies whose size is known at run time only: their bytes are nowhere
};

// As reports and documents write them: "fp32". The lists end with NULL.
extern const char *const tare_blocks_kind_names[TARE_BLOCKS_KINDS + 1];
extern const char *const tare_blocks_space_names[TARE_BLOCKS_SPACES + 1];
extern const char *const tare_blocks_width_names[TARE_BLOCKS_WIDTHS + 1];

// Parts of all instructions: the kinds, then loads and stores of any space.
enum { TARE_BLOCKS_PARTS = TARE_BLOCKS_KINDS + 2 };
const char *tare_blocks_part_name(int part);
uint64_t tare_blocks_part(const struct tare_blocks_tally *tally, int part);

// All instructions, loads and stores among them.
uint64_t tare_blocks_instructions(const struct tare_blocks_tally *tally);
uint64_t tare_blocks_flops(const struct tare_blocks_tally *tally);
// *sum += times * *part. Sums wrap beyond 2^64.
void tare_blocks_add(struct tare_blocks_tally *sum, const struct tare_blocks_tally *part,
                     uint64_t times);
