// SPDX-License-Identifier: Apache-2.0
// Keeps what a driver's own compiler would fuse. clang writes `a * b + c` as llvm.fmuladd, which a
// device with such an instruction rounds once. The translator makes `mad` of it, and of that a call
// of the driver's mad(), which may round twice: results would be others in the last bit.
#pragma once
#include "base/error.h"

#include <stdbool.h>

// Whether the program's own mad() is called in a module of bitcode: then one cannot be told from
// the other behind the translator. True, too, where the file cannot be read.
bool tare_blocks_calls_mad(const char *bitcode);
// Whether something in it may be fused. True, too, where the file cannot be read.
bool tare_blocks_may_fuse(const char *bitcode);

// Writes bitcode anew, by way of text beside it, with llvm.fmuladd in the place of mad(). `said` is
// a file for what clang says. 0, or a negative errno with a sentence.
int tare_blocks_fuse(const char *clang, const char *bitcode, const char *said,
                     struct tare_error *error);
