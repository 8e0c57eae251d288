// SPDX-License-Identifier: Apache-2.0
// Which functions of a module call which.
#pragma once
#include "blocks/module/module.h"

// The function with a body that has the id; NULL: none.
const struct tare_blocks_function *tare_blocks_function_of(const struct tare_blocks_module *module,
                                                           uint32_t id);

// Whether a function is begun by launches only: a kernel, and a kernel's body that is called by
// nothing but what hands it the kernel's arguments. (Translators drop that again, and call the body
// the kernel.)
bool tare_blocks_is_launched(const struct tare_blocks_module *module,
                             const struct tare_blocks_function *function);

// Whether calls that are counted tell how often a function was begun: it is no kernel, and no way
// of calls leads from it back to it.
bool tare_blocks_is_told_by_calls(const struct tare_blocks_module *module,
                                  const struct tare_blocks_function *function);
