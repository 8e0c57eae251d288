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
