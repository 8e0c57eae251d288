// SPDX-License-Identifier: Apache-2.0
// Instructions by what they are, as a declared table.
#include "blocks/report/tables.h"

static const char *const widths[TARE_BLOCKS_WIDTHS + 1] = { "fp16", "fp32", "fp64" };

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
