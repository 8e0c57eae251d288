// SPDX-License-Identifier: Apache-2.0
#include "timeline_decoder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

static int digit(char c)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

static unsigned char *from_base64(const char *text, size_t length, size_t *count)
{
	unsigned char *bytes = malloc(length / 4 * 3 + 3);

	assert_non_null(bytes);
	assert_int_equal(length % 4, 0);
	*count = 0;
	for (size_t i = 0; i < length; i += 4) {
		unsigned group = 0, given = 0;
		for (size_t k = 0; k < 4; k++) {
			bool padding = text[i + k] == '=' && i + 4 == length && k >= 2;
			assert_true(padding || digit(text[i + k]) >= 0);
			group = group << 6 | (padding ? 0 : (unsigned)digit(text[i + k]));
			given += !padding;
		}
		for (unsigned k = 0; k + 1 < given; k++)
			bytes[(*count)++] = (unsigned char)(group >> (16 - 8 * k));
	}
	return bytes;
}

static uint32_t little_endian(const unsigned char *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

struct decoded decode_timeline(const char *base64, size_t length)
{
	struct decoded decoded = { 0 };
	size_t count, room = 1 << 24;
	unsigned char *stream = from_base64(base64, length, &count);
	uLongf inflated = room;
	uLong used;
	json_error_t error;
	uint32_t header;

	decoded.bytes = malloc(room);
	assert_non_null(decoded.bytes);
	used = count;
	assert_int_equal(uncompress2(decoded.bytes, &inflated, stream, &used), Z_OK);
	assert_int_equal(used, count);
	free(stream);
	decoded.length = inflated;
	assert_true(decoded.length >= 16);
	assert_memory_equal(decoded.bytes, "tareline", 8);
	assert_int_equal(little_endian(decoded.bytes + 8), 1);
	header = little_endian(decoded.bytes + 12);
	decoded.columns = 16 + header;
	assert_true(decoded.columns <= decoded.length);
	decoded.header = json_loadb((const char *)decoded.bytes + 16, header, 0, &error);
	assert_non_null(decoded.header);
	return decoded;
}

void decoded_free(struct decoded *decoded)
{
	json_decref(decoded->header);
	free(decoded->bytes);
}

static json_t *columns_of(const struct decoded *decoded, const char *table)
{
	json_t *columns = json_object_get(json_object_get(decoded->header, "tables"), table);

	if (!columns)
		fail_msg("there is no table %s", table);
	return columns;
}

size_t decoded_count(const struct decoded *decoded, const char *table)
{
	json_t *columns = columns_of(decoded, table);
	json_t *first = json_object_iter_value(json_object_iter(columns));

	return (size_t)json_integer_value(json_object_get(first, "count"));
}

// The integer at `*at`, which goes on behind it.
static int64_t integer_at(const unsigned char **at)
{
	uint64_t value = (**at & 0x7e) >> 1;
	bool negative = **at & 1;
	unsigned shift = 6;

	for (; *(*at)++ & 0x80; shift += 7)
		value |= (uint64_t)(**at & 0x7f) << shift;
	if (negative && value == 0)
		return DECODED_UNKNOWN;
	return negative ? -(int64_t)value : (int64_t)value;
}

int64_t *decoded_column(const struct decoded *decoded, const char *table, const char *name)
{
	json_t *column = json_object_get(columns_of(decoded, table), name);
	const char *type = json_string_value(json_object_get(column, "type"));
	const char *base = json_string_value(json_object_get(column, "relative_to"));
	size_t count = (size_t)json_integer_value(json_object_get(column, "count"));
	size_t offset = (size_t)json_integer_value(json_object_get(column, "offset"));
	size_t bytes = (size_t)json_integer_value(json_object_get(column, "bytes"));
	const unsigned char *at = decoded->bytes + decoded->columns + offset;
	int64_t *values = calloc(count + 1, sizeof *values), *bases = NULL, previous = 0;

	if (!type)
		fail_msg("there is no column %s in %s", name, table);
	assert_non_null(values);
	assert_int_equal(count, decoded_count(decoded, table));
	assert_true(decoded->columns + offset + bytes <= decoded->length);
	if (base)
		bases = decoded_column(decoded, table, base);
	for (size_t i = 0; i < count; i++) {
		values[i] = strcmp(type, "u8") == 0 ? *at++ : integer_at(&at);
		if (values[i] == DECODED_UNKNOWN)
			continue;
		if (strcmp(type, "delta") == 0)
			previous = values[i] += previous;
		if (base)
			values[i] =
			    bases[i] == DECODED_UNKNOWN ? DECODED_UNKNOWN : values[i] + bases[i];
	}
	free(bases);
	assert_ptr_equal(at, decoded->bytes + decoded->columns + offset + bytes);
	return values;
}
