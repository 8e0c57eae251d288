// SPDX-License-Identifier: Apache-2.0
// Instructions by what they are, as a declared table.
#include "blocks/report/tables.h"

#define SOURCE uint64_t
#define SOURCE_NAME counts
#define ROW uint64_t
#define TABLE kinds
#define COLUMNS "blocks/report/tables/kinds.def"
#include "table/declare.h"
TARE_ROWS(kinds, "kinds", "Instructions by kind", "a kind", TARE_BLOCKS_KINDS, counts);
#define ROW uint64_t
#define TABLE spaces
#define COLUMNS "blocks/report/tables/spaces.def"
#include "table/declare.h"
TARE_ROWS(spaces, "spaces", "By the memory's space", "a space of memory", TARE_BLOCKS_SPACES,
          counts);
#define ROW uint64_t
#define TABLE widths
#define COLUMNS "blocks/report/tables/widths.def"
#include "table/declare.h"
TARE_ROWS(widths, "widths", "Floating-point operations by width", "a width", TARE_BLOCKS_WIDTHS,
          counts);
#undef SOURCE
#undef SOURCE_NAME

#define SOURCE struct tare_blocks_tally
#define SOURCE_NAME tally
#define ROW struct tare_blocks_tally
#define TABLE tally
#define COLUMNS "blocks/report/tables/tally.def"
#include "table/declare.h"
TARE_TABLE(, tare_blocks_tally_table, "tally", "Instructions", "what was executed", NULL,
           struct tare_blocks_tally, tally, 1, tally, tally_columns);
#undef SOURCE
#undef SOURCE_NAME

// ---- of a text: loads and stores

#define SPACE (row - tally->loads)
static bool is_accessed(const void *source, const void *row)
{
	const struct tare_blocks_tally *tally = source;
	const uint64_t *loads = row;

	return *loads || tally->stores[loads - tally->loads];
}

#define SOURCE struct tare_blocks_tally
#define SOURCE_NAME tally
#define ROW uint64_t
#define TABLE memory
#define COLUMNS "blocks/report/tables/memory.def"
#include "table/declare.h"
TARE_TABLE(, tare_blocks_memory_table, "memory", "Loads and stores", "a space of memory", NULL,
           struct tare_blocks_tally, tally, TARE_BLOCKS_SPACES, &tally->loads[index],
           memory_columns, .keep = is_accessed);
#undef SOURCE
#undef SOURCE_NAME
