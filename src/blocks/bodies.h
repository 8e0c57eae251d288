// SPDX-License-Identifier: Apache-2.0
// Functions that are `inline` and no more. By C99, which clang goes by, such a function has a body
// only where it is put into its caller, and the module names one that nobody has. Drivers (PoCL)
// give it a body in any case.
#pragma once
#include <stdbool.h>

// Whether a module of SPIR-V in a file calls a function of the program's that has no body there.
// Those of a driver have mangled names. False, too, where the file is no such module.
bool tare_blocks_lacks_bodies(const char *spirv);
