// SPDX-License-Identifier: Apache-2.0
// What is to be known of OpenCL C before it is edited: where things stand, and what names mean.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A text of the same length in which remarks, strings and characters are blank; malloc, NULL: no
// memory. All that follows takes such a text.
char *tare_blocks_text_clean(const char *text);

// Whether lines are those of the text as it stands: no #line, no trigraphs, no odd ends of lines.
bool tare_blocks_text_keeps_lines(const char *clean);

// Where a compiler's line and column are, both from 1 on; SIZE_MAX: there is no such place.
size_t tare_blocks_text_place(const char *clean, uint32_t line, uint32_t column);

bool tare_blocks_text_is_word(char character);
// The first place behind blanks.
const char *tare_blocks_text_skip(const char *at);
// Whether the name stands at `at`, whole.
bool tare_blocks_text_names(const char *at, const char *name);
// Whether the text defines a macro of this name.
bool tare_blocks_text_is_macro(const char *clean, const char *name);

// A kernel's definition: its parameters, behind the first bracket, and the braces of its body.
struct tare_blocks_definition {
	const char *parameters, *begin, *end;
};
// False: it is not found, or the kernel is named more than once, as where another one calls it, or
// there are directives between its parameters or macros defined in its body.
bool tare_blocks_text_definition(const char *clean, const char *kernel,
                                 struct tare_blocks_definition *of);
// The name of a kernel's parameter, from 0 on. False: it is not found.
bool tare_blocks_text_parameter(const struct tare_blocks_definition *of, uint32_t index, char *name,
                                size_t size);
// Whether a name may get another value: in the body, or by any macro of the text.
bool tare_blocks_text_is_written(const char *clean, const struct tare_blocks_definition *of,
                                 const char *name);
