// SPDX-License-Identifier: Apache-2.0
#include "blocks/tools/legal.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAYOUT "target datalayout = \""
#define WIDTHS "-n8:16:32:64"
#define FREEZE " = freeze "
#define VERSIONS "\n!opencl.ocl.version = !{"

// A name with the sign before it, in the text.
struct name {
	const char *at;
	size_t length;
};

struct frozen {
	struct name frozen, value;
};

// Of one function.
struct renames {
	struct frozen *at;
	size_t count, room;
};

static size_t name_length(const char *at)
{
	size_t length = 1;

	while (isalnum((unsigned char)at[length]) || (at[length] && strchr("-$._", at[length])))
		length++;
	return length;
}

static bool is_same(const struct name *left, const struct name *right)
{
	return left->length == right->length && memcmp(left->at, right->at, left->length) == 0;
}

// Whether a line freezes a named value. (Those that are numbered must follow each other.)
static bool reads_freeze(const char *line, size_t length, struct frozen *row)
{
	const char *found = memmem(line, length, FREEZE, strlen(FREEZE));
	const char *at = line + strspn(line, " ");

	if (!found || *at != '%' || isdigit((unsigned char)at[1]))
		return false;
	row->frozen = (struct name){ at, name_length(at) };
	const char *end = line + length;
	const char *value = memchr(found, '%', (size_t)(end - found));
	if (at + row->frozen.length != found || !value || value[-1] != ' ')
		return false;
	row->value = (struct name){ value, name_length(value) };
	// A type of a name, and not a value.
	return row->value.length > 1 &&
	       (value + row->value.length == end || value[row->value.length] == ',');
}

static bool add(struct renames *renames, const struct frozen *row)
{
	if (renames->count == renames->room) {
		size_t room = renames->room ? 2 * renames->room : 16;
		struct frozen *at = realloc(renames->at, room * sizeof *at);
		if (!at)
			return false;
		renames->at = at;
		renames->room = room;
	}
	renames->at[renames->count++] = *row;
	return true;
}

// What stands for a name; values that were frozen may be frozen again.
static struct name resolve(const struct renames *renames, struct name name)
{
	for (size_t steps = 0; steps <= renames->count; steps++) {
		size_t i = 0;
		while (i < renames->count && !is_same(&renames->at[i].frozen, &name))
			i++;
		if (i == renames->count)
			break;
		name = renames->at[i].value;
	}
	return name;
}

static void write_line(const struct renames *renames, const char *line, size_t length, FILE *file)
{
	struct frozen row;

	if (reads_freeze(line, length, &row))
		return;
	for (size_t i = 0; i < length;) {
		struct name name = { line + i, line[i] == '%' ? name_length(line + i) : 1 };
		i += name.length;
		if (name.length > 1)
			name = resolve(renames, name);
		fwrite(name.at, 1, name.length, file);
	}
	fputc('\n', file);
}

// Uses may stand above what they use, so that a function is read twice.
static int drop_freezes(const char *text, FILE *file)
{
	struct renames renames = { 0 };
	int status = 0;

	for (const char *line = text; status == 0 && *line;) {
		const char *end = strstr(line, "\n}");
		end = end ? end + 2 : line + strlen(line);
		renames.count = 0;
		for (const char *at = line; status == 0 && at < end;) {
			size_t length = strcspn(at, "\n");
			struct frozen row;
			if (reads_freeze(at, length, &row) && !add(&renames, &row))
				status = -ENOMEM;
			at += length + (at[length] == '\n');
		}
		while (status == 0 && line < end) {
			size_t length = strcspn(line, "\n");
			write_line(&renames, line, length, file);
			line += length + (line[length] == '\n');
		}
	}
	free(renames.at);
	return status;
}

static int say_widths(const char *text, FILE *file)
{
	const char *layout = strstr(text, LAYOUT);
	const char *end = layout ? strchr(layout + strlen(LAYOUT), '"') : NULL;

	if (!end)
		return -EINVAL;
	fwrite(text, 1, (size_t)(end - text), file);
	fputs(WIDTHS, file);
	fputs(end, file);
	return 0;
}

// "!opencl.ocl.version = !{!8, !8}" becomes "!opencl.ocl.version = !{!8}".
static int keep_version(const char *text, FILE *file)
{
	const char *list = strstr(text, VERSIONS);
	const char *first = list ? list + strcspn(list + 1, ",}\n") + 1 : text;
	const char *end = list ? list + strcspn(list + 1, "}\n") + 1 : text;

	fwrite(text, 1, (size_t)(first - text), file);
	fputs(end, file);
	return 0;
}

static char *read_text(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;
	// Text has no end in it, so that this reads all of it.
	ssize_t length = file ? getdelim(&text, &room, '\0', file) : -1;

	if (file)
		fclose(file);
	if (length >= 0)
		return text;
	free(text);
	return NULL;
}

int tare_blocks_legalise(const char *from, const char *to, enum tare_blocks_legal how,
                         struct tare_error *error)
{
	TARE_FREE char *text = read_text(from);
	FILE *file = text ? fopen(to, "we") : NULL;
	int status = file ? 0 : -EIO;

	if (status == 0)
		status = how == TARE_BLOCKS_WIDTHS_SAID   ? say_widths(text, file)
		         : how == TARE_BLOCKS_ONE_VERSION ? keep_version(text, file)
		                                          : drop_freezes(text, file);
	if (file && (ferror(file) | fclose(file)) && status == 0)
		status = -EIO;
	return status < 0 ? tare_fail(error, -status, "LLVM's text cannot be written anew: %s",
	                              strerror(-status))
	                  : 0;
}
