// SPDX-License-Identifier: Apache-2.0
#include "result/clean_text.h"

#include <stdbool.h>
#include <string.h>

// Length of the UTF-8 sequence at `text`, 0 when it is none (RFC 3629: no overlong forms, no
// surrogates, nothing above U+10FFFF).
static size_t sequence_length(const unsigned char *text)
{
	static const struct {
		unsigned char first, last, low, high;
		size_t length;
	} rows[] = {
		{ 0x01, 0x7f, 0x00, 0xff, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (text[0] < rows[i].first || text[0] > rows[i].last)
			continue;
		if (rows[i].length > 1 && (text[1] < rows[i].low || text[1] > rows[i].high))
			return 0;
		for (size_t k = 2; k < rows[i].length; k++)
			if (text[k] < 0x80 || text[k] > 0xbf)
				return 0;
		return rows[i].length;
	}
	return 0;
}

static bool is_control(const char *text)
{
	unsigned char first = (unsigned char)text[0];
	return first < 0x20 || first == 0x7f || (first == 0xc2 && (unsigned char)text[1] < 0xa0);
}

size_t tare_clean_text(const char *text, char *clean)
{
	static const char replacement[] = "\xef\xbf\xbd";
	char *to = clean;

	while (*text) {
		size_t length = sequence_length((const unsigned char *)text);
		const char *from = length == 0 || is_control(text) ? replacement : text;
		size_t written = from == replacement ? 3 : length;
		if (*text == '\n' || *text == '\t') {
			from = " ";
			written = 1;
		}
		memcpy(to, from, written);
		to += written;
		text += length ? length : 1;
	}
	*to = '\0';
	return (size_t)(to - clean);
}
