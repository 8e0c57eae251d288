// SPDX-License-Identifier: Apache-2.0
#include "export/utf8.h"

#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

size_t export_utf8_length(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	unsigned char low = 0x80, high = 0xbf;
	size_t length = at[0] < 0x80   ? 1
	                : at[0] < 0xc2 ? 0
	                : at[0] < 0xe0 ? 2
	                : at[0] < 0xf0 ? 3
	                : at[0] < 0xf5 ? 4
	                               : 0;

	// The first bytes whose second one is limited further: overlong forms, surrogates, the end.
	if (at[0] == 0xe0)
		low = 0xa0;
	else if (at[0] == 0xed)
		high = 0x9f;
	else if (at[0] == 0xf0)
		low = 0x90;
	else if (at[0] == 0xf4)
		high = 0x8f;
	for (size_t i = 1; i < length; i++) {
		if (at[i] < low || at[i] > high)
			return 0;
		low = 0x80;
		high = 0xbf;
	}
	return length;
}

size_t export_utf8_clean(const char *text, char *to)
{
	size_t used = 0;

	while (*text) {
		size_t length = export_utf8_length(text);
		size_t bytes = length ? length : sizeof REPLACEMENT - 1;
		if (to)
			memcpy(to + used, length ? text : REPLACEMENT, bytes);
		used += bytes;
		text += length ? length : 1;
	}
	return used;
}
