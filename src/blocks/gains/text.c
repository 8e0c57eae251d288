// SPDX-License-Identifier: Apache-2.0
#include "blocks/gains/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tare_blocks_text_is_word(char character)
{
	return isalnum((unsigned char)character) || character == '_';
}

const char *tare_blocks_text_skip(const char *at)
{
	return at + strspn(at, " \t\r\n\v\f");
}

// ---- remarks and strings

// Whether the end of a line is taken back by a backslash before it.
static bool is_spliced(const char *end)
{
	return end[-1] == '\\' || (end[-1] == '\r' && end[-2] == '\\');
}

// The end of what begins at `at`: a remark, a string, or a character. `at`: nothing of the kind.
static char *blank_end(char *at)
{
	bool line = at[0] == '/' && at[1] == '/', remark = at[0] == '/' && at[1] == '*';
	char quote = *at == '"' || *at == '\'' ? *at : '\0';
	char *end = at;

	if (remark) {
		end = strstr(at + 2, "*/");
		return end ? end + 2 : at + strlen(at);
	}
	if (!line && !quote)
		return at;
	for (end++; *end && (*end != '\n' || is_spliced(end)) && (line || *end != quote); end++)
		end += quote && *end == '\\' && end[1] && end[1] != '\n';
	return end + (!line && *end == quote);
}

char *tare_blocks_text_clean(const char *text)
{
	char *clean = strdup(text);

	for (char *at = clean; at && *at;) {
		char *end = blank_end(at);
		at += end == at;
		for (; at < end; at++)
			*at = *at == '\n' || *at == '\r' ? *at : ' ';
	}
	return clean;
}

// ---- places

bool tare_blocks_text_keeps_lines(const char *clean)
{
	if (strstr(clean, "??"))
		return false;
	for (const char *at = clean; (at = strchr(at, '\r')); at++)
		if (at[1] != '\n')
			return false;
	for (const char *at = clean; *at; at++) {
		bool directive = *at == '#' || (at[0] == '%' && at[1] == ':');
		const char *word = at + 1 + (*at == '%');
		if (!directive)
			continue;
		word += strspn(word, " \t\v\f");
		if (isdigit((unsigned char)*word) || *word == '\\' || strncmp(word, "line", 4) == 0)
			return false;
	}
	return true;
}

size_t tare_blocks_text_place(const char *clean, uint32_t line, uint32_t column)
{
	const char *at = clean;

	for (uint32_t i = 1; at && i < line; i++) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	if (!at || !line || !column || column > strcspn(at, "\n"))
		return SIZE_MAX;
	return (size_t)(at - clean) + column - 1;
}

// ---- names

bool tare_blocks_text_names(const char *at, const char *name)
{
	size_t length = strlen(name);

	return strncmp(at, name, length) == 0 && !tare_blocks_text_is_word(at[length]) &&
	       at[length] != '\\';
}

// The next place from `at` before `end` where a name stands, whole; NULL: none.
static const char *next_name(const char *text, const char *at, const char *end, const char *name)
{
	for (; (at = strstr(at, name)) && at < end; at++)
		if ((at == text || !tare_blocks_text_is_word(at[-1])) &&
		    tare_blocks_text_names(at, name))
			return at;
	return NULL;
}

bool tare_blocks_text_is_macro(const char *clean, const char *name)
{
	for (const char *at = clean; (at = strstr(at, "define")); at++)
		if (tare_blocks_text_names(
		        at + strlen("define") + strspn(at + strlen("define"), " \t\\\r\n"), name))
			return true;
	return false;
}

// ---- kernels

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

// Whether what the preprocessor does there can change what a name means.
static bool has_directives(const char *at, const char *end, bool any)
{
	for (; at < end; at++) {
		bool directive = *at == '#' || (at[0] == '%' && at[1] == ':');
		const char *word = at + 1 + (*at == '%');
		word += strspn(word, " \t\v\f");
		if (directive &&
		    (any || strncmp(word, "define", 6) == 0 || strncmp(word, "undef", 5) == 0 ||
		     strncmp(word, "include", 7) == 0 || *word == '\\'))
			return true;
	}
	return false;
}

