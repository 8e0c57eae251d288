// SPDX-License-Identifier: Apache-2.0
// What one instruction of a module is.
#pragma once
#include "blocks/module/module.h"

// Adds the instruction at word `at` to *tally. `types` must be known.
void tare_blocks_classify(const struct tare_blocks_module *module, size_t at,
                          struct tare_blocks_tally *tally);
// Whether the instruction executes nothing: labels, lines, debug information, variables.
bool tare_blocks_is_silent(const struct tare_blocks_module *module, size_t at);
