// SPDX-License-Identifier: Apache-2.0
#include "backend/spirv_parameter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- names of types, as OpenCL C has them

static const char *image_name(const uint32_t *words)
{
	static const char *const names[] = { "image1d_t", "image2d_t", "image3d_t" };

	if (words[3] == 5)
		return "image1d_buffer_t";
	if (words[3] > 2)
		return "image";
	if (words[5])
		return words[3] == 0 ? "image1d_array_t" : "image2d_array_t";
	return names[words[3]];
}

// A scalar's. A SPIR-V integer of a kernel has no sign: what there is of it is the attribute that
// says how it is extended.
static const char *scalar_name(const uint32_t *words, int sign)
{
	static const char *const integers[3][4] = {
		{ "uchar", "ushort", "uint", "ulong" },
		{ "char", "short", "int", "long" },
		{ "char or uchar", "short or ushort", "int or uint", "long or ulong" },
	};
	int size = words[2] == 8    ? 0
	           : words[2] == 16 ? 1
	           : words[2] == 32 ? 2
	           : words[2] == 64 ? 3
	                            : -1;

	switch (words[0] & 0xffff) {
	case SPIRV_TYPE_BOOL:
		return "bool";
	case SPIRV_TYPE_INT:
		return size < 0 ? "" : integers[words[3] == 1 ? 1 : sign][size];
	case SPIRV_TYPE_FLOAT:
		return words[2] == 16   ? "half"
		       : words[2] == 32 ? "float"
		       : words[2] == 64 ? "double"
		                        : "";
	}
	return "";
}

// The name of the type at `at` into `text`; "" where it has none.
static void type_name(const struct spirv_words *module, size_t at, int sign, char text[64])
{
	const uint32_t *words = module->words + at;
	const struct spirv_id *part;
	const char *name = "";

	text[0] = '\0';
	switch (words[0] & 0xffff) {
	case SPIRV_TYPE_VECTOR:
		part = spirv_find(module, words[2]);
		name = part ? scalar_name(module->words + part->at, sign) : "";
		// A sign that is not known would have to be said for both.
		if (*name && !strchr(name, ' '))
			snprintf(text, 64, "%s%u", name, words[3]);
		return;
	case SPIRV_TYPE_STRUCT:
		name = spirv_name(module, words[1]);
		name += strncmp(name, "struct.", 7) == 0 ? 7 : 0;
		break;
	case SPIRV_TYPE_IMAGE:
		name = image_name(words);
		break;
	case SPIRV_TYPE_SAMPLER:
		name = "sampler_t";
		break;
	case SPIRV_TYPE_PIPE:
		name = "pipe";
		break;
	case SPIRV_TYPE_BOOL:
	case SPIRV_TYPE_INT:
	case SPIRV_TYPE_FLOAT:
		name = scalar_name(words, sign);
		break;
	}
	snprintf(text, 64, "%.63s", name);
}

// ---- what compilers note of a kernel's parameters in strings: "kernel_arg_type.NAME.uint,float*,"

// The list of this kind for the kernel; NULL: there is none.
static const char *noted(const struct spirv_words *module, const char *kind, const char *kernel)
{
	size_t kind_length = strlen(kind), name_length = strlen(kernel);

	for (size_t at = SPIRV_HEADER_WORDS; at < module->count; at += spirv_length(module, at)) {
		uint32_t op = spirv_op(module, at);
		if (op == SPIRV_FUNCTION)
			return NULL;
		const char *text = op == SPIRV_STRING ? spirv_text(module, at, 2) : "";
		if (strncmp(text, kind, kind_length) == 0 &&
		    strncmp(text + kind_length, kernel, name_length) == 0 &&
		    text[kind_length + name_length] == '.')
			return text + kind_length + name_length + 1;
	}
	return NULL;
}

// Takes the next item of a list into `text`; false where it has no more.
static bool next_noted(const char **list, char text[64])
{
	size_t length = *list ? strcspn(*list, ",") : 0;

	text[0] = '\0';
	if (!*list || !**list)
		return false;
	snprintf(text, 64, "%.*s", (int)(length < 63 ? length : 63), *list);
	*list += length + ((*list)[length] == ',');
	return true;
}

// ---- parameters

// The n-th parameter's word of the function, or 0. Lines may be between them.
static size_t next_parameter(const struct spirv_words *module, size_t at)
{
	while ((at += spirv_length(module, at)) < module->count) {
		uint32_t op = spirv_op(module, at);
		if (op == SPIRV_PARAMETER)
			return at;
		if (op != SPIRV_LINE && op != SPIRV_NO_LINE)
			return 0;
	}
	return 0;
}

// The function that this one does nothing but call, with its own parameters: compilers write an
// entry point so, and may leave names on that function only. 0: it is no such wrapper.
static size_t called_function(const struct spirv_words *module, size_t function)
{
	size_t at = function;

	while ((at += spirv_length(module, at)) < module->count) {
		uint32_t op = spirv_op(module, at);
		if (op == SPIRV_CALL)
			break;
		if (op != SPIRV_PARAMETER && op != SPIRV_LABEL && op != SPIRV_LINE &&
		    op != SPIRV_NO_LINE)
			return 0;
	}
	if (at >= module->count)
		return 0;
	uint32_t argument = 4, length = spirv_length(module, at);
	for (size_t own = function; (own = next_parameter(module, own)) != 0; argument++)
		if (argument >= length || module->words[at + argument] != module->words[own + 2])
			return 0;
	return argument == length ? spirv_find_op(module, module->words[at + 3], SPIRV_FUNCTION)
	                          : 0;
}

static bool has_attribute(const struct spirv_words *module, uint32_t id, uint32_t called,
                          enum spirv_parameter_attribute attribute)
{
	return spirv_has_attribute(module, id, attribute) ||
	       (called && spirv_has_attribute(module, called, attribute));
}

