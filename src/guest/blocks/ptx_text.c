// SPDX-License-Identifier: Apache-2.0
#include "guest/blocks/ptx_text.h"

bool blocks_is_ptx(const char *text, size_t bytes)
{
	static const char first[] = ".version";
	size_t at = 0;

	while (at < bytes) {
		char c = text[at];
		if (c == ' ' || (c >= '\t' && c <= '\r')) {
			at++;
		} else if (c == '/' && at + 1 < bytes && text[at + 1] == '/') {
			while (at < bytes && text[at] != '\0' && text[at] != '\n')
				at++;
		} else if (c == '/' && at + 1 < bytes && text[at + 1] == '*') {
			for (at += 2; at + 1 < bytes && text[at] != '\0' &&
			              !(text[at] == '*' && text[at + 1] == '/');
			     at++)
				;
			if (at + 1 >= bytes || text[at] == '\0')
				return false;
			at += 2;
		} else {
			break;
		}
	}
	for (size_t i = 0; i < sizeof first - 1; i++)
		if (at + i >= bytes || text[at + i] != first[i])
			return false;
	return true;
}
