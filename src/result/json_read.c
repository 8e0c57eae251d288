// SPDX-License-Identifier: Apache-2.0
#include "result/json.h"

#include "base/cleanup.h"
#include "result/document.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#if !TARE_HAVE_JSON

int tare_result_read_json(const char *text, size_t length, struct tare_result **result,
                          struct tare_error *error)
{
	(void)text;
	(void)length;
	(void)result;
	return tare_fail(error, ENOSYS, "this tare was built without JSON; build it with jansson");
}

int tare_result_read_file(const char *path, struct tare_result **result, struct tare_error *error)
{
	(void)path;
	return tare_result_read_json(NULL, 0, result, error);
}

#else

// jansson keeps some 40 bytes a value and 250 a list or object, whatever the text: these bounds
// keep a hostile document below about 1 GB. tare's own are far smaller.
enum {
	MAXIMUM_BYTES = 256 << 20,
	MAXIMUM_VALUES = 16 << 20,
	MAXIMUM_LISTS = 1 << 20,
	MAXIMUM_DEPTH = 32,
};

// What a byte of a document may be to the scan. Most are none of these, and a document has
// millions.
enum byte_kind { PLAIN, LINE, OPENING, CLOSING, COMMA, QUOTE, BACKSLASH };
static const unsigned char byte_kinds[256] = {
	['\n'] = LINE,   ['['] = OPENING, ['{'] = OPENING, [']'] = CLOSING,
	['}'] = CLOSING, [','] = COMMA,   ['"'] = QUOTE,   ['\\'] = BACKSLASH,
};

struct scan {
	size_t values, lists, depth;
	int line;
	bool in_text;
};

// Counts one byte outside of texts. Returns what is too much, or NULL.
static const char *count_byte(struct scan *scan, enum byte_kind kind)
{
	scan->line += kind == LINE;
	scan->values += kind == OPENING || kind == COMMA;
	scan->lists += kind == OPENING;
	scan->depth += kind == OPENING;
	scan->depth -= kind == CLOSING && scan->depth > 0;
	if (scan->depth > MAXIMUM_DEPTH)
		return "lists and objects are nested too deeply";
	if (scan->values > MAXIMUM_VALUES || scan->lists > MAXIMUM_LISTS)
		return "there are too many values";
	return NULL;
}

// Looks at the size of what the text would become, before any memory is spent on it.
static int check_limits(const char *text, size_t length, struct tare_error *error)
{
	struct scan scan = { .line = 1 };

	if (length > MAXIMUM_BYTES)
		return tare_fail(error, EINVAL, "not a tare result: it is larger than %d MB",
		                 MAXIMUM_BYTES >> 20);
	for (size_t i = 0; i < length; i++) {
		enum byte_kind kind = byte_kinds[(unsigned char)text[i]];
		const char *fault = NULL;
		if (kind == PLAIN)
			continue;
		if (kind == QUOTE)
			scan.in_text = !scan.in_text;
		else if (scan.in_text)
			i += kind == BACKSLASH;
		else
			fault = count_byte(&scan, kind);
		if (fault)
			return tare_fail(error, EINVAL, "not a tare result: line %d: %s", scan.line,
			                 fault);
	}
	return 0;
}

// What jansson says may quote the document, whose bytes are not for a terminal.
static int fail_syntax(const json_error_t *fault, struct tare_error *error)
{
	char quote[JSON_ERROR_TEXT_LENGTH];

	if (json_error_code(fault) == json_error_premature_end_of_input)
		return tare_fail(error, EINVAL,
		                 "line %d: the document ends too early; it is truncated",
		                 fault->line);
	// It has no words when memory runs out between two tokens; within one it blames the token.
	if (!fault->text[0] || json_error_code(fault) == json_error_out_of_memory)
		return tare_fail(error, ENOMEM, "out of memory for the result");
	snprintf(quote, sizeof quote, "%s", fault->text);
	for (char *at = quote; *at; at++)
		if (*at < 0x20 || *at > 0x7e)
			*at = '?';
	return tare_fail(error, EINVAL, "line %d, column %d: not JSON: %s", fault->line,
	                 fault->column, quote);
}

static int check_schema(json_t *root, struct tare_error *error)
{
	const char *schema = json_string_value(json_object_get(root, "schema"));
	size_t family = strcspn(TARE_RESULT_SCHEMA, "/") + 1;

	if (!schema || !tare_text_is_plain(schema))
		return tare_fail(error, EINVAL,
		                 "not a tare result: there is no \"schema\": \"%s\" in it",
		                 TARE_RESULT_SCHEMA);
	if (strcmp(schema, TARE_RESULT_SCHEMA) == 0)
		return 0;
	if (strncmp(schema, TARE_RESULT_SCHEMA, family) == 0 &&
	    strtol(schema + family, NULL, 10) > 1)
		return tare_fail(error, EINVAL,
		                 "written by a newer tare (%.40s; this one reads %s): update tare",
		                 schema, TARE_RESULT_SCHEMA);
	return tare_fail(error, EINVAL, "not a tare result: its schema is '%.40s', not '%s'",
	                 schema, TARE_RESULT_SCHEMA);
}

int tare_result_read_json(const char *text, size_t length, struct tare_result **result,
                          struct tare_error *error)
{
	struct tare_fields fields = { .error = error };
	struct tare_result *read = NULL;
	json_error_t fault;
	json_t *root;
	int status = check_limits(text, length, error);

	if (status < 0)
		return status;
	if (length == 0)
		return tare_fail(error, EINVAL, "not a tare result: it is empty");
	root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &fault);
	if (!root)
		return fail_syntax(&fault, error);
	status = check_schema(root, error);
	if (status == 0) {
		read = tare_result_new("");
		if (read)
			tare_json_read_record(&fields, &tare_document_record, root, read);
		else
			tare_fields_out_of_memory(&fields);
		if (fields.status == 0 && tare_result_status(read) < 0)
			tare_fields_out_of_memory(&fields);
		status = fields.status;
	}
	json_decref(root);
	if (status < 0) {
		tare_result_free(read);
		return status;
	}
	*result = read;
	return 0;
}

// The whole file, or a byte more than a result may have. Returns 0 or a negative errno.
static int read_all(FILE *file, char **text, size_t *length)
{
	size_t capacity = 64 << 10;
	char *grown;

	*length = 0;
	while (*length <= MAXIMUM_BYTES) {
		capacity *= 2;
		grown = realloc(*text, capacity);
		if (!grown)
			return -ENOMEM;
		*text = grown;
		errno = 0;
		*length += fread(grown + *length, 1, capacity - *length, file);
		if (ferror(file))
			return errno ? -errno : -EIO;
		if (*length < capacity)
			return 0;
	}
	return 0;
}

int tare_result_read_file(const char *path, struct tare_result **result, struct tare_error *error)
{
	TARE_FCLOSE FILE *file = fopen(path, "rbe");
	TARE_FREE char *text = NULL;
	size_t length = 0;
	int status = file ? read_all(file, &text, &length) : -errno;

	if (status < 0)
		return tare_fail(error, -status, "cannot read %s: %s", path, strerror(-status));
	status = tare_result_read_json(text, length, result, error);
	if (status < 0)
		tare_error_prefix(error, "%s", path);
	return status;
}
#endif
