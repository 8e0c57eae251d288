// SPDX-License-Identifier: Apache-2.0
// The source of a line: from what the program built, or from the file that debug information names.
#pragma once
#include "blocks/compile.h"

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
