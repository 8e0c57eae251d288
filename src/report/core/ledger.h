// SPDX-License-Identifier: Apache-2.0
// A ledger as declared tables. Internal to src/report.
#pragma once
#include "report/core/figures.h"
#include "table/table.h"

// As text: its categories with bars, `all` or those that are not 0, and the remarks on it; a bar of
// the share `largest` is the longest. And the states of host and device against each other.
void tare_ledger_text(struct tare_text *text, const struct tare_ledger *ledger, double largest,
                      bool all);
void tare_ledger_states_text(struct tare_text *text, const struct tare_ledger *ledger);
// The share of its largest category.
double tare_ledger_largest(const struct tare_ledger *ledger);

// Of struct tare_ledger: the ledger itself, its categories, and what occurred together.
extern const struct tare_table tare_ledger_table, tare_ledger_parts_table, tare_ledger_matrix_table;
