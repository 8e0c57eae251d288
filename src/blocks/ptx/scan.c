// SPDX-License-Identifier: Apache-2.0
#include "blocks/ptx/scan.h"

#include <string.h>

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || c == '%';
}

char scan_peek(const struct ptx_scan *scan)
{
	return scan->at < scan->bytes ? scan->text[scan->at] : 0;
}

static char peek_next(const struct ptx_scan *scan)
{
	return scan->at + 1 < scan->bytes ? scan->text[scan->at + 1] : 0;
}

void scan_line(struct ptx_scan *scan)
{
	while (scan->at < scan->bytes && scan->text[scan->at] != '\n')
		scan->at++;
}

static void skip_remark(struct ptx_scan *scan)
{
	for (scan->at += 2; scan->at < scan->bytes; scan->at++)
		if (scan->text[scan->at] == '*' && peek_next(scan) == '/') {
			scan->at += 2;
			return;
		}
}

void scan_skip(struct ptx_scan *scan)
{
	while (scan->at < scan->bytes) {
		char c = scan_peek(scan);
		if (c == ' ' || (c >= '\t' && c <= '\r'))
			scan->at++;
		else if (c == '/' && peek_next(scan) == '/')
			scan_line(scan);
		else if (c == '/' && peek_next(scan) == '*')
			skip_remark(scan);
		else
			return;
	}
}

struct word scan_word(struct ptx_scan *scan)
{
	struct word word = { .at = scan->at };

	while (is_name(scan_peek(scan)) || scan_peek(scan) == '.' ||
	       (scan_peek(scan) == ':' && peek_next(scan) == ':'))
		scan->at += scan_peek(scan) == ':' ? 2 : 1;
	word.bytes = scan->at - word.at;
	return word;
}

struct word scan_name(struct ptx_scan *scan)
{
	struct word word = { .at = scan->at };

	if (scan_peek(scan) == '.')
		scan->at++;
	while (is_name(scan_peek(scan)))
		scan->at++;
	word.bytes = scan->at - word.at;
	return word;
}

bool scan_is(const struct ptx_scan *scan, struct word word, const char *text)
{
	return strlen(text) == word.bytes && memcmp(scan->text + word.at, text, word.bytes) == 0;
}

static void skip_string(struct ptx_scan *scan)
{
	for (scan->at++; scan->at < scan->bytes && scan->text[scan->at] != '"'; scan->at++)
		if (scan->text[scan->at] == '\\' && scan->at + 1 < scan->bytes)
			scan->at++;
	if (scan->at < scan->bytes)
		scan->at++;
}

bool scan_to(struct ptx_scan *scan, char end)
{
	size_t depth = 0;

	for (;;) {
		scan_skip(scan);
		char c = scan_peek(scan);
		if (c == 0)
			return false;
		if (c == '"') {
			skip_string(scan);
			continue;
		}
		scan->at++;
		if (c == end && depth == 0)
			return true;
		if (c == '(' || c == '{' || c == '[')
			depth++;
		else if (c == ')' || c == '}' || c == ']') {
			if (depth == 0)
				return false;
			depth--;
		}
	}
}

bool scan_brackets(struct ptx_scan *scan)
{
	char open = scan_peek(scan);

	scan->at++;
	return scan_to(scan, open == '(' ? ')' : open == '{' ? '}' : ']');
}

unsigned long scan_number(struct ptx_scan *scan)
{
	unsigned long number = 0;

	scan_skip(scan);
	while (scan_peek(scan) >= '0' && scan_peek(scan) <= '9') {
		number = number * 10 + (unsigned long)(scan_peek(scan) - '0');
		scan->at++;
	}
	return number;
}
