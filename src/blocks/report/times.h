// SPDX-License-Identifier: Apache-2.0
// How what was sampled of a kernel is told.
#pragma once
#include "blocks/clock/times.h"
#include "blocks/profile.h"

#include <stdio.h>

// A kernel that was counted: its share of the program's samples; nothing where none was asked for.
// `profile`: that it is of.
void tare_blocks_times_text(const struct tare_blocks_times *times,
                            const struct tare_blocks_profile *profile,
                            const struct tare_blocks_kernel *kernel, FILE *file);
