// SPDX-License-Identifier: Apache-2.0
// Functions that are `inline` and no more. By C99, which clang goes by, such a function has a body
// only where it is put into its caller, and the module names one that nobody has. Drivers (PoCL)
// give it a body in any case.
#pragma once
#include <stdbool.h>
#include <stddef.h>

// Whether a module of SPIR-V in a file calls a function of the program's that has no body there.
// Those of a driver have mangled names. False, too, where the file is no such module.
bool tare_blocks_lacks_bodies(const char *spirv);

// Takes out of a module that no function may be put into its caller, as clang marks all of them
// where it does not optimise. Of such a module PoCL makes code that cannot be loaded, where a
// function that it left alone asks for its work-item (`get_group_id`), and ends the program. Of the
// source it does put them in. Words are in the machine's order, as our translator writes them.
void tare_blocks_let_inline(void *data, size_t bytes);
