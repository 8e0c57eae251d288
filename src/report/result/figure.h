// SPDX-License-Identifier: Apache-2.0
// Figures of a result as values of tables. Internal to src/report.
#pragma once
#include "result/result.h"
#include "table/table.h"

// A number of the cell: its median, its rate, either in some unit. `none` is why there is nothing
// where there is no cell (NULL). Data that came out wrong has no figure; what did not converge is
// not sure.
struct tare_cell_value tare_figure(const struct tare_cell *cell, double number,
                                   enum tare_cell_absence none);
// The cell's median, and its rate; one without a rate has nothing.
struct tare_cell_value tare_figure_median(const struct tare_cell *cell,
                                          enum tare_cell_absence none);
struct tare_cell_value tare_figure_rate(const struct tare_cell *cell);
// Half the interval of its median, a part of 1 of that; NULL has nothing.
struct tare_cell_value tare_figure_spread(const struct tare_cell *cell);
// Whether it has a figure at all; NULL has none.
bool tare_has_figure(const struct tare_cell *cell);
// Its median in ns.
double tare_figure_ns(const struct tare_cell *cell);
