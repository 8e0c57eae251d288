// SPDX-License-Identifier: Apache-2.0
// What compiles between the runs of tare blocks, with a line on a terminal that says how far it is.
#pragma once
#include "blocks/intel/model.h"

// Compiles what the first run built: for counting, with `samples` for sampling, and for the models'
// devices. `shown` is false with --quiet. 0 or a negative errno with a sentence.
int tare_blocks_compile_shown(const char *folder, bool samples, bool shown,
                              struct tare_blocks_builds *builds, struct tare_blocks_models *models,
                              struct tare_error *error);
