// SPDX-License-Identifier: Apache-2.0
// Writes any declared table as HTML, for a page without scripts.
#pragma once
#include "report/core/table_text.h"

// A text, in which what HTML has a meaning for is escaped.
void tare_html_text(const char *text, FILE *file);

// The rows and the columns of a part (its `on`, `rows`, `most` and `keep`, for which the table's
// can stand), as a text has their cells; a bar beside what is TARE_BARRED. Nothing where no row is
// in it. The page's style has
// `.l`, cells of text, and `.cost`, a bar.
void tare_table_html(const struct tare_table *table, const void *source,
                     const struct tare_table_part *part, FILE *file);

// ---- lines of code on a page without scripts; the classes h0 to h9 tint

// How hot something is, 0 to 9, by its share; -1: cold.
int tare_html_heat(uint64_t part, uint64_t whole);
// Begins a line that is so hot, with an id that links lead to (""): to be ended by "</div>".
void tare_html_code_line(int heat, const char *id, FILE *file);
// Begins a summary of what is folded, that is so hot: to be ended by "</summary>".
void tare_html_summary(int heat, FILE *file);
