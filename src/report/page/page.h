// SPDX-License-Identifier: Apache-2.0
// Puts the page together from its embedded parts (web/). Internal to src/report and its tests.
#pragma once
#include "base/error.h"

#include <stddef.h>
#include <stdio.h>

// Writes the page around a result's JSON text of `length` bytes, which is inlined so that nothing
// in it can end the element it stands in, as is the CSV that it offers (NULL: none). `title` is the
// plain text of the window's title. Returns 0, or -EIO with a sentence.
int tare_page_write(const char *json, size_t length, const char *csv, const char *title, FILE *file,
                    struct tare_error *error);
