// SPDX-License-Identifier: Apache-2.0
// Cells of tables whose rows are sizes.
#include "report/result/pivot.h"
#include "base/units.h"

int64_t tare_pivot_bytes(const struct tare_cell *cell)
{
	const struct tare_label *label = tare_labels_find(&cell->labels, "bytes");
	return label && !label->text ? label->number : -1;
}

const char *tare_pivot_rate(const struct tare_cell *cell, char text[TARE_PIVOT_TEXT])
{
	char number[TARE_UNIT_TEXT];

	if (cell && cell->absent)
		return "n/a";
	if (!cell || !cell->rate.present)
		return "–";
	if (cell->verified == TARE_WRONG)
		return "wrong";
	snprintf(text, TARE_PIVOT_TEXT, "%s%s",
	         tare_format_significant(cell->rate.median, 3, number), cell->converged ? "" : "*");
	return text;
}
