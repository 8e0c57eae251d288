// SPDX-License-Identifier: Apache-2.0
// A ledger as declared tables. Internal to src/report.
#pragma once
#include "report/core/run.h"
#include "table/table.h"

// Of struct tare_ledger: the ledger itself, its categories, and what occurred together.
extern const struct tare_table tare_ledger_table, tare_ledger_parts_table, tare_ledger_matrix_table;
