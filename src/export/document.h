// SPDX-License-Identifier: Apache-2.0
// A declared document, whose JSON has tables within rows (table/table.h), as tables of an export.
// Each list of rows is a table named by the keys that lead to it ("kernels_blocks"), whose rows
// have a number (`row`) and that of the row that they are in (`parent`). An object is columns of
// the row that has it ("total_instructions"); a map is rows of a key and its values; a list of
// values is rows of `position` and `value`.
#pragma once
#include "export/export.h"
#include "table/table.h"

struct tare_export_document {
	const struct tare_table *table; // one row
	const void *source;
	const char *name; // of the table of that row
};
// An SQLite database at `path`, as tare_export_sqlite writes it.
int tare_export_document_sqlite(const struct tare_export_document *document, const char *path,
                                struct tare_export_counts *counts, struct tare_error *error);
