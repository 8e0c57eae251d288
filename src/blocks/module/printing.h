// SPDX-License-Identifier: Apache-2.0
// Kernels that print.
#pragma once
#include "blocks/module/module.h"

// Why a twin would not print what its kernel does, the end of a sentence; NULL: it would.
const char *tare_blocks_print_obstacle(const struct tare_blocks_module *module);
// Whether the kernel of that name prints.
bool tare_blocks_prints(const struct tare_blocks_module *module, const char *kernel);
