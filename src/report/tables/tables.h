// SPDX-License-Identifier: Apache-2.0
// The declared tables of a recorded run; their source is a struct tare_report.
#pragma once
#include "report/core/figures.h"
#include "table/table.h"

// All that JSON, CSV, SQLite and the page write, in this order; ended by NULL.
extern const struct tare_table *const tare_run_tables[];
extern const struct tare_table tare_table_tasks;

// Writes how all tables are declared, as a JSON array (docs/adding-a-column.md). Returns 0,
// -ENOMEM, or -ENOSYS without JSON.
int tare_run_declarations(FILE *file);

// ---- as text: all return 0 or -ENOMEM

// Computing tasks: how long they took, how they fill the device and, with -v, their sizes and what
// the driver says of them.
int tare_tasks_text(const struct tare_text *text, const struct tare_report *run);
