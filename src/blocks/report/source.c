// SPDX-License-Identifier: Apache-2.0
#include "blocks/report/source.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

// Longest source that is looked into.
#define MOST_BYTES (INT64_C(16) << 20)

// The line of a text, blanks at its beginning left out.
static bool from_text(const char *text, uint32_t line, char *room, size_t size)
{
	for (; line > 1 && *text; line--) {
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
	const char *slash = strrchr(name, '/');

	room[0] = '\0';
	if (build->language == BLOCKS_OPENCL_C &&
	    strcmp(slash ? slash + 1 : name, build->source) == 0)
		return from_text(build->text, line, room, size) ? TARE_BLOCKS_SOURCE_BUILD
		                                                : TARE_BLOCKS_SOURCE_NONE;
	return line && name[0] && from_file(name, line, room, size) ? TARE_BLOCKS_SOURCE_FILE
	                                                            : TARE_BLOCKS_SOURCE_NONE;
}
