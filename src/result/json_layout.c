// SPDX-License-Identifier: Apache-2.0
#include "result/json_layout.h"

#if TARE_HAVE_JSON
#include "result/clean_text.h"
#include "result/number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *tare_json_text(const char *text)
{
	json_t *string;
	char *clean;
	size_t length;

	if (!text)
		return json_null();
	clean = malloc(TARE_CLEAN_TEXT_ROOM(strlen(text)));
	if (!clean)
		return NULL;
	length = tare_clean_text(text, clean);
	string = json_stringn_nocheck(clean, length);
	free(clean);
	return string;
}

void tare_json_put(struct tare_json *json, json_t *object, const char *key, json_t *value)
{
	if (!value || json_object_set_new_nocheck(object, key, value) < 0)
		json->failed = true;
}

void tare_json_push(struct tare_json *json, json_t *array, json_t *value)
{
	if (!value || json_array_append_new(array, value) < 0)
		json->failed = true;
}

json_t *tare_json_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *tare_json_unsigned(uint64_t value)
{
	return json_integer(value <= INT64_MAX ? (json_int_t)value : INT64_MAX);
}

static bool is_container(const json_t *value)
{
	return json_is_array(value) || json_is_object(value);
}

static bool holds_container(json_t *value)
{
	const char *key;
	json_t *member;
	size_t i;

	if (json_is_array(value)) {
		json_array_foreach(value, i, member) if (is_container(member)) return true;
	} else {
		json_object_foreach(value, key, member) if (is_container(member)) return true;
	}
	return false;
}

// Most texts of a document need no escape. jansson would make a table for each of them.
static bool needs_no_escape(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] < ' ' || text[i] > '~' || text[i] == '"' || text[i] == '\\')
			return false;
	return true;
}

static void write_plain(const char *text, size_t length, FILE *file)
{
	fputc('"', file);
	fwrite(text, 1, length, file);
	fputc('"', file);
}

static int write_scalar(const json_t *value, FILE *file)
{
	char text[TARE_NUMBER_TEXT];

	if (json_is_string(value) &&
	    needs_no_escape(json_string_value(value), json_string_length(value)))
		write_plain(json_string_value(value), json_string_length(value), file);
	else if (json_is_integer(value))
		fprintf(file, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_real(value))
		fputs(tare_number_text(json_real_value(value), text), file);
	else if (json_dumpf(value, file, JSON_ENCODE_ANY) < 0 && !ferror(file))
		return -ENOMEM;
	return 0;
}

static int write_key(const char *key, FILE *file)
{
	json_t *name;
	int status;

	if (needs_no_escape(key, strlen(key))) {
		write_plain(key, strlen(key), file);
		return 0;
	}
	name = json_string_nocheck(key);
	status = name ? write_scalar(name, file) : -ENOMEM;
	json_decref(name);
	return status;
}

static void begin_member(FILE *file, bool first, bool spread, unsigned depth)
{
	if (!first)
		fputs(spread ? "," : ", ", file);
	if (spread)
		fprintf(file, "\n%*s", (int)depth + 1, "");
}

static int write_value(json_t *value, FILE *file, unsigned depth)
{
	bool is_object = json_is_object(value);
	bool spread, first = true;
	int status = 0;
	const char *key;
	json_t *member;
	size_t i;

	if (!is_container(value))
		return write_scalar(value, file);
	spread = (is_object && depth < 2 && json_object_size(value)) || holds_container(value);
	fputc(is_object ? '{' : '[', file);
	if (is_object) {
		json_object_foreach(value, key, member)
		{
			begin_member(file, first, spread, depth);
			status = write_key(key, file);
			fputs(": ", file);
			status = status ?: write_value(member, file, depth + 1);
			if (status < 0)
				return status;
			first = false;
		}
	} else {
		json_array_foreach(value, i, member)
		{
			begin_member(file, first, spread, depth);
			status = write_value(member, file, depth + 1);
			if (status < 0)
				return status;
			first = false;
		}
	}
	if (spread)
		fprintf(file, "\n%*s", (int)depth, "");
	fputc(is_object ? '}' : ']', file);
	return 0;
}

int tare_json_layout(const json_t *tree, FILE *file)
{
	int status = write_value((json_t *)tree, file, 0);

	fputc('\n', file);
	return status;
}
#endif