bool tare_blocks_text_definition(const char *clean, const char *kernel,
                                 struct tare_blocks_definition *of)
{
	const char *end = clean + strlen(clean), *at = next_name(clean, clean, end, kernel);

	if (!at || next_name(clean, at + 1, end, kernel))
		return false;
	const char *open = tare_blocks_text_skip(at + strlen(kernel));
	const char *close = *open == '(' ? closed(open, "()") : NULL;
	const char *body = close ? tare_blocks_text_skip(close + 1) : NULL;
	if (!body || *body != '{')
		return false;
	*of = (struct tare_blocks_definition){ open + 1, body, closed(body, "{}") };
	return of->end && !has_directives(open, close, true) &&
	       !has_directives(of->begin, of->end, false);
}

bool tare_blocks_text_parameter(const struct tare_blocks_definition *of, uint32_t index, char *name,
                                size_t size)
{
	const char *at = of->parameters;

	for (uint32_t i = 0; at && i < index; i++) {
		at += strcspn(at, ",(){}");
		at = *at == ',' ? at + 1 : NULL;
	}
	if (!at)
		return false;
	const char *end = at + strcspn(at, ",(){}[");
	while (end > at && !tare_blocks_text_is_word(end[-1]))
		end--;
	const char *begin = end;
	while (begin > at && tare_blocks_text_is_word(begin[-1]))
		begin--;
	snprintf(name, size, "%.*s", (int)(end - begin), begin);
	return begin < end && (size_t)(end - begin) < size && !isdigit((unsigned char)*begin);
}

// ---- what changes a name

// The last character before `at` that is no blank and, with `open`, no bracket; NULL: none.
static const char *before(const char *text, const char *at, bool open)
{
	while (at > text && (isspace((unsigned char)at[-1]) || (open && at[-1] == '(')))
		at--;
	return at > text ? at - 1 : NULL;
}

// Whether what stands behind a name gives it a value: =, +=, <<=, ++ and their like.
static bool assigns(const char *behind)
{
	behind += strspn(behind, " \t\r\n\v\f)");
	if (behind[0] == '=')
		return behind[1] != '=';
	if (behind[0] == behind[1] && (*behind == '+' || *behind == '-'))
		return true;
	if (behind[0] == behind[1] && (*behind == '<' || *behind == '>'))
		return behind[2] == '=';
	return *behind && strchr("+-*/%&|^\\", *behind) && (behind[1] == '=' || *behind == '\\');
}

// Whether what stands before a name does, or takes its address.
static bool is_taken(const char *text, const char *at)
{
	const char *sign = before(text, at, true), *left = sign ? before(text, sign, false) : NULL;

	if (!sign)
		return false;
	if ((*sign == '+' || *sign == '-') && sign > text && sign[-1] == *sign)
		return true;
	if (*sign != '&' || (sign > text && sign[-1] == '&'))
		return false;
	return !left || !(tare_blocks_text_is_word(*left) || *left == ')' || *left == ']');
}

static bool is_written_in(const char *clean, const char *begin, const char *end, const char *name)
{
	for (const char *at = begin; (at = next_name(clean, at, end, name)); at++)
		if (assigns(at + strlen(name)) || is_taken(clean, at))
			return true;
	return false;
}

bool tare_blocks_text_is_written(const char *clean, const struct tare_blocks_definition *of,
                                 const char *name)
{
	for (const char *at = clean; (at = strstr(at, "define")); at++) {
		const char *end = at + strcspn(at, "\n");
		while (*end && is_spliced(end))
			end += 1 + strcspn(end + 1, "\n");
		if (is_written_in(clean, at, end, name))
			return true;
	}
	return is_written_in(clean, of->begin, of->end, name);
}
