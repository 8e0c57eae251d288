// SPDX-License-Identifier: Apache-2.0
// How text goes to a terminal or a file.
#pragma once
#include <stdbool.h>

struct tare_text_options {
	unsigned columns; // width of the terminal; 80 when not a terminal
	bool colour;      // ANSI colours, only ever as a help
	bool ascii;       // the locale does not take UTF-8: "us" for "µs", "->" for an arrow
	// -1 quiet: nothing but what was asked for; 0; 1 verbose: every fact and cell
	int verbosity;
};
