// SPDX-License-Identifier: Apache-2.0
// LLVM's text between compiler and translator, where the translator refuses what the optimiser
// makes. Older translators know integers of 8, 16, 32 and 64 bits only, and no `freeze`.
#pragma once
#include "base/error.h"

enum tare_blocks_legal {
	// Says which widths of integers a device has: the optimiser then makes no others. The
	// target
	// spir64 says none, and switches over 2 bits come of it.
	TARE_BLOCKS_WIDTHS_SAID,
	// Takes `%a = freeze T %b` out and %b in its place. Later translators do the same: SPIR-V
	// has no value that is poison.
	TARE_BLOCKS_FREEZES_GONE,
	// Of linked modules, which each say their version of OpenCL C, keeps the first one's: the
	// translator ends at a second one that differs.
	TARE_BLOCKS_ONE_VERSION,
};

// Writes the module's text anew. 0, or a negative errno with a sentence.
int tare_blocks_legalise(const char *from, const char *to, enum tare_blocks_legal how,
                         struct tare_error *error);
