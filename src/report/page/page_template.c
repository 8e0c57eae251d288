// SPDX-License-Identifier: Apache-2.0
#include "report/page/page_template.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

void tare_page_html_text(const char *text, FILE *file)
{
	for (; *text; text++)
		switch (*text) {
		case '<':
			fputs("&lt;", file);
			break;
		case '>':
			fputs("&gt;", file);
			break;
		case '&':
			fputs("&amp;", file);
			break;
		default:
			// A control character in a device's name would make the document malformed.
			if ((unsigned char)*text >= 0x20)
				fputc(*text, file);
		}
}

// JSON inside a script element: '<' and '>' occur only in strings, where \u003c says the same and
// neither </script nor <!-- can be spelt. U+2028 and U+2029 (e2 80 a8, a9) end a line for
// JavaScript.
void tare_page_json(const char *text, size_t length, FILE *file)
{
	const char *end = text + length;
	const char *from = text;

	for (const char *at = text; at < end; at++) {
		const char *escape = NULL;
		size_t bytes = 1;

		if (*at == '<') {
			escape = "\\u003c";
		} else if (*at == '>') {
			escape = "\\u003e";
		} else if (*at == '\xe2' && end - at >= 3 && at[1] == '\x80' &&
		           (at[2] == '\xa8' || at[2] == '\xa9')) {
			escape = at[2] == '\xa8' ? "\\u2028" : "\\u2029";
			bytes = 3;
		}
		if (!escape)
			continue;
		fwrite(from, 1, (size_t)(at - from), file);
		fputs(escape, file);
		at += bytes - 1;
		from = at + 1;
	}
	fwrite(from, 1, (size_t)(end - from), file);
}

int tare_page_json_of(int (*write)(const void *context, FILE *file, struct tare_error *error),
                      const void *context, FILE *file, struct tare_error *error)
{
	TARE_FREE char *json = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&json, &length);
	int code;

	if (!stream)
		return tare_fail(error, ENOMEM, "no memory for the page");
	code = write(context, stream, error);
	// Closing is what makes json and length valid, and where a short write shows.
	if (fclose(stream) != 0 && code == 0)
		code = tare_fail(error, ENOMEM, "no memory for the page");
	if (code == 0)
		tare_page_json(json, length, file);
	return code;
}

enum { MARK_BYTES = 64 };

static int write_part(const struct tare_page_part *parts, size_t part_count, const char *mark,
                      FILE *file)
{
	for (size_t i = 0; i < part_count; i++)
		if (strcmp(parts[i].mark, mark) == 0) {
			fputs(parts[i].text, file);
			return 0;
		}
	return -ENOENT;
}

// Asked for as soon as writing has failed: what comes next changes errno.
static int unwritten(struct tare_error *error)
{
	return tare_fail(error, EIO, "cannot write the page: %s",
	                 errno ? strerror(errno) : "the output has failed");
}

int tare_page_expand(const char *template, const struct tare_page_part *parts, size_t part_count,
                     tare_page_mark *write_mark, void *context, FILE *file,
                     struct tare_error *error)
{
	const char *at = template, *begin;

	errno = 0;
	while ((begin = strstr(at, "{{"))) {
		const char *end = strstr(begin, "}}");
		size_t length = end ? (size_t)(end - begin - 2) : 0;
		char mark[MARK_BYTES] = "";
		int code;
		fwrite(at, 1, (size_t)(begin - at), file);
		if (ferror(file))
			return unwritten(error);
		if (length < sizeof mark)
			memcpy(mark, begin + 2, length);
		code = write_part(parts, part_count, mark, file);
		if (code == -ENOENT)
			code = write_mark(context, mark, file, error);
		if (!end || code == -ENOENT)
			return tare_fail(error, EIO,
			                 "the page's template has an unknown mark '%.20s'", begin);
		if (code < 0)
			return code;
		if (ferror(file))
			return unwritten(error);
		at = end + 2;
	}
	fputs(at, file);
	return fflush(file) != 0 || ferror(file) ? unwritten(error) : 0;
}
