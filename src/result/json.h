// SPDX-License-Identifier: Apache-2.0
// The JSON form of a result document (jansson).
#pragma once
#include "result/result.h"

#include <stdio.h>

// Writes the document as indented JSON with a stable key order. Returns 0 or -EIO, -ENOMEM, or
// -ENOSYS when tare was built without JSON.
int tare_result_write_json(const struct tare_result *result, FILE *file, struct tare_error *error);

// The same with the tables that `tables` makes of a document and of each of its parts, a list
// (report/report.h); NULL: without.
struct json_t;
struct tare_json;
int tare_result_write_json_tables(const struct tare_result *result,
                                  struct json_t *(*tables)(struct tare_json *json,
                                                           const struct tare_result *result),
                                  FILE *file, struct tare_error *error);

// Reads a document from memory; every byte is treated as hostile. Returns 0 and *result, or
// -EINVAL with what is wrong and where (line, or key): truncated, not ours, a newer schema.
int tare_result_read_json(const char *text, size_t length, struct tare_result **result,
                          struct tare_error *error);

// The same from a file; -ENOENT and friends name the path.
int tare_result_read_file(const char *path, struct tare_result **result, struct tare_error *error);
