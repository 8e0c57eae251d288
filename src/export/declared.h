// SPDX-License-Identifier: Apache-2.0
// Declared tables, of the report (report/tables/tables.h) and of the recording (own.h), as tables
// of an export.
#pragma once
#include "export/rows.h"

// The table of a declared one: of its columns those that CSV and SQLite can keep. `slot` is the
// caller's number for it, always the same. `has` is NULL for one of the report, which is called as
// the declared one behind "report_".
const struct export_table *export_declared_table(size_t slot, const struct tare_table *declared,
                                                 bool (*has)(struct rows *, const void *));

// The type of a column.
enum export_type export_type_of(const struct tare_column *column);
// Writes the value of a column; `text` stays until the row is written.
enum { EXPORT_VALUE_TEXT = 72 };
void export_put_value(struct rows *rows, const struct tare_column *column,
                      const struct tare_cell_value *value, char text[EXPORT_VALUE_TEXT]);
