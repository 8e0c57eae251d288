// SPDX-License-Identifier: Apache-2.0
// How a JSON tree is laid out as text. Internal to src/result.
#pragma once
#include "tare_config.h"

#if TARE_HAVE_JSON
#include <jansson.h>
#include <stdio.h>

// Writes the tree with its keys in order of insertion. A list or object that holds no other stays
// on one line, so a thousand samples are one line and not a thousand; real numbers get as many
// digits as it takes to read the same value back. Returns 0, or -ENOMEM; I/O errors stick to file.
int tare_json_layout(const json_t *tree, FILE *file);

// A text as a JSON string, or null for NULL. Bytes that are not UTF-8 (a driver's device name) and
// control characters become U+FFFD, line ends and tabs a space. NULL when memory ran out.
json_t *tare_json_text(const char *text);
#endif
