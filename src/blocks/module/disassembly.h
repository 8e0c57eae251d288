// SPDX-License-Identifier: Apache-2.0
// Instructions of a module as a person reads them: "float %mul = FMul %5, 2".
#pragma once
#include "blocks/module/module.h"

// Room that holds most instructions; longer ones are cut off.
enum { TARE_BLOCKS_INSTRUCTION_TEXT = 240 };

// Writes the instruction at a word of the module, which stands in a block: the type and the name of
// its result, what it does, and its operands. Constants are written by their values, and targets of
// branches as "block 4", by the module's places; which memory is accessed stands before a pointer
// ("Load global %p"). Left out are hints, and how memory is accessed beside that. Returns text.
const char *tare_blocks_disassemble(const struct tare_blocks_module *module, size_t at, char *text,
                                    size_t size);
