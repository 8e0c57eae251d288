// SPDX-License-Identifier: Apache-2.0
// Writes a page from a template with {{marks}}, and text so that it stays text. Internal to
// src/report.
#pragma once
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// An embedded file of web/, and what the template calls it.
struct tare_page_part {
	const char *mark, *text;
};

// Writes what a mark stands for. Returns 0, -ENOENT for one that it does not know, or another
// negative errno with a sentence.
typedef int tare_page_mark(void *context, const char *mark, FILE *file, struct tare_error *error);

// Writes `template` with its marks replaced: by `parts`, or else by what `write_mark` writes. Marks
// are looked for in the template alone, never in what was put in. Returns 0, -EIO with a sentence,
// or what write_mark returned.
int tare_page_expand(const char *template, const struct tare_page_part *parts, size_t part_count,
                     tare_page_mark *write_mark, void *context, FILE *file,
                     struct tare_error *error);

// Text as HTML text; control characters are left out.
void tare_page_html_text(const char *text, FILE *file);
// JSON inside a script element, where nothing in it can end that.
void tare_page_json(const char *text, size_t length, FILE *file);
// The same of the JSON that `write` writes. Returns 0, what it returned, or -ENOMEM with a
// sentence.
int tare_page_json_of(int (*write)(const void *context, FILE *file, struct tare_error *error),
                      const void *context, FILE *file, struct tare_error *error);
