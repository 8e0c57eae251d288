// SPDX-License-Identifier: Apache-2.0
// The compiler and the translator that the user's machine has: clang and llvm-spirv of one version,
// run as processes of their own.
#pragma once
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

// Name a compiler, and a translator, before those that are looked for.
#define TARE_BLOCKS_CLANG "TARE_CLANG"
#define TARE_BLOCKS_TRANSLATOR "TARE_LLVM_SPIRV"
// For tests: seconds that a tool may take, less than a minute.
#define TARE_BLOCKS_TOOL_LIMIT "TARE_BLOCKS_TOOL_LIMIT"

struct tare_blocks_tools {
	char clang[256], translator[256]; // paths or names on PATH
	unsigned version;                 // LLVM's; 0: not known
};

// Finds clang-N and llvm-spirv-N on PATH with the highest N that is at most `most` (0: any), then
// both without a number. 0, or -ENOENT with a sentence that says what to install.
int tare_blocks_tools_find(unsigned most, struct tare_blocks_tools *tools,
                           struct tare_error *error);

// Whether a program is on PATH, or at the path that it is.
bool tare_blocks_tool_is_there(const char *name);

// Finds a program of the CUDA toolkit: what the environment variable names, or what is on PATH or
// in /usr/local/cuda*/bin, the last of these. False: there is none.
enum { TARE_BLOCKS_TOOL_BYTES = 4096 };
bool tare_blocks_cuda_tool_find(const char *variable, const char *name,
                                char place[TARE_BLOCKS_TOOL_BYTES]);

// Runs a program, whose output goes into the file `said`, and waits. 0; -EIO with the first line
// that it said about an error, where it did not exit with 0; -ETIMEDOUT, after a minute, or another
// negative errno with a sentence.
int tare_blocks_tool_run(const char *const *arguments, const char *said, struct tare_error *error);
// The same in a folder; `said` and the program are no paths from here then.
int tare_blocks_tool_run_in(const char *folder, const char *const *arguments, const char *said,
                            struct tare_error *error);
