// SPDX-License-Identifier: Apache-2.0
#include "report/result/figure.h"

struct tare_cell_value tare_figure(const struct tare_cell *cell, double number,
                                   enum tare_cell_absence none)
{
	struct tare_cell_value value;

	if (!cell)
		return tare_absent(none);
	if (cell->absent || !isfinite(number))
		return tare_absent(TARE_NOT_MEASURED);
	if (cell->verified == TARE_WRONG)
		return tare_absent(TARE_WRONG_DATA);
	value = tare_number(number, TARE_NOT_MEASURED);
	value.unsure = !cell->converged && !tare_cell_is_model(cell);
	return value;
}

struct tare_cell_value tare_figure_median(const struct tare_cell *cell, enum tare_cell_absence none)
{
	return tare_figure(cell, cell ? cell->summary.median : NAN, none);
}

struct tare_cell_value tare_figure_rate(const struct tare_cell *cell)
{
	bool has = cell && (cell->absent || cell->rate.present);

	return tare_figure(has ? cell : NULL, has ? cell->rate.median : NAN, TARE_NOT_KNOWN);
}

struct tare_cell_value tare_figure_spread(const struct tare_cell *cell)
{
	return tare_number(cell && cell->summary.n ? tare_cell_spread(cell) : NAN, TARE_NOT_KNOWN);
}

bool tare_has_figure(const struct tare_cell *cell)
{
	return cell && !cell->absent && isfinite(cell->summary.median);
}

double tare_figure_ns(const struct tare_cell *cell)
{
	return cell->summary.median * tare_cell_unit_ns(cell);
}
