// SPDX-License-Identifier: Apache-2.0
#include "result_fields.h"

#include "result/document.h"

#include <errno.h>
#include <stdio.h>

#if TARE_HAVE_JSON
static json_t *declared(const struct tare_json_record *record);

static json_t *texts(const char *const *from)
{
	json_t *list = json_array();

	for (; from && *from; from++)
		json_array_append_new(list, json_string(*from));
	return list;
}

static json_t *names(const char *(*name_of)(size_t index))
{
	json_t *list = json_array();

	for (size_t i = 0; name_of && name_of(i); i++)
		json_array_append_new(list, json_string(name_of(i)));
	return list;
}

// Whether tare writes null where it is not known.
static bool may_be_null(const struct tare_json_field *field)
{
	if (field->flags & TARE_JSON_LEFT_OUT)
		return false;
	return field->flags & (TARE_JSON_OR_NULL | TARE_JSON_MINUS_NULL) || field->known ||
	       field->known_size;
}

static json_t *declared_field(const struct tare_json_field *field)
{
	static const char *const kinds[] = {
		[TARE_JSON_TEXT] = "text",       [TARE_JSON_TRUTH] = "truth",
		[TARE_JSON_WHOLE] = "whole",     [TARE_JSON_NUMBER] = "number",
		[TARE_JSON_SHARE] = "share",     [TARE_JSON_INTERVAL] = "interval",
		[TARE_JSON_WORD] = "word",       [TARE_JSON_CONSTANT] = "constant",
		[TARE_JSON_COUNTER] = "counter", [TARE_JSON_LABELS] = "labels",
		[TARE_JSON_OBJECT] = "object",   [TARE_JSON_LIST] = "list",
		[TARE_JSON_OWN] = "own",
	};
	bool left_out = field->flags & TARE_JSON_LEFT_OUT;
	json_int_t most = field->kind == TARE_JSON_LABELS ? TARE_JSON_LABELS_MOST : field->most;

	return json_pack("{s:s, s:s, s:b, s:b, s:I, s:I, s:o, s:o, s:s*, s:s*, s:o*}", "key",
	                 field->key, "kind", kinds[field->kind], "left_out", left_out, "null",
	                 may_be_null(field), "least", (json_int_t)field->least, "most", most,
	                 "words", texts(field->words), "names", names(field->name_of), "doc",
	                 field->doc, "schema", field->schema, "of",
	                 field->of ? declared(field->of) : NULL);
}

static json_t *declared(const struct tare_json_record *record)
{
	json_t *list = json_array();

	for (size_t i = 0; i < record->count; i++)
		json_array_append_new(list, declared_field(&record->fields[i]));
	return json_pack("{s:s*, s:s*, s:s*, s:o*, s:o}", "name", record->name, "doc", record->doc,
	                 "schema", record->schema, "otherwise",
	                 record->otherwise ? declared(record->otherwise) : NULL, "fields", list);
}

int print_result_fields(void)
{
	json_t *fields = declared(&tare_document_record);
	int status = fields ? json_dumpf(fields, stdout, JSON_INDENT(1)) : -1;

	json_decref(fields);
	return status < 0 ? -ENOMEM : 0;
}
#else
int print_result_fields(void)
{
	return -ENOSYS;
}
#endif
