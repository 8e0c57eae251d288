// SPDX-License-Identifier: Apache-2.0
// What standard output and standard error are.
#pragma once
#include "report/terminal/options.h"

// Columns of the terminal behind `descriptor`, or of $COLUMNS, or 80; between 40 and 500.
unsigned tare_terminal_columns(int descriptor);

// How text goes to standard output: width, colour (a terminal and no NO_COLOR), and whether the
// locale takes UTF-8.
struct tare_text_options tare_terminal_text_options(int verbosity);
