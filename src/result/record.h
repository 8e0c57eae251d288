// SPDX-License-Identifier: Apache-2.0
// A structure as a JSON object, declared once: its fields, a line each, are written and read by the
// same list, and the schema is made of it (tools/tables). Internal to src/result.
//
// A reader passes over members that no list has; what is wrong is left in `fields`.
#pragma once
#include "result/json_fields.h"

#if TARE_HAVE_JSON
#include "result/json_layout.h"

#include <stddef.h>

struct tare_json_record;

// A reader takes as many labels.
enum { TARE_JSON_LABELS_MOST = 256 };

enum tare_json_kind {
	TARE_JSON_TEXT,     // char *; NULL is null. Or an array of char
	TARE_JSON_TRUTH,    // bool; null or missing is read as false
	TARE_JSON_WHOLE,    // int64_t, uint64_t or uint32_t; written as at most 2^63 - 1
	TARE_JSON_NUMBER,   // double; NaN is null
	TARE_JSON_SHARE,    // the same, from 0 to 1
	TARE_JSON_INTERVAL, // two doubles, a list of two numbers
	TARE_JSON_WORD,     // one of `words`: an enum, a bool, or a char *
	TARE_JSON_CONSTANT, // the first of `words`, always
	TARE_JSON_COUNTER,  // uint64_t; digits as text: JSON's readers keep 53 or 63 bits of a
	                    // number
	TARE_JSON_LABELS,   // struct tare_labels
	TARE_JSON_OBJECT,   // an object whose fields lie in the same structure, `of`
	TARE_JSON_LIST,     // an array of structures, which tare_grow grows, and its count
	TARE_JSON_OWN       // by functions of its own
};

enum {
	TARE_JSON_OR_NULL = 1,    // a reader takes null, or that it is missing
	TARE_JSON_LEFT_OUT = 2,   // where it is not known it is left out, not null
	TARE_JSON_MINUS_NULL = 4, // a whole number below 0 is null
	TARE_JSON_UNREAD = 8,     // written for others
	TARE_JSON_OR_MISSING = 16 // as TARE_JSON_OR_NULL, but tare never writes null
};

struct tare_json_field {
	const char *key; // "": members by a table of their own
	enum tare_json_kind kind;
	unsigned flags;
	size_t offset, size;      // of the value within the structure; of a list: of its array
	size_t second;            // offset of an interval's other end, or of a list's count
	int64_t least, most;      // whole numbers: what a reader takes; lists: how many at most
	const char *const *words; // ended by NULL
	const struct tare_json_record *of;
	size_t row_size; // of a list
	// Whether it is known, when written: by a bool, count or pointer of the structure (a bool
	// is set when it was read), or by a function. Neither: always.
	size_t known_at, known_size;
	bool (*known)(const void *structure);
	// Of TARE_JSON_OWN: puts members into `object`, and reads them; `of` says what is in them.
	void (*put)(struct tare_json *json, json_t *object, const void *structure);
	void (*take)(struct tare_fields *fields, json_t *object, void *structure);
	// Of members that another table names: the name of each, NULL after the last.
	const char *(*name_of)(size_t index);
	// For the schema: a sentence that says what it is; and keywords beside those that follow
	// from the above (with a type or a reference: instead of them), with ' for ".
	const char *doc, *schema;
};

struct tare_json_record {
	const struct tare_json_field *fields;
	size_t count;
	// For the schema: its definition's name (NULL: it stands where it is used), and as above.
	const char *name, *doc, *schema;
	// What stands there instead where nothing is known; NULL: null.
	const struct tare_json_record *otherwise;
	// Looks at what was read as a whole; may be NULL.
	void (*check)(struct tare_fields *fields, json_t *object, void *structure);
};

// A record of a list of fields.
#define TARE_JSON_RECORD(list, ...)                                                                \
	{ .fields = list, .count = sizeof(list) / sizeof *(list), __VA_ARGS__ }
// A field of the structure STRUCTURE, which the file defines.
#define TARE_JSON_FIELD(name, what, member, ...)                                                   \
	{ .key = name,                                                                             \
	  .kind = TARE_JSON_##what,                                                                \
	  .offset = offsetof(STRUCTURE, member),                                                   \
	  .size = sizeof(((STRUCTURE *)0)->member),                                                \
	  __VA_ARGS__ }
#define TARE_JSON_ROWS(name, member, counted, record, ...)                                         \
	TARE_JSON_FIELD(name, LIST, member, .row_size = sizeof *((STRUCTURE *)0)->member,          \
	                .second = offsetof(STRUCTURE, counted), .of = record, __VA_ARGS__)
// It is known where that member is not 0.
#define TARE_JSON_KNOWN(member)                                                                    \
	.known_at = offsetof(STRUCTURE, member), .known_size = sizeof(((STRUCTURE *)0)->member)

// The structure as an object; NULL: no memory.
json_t *tare_json_record(struct tare_json *json, const struct tare_json_record *record,
                         const void *structure);
// Reads what `object` (NULL: nothing) says into the structure.
void tare_json_read_record(struct tare_fields *fields, const struct tare_json_record *record,
                           json_t *object, void *structure);
#endif
