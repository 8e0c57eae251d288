// SPDX-License-Identifier: Apache-2.0
// Writes any declared table as JSON. Internal to src/report.
#pragma once
#include "report/core/json.h"
#include "report/core/table_text.h"
#include "table/table.h"

// Writes how the tables of a list (ended by NULL) are declared, as a JSON array
// (docs/adding-a-column.md). Returns 0, -ENOMEM, or -ENOSYS without JSON.
int tare_table_declarations(const struct tare_table *const *tables, FILE *file);

#if TARE_HAVE_JSON
// The rows as an array of objects. NULL: no memory.
json_t *tare_table_json(struct tare_json *json, const struct tare_table *table, const void *source);
// One row as an object, of the columns that are on `on`; 0: of all. NULL: no memory.
json_t *tare_table_row_json(struct tare_json *json, const struct tare_table *table,
                            const void *source, const void *row, unsigned on);
// The first row as an object; null: there is none. NULL: no memory.
json_t *tare_table_object_json(struct tare_json *json, const struct tare_table *table,
                               const void *source);
// A part of a table as it is shown: "id" and "title" of the table, "subject" (what the text calls
// the first column, where that says what the part is about) and "rows". A column that is there
// several times is a list, whose "titles" the part has. "marks" of a row has what else is to be
// said of figures: "not_converged", or why there is none.
json_t *tare_table_shown_json(struct tare_json *json, const struct tare_table_shown *shown);
#endif
