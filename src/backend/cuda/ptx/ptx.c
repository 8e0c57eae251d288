// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/ptx/ptx.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MOST 256

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

// Behind blanks, comments and strings.
static const char *skip_blank(const char *at)
{
	for (;;) {
		if (isspace((unsigned char)*at)) {
			at++;
		} else if (at[0] == '/' && at[1] == '/') {
			at += strcspn(at, "\n");
		} else if (at[0] == '/' && at[1] == '*') {
			const char *end = strstr(at + 2, "*/");
			at = end ? end + 2 : at + strlen(at);
		} else if (at[0] == '"') {
			at += 1 + strcspn(at + 1, "\"\n");
			at += *at != '\0';
		} else {
			return at;
		}
	}
}

// The next word or single sign; length 0 at the end.
static struct cuda_text next_token(const char **at)
{
	struct cuda_text token = { skip_blank(*at), 0 };

	while (is_word(token.at[token.length]))
		token.length++;
	if (!token.length && *token.at)
		token.length = 1;
	*at = token.at + token.length;
	return token;
}

static bool is(struct cuda_text token, const char *text)
{
	return strlen(text) == token.length && memcmp(token.at, text, token.length) == 0;
}

// Moves behind ".name".
static bool find_directive(const char **at, const char *name)
{
	bool dot = false;

	for (;;) {
		struct cuda_text token = next_token(at);
		if (!token.length)
			return false;
		if (dot && is(token, name))
			return true;
		dot = is(token, ".");
	}
}

struct cuda_text cuda_ptx_directive(const char *ptx, const char *name)
{
	struct cuda_text word = { ptx, 0 };

	if (find_directive(&ptx, name)) {
		word.at = skip_blank(ptx);
		word.length = strcspn(word.at, " \t\r\n,;/");
	}
	return word;
}

bool cuda_ptx_next(const char **at, struct cuda_text *name, struct cuda_text *parameters)
{
	if (!find_directive(at, "entry"))
		return false;
	*name = next_token(at);
	*parameters = (struct cuda_text){ *at, 0 };
	// A kernel without parameters may have no parentheses.
	const char *behind = skip_blank(*at);
	if (*behind == '(') {
		parameters->at = behind + 1;
		parameters->length = strcspn(behind + 1, ")");
		*at = parameters->at + parameters->length;
	}
	return name->length > 0 && is_word(name->at[0]);
}

// ---- names

void cuda_readable_name(struct cuda_text mangled, char *text, size_t size)
{
	const char *at = mangled.at, *end = at + mangled.length;
	size_t used = 0;
	bool nested;

	snprintf(text, size, "%.*s", (int)mangled.length, mangled.at);
	if (mangled.length < 3 || memcmp(at, "_Z", 2) != 0)
		return;
	at += 2;
	nested = *at == 'N';
	at += nested;
	while (at < end) {
		at += *at == 'L'; // internal linkage
		size_t length = 0;
		while (at < end && isdigit((unsigned char)*at) && length < NAME_MOST)
			length = length * 10 + (size_t)(*at++ - '0');
		if (!length || length > (size_t)(end - at))
			break;
		int written =
		    snprintf(text + used, size - used, "%s%.*s", used ? "::" : "", (int)length, at);
		at += length;
		if (written < 0 || (size_t)written >= size - used)
			return;
		used += (size_t)written;
		if (!nested)
			break;
	}
	if (!used) // something else than a plain name
		snprintf(text, size, "%.*s", (int)mangled.length, mangled.at);
	else if (at < end && *at == 'I')
		snprintf(text + used, size - used, "<>");
}

static bool equals(struct cuda_text name, const char *wanted)
{
	char text[NAME_MOST];
	const char *last = text, *colon;

	if (is(name, wanted))
		return true;
	cuda_readable_name(name, text, sizeof text);
	if (strcmp(text, wanted) == 0)
		return true;
	while ((colon = strstr(last, "::")))
		last = colon + 2;
	return strcmp(last, wanted) == 0;
}

size_t cuda_ptx_resolve(const char *ptx, const char *wanted, struct cuda_text *name)
{
	struct cuda_text found, parameters;
	size_t count = 0;

	for (const char *at = ptx; cuda_ptx_next(&at, &found, &parameters);) {
		if (is(found, wanted)) {
			*name = found;
			return 1;
		}
		if (equals(found, wanted)) {
			*name = found;
			count++;
		}
	}
	return count;
}

