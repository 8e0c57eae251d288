// SPDX-License-Identifier: Apache-2.0
// How what was sampled of a kernel is told.
#pragma once
#include "blocks/report/tables.h"

#include <stdio.h>

// A kernel that was counted: its share of the program's samples, and how much of that is on lines;
// nothing where none was asked for.
void tare_blocks_times_text(const struct tare_blocks_row *row, FILE *file);
