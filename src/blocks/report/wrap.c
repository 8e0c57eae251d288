// SPDX-License-Identifier: Apache-2.0
// Lines of text that are longer than a terminal is wide.
#include "blocks/report/wrap.h"

#include <stdbool.h>
#include <string.h>

enum { COLUMNS = 80, DEEPER = 4 };

// How many bytes of `line` go on one line of so many columns: up to a space, or to its end.
static size_t fitting(const char *line, size_t length, size_t columns)
{
	size_t used = 0, width = 0, space = 0;

	for (; used < length && width <= columns; used++) {
		// Bytes that continue a character take no column.
		width += ((unsigned char)line[used] & 0xc0) != 0x80;
		if (line[used] == ' ' && width <= columns + 1 && used > strspn(line, " "))
			space = used;
	}
	if (width <= columns || space == 0)
		return length;
	return space;
}

static void wrap_line(const char *line, size_t length, FILE *file)
{
	size_t indent = strspn(line, " "), columns = COLUMNS;
	size_t below = indent ? indent + DEEPER : 0;

	for (bool first = true;; first = false) {
		size_t part = fitting(line, length, columns);
		if (!first)
			fprintf(file, "%*s", (int)below, "");
		fprintf(file, "%.*s\n", (int)part, line);
		part += part < length;
		line += part;
		length -= part;
		columns = COLUMNS - below;
		if (length == 0)
			return;
	}
}

void tare_blocks_wrap(const char *text, FILE *file)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		wrap_line(text, length, file);
		text += length + (text[length] == '\n');
	}
}
