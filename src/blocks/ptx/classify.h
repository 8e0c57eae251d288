// SPDX-License-Identifier: Apache-2.0
// What one instruction of PTX is.
#pragma once
#include "blocks/module/tally.h"
#include "blocks/ptx/scan.h"

#include <stdbool.h>

// An instruction: its name with all its types ("ld.global.v2.f32"), and its operands up to ';'.
struct ptx_instruction {
	const char *name, *operands;
	size_t name_bytes, operand_bytes;
};

// Adds it to *tally. What is not known is TARE_BLOCKS_OTHER.
void ptx_classify(const struct ptx_instruction *instruction, struct tare_blocks_tally *tally);

// The first part of its name, without types: "ld".
bool ptx_is(const struct ptx_instruction *instruction, const char *base);
// Whether its first operand alone hangs on its operands, and on nothing else.
bool ptx_is_pure(const struct ptx_instruction *instruction);
