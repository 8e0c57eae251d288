// SPDX-License-Identifier: Apache-2.0
// Sets of build options compared, as declared tables.
#include "blocks/report/tables.h"

static const char *const results[] = { "same", "differs", "varies", "n/a", NULL };
static const char *const told_apart[] = { "faster", "slower", "not told apart", "n/a", NULL };

#define TOLD(value) tare_if((value) != UINT64_MAX, tare_unsigned(value), TARE_NOT_TOLD)
#define CELL row->cell

#define SOURCE struct tare_blocks_cell_row
#define SOURCE_NAME cell
#define ROW double
#define TABLE rounds
#define COLUMNS "blocks/report/tables/rounds.def"
#include "table/declare.h"
TARE_ROWS(rounds, "rounds", "Rounds", "a round", cell->rounds, cell->cell->ns);
#undef SOURCE
#undef SOURCE_NAME

static bool has_ratio(const void *name, const void *row)
{
	(void)name;
	return ((const struct tare_blocks_cell_row *)row)->cell->ratio.known;
}

static const struct tare_column_group ratio = {
	"ratio", NULL, has_ratio, "of the rounds' times to those with the program's own options"
};

#define SOURCE struct tare_blocks_name_row
#define SOURCE_NAME name
#define ROW struct tare_blocks_cell_row
#define TABLE cells
#define COLUMNS "blocks/report/tables/cells.def"
#include "table/declare.h"
TARE_ROWS(cells, "options_of_kernel", "A kernel with sets of build options",
          "a set of build options", name->of->set_count, name->cells);
#undef SOURCE
#undef SOURCE_NAME

#define SOURCE struct tare_blocks_trials
#define SOURCE_NAME trials
#define ROW struct tare_blocks_set
#define TABLE sets
#define COLUMNS "blocks/report/tables/sets.def"
#include "table/declare.h"
TARE_ROWS(sets, "sets", "Sets of build options", "a set", trials->set_count, trials->sets);
#undef SOURCE
#undef SOURCE_NAME

#define SOURCE struct tare_blocks_trial_rows
#define SOURCE_NAME trials
#define ROW struct tare_blocks_name_row
#define TABLE names
#define COLUMNS "blocks/report/tables/names.def"
#include "table/declare.h"
TARE_ROWS(names, "kernels_by_options", "Kernels by build options", "a kernel", trials->name_count,
          trials->names);
#define ROW struct tare_blocks_trial_rows
#define TABLE options
#define COLUMNS "blocks/report/tables/options.def"
#include "table/declare.h"
TARE_TABLE(, tare_blocks_options_table, "options", "Build options compared", "a comparison", NULL,
           struct tare_blocks_trial_rows, trials, 1, trials, options_columns);
