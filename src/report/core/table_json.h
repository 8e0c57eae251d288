// SPDX-License-Identifier: Apache-2.0
// Writes any declared table as JSON. Internal to src/report.
#pragma once
#include "report/core/json.h"
#include "table/table.h"

#if TARE_HAVE_JSON
// The rows as an array of objects. NULL: no memory.
json_t *tare_table_json(struct tare_json *json, const struct tare_table *table, const void *source);
// One row as an object, of the columns that are on `on`; 0: of all. NULL: no memory.
json_t *tare_table_row_json(struct tare_json *json, const struct tare_table *table,
                            const void *source, const void *row, unsigned on);
// How the table is declared, for the page and for what is generated.
json_t *tare_table_declaration(struct tare_json *json, const struct tare_table *table);
#endif
