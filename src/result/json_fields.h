// SPDX-License-Identifier: Apache-2.0
// Typed access to a JSON tree that may be anything. Internal to src/result.
//
// The first thing that is wrong is kept with its path ("cells[3].median: ..."), and everything
// after it yields harmless values: a decoder reads straight through and looks once at the end.
#pragma once
#include "tare_config.h"

#if TARE_HAVE_JSON
#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct tare_fields {
	struct tare_error *error; // may be NULL
	int status;               // 0, or the negative errno of the first fault
	char path[256];           // of what is being read: "cells[3].rate"
};

// Steps into a member ("rate") or, with an index, into an element of it ("cells[3]"). Returns what
// tare_fields_leave takes to step out again.
size_t tare_fields_enter(struct tare_fields *fields, const char *key);
size_t tare_fields_enter_element(struct tare_fields *fields, const char *key, size_t index);
void tare_fields_leave(struct tare_fields *fields, size_t mark);

// Records a fault of member `key` (NULL: of the value itself) unless there is one already.
void tare_fields_fail(struct tare_fields *fields, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Records that memory ran out.
void tare_fields_out_of_memory(struct tare_fields *fields);

// Whether a text has no control characters, which could drive the terminal it is printed on. tare
// writes none.
bool tare_text_is_plain(const char *text);

// Members of `object`. A missing member is a fault unless `or_null`: then it, and null, yield NULL.
json_t *tare_field_object(struct tare_fields *fields, json_t *object, const char *key,
                          bool or_null);
json_t *tare_field_array(struct tare_fields *fields, json_t *object, const char *key, bool or_null);
// Elements: `value` must be what it is asked to be. NULL on a fault.
json_t *tare_field_as_object(struct tare_fields *fields, json_t *value);

// Copies a text into *target (freeing what was there); null or missing: NULL if `or_null`.
void tare_field_text(struct tare_fields *fields, json_t *object, const char *key, bool or_null,
                     char **target);
// A text that lives as long as the tree; NULL on a fault, or if `or_null` and there is none.
const char *tare_field_word(struct tare_fields *fields, json_t *object, const char *key,
                            bool or_null);
// The index of a text in `words` (`count` of them); 0 on a fault.
size_t tare_field_choice(struct tare_fields *fields, json_t *object, const char *key,
                         const char *const *words, size_t count);
// A whole number from `low` to `high`.
int64_t tare_field_integer(struct tare_fields *fields, json_t *object, const char *key, int64_t low,
                           int64_t high);
// The same; null or missing yields `otherwise`.
int64_t tare_field_integer_or(struct tare_fields *fields, json_t *object, const char *key,
                              int64_t low, int64_t high, int64_t otherwise);
// A number; null or missing yields NaN.
double tare_field_number(struct tare_fields *fields, json_t *object, const char *key);
// The same, from 0 to 1.
double tare_field_share(struct tare_fields *fields, json_t *object, const char *key);
// A list of `count` numbers, each of which may be null (NaN); null or missing: all NaN.
void tare_field_numbers(struct tare_fields *fields, json_t *object, const char *key,
                        double *numbers, size_t count);
void tare_fields_numbers_of(struct tare_fields *fields, json_t *array, double *numbers,
                            size_t count);
// true or false; null or missing yields `otherwise`.
bool tare_field_flag(struct tare_fields *fields, json_t *object, const char *key, bool otherwise);
#endif