static int64_t known_bytes(const struct spirv_id *type)
{
	return type && type->bytes != SPIRV_UNKNOWN_BYTES ? (int64_t)type->bytes : -1;
}

// The kind of a pointer by the memory that it points to.
static void read_pointer(const struct spirv_words *module, const struct spirv_id *pointer,
                         uint32_t id, uint32_t called, struct tare_parameter *parameter)
{
	const uint32_t *words = module->words + pointer->at;
	bool typed = (words[0] & 0xffff) == SPIRV_TYPE_POINTER;
	const struct spirv_id *to = typed ? spirv_find(module, words[3]) : NULL;
	bool memory = !to || spirv_op(module, to->at) != SPIRV_TYPE_OPAQUE;

	if (to)
		type_name(module, to->at, 2, parameter->type);
	switch (words[2]) {
	case SPIRV_UNIFORM_CONSTANT:
		parameter->read_only = true;
		// Images of old compilers are pointers to an opaque type.
		parameter->kind = memory ? TARE_PARAMETER_MEMORY : TARE_PARAMETER_UNKNOWN;
		break;
	case SPIRV_CROSS_WORKGROUP:
	case SPIRV_GENERIC:
	case SPIRV_DEVICE_ONLY:
	case SPIRV_HOST_ONLY:
		parameter->kind = memory ? TARE_PARAMETER_MEMORY : TARE_PARAMETER_UNKNOWN;
		break;
	case SPIRV_WORKGROUP:
		parameter->kind = TARE_PARAMETER_LOCAL;
		break;
	case SPIRV_FUNCTION_STORAGE:
		// A structure by value.
		if (!has_attribute(module, id, called, SPIRV_BY_VALUE))
			break;
		parameter->kind = TARE_PARAMETER_VALUE;
		parameter->bytes = known_bytes(to);
		return;
	}
	if (strchr(parameter->type, ' '))
		parameter->type[0] = '\0';
	size_t length = strlen(parameter->type);
	if (length && length + 1 < sizeof parameter->type)
		memcpy(parameter->type + length, "*", 2);
}

static void read_parameter(const struct spirv_words *module, size_t at, uint32_t called,
                           struct tare_parameter *parameter)
{
	uint32_t id = module->words[at + 2];
	const struct spirv_id *type = spirv_find(module, module->words[at + 1]);
	const char *name = spirv_name(module, id);
	uint32_t op = type ? spirv_op(module, type->at) : 0;

	parameter->bytes = -1;
	if (!*name && called)
		name = spirv_name(module, called);
	snprintf(parameter->name, sizeof parameter->name, "%.63s", name);
	parameter->read_only = has_attribute(module, id, called, SPIRV_NO_WRITE) ||
	                       has_attribute(module, id, called, SPIRV_NO_ACCESS) ||
	                       spirv_decorated(module, id, SPIRV_NON_WRITABLE) ||
	                       spirv_decorated(module, id, SPIRV_CONSTANT_DECORATION);
	if (!type)
		return;
	if (op == SPIRV_TYPE_POINTER || op == SPIRV_UNTYPED_POINTER) {
		read_pointer(module, type, id, called, parameter);
		return;
	}
	int sign = has_attribute(module, id, called, SPIRV_SEXT)   ? 1
	           : has_attribute(module, id, called, SPIRV_ZEXT) ? 0
	                                                           : 2;
	parameter->bytes = known_bytes(type);
	if (parameter->bytes >= 0)
		parameter->kind = TARE_PARAMETER_VALUE;
	type_name(module, type->at, sign, parameter->type);
}

// What the compiler noted in strings is the source's own words, and goes before the types.
static void read_noted(const struct spirv_words *module, struct tare_spirv_kernel *kernel)
{
	const char *types = noted(module, "kernel_arg_type.", kernel->name);
	const char *names = noted(module, "kernel_arg_name.", kernel->name);
	const char *qualifiers = noted(module, "kernel_arg_type_qual.", kernel->name);
	char text[64];

	for (uint32_t i = 0; i < kernel->parameter_count; i++) {
		struct tare_parameter *parameter = &kernel->parameters[i];
		if (next_noted(&types, text) && text[0])
			memcpy(parameter->type, text, sizeof text);
		if (next_noted(&names, text) && text[0])
			memcpy(parameter->name, text, sizeof text);
		if (next_noted(&qualifiers, text) && strstr(text, "const"))
			parameter->read_only = true;
	}
}

int spirv_parameters(const struct spirv_words *module, size_t function,
                     struct tare_spirv_kernel *kernel, struct tare_error *error)
{
	size_t called = called_function(module, function);
	size_t type = spirv_find_op(module, module->words[function + 4], SPIRV_TYPE_FUNCTION);
	uint32_t count = 0, expected = type ? spirv_length(module, type) - 3 : 0;

	for (size_t at = function; (at = next_parameter(module, at)) != 0;)
		count++;
	if (!type || count != expected)
		return tare_fail(
		    error, EINVAL,
		    "this SPIR-V is damaged: kernel '%.40s' has %u parameters, and its type "
		    "%u, at word %zu",
		    kernel->name, count, expected, function);
	kernel->parameters = calloc(count + 1, sizeof *kernel->parameters);
	if (!kernel->parameters)
		return tare_fail(error, ENOMEM, "no memory for %u parameters", count);
	kernel->parameter_count = count;
	for (size_t at = function, i = 0; (at = next_parameter(module, at)) != 0; i++) {
		called = called ? next_parameter(module, called) : 0;
		read_parameter(module, at, called ? module->words[called + 2] : 0,
		               &kernel->parameters[i]);
	}
	read_noted(module, kernel);
	return 0;
}
