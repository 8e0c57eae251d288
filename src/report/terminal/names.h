// SPDX-License-Identifier: Apache-2.0
// Names of a program's kernels and functions in little room. Internal to src/report.
#pragma once
#include <stddef.h>

// A name, or another text, in at most `columns` columns (its UTF-8 characters; at least 4). Of C++
// the parameters are left out first, then namespaces, then the template's arguments but for those
// that tell kernels apart (functors and functions with a lambda, else classes); what is still too
// long loses its middle, and a text of words its end. What was cut has "…" there. Writes at most
// `size` bytes with the final 0 into `buffer`, which may not be `name`, and returns it. The page's
// shortenName (web/names.js) does the same; tests/data/short_names.txt holds both to that.
const char *tare_name_shorten(const char *name, size_t columns, char *buffer, size_t size);
// What is no name in so many columns, as that: its end goes, or its middle where the end is a
// line's number ("file.c:12").
const char *tare_text_shorten(const char *text, size_t columns, char *buffer, size_t size);
