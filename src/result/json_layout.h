// SPDX-License-Identifier: Apache-2.0
// How values become JSON, and how a JSON tree is laid out as text.
#pragma once
#include "tare_config.h"

#if TARE_HAVE_JSON
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// Writes the tree with its keys in order of insertion. A list or object that holds no other stays
// on one line, so a thousand samples are one line and not a thousand; real numbers get as many
// digits as it takes to read the same value back. Returns 0, or -ENOMEM; I/O errors stick to file.
int tare_json_layout(const json_t *tree, FILE *file);

// A text as a JSON string, or null for NULL. Bytes that are not UTF-8 (a driver's device name) and
// control characters become U+FFFD, line ends and tabs a space. NULL when memory ran out.
json_t *tare_json_text(const char *text);

// Whether anything could not be made, for lack of memory: looked at once, at the end.
struct tare_result;
struct tare_json {
	bool failed;
	// The tables that stand in a document, made of its figures; NULL: none.
	json_t *(*tables)(struct tare_json *json, const struct tare_result *result);
};

// Both take over `value`; NULL is lack of memory.
void tare_json_put(struct tare_json *json, json_t *object, const char *key, json_t *value);
void tare_json_push(struct tare_json *json, json_t *array, json_t *value);

// What is not finite is not known: null.
json_t *tare_json_number(double value);
// At most 2^63 - 1: no count and no rate that means anything is beyond.
json_t *tare_json_unsigned(uint64_t value);
#endif
