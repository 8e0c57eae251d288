// SPDX-License-Identifier: Apache-2.0
// A kernel's listing as Intel's graphics compiler writes it when it is asked to
// (IGC_ShaderDumpEnable=1, "-g"): the instructions, by blocks that say which others they lead to,
// and lines of the source between them:
//
//   // B005: [inDivergent],  Preds:{B005, B004},  Succs:{B006, B005}
//   // Line 12:  sum += in[row * n + k];
//           mad (16|M0)   r26.0<1>:f  r26.0<1;0>:f  r43.0<1;0>:f  r34.0<1>:f
#pragma once
#include "blocks/intel/ze_info.h"

// The file that an OpenCL program's source is given to ocloc in.
#define TARE_BLOCKS_MODEL_SOURCE "model.cl"

enum { TARE_BLOCKS_LISTING_FILE = 1024 };

// Instructions of one block and line that follow each other.
struct tare_blocks_listing_piece {
	uint32_t block; // its place
	uint32_t file;  // place among the listing's files; meaningless where `line` is 0
	uint32_t line;  // 0: not known
	uint64_t mix[TARE_BLOCKS_ISAS];
	// Accesses to memory, and floating-point operations, of all work-items of a hardware
	// thread. What one lane does is done for all of them.
	uint64_t accesses, flops;
	// Some accesses move several numbers at once: that may be several accesses of the source,
	// of several turns of a loop as well.
	bool gathered;
	// Some accesses or operations hang on a flag: a branch of the source is in the block, and
	// not all that pass the block execute them.
	bool flagged;
};

// An instruction as it is listed, without blanks around it.
struct tare_blocks_listing_code {
	uint32_t piece; // its place
	size_t at;      // of its text in that of the listing, which has an end there
	size_t length;  // as it was listed; of blanks between its words two are left
};

struct tare_blocks_listing_block {
	uint32_t first_successor, successors;
	bool defined; // false: it was only named
};

struct tare_blocks_listing {
	char kernel[512];
	char (*files)[TARE_BLOCKS_LISTING_FILE];
	struct tare_blocks_listing_piece *pieces;
	struct tare_blocks_listing_block *blocks;
	uint32_t *successors; // blocks' places
	uint32_t file_count, piece_count, block_count, successor_count;
	char *text;                            // of the whole listing
	struct tare_blocks_listing_code *code; // in its order
	uint32_t code_count;
	bool calls; // functions of its own
};

// Reads a listing of a kernel whose threads have `width` work-items; it need not be well-formed.
// False: it is none, or is damaged, or there is no memory. To free in either case.
bool tare_blocks_listing_read(const char *text, uint32_t width,
                              struct tare_blocks_listing *listing);
void tare_blocks_listing_free(struct tare_blocks_listing *listing);
