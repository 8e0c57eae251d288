// SPDX-License-Identifier: Apache-2.0
// What is known of a kernel's parameters: their sizes from the driver (12.4 and later) and from the
// PTX; names, pointers and const from the source, where that is CUDA C.
#include "backend/cuda/internal.h"
#include "backend/cuda/ptx/ptx.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

// ---- the source

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool is(struct cuda_text word, const char *text)
{
	return strlen(text) == word.length && memcmp(word.at, text, word.length) == 0;
}

// The next word or sign behind blanks, comments and strings; length 0 at the end.
static struct cuda_text next_token(const char **at)
{
	const char *text = *at;
	struct cuda_text token;

	for (;;) {
		if (isspace((unsigned char)*text)) {
			text++;
		} else if (text[0] == '/' && text[1] == '/') {
			text += strcspn(text, "\n");
		} else if (text[0] == '/' && text[1] == '*') {
			const char *end = strstr(text + 2, "*/");
			text = end ? end + 2 : text + strlen(text);
		} else if (*text == '"') {
			for (text++; *text && *text != '"' && *text != '\n'; text++)
				text += *text == '\\' && text[1];
			text += *text == '"';
		} else {
			break;
		}
	}
	token = (struct cuda_text){ text, 0 };
	while (is_word(text[token.length]))
		token.length++;
	token.length += !token.length && *text;
	*at = text + token.length;
	return token;
}

// From behind "(" to before its ")"; *at moves behind that.
static struct cuda_text parentheses(const char **at)
{
	struct cuda_text list = { *at, 0 };
	int depth = 1;

	for (;;) {
		struct cuda_text token = next_token(at);
		depth += is(token, "(") - is(token, ")");
		if (!token.length || depth == 0) {
			list.length = (size_t)(token.at - list.at);
			return list;
		}
	}
}

// The parameters of the next __global__ function of that name behind *at.
static bool find_kernel(const char **at, const char *name, struct cuda_text *list)
{
	struct cuda_text token, before = { "", 0 };
	bool kernel = false;

	while ((token = next_token(at)).length) {
		if (is(token, "__global__"))
			kernel = true;
		if (kernel && is(token, "(")) {
			*list = parentheses(at);
			if (is(before, name))
				return true;
			// Else it belongs to __launch_bounds__ or an attribute, and the name
			// follows.
		} else if (is(token, "{") || is(token, ";")) {
			kernel = false;
		}
		before = token;
	}
	return false;
}

// The text of parameter `index`; commas within brackets do not part them.
static bool source_parameter(struct cuda_text list, uint32_t index, struct cuda_text *text)
{
	const char *at = list.at, *end = list.at + list.length;
	int depth = 0;
	bool any = false;

	*text = (struct cuda_text){ at, 0 };
	for (;;) {
		struct cuda_text token = next_token(&at);
		bool over = !token.length || token.at >= end;
		if (over || (depth == 0 && is(token, ","))) {
			text->length = (size_t)((over ? end : token.at) - text->at);
			if (index-- == 0)
				return any;
			if (over)
				return false;
			text->at = at;
			any = false;
			continue;
		}
		any = any || !is(token, "void");
		depth += strchr("([{<", token.at[0]) != NULL;
		depth -= strchr(")]}>", token.at[0]) != NULL;
	}
}

