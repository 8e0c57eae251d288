// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdio.h>

// Writes a text so that no line is longer than 80 columns, where spaces allow it: what is left of
// one follows below it, deeper where it is indented.
void tare_blocks_wrap(const char *text, FILE *file);
