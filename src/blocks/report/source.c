// SPDX-License-Identifier: Apache-2.0
#include "blocks/report/source.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Longest source that is looked into.
#define MOST_BYTES (INT64_C(16) << 20)

const char *tare_blocks_label(const struct tare_blocks_build *build, uint32_t file)
{
	const struct tare_blocks_source *source =
	    tare_blocks_sources_find(&build->sources, tare_blocks_file_name(&build->module, file));

	return source ? source->label : "";
}

// The number that "#line 12" or "# 12" gives the line behind it; 0: the line is none of these.
static uint32_t directive(const char *line)
{
	char *end;

	line += strspn(line, " \t");
	if (*line++ != '#')
		return 0;
	line += strspn(line, " \t");
	if (strncmp(line, "line", 4) == 0)
		line += 4 + strspn(line + 4, " \t");
	unsigned long number = isdigit((unsigned char)*line) ? strtoul(line, &end, 10) : 0;
	return number <= UINT32_MAX ? (uint32_t)number : 0;
}

uint32_t tare_blocks_next_line(const char *line, uint32_t number)
{
	uint32_t given = directive(line);

	return given ? given : number + 1;
}

// The line of a text, blanks at its beginning left out.
static bool from_text(const char *text, uint32_t line, char *room, size_t size)
{
	for (uint32_t number = 1; *text && (number != line || directive(text));) {
		number = tare_blocks_next_line(text, number);
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	text += strspn(text, " \t");
	snprintf(room, size, "%.*s", (int)strcspn(text, "\r\n"), text);
	return *text != '\0';
}

static bool from_file(const char *path, uint32_t line, char *room, size_t size)
{
	struct stat status;
	char part[512] = "";
	uint32_t at = 1;

	// A pipe would be waited for.
	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size > MOST_BYTES)
		return false;
	FILE *file = fopen(path, "re");
	bool found = false;
	while (file && !found && fgets(part, sizeof part, file)) {
		found = at == line;
		at += strchr(part, '\n') != NULL;
	}
	if (file)
		fclose(file);
	return found && from_text(part, 1, room, size);
}

enum tare_blocks_source_from tare_blocks_source_line(const struct tare_blocks_build *build,
                                                     uint32_t file, uint32_t line, char *room,
                                                     size_t size)
{
	const char *name = tare_blocks_file_name(&build->module, file);
	const struct tare_blocks_source *source = tare_blocks_sources_find(&build->sources, name);

	room[0] = '\0';
	if (source)
		return from_text(source->text, line, room, size) ? TARE_BLOCKS_SOURCE_BUILD
		                                                 : TARE_BLOCKS_SOURCE_NONE;
	return line && name[0] && from_file(name, line, room, size) ? TARE_BLOCKS_SOURCE_FILE
	                                                            : TARE_BLOCKS_SOURCE_NONE;
}
