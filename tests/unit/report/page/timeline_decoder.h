// SPDX-License-Identifier: Apache-2.0
// A second reader of a page's timeline, written from docs/page-run.md alone.
#pragma once
#include <jansson.h>
#include <stdint.h>

#define DECODED_UNKNOWN INT64_MIN

struct decoded {
	json_t *header;
	unsigned char *bytes;   // inflated
	size_t length, columns; // where columns begin
};

// Fails the test when the text is no timeline.
struct decoded decode_timeline(const char *base64, size_t length);
void decoded_free(struct decoded *decoded);
// Rows of a table: those of its first column.
size_t decoded_count(const struct decoded *decoded, const char *table);
// The values of a column, to be freed.
int64_t *decoded_column(const struct decoded *decoded, const char *table, const char *column);
