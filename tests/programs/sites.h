// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "program.h"

#include <stdint.h>

// Of a file without unwind tables.
void bare_write(const struct program *program, const int *numbers);
