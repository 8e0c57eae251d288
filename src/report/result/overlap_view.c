// SPDX-License-Identifier: Apache-2.0
#include "report/result/overlap.h"

#include <string.h>

int64_t tare_overlap_number(const struct tare_cell *cell, const char *name)
{
	const struct tare_label *label = tare_labels_find(&cell->labels, name);
	return label && !label->text ? label->number : TARE_NO_CYCLES;
}

const struct tare_cell *tare_overlap_find(const struct overlap_view *view, const char *group,
                                          int64_t cycles, const char *name, const char *value)
{
	for (size_t i = 0; i < view->result->cell_count; i++) {
		const struct tare_cell *cell = &view->result->cells[i];
		if (strcmp(tare_text_label_of(cell, "group"), group) == 0 &&
		    tare_overlap_number(cell, "cycles") == cycles &&
		    strcmp(tare_text_label_of(cell, name), value) == 0)
			return cell;
	}
	return NULL;
}
