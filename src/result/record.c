// SPDX-License-Identifier: Apache-2.0
#include "result/record.h"

#if TARE_HAVE_JSON
#include "base/room.h"
#include "result/result.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static size_t count_words(const char *const *words)
{
	size_t count = 0;

	while (words[count])
		count++;
	return count;
}

// ---- writing

static json_t *whole(const struct tare_json_field *field, const void *at)
{
	int64_t value;

	if (field->size == sizeof(uint32_t))
		return json_integer(*(const uint32_t *)at);
	if (field->least >= 0 && !(field->flags & TARE_JSON_MINUS_NULL))
		return tare_json_unsigned(*(const uint64_t *)at);
	value = *(const int64_t *)at;
	return value < 0 && field->flags & TARE_JSON_MINUS_NULL ? json_null() : json_integer(value);
}

static size_t index_of(const struct tare_json_field *field, const void *at)
{
	return field->size == sizeof(bool) ? *(const bool *)at : *(const unsigned *)at;
}

static json_t *interval(struct tare_json *json, const char *structure,
                        const struct tare_json_field *field)
{
	json_t *array = json_array();

	tare_json_push(json, array, tare_json_number(*(const double *)(structure + field->offset)));
	tare_json_push(json, array, tare_json_number(*(const double *)(structure + field->second)));
	return array;
}

static json_t *labels(struct tare_json *json, const struct tare_labels *list)
{
	json_t *object = json_object();

	for (size_t i = 0; i < list->count; i++) {
		const struct tare_label *label = &list->at[i];
		json_t *name = tare_json_text(label->name);
		if (name)
			tare_json_put(json, object, json_string_value(name),
			              label->text ? tare_json_text(label->text)
			                          : json_integer(label->number));
		json->failed |= !name;
		json_decref(name);
	}
	return object;
}

static json_t *list(struct tare_json *json, const char *structure,
                    const struct tare_json_field *field)
{
	json_t *array = json_array();
	const char *rows = *(const char *const *)(structure + field->offset);
	size_t count = *(const size_t *)(structure + field->second);

	for (size_t i = 0; i < count; i++)
		tare_json_push(json, array,
		               tare_json_record(json, field->of, rows + i * field->row_size));
	return array;
}

static json_t *value_of(struct tare_json *json, const char *structure,
                        const struct tare_json_field *field)
{
	const void *at = structure + field->offset;

	switch (field->kind) {
	case TARE_JSON_TEXT:
		return tare_json_text(field->size > sizeof(char *) ? at : *(const char *const *)at);
	case TARE_JSON_TRUTH:
		return json_boolean(*(const bool *)at);
	case TARE_JSON_WHOLE:
		return whole(field, at);
	case TARE_JSON_NUMBER:
	case TARE_JSON_SHARE:
		return tare_json_number(*(const double *)at);
	case TARE_JSON_INTERVAL:
		return interval(json, structure, field);
	case TARE_JSON_WORD:
		return tare_json_text(field->size == sizeof(char *)
		                          ? *(const char *const *)at
		                          : field->words[index_of(field, at)]);
	case TARE_JSON_CONSTANT:
		return tare_json_text(field->words[0]);
	case TARE_JSON_COUNTER:
		return json_sprintf("%" PRIu64, *(const uint64_t *)at);
	case TARE_JSON_LABELS:
		return labels(json, at);
	case TARE_JSON_OBJECT:
		return tare_json_record(json, field->of, structure);
	case TARE_JSON_LIST:
		return list(json, structure, field);
	case TARE_JSON_OWN:
		break;
	}
	return NULL;
}

static bool is_known(const struct tare_json_field *field, const void *structure)
{
	static const char nothing[sizeof(uint64_t)];

	if (field->known && !field->known(structure))
		return false;
	return field->known_size == 0 ||
	       memcmp((const char *)structure + field->known_at, nothing, field->known_size) != 0;
}

