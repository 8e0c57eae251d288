// SPDX-License-Identifier: Apache-2.0
// Cells of tables whose rows are sizes.
#include "report/result/pivot.h"

int64_t tare_pivot_bytes(const struct tare_cell *cell)
{
	const struct tare_label *label = tare_labels_find(&cell->labels, "bytes");
	return label && !label->text ? label->number : -1;
}
