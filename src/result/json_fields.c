// SPDX-License-Identifier: Apache-2.0
#include "result/json_fields.h"

#if TARE_HAVE_JSON
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t tare_fields_enter(struct tare_fields *fields, const char *key)
{
	size_t mark = strlen(fields->path);

	snprintf(fields->path + mark, sizeof fields->path - mark, "%s%s", mark ? "." : "", key);
	return mark;
}

size_t tare_fields_enter_element(struct tare_fields *fields, const char *key, size_t index)
{
	size_t mark = strlen(fields->path);

	snprintf(fields->path + mark, sizeof fields->path - mark, "%s%s[%zu]", mark ? "." : "", key,
	         index);
	return mark;
}

void tare_fields_leave(struct tare_fields *fields, size_t mark)
{
	fields->path[mark] = '\0';
}

void tare_fields_fail(struct tare_fields *fields, const char *key, const char *format, ...)
{
	char what[256];
	va_list arguments;
	size_t mark;

	if (fields->status < 0)
		return;
	va_start(arguments, format);
	vsnprintf(what, sizeof what, format, arguments);
	va_end(arguments);
	mark = key ? tare_fields_enter(fields, key) : strlen(fields->path);
	fields->status = tare_fail(fields->error, EINVAL, "%s: %s",
	                           fields->path[0] ? fields->path : "document", what);
	tare_fields_leave(fields, mark);
}

void tare_fields_out_of_memory(struct tare_fields *fields)
{
	if (fields->status == 0)
		fields->status = tare_fail(fields->error, ENOMEM, "out of memory for the result");
}

bool tare_text_is_plain(const char *text)
{
	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		// U+0080 to U+009F are control characters, too.
		bool high_control = at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f;
		if (*at < 0x20 || *at == 0x7f || high_control)
			return false;
	}
	return true;
}

static const char *type_name(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "a list";
	case JSON_STRING:
		return "a text";
	case JSON_INTEGER:
		return "a whole number";
	case JSON_REAL:
		return "a fraction";
	case JSON_NULL:
		return "null";
	default:
		return "true or false";
	}
}

static void fail_type(struct tare_fields *fields, const char *key, const char *wanted,
                      const json_t *value)
{
	if (value)
		tare_fields_fail(fields, key, "must be %s, is %s", wanted, type_name(value));
	else
		tare_fields_fail(fields, key, "is missing");
}

// A member of any type. NULL for a missing one, and for null if `or_null`.
static json_t *member(json_t *object, const char *key, bool or_null)
{
	json_t *value = json_object_get(object, key);
	return or_null && json_is_null(value) ? NULL : value;
}

json_t *tare_field_object(struct tare_fields *fields, json_t *object, const char *key, bool or_null)
{
	json_t *value = member(object, key, or_null);

	if (json_is_object(value))
		return value;
	if (value || !or_null)
		fail_type(fields, key, "an object", value);
	return NULL;
}

json_t *tare_field_array(struct tare_fields *fields, json_t *object, const char *key, bool or_null)
{
	json_t *value = member(object, key, or_null);

	if (json_is_array(value))
		return value;
	if (value || !or_null)
		fail_type(fields, key, "a list", value);
	return NULL;
}

json_t *tare_field_as_object(struct tare_fields *fields, json_t *value)
{
	if (json_is_object(value))
		return value;
	fail_type(fields, NULL, "an object", value);
	return NULL;
}

const char *tare_field_word(struct tare_fields *fields, json_t *object, const char *key,
                            bool or_null)
{
	json_t *value = member(object, key, or_null);

	if (json_is_string(value) && tare_text_is_plain(json_string_value(value)))
		return json_string_value(value);
	if (json_is_string(value))
		tare_fields_fail(fields, key, "holds control characters");
	else if (value || !or_null)
		fail_type(fields, key, or_null ? "a text or null" : "a text", value);
	return NULL;
}

void tare_field_text(struct tare_fields *fields, json_t *object, const char *key, bool or_null,
                     char **target)
{
	const char *word = tare_field_word(fields, object, key, or_null);
	char *copy = NULL;

	if (word) {
		copy = strdup(word);
		if (!copy)
			tare_fields_out_of_memory(fields);
	}
	free(*target);
	*target = copy;
}

size_t tare_field_choice(struct tare_fields *fields, json_t *object, const char *key,
                         const char *const *words, size_t count)
{
	const char *word = tare_field_word(fields, object, key, false);
	char list[160] = "";

	if (!word)
		return 0;
	for (size_t i = 0; i < count; i++)
		if (strcmp(word, words[i]) == 0)
			return i;
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(list);
		const char *comma = i + 1 < count ? ", " : " or ";
		snprintf(list + length, sizeof list - length, "%s'%s'", i ? comma : "", words[i]);
	}
	tare_fields_fail(fields, key, "must be %s", list);
	return 0;
}

int64_t tare_field_integer(struct tare_fields *fields, json_t *object, const char *key, int64_t low,
                           int64_t high)
{
	json_t *value = json_object_get(object, key);

	if (!json_is_integer(value)) {
		fail_type(fields, key, "a whole number", value);
		return low;
	}
	if (json_integer_value(value) < low || json_integer_value(value) > high) {
		tare_fields_fail(fields, key, "must be from %" PRId64 " to %" PRId64, low, high);
		return low;
	}
	return json_integer_value(value);
}

int64_t tare_field_integer_or(struct tare_fields *fields, json_t *object, const char *key,
                              int64_t low, int64_t high, int64_t otherwise)
{
	return member(object, key, true) ? tare_field_integer(fields, object, key, low, high)
	                                 : otherwise;
}

double tare_field_number(struct tare_fields *fields, json_t *object, const char *key)
{
	json_t *value = member(object, key, true);

	if (value && !json_is_number(value))
		fail_type(fields, key, "a number or null", value);
	return json_is_number(value) ? json_number_value(value) : NAN;
}

double tare_field_share(struct tare_fields *fields, json_t *object, const char *key)
{
	double value = tare_field_number(fields, object, key);

	if (value < 0 || value > 1)
		tare_fields_fail(fields, key, "must be from 0 to 1");
	return value;
}

void tare_fields_numbers_of(struct tare_fields *fields, json_t *array, double *numbers,
                            size_t count)
{
	for (size_t i = 0; i < count; i++)
		numbers[i] = NAN;
	if (!json_is_array(array) || json_array_size(array) != count) {
		tare_fields_fail(fields, NULL, "must be a list of %zu numbers", count);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		const json_t *value = json_array_get(array, i);
		if (json_is_number(value))
			numbers[i] = json_number_value(value);
		else if (!json_is_null(value))
			fail_type(fields, NULL, "a list of numbers or null", value);
	}
}

void tare_field_numbers(struct tare_fields *fields, json_t *object, const char *key,
                        double *numbers, size_t count)
{
	json_t *array = tare_field_array(fields, object, key, true);
	size_t mark = tare_fields_enter(fields, key);

	for (size_t i = 0; i < count; i++)
		numbers[i] = NAN;
	if (array)
		tare_fields_numbers_of(fields, array, numbers, count);
	tare_fields_leave(fields, mark);
}

bool tare_field_flag(struct tare_fields *fields, json_t *object, const char *key, bool otherwise)
{
	json_t *value = member(object, key, true);

	if (!value)
		return otherwise;
	if (!json_is_boolean(value))
		fail_type(fields, key, "true or false", value);
	return json_is_true(value);
}
#endif