json_t *tare_json_record(struct tare_json *json, const struct tare_json_record *record,
                         const void *structure)
{
	json_t *object = json_object();

	for (size_t i = 0; i < record->count; i++) {
		const struct tare_json_field *field = &record->fields[i];
		bool known = is_known(field, structure);

		if (!known && field->flags & TARE_JSON_LEFT_OUT)
			continue;
		if (known && field->kind == TARE_JSON_OWN)
			field->put(json, object, structure);
		else
			tare_json_put(json, object, field->key,
			              known ? value_of(json, structure, field) : json_null());
	}
	return object;
}

// ---- reading

static void read_text(struct tare_fields *fields, json_t *object,
                      const struct tare_json_field *field, bool or_null, char *at)
{
	const char *text;

	if (field->size <= sizeof(char *)) {
		tare_field_text(fields, object, field->key, or_null, (char **)(void *)at);
		return;
	}
	text = tare_field_word(fields, object, field->key, or_null);
	snprintf(at, field->size, "%s", text ? text : "");
}

static void read_whole(struct tare_fields *fields, json_t *object,
                       const struct tare_json_field *field, bool or_null, void *at)
{
	int64_t most = field->most                       ? field->most
	               : field->size == sizeof(uint32_t) ? UINT32_MAX
	                                                 : INT64_MAX;
	int64_t value = or_null
	                    ? tare_field_integer_or(fields, object, field->key, field->least, most,
	                                            field->flags & TARE_JSON_MINUS_NULL ? -1 : 0)
	                    : tare_field_integer(fields, object, field->key, field->least, most);

	if (field->size == sizeof(uint32_t))
		*(uint32_t *)at = (uint32_t)value;
	else
		*(int64_t *)at = value;
}

static void read_word(struct tare_fields *fields, json_t *object,
                      const struct tare_json_field *field, void *at)
{
	size_t index =
	    tare_field_choice(fields, object, field->key, field->words, count_words(field->words));

	if (field->size == sizeof(char *))
		tare_field_text(fields, object, field->key, false, at);
	else if (field->size == sizeof(bool))
		*(bool *)at = index == 1;
	else
		*(unsigned *)at = (unsigned)index;
}

static void read_counter(struct tare_fields *fields, json_t *object, const char *key, uint64_t *at)
{
	const char *text = tare_field_word(fields, object, key, false);
	char *end = NULL;

	if (!text)
		return;
	errno = 0;
	*at = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno)
		tare_fields_fail(fields, key, "must be the digits of a number below 2^64");
}

static void read_labels(struct tare_fields *fields, json_t *object, const char *key,
                        struct tare_labels *labels)
{
	json_t *list = tare_field_object(fields, object, key, false);
	size_t mark = tare_fields_enter(fields, key);
	const char *name;
	json_t *value;

	if (json_object_size(list) > TARE_JSON_LABELS_MOST)
		tare_fields_fail(fields, NULL, "has more than %d members", TARE_JSON_LABELS_MOST);
	json_object_foreach(list, name, value)
	{
		int status = 0;
		if (fields->status < 0)
			break;
		if (!tare_text_is_plain(name))
			tare_fields_fail(fields, NULL, "has a name with control characters");
		else if (json_is_string(value) && !tare_text_is_plain(json_string_value(value)))
			tare_fields_fail(fields, name, "holds control characters");
		else if (json_is_string(value))
			status = tare_labels_set_text(labels, name, json_string_value(value));
		else if (json_is_integer(value))
			status = tare_labels_set_number(labels, name, json_integer_value(value));
		else
			tare_fields_fail(fields, name, "must be a text or a whole number");
		if (status < 0)
			tare_fields_out_of_memory(fields);
	}
	tare_fields_leave(fields, mark);
}