size_t cuda_ptx_names(const char *ptx, char *names, size_t size)
{
	struct cuda_text found, parameters, same;
	size_t count = 0, used = 0;

	if (size)
		names[0] = '\0';
	for (const char *at = ptx; cuda_ptx_next(&at, &found, &parameters); count++) {
		char text[NAME_MOST];
		cuda_readable_name(found, text, sizeof text);
		// What names more than one kernel in the source would name none here.
		bool plain = cuda_ptx_resolve(ptx, text, &same) == 1;
		int written = snprintf(names + used, size - used, "%s%.*s", used ? ", " : "",
		                       plain ? (int)strlen(text) : (int)found.length,
		                       plain ? text : found.at);
		if (written > 0 && (size_t)written < size - used)
			used += (size_t)written;
		else if (size)
			names[used] = '\0';
	}
	return count;
}

// ---- parameters

static bool find(const char *ptx, const char *name, struct cuda_text *parameters)
{
	struct cuda_text found;

	for (const char *at = ptx; cuda_ptx_next(&at, &found, parameters);)
		if (is(found, name))
			return true;
	return false;
}

// The text of parameter `index`, up to the comma; false: there is none.
static bool parameter_text(struct cuda_text list, uint32_t index, struct cuda_text *text)
{
	const char *end = list.at + list.length, *at = list.at;

	if (skip_blank(at) >= end)
		return false;
	for (; index > 0; index--) {
		at = memchr(at, ',', (size_t)(end - at));
		if (!at)
			return false;
		at++;
	}
	const char *comma = memchr(at, ',', (size_t)(end - at));
	*text = (struct cuda_text){ at, (size_t)((comma ? comma : end) - at) };
	return true;
}

int64_t cuda_ptx_parameter_count(const char *ptx, const char *name)
{
	struct cuda_text list, text;
	uint32_t count = 0;

	if (!find(ptx, name, &list))
		return -1;
	while (parameter_text(list, count, &text))
		count++;
	return count;
}

// Bytes of a PTX type, 0 where it is none; *type: the word of C for it, "" where it is not told.
static int64_t type_bytes(struct cuda_text token, const char **type)
{
	static const struct {
		const char *ptx, *c;
		int64_t bytes;
	} rows[] = {
		{ "u8", "uchar", 1 },   { "s8", "char", 1 },   { "b8", "", 1 },
		{ "u16", "ushort", 2 }, { "s16", "short", 2 }, { "b16", "", 2 },
		{ "f16", "half", 2 },   { "u32", "uint", 4 },  { "s32", "int", 4 },
		{ "b32", "", 4 },       { "f32", "float", 4 }, { "u64", "ulong", 8 },
		{ "s64", "long", 8 },   { "b64", "", 8 },      { "f64", "double", 8 },
		{ "b128", "", 16 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (is(token, rows[i].ptx)) {
			*type = rows[i].c;
			return rows[i].bytes;
		}
	return 0;
}

// CUDA's limit is 32,764 bytes for all parameters of a kernel together; a length beyond is none.
enum { MOST_ELEMENTS = 1 << 20 };

// .param .u64 .ptr .global .align 4 name, .param .align 4 .b8 name[12], .param .f32 name
static void read_parameter(struct cuda_text text, struct tare_parameter *parameter)
{
	const char *at = text.at, *end = text.at + text.length, *type = "";
	bool pointer = false, local = false, array = false, dot = false;
	int64_t bytes = 0, count = 1;

	while (skip_blank(at) < end) {
		struct cuda_text token = next_token(&at);
		const char *word;
		int64_t size = type_bytes(token, &word);
		if (dot && size && !bytes) {
			bytes = size;
			type = word;
		}
		pointer = pointer || (dot && is(token, "ptr"));
		local = local || (dot && is(token, "shared"));
		dot = is(token, ".");
		if (is(token, "[")) {
			array = true;
			count = strtoll(at, NULL, 10);
		}
	}
	if (count < 0 || count > MOST_ELEMENTS)
		bytes = 0;
	*parameter = (struct tare_parameter){ .kind = TARE_PARAMETER_VALUE,
		                              .bytes = bytes ? bytes * count : -1 };
	if (!array)
		snprintf(parameter->type, sizeof parameter->type, "%s", type);
	if (pointer)
		parameter->kind = local ? TARE_PARAMETER_LOCAL : TARE_PARAMETER_MEMORY;
	else if (!array && bytes == 8 && strcmp(type, "double") != 0)
		parameter->kind = TARE_PARAMETER_UNKNOWN;
	if (parameter->kind != TARE_PARAMETER_VALUE)
		parameter->type[0] = '\0';
}

int cuda_ptx_parameter(const char *ptx, const char *name, uint32_t index,
                       struct tare_parameter *parameter)
{
	struct cuda_text list, text;

	if (!find(ptx, name, &list) || !parameter_text(list, index, &text))
		return -EINVAL;
	read_parameter(text, parameter);
	return 0;
}
