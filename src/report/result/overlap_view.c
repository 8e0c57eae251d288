// SPDX-License-Identifier: Apache-2.0
#include "report/result/overlap.h"

#include <string.h>

const struct tare_cell *tare_overlap_find(const struct overlap_view *view, const char *group,
                                          int64_t cycles, const char *name, const char *value)
{
	for (size_t i = 0; i < view->result->cell_count; i++) {
		const struct tare_cell *cell = &view->result->cells[i];
		if (tare_cell_has_text(cell, "group", group) &&
		    tare_cell_number(cell, "cycles") == cycles &&
		    tare_cell_has_text(cell, name, value))
			return cell;
	}
	return NULL;
}
