// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/names.h"

#include "report/terminal/write.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { NAME = 8192 };         // bytes of a simplified name; what is behind them is left out
enum { LEAST_ARGUMENTS = 6 }; // columns for "<", some of them and an ellipsis

#define ELLIPSIS "…"

struct out {
	char text[NAME];
	size_t length;
};

static void put(struct out *out, const char *text, size_t bytes)
{
	if (out->length + bytes >= sizeof out->text)
		return;
	memcpy(out->text + out->length, text, bytes);
	out->length += bytes;
	out->text[out->length] = '\0';
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

// Of an operator with its signs: "operator<<". A template's arguments may follow without a blank:
// "operator-<float>".
static size_t word_bytes(const char *text)
{
	static const char named[] = "operator";
	static const char *const signs[] = {
		"<=>", "->*", "<<=", ">>=", "[]", "->", "==", "!=", "<=", ">=", "<<", ">>", "&&",
		"||",  "++",  "--",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<",  ">",
		"=",   "!",   "+",   "-",   "*",  "/",  "%",  "^",  "&",  "|",  "~"
	};
	size_t bytes = 0;

	while (is_letter(text[bytes]))
		bytes++;
	if (bytes != strlen(named) || !begins(text, named))
		return bytes;
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (begins(text + bytes, signs[i]))
			return bytes + strlen(signs[i]);
	return bytes;
}

// Behind the bracket that closes the one at `text`; the end where none does.
static const char *behind(const char *text)
{
	size_t depth = 0;

	for (; *text; text++) {
		depth += *text == '(' || *text == '{';
		if ((*text == ')' || *text == '}') && --depth == 0)
			return text + 1;
	}
	return text;
}

// ---- C++: what is left out of it

enum { INNER_NAMESPACES = 1, OUTER_NAMESPACES = 2 };

// "{lambda(float)#1}" is "#1".
static const char *put_lambda(const char *at, struct out *out)
{
	const char *end = behind(at), *sign = end;

	while (sign > at && *sign != '#')
		sign--;
	if (*sign == '#')
		put(out, sign, (size_t)(end - sign) - (end[-1] == '}'));
	return end;
}

// Parameters, and what a type is cast to.
static const char *skip_brackets(const char *at)
{
	at = behind(at);
	return begins(at, " const") ? at + strlen(" const") : at;
}

static const char *put_word(const char *at, int leave_out, size_t depth, struct out *out)
{
	size_t bytes = word_bytes(at);

	if (begins(at, "operator()"))
		return skip_brackets(at + strlen("operator()"));
	if (begins(at + bytes, "::") && leave_out & (depth ? INNER_NAMESPACES : OUTER_NAMESPACES) &&
	    at[bytes + 2] != '{')
		return at + bytes + 2;
	put(out, at, bytes);
	return at + bytes;
}

// The name without parameters, and without namespaces as `leave_out` says.
static void simplify(const char *at, int leave_out, struct out *out)
{
	static const char unnamed[] = "(anonymous namespace)::";
	size_t depth = 0;

	out->length = 0;
	out->text[0] = '\0';
	while (*at) {
		if (is_letter(*at)) {
			at = put_word(at, leave_out, depth, out);
		} else if (begins(at, unnamed)) {
			at += strlen(unnamed);
		} else if (*at == '(') {
			at = skip_brackets(at);
		} else if (*at == '{') {
			at = put_lambda(at, out);
		} else if (begins(at, "::{") || begins(at, "::operator()")) {
			at += 2;
		} else if (begins(at, " >") || begins(at, " const&")) {
			at += *(at + 1) == '>' ? 1 : strlen(" const&");
		} else {
			depth += *at == '<';
			depth -= *at == '>' && depth;
			put(out, at++, 1);
		}
	}
}

// ---- which arguments of a template tell kernels apart

static bool is_one_of(const char *word, size_t bytes, const char *const *words)
{
	for (; *words; words++)
		if (strlen(*words) == bytes && memcmp(word, *words, bytes) == 0)
			return true;
	return false;
}

static int worth_of(const char *word, size_t bytes)
{
	static const char *const common[] = { "bool",   "char",       "short",         "int",
		                              "long",   "float",      "double",        "unsigned",
		                              "void",   "const",      "true",          "false",
		                              "array",  "Half",       "BFloat16",      "half_t",
		                              "__half", "bfloat16_t", "__nv_bfloat16", NULL };

	if (isdigit((unsigned char)*word) || is_one_of(word, bytes, common))
		return 0;
	for (size_t i = 0; i + strlen("unctor") <= bytes; i++)
		if (strncasecmp(word + i, "unctor", strlen("unctor")) == 0)
			return 3;
	// A lambda, of the function before it or of what is in the brackets before it.
	return word[bytes] == '#' ? 2 : 1;
}

// The words of most worth, one after another, with the numbers of their lambdas.
static void find_telling(const char *arguments, struct out *out)
{
	int most = 1;

	out->length = 0;
	out->text[0] = '\0';
	for (int turn = 0; turn < 2; turn++)
		for (const char *at = arguments; *at;) {
			size_t bytes = word_bytes(at), lambdas = 0;
			int worth = bytes ? worth_of(at, bytes) : 0;
			while (bytes && at[bytes + lambdas] == '#')
				lambdas += 1 + word_bytes(at + bytes + lambdas + 1);
			if (turn == 0 && worth > most)
				most = worth;
			if (turn == 1 && worth == most) {
				put(out, ", ", out->length ? 2 : 0);
				put(out, at, bytes + lambdas);
			}
			at += bytes + lambdas ? bytes + lambdas : 1;
		}
}

// ---- what is too long still

// Bytes of the first characters.
static size_t bytes_of(const char *text, size_t characters)
{
	size_t bytes = 0;

	for (; text[bytes]; bytes++)
		if (((unsigned char)text[bytes] & 0xc0) != 0x80 && characters-- == 0)
			break;
	return bytes;
}

static const char *cut_end(const char *text, size_t columns, char *buffer, size_t size)
{
	if (tare_text_width(text) <= columns)
		snprintf(buffer, size, "%s", text);
	else
		snprintf(buffer, size, "%.*s" ELLIPSIS, (int)bytes_of(text, columns - 1), text);
	return buffer;
}

// The last third of what is left is the text's end, unless that is next to nothing.
static const char *cut_middle(const char *text, size_t columns, char *buffer, size_t size)
{
	size_t width = tare_text_width(text), tail = columns < 8 ? 0 : (columns - 1) / 3;

	if (width <= columns)
		return cut_end(text, columns, buffer, size);
	snprintf(buffer, size, "%.*s" ELLIPSIS "%s", (int)bytes_of(text, columns - 1 - tail), text,
	         text + bytes_of(text, width - tail));
	return buffer;
}

// Part of the name, and of what tells it apart all that there is room for beside a third, or beside
// all of a shorter name.
static const char *cut_both(const char *name, const char *telling, size_t columns, char *buffer,
                            size_t size)
{
	size_t width = tare_text_width(telling), own = tare_text_width(name);
	size_t least = own < columns / 3 ? own : columns / 3;
	size_t first = width + 1 + least > columns ? least : columns - 1 - width;
	char rest[NAME];

	snprintf(buffer, size, "%.*s" ELLIPSIS "%s", (int)bytes_of(name, first), name,
	         cut_end(telling, columns - first - 1, rest, sizeof rest));
	return buffer;
}

// Where the template's arguments begin; NULL: it has none.
static char *find_arguments(char *at)
{
	while (*at && *at != '<')
		at += word_bytes(at) ? word_bytes(at) : 1;
	return *at ? at : NULL;
}

// What follows the template's arguments, as of a member; "" where nothing does.
static char *behind_arguments(char *at)
{
	size_t depth = 0;

	for (; *at; at += word_bytes(at) ? word_bytes(at) : 1) {
		depth += *at == '<';
		if (*at == '>' && --depth == 0)
			return at + 1;
	}
	return at;
}

static bool is_identifier(const char *text)
{
	size_t bytes = word_bytes(text);

	return bytes && text[bytes] == '\0';
}

// Whether it is a name of C++ that has something to leave out: no words beside each other.
static bool is_qualified(const char *name)
{
	struct out plain;

	simplify(name, INNER_NAMESPACES | OUTER_NAMESPACES, &plain);
	return (strchr(name, '<') || strstr(name, "::") || strchr(name, '(')) &&
	       word_bytes(plain.text) &&
	       (is_identifier(plain.text) || begins(plain.text + word_bytes(plain.text), " <") ||
	        strchr("<#:~", plain.text[word_bytes(plain.text)])) &&
	       !strstr(name, ELLIPSIS);
}

// Of a member the arguments are left out.
static const char *shorten_template(struct out *simple, size_t columns, char *buffer, size_t size)
{
	char *arguments = find_arguments(simple->text), *rest;
	struct out telling = { .length = 0 };

	if (!arguments)
		return cut_middle(simple->text, columns, buffer, size);
	rest = behind_arguments(arguments);
	if (word_bytes(rest) || begins(rest, "::")) {
		memmove(arguments + 2, rest, strlen(rest) + 1);
		arguments[1] = '>';
		return cut_middle(simple->text, columns, buffer, size);
	}
	find_telling(arguments, &telling);
	*arguments = '\0';
	// Numbers and plain types tell apart where nothing else does.
	if (!telling.length && tare_text_width(simple->text) + LEAST_ARGUMENTS <= columns)
		*arguments = '<';
	if (!telling.length)
		return cut_middle(simple->text, columns, buffer, size);
	if (tare_text_width(simple->text) + tare_text_width(telling.text) + 2 <= columns)
		snprintf(buffer, size, "%s<%s>", simple->text, telling.text);
	else
		cut_both(simple->text, telling.text, columns, buffer, size);
	return buffer;
}

static const char *shorten(const char *name, size_t columns, char *buffer, size_t size)
{
	static const int steps[] = { 0, INNER_NAMESPACES, INNER_NAMESPACES | OUTER_NAMESPACES };
	struct out simple;

	if (tare_text_width(name) <= columns)
		return cut_end(name, columns, buffer, size);
	if (!is_qualified(name))
		return is_identifier(name) ? cut_middle(name, columns, buffer, size)
		                           : cut_end(name, columns, buffer, size);
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		simplify(name, steps[i], &simple);
		if (tare_text_width(simple.text) <= columns)
			return cut_end(simple.text, columns, buffer, size);
	}
	return shorten_template(&simple, columns, buffer, size);
}

// Without the begin of a last character for which there was no room.
static void end_whole(char *text)
{
	size_t bytes = strlen(text), last = bytes;

	while (last && ((unsigned char)text[last - 1] & 0xc0) == 0x80)
		last--;
	if (last && (unsigned char)text[last - 1] >= 0xc0) {
		unsigned char lead = (unsigned char)text[last - 1];
		size_t whole = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
		if (bytes - (last - 1) < whole)
			text[last - 1] = '\0';
	}
}

const char *tare_name_shorten(const char *name, size_t columns, char *buffer, size_t size)
{
	shorten(name, columns < 4 ? 4 : columns, buffer, size);
	end_whole(buffer);
	return buffer;
}

const char *tare_text_shorten(const char *text, size_t columns, char *buffer, size_t size)
{
	size_t end = strlen(text), number = end;

	while (number > 0 && isdigit((unsigned char)text[number - 1]))
		number--;
	if (number > 0 && number < end && text[number - 1] == ':')
		cut_middle(text, columns < 4 ? 4 : columns, buffer, size);
	else
		cut_end(text, columns < 4 ? 4 : columns, buffer, size);
	end_whole(buffer);
	return buffer;
}
