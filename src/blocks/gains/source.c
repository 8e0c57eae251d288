// SPDX-License-Identifier: Apache-2.0
// OpenCL C changed as findings advise. What the driver compiles is then changed in nothing else.
#include "blocks/gains/change.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 64 };

static bool is_word(char character)
{
	return isalnum((unsigned char)character) || character == '_';
}

static const char *skip_space(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

// The end of what a bracket at `at` begins; NULL: it has none.
static const char *closed(const char *at, const char brackets[2])
{
	int depth = 0;

	for (; *at; at++) {
		depth += *at == brackets[0] ? 1 : *at == brackets[1] ? -1 : 0;
		if (depth == 0)
			return at;
	}
	return NULL;
}

// A kernel's definition: its parameters, behind the first bracket, and the braces of its body.
struct definition {
	const char *parameters, *begin, *end;
};

// False: it is not found, or found twice, or its parameters have what is no parameter between them.
static bool definition_of(const char *text, const char *kernel, struct definition *of)
{
	size_t length = strlen(kernel);
	int found = 0;

	for (const char *at = text; (at = strstr(at, kernel)); at += length) {
		const char *open = skip_space(at + length);
		const char *close = *open == '(' ? closed(open, "()") : NULL;
		bool whole = at == text || !is_word(at[-1]);
		const char *body = close ? skip_space(close + 1) : NULL;
		if (!whole || !body || *body != '{')
			continue;
		if (open + strcspn(open, "/#") < close)
			return false;
		*of = (struct definition){ open + 1, body, closed(body, "{}") };
		found++;
	}
	return found == 1 && of->end;
}

// The name of a kernel's parameter. False: it is not found.
static bool name_of(const struct definition *of, const struct blocks_fixed *fixed, char name[NAME])
{
	const char *at = of->parameters;

	for (uint32_t i = 0; at && i < fixed->argument; i++) {
		at += strcspn(at, ",(){}");
		at = *at == ',' ? at + 1 : NULL;
	}
	if (!at)
		return false;
	const char *end = at + strcspn(at, ",(){}[");
	while (end > at && !is_word(end[-1]))
		end--;
	const char *begin = end;
	while (begin > at && is_word(begin[-1]))
		begin--;
	snprintf(name, NAME, "%.*s", (int)(end - begin), begin);
	return begin < end && end - begin < NAME && !isdigit((unsigned char)*begin);
}

// Whether lines are those of the text as it stands.
static bool keeps_lines(const char *text)
{
	for (const char *at = text; (at = strchr(at, '#')); at++) {
		const char *word = at + 1 + strspn(at + 1, " \t");
		if (isdigit((unsigned char)*word) || strncmp(word, "line", 4) == 0)
			return false;
	}
	return true;
}

// ---- divisors

static const char *line_of(const char *text, uint32_t line)
{
	for (uint32_t i = 1; text && i < line; i++) {
		text = strchr(text, '\n');
		text += text != NULL;
	}
	return text;
}

// The next place on the line where something is divided by a name; NULL: none.
static const char *division_by(const char *at, const char *end, const char *name)
{
	size_t length = strlen(name);

	for (; at < end; at++) {
		if (at + 1 < end && at[0] == '/' && (at[1] == '/' || at[1] == '*'))
			return NULL;
		if (*at != '/' && *at != '%')
			continue;
		const char *divisor = at + 1;
		divisor += *divisor == '=';
		divisor += strspn(divisor, " \t");
		if (strncmp(divisor, name, length) == 0 && !is_word(divisor[length]))
			return divisor;
	}
	return NULL;
}

// Puts the argument's value where a line of the kernel's own body divides by it: that of another
// function is compiled into other kernels, too, and may be given something else there. 1: done, 0:
// the line does not, or -ENOMEM.
static int put_value(char **text, uint32_t number, const struct blocks_fixed *fixed)
{
	char name[NAME], value[NAME + 64];
	const char *line = number ? line_of(*text, number) : NULL;
	struct definition of;
	int done = 0;

	if (!line || !definition_of(*text, fixed->kernel, &of) || line < of.begin ||
	    line > of.end || !name_of(&of, fixed, name))
		return 0;
	snprintf(value, sizeof value, "((__typeof__(%s))%" PRIu64 "UL)", name, fixed->value);
	for (;;) {
		const char *at = division_by(line, line + strcspn(line, "\n"), name);
		char *next;
		if (!at)
			return done;
		size_t behind = (size_t)(at - *text);
		if (asprintf(&next, "%.*s%s%s", (int)behind, *text, value, at + strlen(name)) < 0)
			return -ENOMEM;
		free(*text);
		*text = next;
		line = next + behind + strlen(value);
		done = 1;
	}
}

// ---- constants

// The next constant on the line that is a double, from `at`: its end in *end. NULL: none.
static const char *double_in(const char *at, const char *line_end, const char **end)
{
	for (bool behind = false; at < line_end; behind = is_word(*at) || *at == '.', at++) {
		if (at + 1 < line_end && at[0] == '/' && (at[1] == '/' || at[1] == '*'))
			return NULL;
		if (behind || (!isdigit((unsigned char)*at) && *at != '.') ||
		    (at[0] == '0' && (at[1] | 0x20) == 'x'))
			continue;
		const char *last = at + strspn(at, "0123456789");
		bool point = *last == '.';
		last += point ? 1 + strspn(last + 1, "0123456789") : 0;
		bool digits = last - at > point;
		if (digits && (*last | 0x20) == 'e') {
			const char *power = last + 1 + (last[1] == '+' || last[1] == '-');
			point |= isdigit((unsigned char)*power) != 0;
			last = power + strspn(power, "0123456789");
		}
		*end = last;
		if (point && digits && !is_word(*last) && *last != '.')
			return at;
		at = last > at ? last - 1 : at;
	}
	return NULL;
}

// Whether a word stands on the line.
static bool has_word(const char *at, const char *line_end, const char *word, size_t bytes)
{
	for (bool behind = false; bytes && at + bytes <= line_end; behind = is_word(*at), at++)
		if (!behind && memcmp(at, word, bytes) == 0 &&
		    (at + bytes == line_end || !is_word(at[bytes])))
			return true;
	return false;
}

// Whether the line may have a double that is not seen on it: by a macro, or behind a remark.
static bool hides_double(const char *text, const char *line, const char *line_end)
{
	const char *unused;

	for (const char *at = line; at + 1 < line_end; at++)
		if (at[0] == '/' && at[1] == '*')
			return true;
	for (const char *at = text; (at = strstr(at, "define")); at++) {
		const char *name = at + strlen("define"), *end = name + strcspn(name, "\n");
		name += strspn(name, " \t");
		size_t bytes = 0;
		while (is_word(name[bytes]))
			bytes++;
		if (has_word(line, line_end, name, bytes) && double_in(name + bytes, end, &unused))
			return true;
	}
	return false;
}

// Makes the constants of a line floats. 1: there are some, 0: none or not all of them, or -ENOMEM.
static int put_floats(char **text, uint32_t number)
{
	const char *line = number ? line_of(*text, number) : NULL, *end;
	int done = 0;

	if (line && hides_double(*text, line, line + strcspn(line, "\n")))
		return 0;
	while (line && double_in(line, line + strcspn(line, "\n"), &end)) {
		char *next;
		size_t before = (size_t)(end - *text);
		if (asprintf(&next, "%.*sf%s", (int)before, *text, end) < 0)
			return -ENOMEM;
		free(*text);
		*text = next;
		line = next + before + 1;
		done = 1;
	}
	return done;
}

// Whether an instruction before this one has had the same done to its line.
static bool is_done(const struct tare_blocks_changed *changed, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (changed->done[i] && changed->lines[i] == changed->lines[at] &&
		    changed->divisors[i] == changed->divisors[at])
			return true;
	return false;
}

// Edits the lines of the instructions that the change is to reach.
static int edit(const struct tare_blocks_build *build, struct tare_blocks_changed *changed,
                char **text)
{
	bool keeps = keeps_lines(build->text);

	for (size_t at = 0; at < build->module.words.count; at++) {
		bool fixed = changed->divisors[at] != 0;
		int put = keeps;
		if (!changed->done[at] && !fixed)
			continue;
		changed->done[at] = false;
		if (keeps && !is_done(changed, at))
			put = fixed ? put_value(text, changed->lines[at],
			                        &changed->fixed[changed->divisors[at] - 1])
			            : put_floats(text, changed->lines[at]);
		if (put < 0)
			return put;
		changed->done[at] = put;
	}
	return 0;
}

// ---- the whole

// A driver's header may have macros of these names, so that options cannot define them.
static char *text_for(const struct tare_blocks_build *build, enum tare_blocks_change change)
{
	char *text = NULL;
	size_t length = 0;
	FILE *file = open_memstream(&text, &length);

	if (!file)
		return NULL;
	for (const struct tare_blocks_native *at = tare_blocks_natives;
	     at->name && change == TARE_BLOCKS_IN_NATIVE; at++)
		fprintf(file, "#undef %s\n#define %s native_%s\n", at->name, at->name, at->name);
	if (change == TARE_BLOCKS_IN_NATIVE)
		fputs("#line 1\n", file);
	fputs(build->text, file);
	return fclose(file) == 0 ? text : NULL;
}

int tare_blocks_change_source(const struct tare_blocks_build *build, enum tare_blocks_change change,
                              struct tare_blocks_changed *changed, char **text)
{
	*text = text_for(build, change);
	if (!*text)
		return -ENOMEM;
	return change == TARE_BLOCKS_BY_CONSTANTS || change == TARE_BLOCKS_IN_SINGLE
	           ? edit(build, changed, text)
	           : 0;
}
