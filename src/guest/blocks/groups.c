// SPDX-License-Identifier: Apache-2.0
// Work-groups beside the width of the device.
#include "guest/blocks/files.h"

enum { ENOUGH_ITEMS = 64, USUAL_MOST = 1024 };

uint64_t blocks_width(const struct blocks_kernel *row)
{
	bool asked = row->sub_group != BLOCKS_NOT_TOLD && row->sub_group != 0;
	uint64_t width = asked ? row->sub_group : row->multiple;

	return row->facts && width != BLOCKS_NOT_TOLD ? width : 0;
}

void blocks_add_lanes(struct blocks_kernel *row, uint64_t items, uint64_t groups, uint64_t in_group)
{
	uint64_t width = blocks_width(row);

	if (width == 0)
		return;
	__atomic_fetch_add(&row->lanes_used, items, __ATOMIC_RELAXED);
	__atomic_fetch_add(&row->lanes_offered, groups * ((in_group + width - 1) / width * width),
	                   __ATOMIC_RELAXED);
}

uint64_t blocks_filling(uint64_t width, uint64_t items, uint64_t others, uint64_t most)
{
	uint64_t chosen = 0;

	if (width == 0 || others == 0)
		return 0;
	if (most == BLOCKS_NOT_TOLD || most == 0)
		most = USUAL_MOST;
	for (uint64_t each = 1; each <= items && each * others <= most; each++) {
		if (items % each != 0 || each * others % width != 0)
			continue;
		chosen = each;
		if (each * others >= ENOUGH_ITEMS)
			break;
	}
	return chosen;
}
