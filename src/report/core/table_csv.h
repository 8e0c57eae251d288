// SPDX-License-Identifier: Apache-2.0
// Writes any declared table as CSV (RFC 4180); what is not known is empty. Internal to src/report
// and who writes a table of its own.
#pragma once
#include "report/core/table_text.h"

// A row that is being written.
struct tare_csv_row {
	FILE *file;
	bool begun;
};
void tare_csv_put_text(struct tare_csv_row *row, const char *text); // NULL: empty
void tare_csv_put_integer(struct tare_csv_row *row, int64_t value);
void tare_csv_put_number(struct tare_csv_row *row, double value); // empty when it is not finite
void tare_csv_end(struct tare_csv_row *row);
// The ids of the table's columns that are on `on`, 0: of all; of one that is there several times,
// its titles. And the values of a row.
void tare_csv_put_ids(struct tare_csv_row *row, const struct tare_table *table, const void *source,
                      unsigned on);
void tare_csv_put_values(struct tare_csv_row *row, const struct tare_table *table,
                         const void *source, const void *of, unsigned on);
// The rows that the part keeps, without a line of ids.
void tare_csv_put_rows(FILE *file, const struct tare_table *table, const void *source,
                       const struct tare_table_part *part);
