// SPDX-License-Identifier: Apache-2.0
// --arg TYPE:VALUE: a scalar of the kernel, or its local memory.
#include "measure/overlap/user_kernel.h"

#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOCAL_MOST (UINT64_C(1) << 20)

enum kind { SIGNED, UNSIGNED, FLOATING, LOCAL_BYTES };

static const struct type {
	const char *name;
	size_t bytes;
	enum kind kind;
} types[] = {
	{ "char", 1, SIGNED },     { "uchar", 1, UNSIGNED },    { "short", 2, SIGNED },
	{ "ushort", 2, UNSIGNED }, { "int", 4, SIGNED },        { "uint", 4, UNSIGNED },
	{ "long", 8, SIGNED },     { "ulong", 8, UNSIGNED },    { "float", 4, FLOATING },
	{ "double", 8, FLOATING }, { "local", 0, LOCAL_BYTES },
};

static int refuse(const char *text, const struct type *type, struct tare_error *error)
{
	return tare_fail(error, EINVAL, "--arg %.60s: the value does not fit into %s", text,
	                 type->name);
}

// A whole number, decimal or 0x..., with nothing behind it.
static bool is_whole(const char *value)
{
	const char *digits = value + (value[0] == '-');
	size_t length = strlen(digits);

	if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
		return length > 2 && strspn(digits + 2, "0123456789abcdefABCDEF") == length - 2;
	return length > 0 && strspn(digits, "0123456789") == length;
}

// strtoll takes a leading 0 for octal, which nobody means here.
static int base_of(const char *value)
{
	const char *digits = value + (value[0] == '-');
	return digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') ? 16 : 10;
}

static int parse_signed(const char *text, const char *value, const struct type *type,
                        struct tare_user_argument *argument, struct tare_error *error)
{
	int64_t most = type->bytes == 8 ? INT64_MAX : (INT64_C(1) << (8 * type->bytes - 1)) - 1;
	int64_t number;

	errno = 0;
	number = strtoll(value, NULL, base_of(value));
	if (errno || number > most || number < -most - 1)
		return refuse(text, type, error);
	memcpy(argument->value, &number, type->bytes); // little-endian hosts only, as all of tare
	return 0;
}

static int parse_unsigned(const char *text, const char *value, const struct type *type,
                          struct tare_user_argument *argument, struct tare_error *error)
{
	uint64_t most = type->bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * type->bytes) - 1;
	uint64_t number;

	errno = 0;
	number = strtoull(value, NULL, base_of(value));
	if (errno || number > most || value[0] == '-')
		return refuse(text, type, error);
	memcpy(argument->value, &number, type->bytes);
	return 0;
}

static int parse_floating(const char *text, const char *value, const struct type *type,
                          struct tare_user_argument *argument, struct tare_error *error)
{
	char *end = NULL;
	double number;
	float single;

	number = strtod(value, &end);
	if (end == value || *end || (value[0] == ' '))
		return tare_fail(error, EINVAL, "--arg %.60s: '%.40s' is no number", text, value);
	single = (float)number;
	if (isinf(type->bytes == 4 ? (double)single : number) && !strpbrk(value, "iI"))
		return refuse(text, type, error);
	if (type->bytes == 4)
		memcpy(argument->value, &single, sizeof single);
	else
		memcpy(argument->value, &number, sizeof number);
	return 0;
}

static int parse_local(const char *text, const char *value, struct tare_user_argument *argument,
                       struct tare_error *error)
{
	uint64_t bytes;

	if (tare_parse_bytes(value, &bytes, NULL) < 0 || bytes == 0 || bytes > LOCAL_MOST)
		return tare_fail(error, EINVAL,
		                 "--arg %.60s: local memory is a size from 1 to 1M, such as "
		                 "local:1024",
		                 text);
	argument->type = TARE_ARGUMENT_LOCAL;
	argument->bytes = bytes;
	return 0;
}

int tare_user_argument_parse(const char *text, struct tare_user_argument *argument,
                             struct tare_error *error)
{
	const char *colon = strchr(text, ':');
	const struct type *type = NULL;

	*argument = (struct tare_user_argument){ .type = TARE_ARGUMENT_VALUE };
	for (size_t i = 0; colon && i < sizeof types / sizeof *types; i++)
		if (strlen(types[i].name) == (size_t)(colon - text) &&
		    strncmp(text, types[i].name, (size_t)(colon - text)) == 0)
			type = &types[i];
	if (!type)
		return tare_fail(error, EINVAL,
		                 "--arg %.60s: is TYPE:VALUE with int, uint, long, ulong, short, "
		                 "ushort, char, uchar, float, double or local",
		                 text);
	strcpy(argument->word, type->name);
	argument->bytes = type->bytes;
	if (type->kind == LOCAL_BYTES)
		return parse_local(text, colon + 1, argument, error);
	if (type->kind == FLOATING)
		return parse_floating(text, colon + 1, type, argument, error);
	if (!is_whole(colon + 1))
		return tare_fail(error, EINVAL, "--arg %.60s: '%.40s' is no whole number", text,
		                 colon + 1);
	return type->kind == SIGNED ? parse_signed(text, colon + 1, type, argument, error)
	                            : parse_unsigned(text, colon + 1, type, argument, error);
}
