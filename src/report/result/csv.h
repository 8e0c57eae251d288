// SPDX-License-Identifier: Apache-2.0
// How cells are written as CSV. Internal to src/report.
#pragma once
#include "table/table.h"

// Its rows are the cells of a struct tare_result; a column's title is its path in a cell's JSON.
extern const struct tare_table tare_csv_cells;
