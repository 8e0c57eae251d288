// SPDX-License-Identifier: Apache-2.0
// Lines and tables for the text report: nothing wider than the terminal, no control characters
// from names, ASCII where the locale wants it. Internal to src/report.
#pragma once
#include "report/terminal/options.h"

#include <stddef.h>
#include <stdio.h>

struct tare_result;
struct tare_table_shown;

struct tare_text {
	const struct tare_text_options *options;
	FILE *file;
	// The tables of a document by its command, without the line of device and clock; for
	// documents of results that hold others.
	void (*body)(struct tare_text *text, const struct tare_result *result);
	// Takes each declared table in place of its being written; NULL: they are written.
	void (*take)(void *taker, const struct tare_table_shown *shown);
	void *taker;
	FILE *gathering; // words for the next paragraph
	char *gathered;
	size_t gathered_bytes;
	// No memory: nothing is written from then on, and one look at the end is enough.
	bool failed;
};

enum tare_text_style { TARE_STYLE_PLAIN, TARE_STYLE_BOLD, TARE_STYLE_FAINT, TARE_STYLE_WARNING };

// Columns that a text takes: its UTF-8 characters.
size_t tare_text_width(const char *text);

// A copy of text that is safe to print: control characters become "?", and in ASCII mode the
// signs we use become ASCII of the same width, others "?". NULL when memory ran out; free() it.
char *tare_text_clean(const struct tare_text *text, const char *source);

// One paragraph: `lead` at the beginning, words wrapped at the width with `indent` columns before
// every line but the first.
void tare_text_paragraph(struct tare_text *text, enum tare_text_style style, const char *lead,
                         size_t indent, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

// The same of words that are put together one by one: they go to the file that the first returns
// (NULL: no memory), and the second writes the paragraph, if there are any.
FILE *tare_text_gather(struct tare_text *text);
void tare_text_gathered(struct tare_text *text, enum tare_text_style style, const char *lead,
                        size_t indent);

// The same for a verdict: its first sentence bold, the rest plain.
void tare_text_verdict(struct tare_text *text, const char *lead, size_t indent,
                       const char *verdict);

// ---- tables

enum {
	TARE_COLUMN_RIGHT = 1,
	TARE_COLUMN_CUT = 2,
	TARE_COLUMN_NAMES = 4, // what is cut are names from the program
};

struct tare_text_table;

// A table without rows; `indent` columns before each line. NULL when memory ran out, and all the
// functions below accept NULL.
struct tare_text_table *tare_text_table_new(struct tare_text *text, size_t indent);
void tare_text_table_free(struct tare_text_table *table);
// Adds a column; all columns before the first row. Where no column has a title there is no head.
void tare_text_column(struct tare_text_table *table, const char *title, unsigned flags);
// Begins a row, and fills the next cell of it.
void tare_text_row(struct tare_text_table *table, enum tare_text_style style);
void tare_text_cell(struct tare_text_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// Prints and frees the table. Tab-separated when tare was built without libsmartcols.
void tare_text_table_print(struct tare_text_table *table);
