// SPDX-License-Identifier: Apache-2.0
// The source of a line: from what the program built, or from the file that debug information names.
#pragma once
#include "blocks/compile.h"

// What a person calls the source that a file of the build's module is: "part 2", "helper.h". "":
// the build's only one, or none of the program's texts.
const char *tare_blocks_label(const struct tare_blocks_build *build, uint32_t file);
// The number of the line behind this one, which has the number `number`: "#line" sets it.
uint32_t tare_blocks_next_line(const char *line, uint32_t number);

enum tare_blocks_source_from {
	TARE_BLOCKS_SOURCE_NONE,
	TARE_BLOCKS_SOURCE_BUILD,
	TARE_BLOCKS_SOURCE_FILE, // as it is now, which may be another one than was compiled
};

// Puts the text of a line into `room`, blanks at its beginning left out, cut off where it does not
// fit. `file` and `line` as the build's module names them.
enum tare_blocks_source_from tare_blocks_source_line(const struct tare_blocks_build *build,
                                                     uint32_t file, uint32_t line, char *room,
                                                     size_t size);