// The words of C for the types of --arg, as tare names them; "" for others.
static const char *known_type(const char *words)
{
	static const struct {
		const char *words, *type;
	} rows[] = {
		{ "float", "float" },
		{ "double", "double" },
		{ "half", "half" },
		{ "__half", "half" },
		{ "int", "int" },
		{ "signed", "int" },
		{ "signed int", "int" },
		{ "int32_t", "int" },
		{ "uint", "uint" },
		{ "unsigned", "uint" },
		{ "unsigned int", "uint" },
		{ "uint32_t", "uint" },
		{ "long", "long" },
		{ "long int", "long" },
		{ "long long", "long" },
		{ "long long int", "long" },
		{ "int64_t", "long" },
		{ "unsigned long", "ulong" },
		{ "unsigned long int", "ulong" },
		{ "unsigned long long", "ulong" },
		{ "unsigned long long int", "ulong" },
		{ "uint64_t", "ulong" },
		{ "size_t", "ulong" },
		{ "ulong", "ulong" },
		{ "short", "short" },
		{ "int16_t", "short" },
		{ "unsigned short", "ushort" },
		{ "uint16_t", "ushort" },
		{ "ushort", "ushort" },
		{ "char", "char" },
		{ "signed char", "char" },
		{ "int8_t", "char" },
		{ "unsigned char", "uchar" },
		{ "uint8_t", "uchar" },
		{ "uchar", "uchar" },
		{ "bool", "uchar" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (strcmp(words, rows[i].words) == 0)
			return rows[i].type;
	return "";
}

static bool is_qualifier(struct cuda_text word)
{
	static const char *const words[] = { "const",        "volatile",   "restrict",
		                             "__restrict__", "__restrict", "__grid_constant__",
		                             "std" };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (is(word, words[i]))
			return true;
	return false;
}

// "const float *__restrict__ input": what the source adds to what the PTX tells.
static void read_source(struct cuda_text text, struct tare_parameter *parameter)
{
	const char *at = text.at, *end = text.at + text.length, *type;
	char words[128] = "", last[64] = "";
	bool pointer = false, constant = false;
	struct cuda_text token;

	while ((token = next_token(&at)).length && token.at < end && !is(token, "=")) {
		if (is(token, "*") || is(token, "[") || is(token, "&"))
			pointer = true;
		constant = constant || (!pointer && is(token, "const"));
		if (!is_word(token.at[0]) || isdigit((unsigned char)token.at[0]) ||
		    is_qualifier(token))
			continue;
		// The last word is the name, those before it are the type.
		size_t used = strlen(words);
		snprintf(words + used, sizeof words - used, "%s%s", used && last[0] ? " " : "",
		         last);
		snprintf(last, sizeof last, "%.*s", (int)token.length, token.at);
	}
	type = known_type(words);
	snprintf(parameter->name, sizeof parameter->name, "%s", words[0] ? last : "");
	if (pointer && parameter->bytes == 8) {
		parameter->kind = TARE_PARAMETER_MEMORY;
		parameter->read_only = constant;
		snprintf(parameter->type, sizeof parameter->type, "%.60s*", words);
		return;
	}
	if (!pointer && type[0])
		parameter->kind = TARE_PARAMETER_VALUE;
	if (!pointer && type[0])
		snprintf(parameter->type, sizeof parameter->type, "%s", type);
}

// Where the source holds just one kernel of that name with so many parameters.
static void add_from_source(const struct cuda_kernel *kernel, uint32_t index, int64_t count,
                            struct tare_parameter *parameter)
{
	const char *at = ((const struct cuda_module *)kernel->base.module)->source, *name, *colon;
	struct cuda_text list, text, chosen = { NULL, 0 };
	char readable[256];

	cuda_readable_name((struct cuda_text){ kernel->name, strlen(kernel->name) }, readable,
	                   sizeof readable);
	name = readable;
	while ((colon = strstr(name, "::")))
		name = colon + 2;
	readable[strcspn(readable, "<")] = '\0';
	while (at && find_kernel(&at, name, &list)) {
		if (source_parameter(list, (uint32_t)count, &text) ||
		    !source_parameter(list, (uint32_t)count - 1, &text))
			continue;
		if (chosen.at)
			return;
		chosen = list;
	}
	if (chosen.at && source_parameter(chosen, index, &text))
		read_source(text, parameter);
}

// ---- the driver

// Bytes of a parameter by the driver; -EINVAL: there is none; -ENODATA: it does not tell.
static int64_t driver_bytes(const struct cuda_kernel *kernel, uint32_t index)
{
	struct cuda_device *device = cuda_device_of(kernel->base.module->device);
	size_t offset = 0, bytes = 0;

	if (!device->driver->call.cuFuncGetParamInfo || cuda_enter(device, NULL) < 0)
		return -ENODATA;
	cu_result result =
	    device->driver->call.cuFuncGetParamInfo(kernel->handle, index, &offset, &bytes);
	return result == ABI_SUCCESS         ? (int64_t)bytes
	       : result == ABI_INVALID_VALUE ? -EINVAL
	                                     : -ENODATA;
}

int64_t cuda_parameter_count(struct cuda_kernel *kernel)
{
	const struct cuda_module *module = (const struct cuda_module *)kernel->base.module;
	int64_t bytes = 0;

	if (module->ptx)
		return cuda_ptx_parameter_count(module->ptx, kernel->name);
	for (uint32_t count = 0; count <= CUDA_MAX_ARGUMENTS; count++) {
		bytes = driver_bytes(kernel, count);
		if (bytes < 0)
			return bytes == -EINVAL ? (int64_t)count : -1;
	}
	return -1;
}

int cuda_kernel_parameter(struct tare_kernel *base, uint32_t index,
                          struct tare_parameter *parameter, struct tare_error *error)
{
	struct cuda_kernel *kernel = (struct cuda_kernel *)base;
	const struct cuda_module *module = (const struct cuda_module *)base->module;
	int64_t count = cuda_parameter_count(kernel), bytes;

	*parameter = (struct tare_parameter){ .kind = TARE_PARAMETER_UNKNOWN, .bytes = -1 };
	if (count < 0)
		return tare_fail(
		    error, ENODATA,
		    "this driver does not tell a kernel's parameters (CUDA 12.4 does)");
	if (index >= (uint64_t)count)
		return tare_fail(error, EINVAL, "the kernel has %lld parameters", (long long)count);
	if (module->ptx)
		cuda_ptx_parameter(module->ptx, kernel->name, index, parameter);
	bytes = driver_bytes(kernel, index);
	if (bytes >= 0)
		parameter->bytes = bytes;
	if (module->source)
		add_from_source(kernel, index, count, parameter);
	return 0;
}
