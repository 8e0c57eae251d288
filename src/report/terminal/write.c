// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/write.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// What we print beyond ASCII, with a stand-in that takes no more bytes, and the same width but for
// "+-".
// clang-format off
static const struct {
	const char *sign, *stand_in;
} signs[] = {
	{ "µ", "u" }, { "μ", "u" }, { "±", "+-" }, { "→", ">" }, { "←", "<" }, { "↔", "=" },
	{ "–", "-" }, { "—", "-" }, { "×", "x" }, { "·", "." }, { "…", "." }, { "≤", "<" },
	{ "≥", ">" }, { "‘", "'" }, { "’", "'" }, { "“", "\"" }, { "”", "\"" }, { "⁹", "9" },
	{ "⇄", "=" },
};
// clang-format on

// Bytes of the UTF-8 character at `at`, 0 when it is none.
static size_t character_bytes(const char *at)
{
	unsigned char first = (unsigned char)*at;
	size_t bytes = first < 0x80   ? 1
	               : first < 0xc2 ? 0
	               : first < 0xe0 ? 2
	               : first < 0xf0 ? 3
	               : first < 0xf5 ? 4
	                              : 0;

	for (size_t i = 1; i < bytes; i++)
		if (((unsigned char)at[i] & 0xc0) != 0x80)
			return 0;
	return bytes;
}

size_t tare_text_width(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static const char *stand_in(const char *at, size_t bytes)
{
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (strlen(signs[i].sign) == bytes && memcmp(signs[i].sign, at, bytes) == 0)
			return signs[i].stand_in;
	return "?";
}

char *tare_text_clean(const struct tare_text *text, const char *source)
{
	char *clean = malloc(strlen(source) + 1);
	char *to = clean;

	if (!clean)
		return NULL;
	while (*source) {
		size_t bytes = character_bytes(source);
		// C1 controls (U+0080 to U+009F) can drive a terminal too.
		bool control = bytes == 0 ||
		               (bytes == 1 && ((unsigned char)*source < ' ' || *source == 0x7f)) ||
		               (bytes == 2 && (unsigned char)source[0] == 0xc2 &&
		                (unsigned char)source[1] < 0xa0);
		if (control) {
			*to++ = *source == '\n' || *source == '\t' ? ' ' : '?';
		} else if (bytes > 1 && text->options->ascii) {
			to = stpcpy(to, stand_in(source, bytes));
		} else {
			memcpy(to, source, bytes);
			to += bytes;
		}
		source += bytes ? bytes : 1;
	}
	*to = '\0';
	return clean;
}

static const char *style_code(const struct tare_text *text, enum tare_text_style style)
{
	static const char *const codes[] = {
		[TARE_STYLE_PLAIN] = "",
		[TARE_STYLE_BOLD] = "\033[1m",
		[TARE_STYLE_FAINT] = "\033[2m",
		[TARE_STYLE_WARNING] = "\033[33m",
	};
	return text->options->colour ? codes[style] : "";
}

// Bytes of the unit at `at` with the punctuation after it; 0 when the word is none.
static size_t unit_bytes(const char *at)
{
	static const char *const units[] = { "%",  "ns", "µs", "us", "ms",   "s",   "B",
		                             "KB", "MB", "GB", "TB", "GB/s", "MB/s" };
	size_t length = strcspn(at, " "), bare = length;

	while (bare && strchr(",.;:)", at[bare - 1]))
		bare--;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strlen(units[i]) == bare && memcmp(units[i], at, bare) == 0)
			return length;
	return 0;
}

// Bytes of the first word; a number and its unit stay together.
static size_t word_bytes(const char *words)
{
	size_t length = strcspn(words, " ");

	if (length && words[length] && words[length - 1] >= '0' && words[length - 1] <= '9') {
		size_t unit = unit_bytes(words + length + 1);
		return unit ? length + 1 + unit : length;
	}
	return length;
}

// Writes words, broken before `columns`; the cursor stands at `at`. Wider gaps stay as they are.
// Returns where the cursor stands then.
static size_t write_words(FILE *file, const char *words, size_t at, size_t indent, size_t columns)
{
	size_t gap = 0;

	while (*words) {
		size_t length = word_bytes(words), width = 0;
		for (size_t i = 0; i < length; i++)
			width += ((unsigned char)words[i] & 0xc0) != 0x80;
		if (gap && at + gap + width > columns) {
			// A long name gets less indent; only one longer than a line makes a longer
			// line.
			at = indent + width <= columns ? indent
			     : width < columns         ? columns - width
			                               : 0;
			fprintf(file, "\n%*s", (int)at, "");
		} else {
			fprintf(file, "%*s", (int)gap, "");
			at += gap;
		}
		fwrite(words, 1, length, file);
		at += width;
		words += length;
		gap = strspn(words, " ");
		words += gap;
	}
	return at;
}

void tare_text_paragraph(struct tare_text *text, enum tare_text_style style, const char *lead,
                         size_t indent, const char *format, ...)
{
	const char *code = style_code(text, style);
	char *raw = NULL, *clean = NULL, *clean_lead = NULL;
	va_list arguments;

	if (text->failed)
		return;
	va_start(arguments, format);
	if (vasprintf(&raw, format, arguments) < 0)
		raw = NULL;
	va_end(arguments);
	clean = raw ? tare_text_clean(text, raw) : NULL;
	clean_lead = tare_text_clean(text, lead);
	if (clean && clean_lead) {
		fprintf(text->file, "%s%s", code, clean_lead);
		write_words(text->file, clean, tare_text_width(clean_lead), indent,
		            text->options->columns);
		fprintf(text->file, "%s\n", code[0] ? "\033[0m" : "");
	} else {
		text->failed = true;
	}
	free(raw);
	free(clean);
	free(clean_lead);
}

FILE *tare_text_gather(struct tare_text *text)
{
	text->gathering = open_memstream(&text->gathered, &text->gathered_bytes);
	text->failed |= !text->gathering;
	return text->gathering;
}

void tare_text_gathered(struct tare_text *text, enum tare_text_style style, const char *lead,
                        size_t indent)
{
	text->failed |= fclose(text->gathering) != 0;
	if (text->gathered_bytes)
		tare_text_paragraph(text, style, lead, indent, "%s", text->gathered);
	free(text->gathered);
}

// Bytes of the first sentence: until a full stop before a space, a figure's point is none.
static size_t first_sentence(const char *words)
{
	const char *stop = strstr(words, ". ");

	return stop ? (size_t)(stop - words) + 1 : strlen(words);
}

void tare_text_verdict(struct tare_text *text, const char *lead, size_t indent, const char *verdict)
{
	const char *code = style_code(text, TARE_STYLE_BOLD);
	size_t columns = text->options->columns;
	char *clean_lead = tare_text_clean(text, lead), *first = tare_text_clean(text, verdict);
	char *rest = first ? strdup(first + first_sentence(first)) : NULL;

	text->failed |= !clean_lead || !rest;
	if (!text->failed) {
		size_t at;
		first[first_sentence(first)] = '\0';
		fprintf(text->file, "%s%s", clean_lead, code);
		at = write_words(text->file, first, tare_text_width(clean_lead), indent, columns);
		fputs(code[0] ? "\033[0m" : "", text->file);
		write_words(text->file, rest, at, indent, columns);
		fputc('\n', text->file);
	}
	free(clean_lead);
	free(first);
	free(rest);
}
