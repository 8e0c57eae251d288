// SPDX-License-Identifier: Apache-2.0
#include "blocks/findings/findings.h"

void tare_blocks_place_add(struct tare_blocks_finding *finding, uint32_t file, uint32_t line,
                           uint64_t cost)
{
	if (!line || !cost)
		return;
	for (uint32_t i = 0; i < finding->place_count; i++)
		if (finding->places[i].file == file && finding->places[i].line == line) {
			finding->places[i].cost += cost;
			return;
		}
	if (finding->place_count < TARE_BLOCKS_LINES_KEPT)
		finding->places[finding->place_count++] =
		    (struct tare_blocks_place_of){ file, line, cost };
}