static void read_object(struct tare_fields *fields, json_t *object,
                        const struct tare_json_field *field, bool or_null, char *structure)
{
	json_t *value = tare_field_object(fields, object, field->key, or_null);
	size_t mark = tare_fields_enter(fields, field->key);

	if (value && field->known_size == sizeof(bool))
		*(bool *)(structure + field->known_at) = true;
	tare_json_read_record(fields, field->of, value, structure);
	tare_fields_leave(fields, mark);
}

static void read_list(struct tare_fields *fields, json_t *object,
                      const struct tare_json_field *field, bool or_null, char *structure)
{
	json_t *list = tare_field_array(fields, object, field->key, or_null);
	char **rows = (char **)(void *)(structure + field->offset);
	size_t *count = (size_t *)(void *)(structure + field->second);

	for (size_t i = 0; i < json_array_size(list) && fields->status == 0; i++) {
		size_t mark = tare_fields_enter_element(fields, field->key, i);
		json_t *item = tare_field_as_object(fields, json_array_get(list, i));
		char *grown = item ? tare_grow(*rows, *count, field->row_size) : NULL;
		if (grown) {
			*rows = grown;
			tare_json_read_record(fields, field->of, item,
			                      grown + (*count)++ * field->row_size);
		} else if (item) {
			tare_fields_out_of_memory(fields);
		}
		tare_fields_leave(fields, mark);
	}
}

static void read_interval(struct tare_fields *fields, json_t *object,
                          const struct tare_json_field *field, char *structure)
{
	double ends[2];

	tare_field_numbers(fields, object, field->key, ends, 2);
	*(double *)(structure + field->offset) = ends[0];
	*(double *)(structure + field->second) = ends[1];
}

static void read_field(struct tare_fields *fields, json_t *object,
                       const struct tare_json_field *field, char *structure)
{
	// What is null or left out where it is not known may be so here.
	bool or_null =
	    field->flags & (TARE_JSON_OR_NULL | TARE_JSON_OR_MISSING | TARE_JSON_MINUS_NULL) ||
	    field->known || field->known_size;
	void *at = structure + field->offset;

	switch (field->kind) {
	case TARE_JSON_TEXT:
		read_text(fields, object, field, or_null, at);
		break;
	case TARE_JSON_TRUTH:
		*(bool *)at = tare_field_flag(fields, object, field->key, false);
		break;
	case TARE_JSON_WHOLE:
		read_whole(fields, object, field, or_null, at);
		break;
	case TARE_JSON_NUMBER:
		*(double *)at = tare_field_number(fields, object, field->key);
		break;
	case TARE_JSON_SHARE:
		*(double *)at = tare_field_share(fields, object, field->key);
		break;
	case TARE_JSON_INTERVAL:
		read_interval(fields, object, field, structure);
		break;
	case TARE_JSON_WORD:
		read_word(fields, object, field, at);
		break;
	case TARE_JSON_CONSTANT:
		tare_field_choice(fields, object, field->key, field->words, 1);
		break;
	case TARE_JSON_COUNTER:
		read_counter(fields, object, field->key, at);
		break;
	case TARE_JSON_LABELS:
		if (!(field->flags & TARE_JSON_LEFT_OUT) || json_object_get(object, field->key))
			read_labels(fields, object, field->key, at);
		break;
	case TARE_JSON_OBJECT:
		read_object(fields, object, field, or_null, structure);
		break;
	case TARE_JSON_LIST:
		read_list(fields, object, field, or_null, structure);
		break;
	case TARE_JSON_OWN:
		field->take(fields, object, structure);
		break;
	}
}

void tare_json_read_record(struct tare_fields *fields, const struct tare_json_record *record,
                           json_t *object, void *structure)
{
	if (!object)
		return;
	for (size_t i = 0; i < record->count; i++)
		if (!(record->fields[i].flags & TARE_JSON_UNREAD))
			read_field(fields, object, &record->fields[i], structure);
	if (record->check)
		record->check(fields, object, structure);
}
#endif
