// SPDX-License-Identifier: Apache-2.0
// Words and statements of PTX.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct ptx_scan {
	const char *text;
	size_t bytes, at;
};

struct word {
	size_t at, bytes;
};

// Behind spaces and remarks.
void scan_skip(struct ptx_scan *scan);
// The next byte; 0 at the end.
char scan_peek(const struct ptx_scan *scan);
// A word of letters, digits, and _ $ % . (and :: of instructions); it may have no bytes.
struct word scan_word(struct ptx_scan *scan);
// A name: the same without dots and colons, but for those that a directive begins with.
struct word scan_name(struct ptx_scan *scan);
bool scan_is(const struct ptx_scan *scan, struct word word, const char *text);
// Behind the end of the line.
void scan_line(struct ptx_scan *scan);
// Behind the next `end` that stands in no brackets of its own, string or remark; false: there is
// none.
bool scan_to(struct ptx_scan *scan, char end);
// Behind the bracket that closes the one here.
bool scan_brackets(struct ptx_scan *scan);
// A number without sign; 0: there is none.
unsigned long scan_number(struct ptx_scan *scan);
