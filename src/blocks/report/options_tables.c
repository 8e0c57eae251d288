// SPDX-License-Identifier: Apache-2.0
// Sets of build options compared, as declared tables.
#include "blocks/report/tables.h"

static const char *const results[] = {
	[TARE_BLOCKS_RESULT_SAME] = "same",
	[TARE_BLOCKS_RESULT_DIFFERS] = "differs",
	[TARE_BLOCKS_RESULT_VARIES] = "varies",
	[TARE_BLOCKS_RESULT_UNKNOWN] = "n/a",
	NULL,
};
static const char *const told_apart[] = {
	[TARE_BLOCKS_NOT_KNOWN] = "n/a",
	[TARE_BLOCKS_FASTER] = "faster",
	[TARE_BLOCKS_SLOWER] = "slower",
	[TARE_BLOCKS_ALIKE] = "not told apart",
	NULL,
};

#define CELL row->cell
#define COUNTED(of)                                                                                \
	(CELL->counted ? tare_unsigned(of(&CELL->counted->tally)) : tare_absent(TARE_NOT_MEASURED))
#define OF_COUNTED(member)                                                                         \
	(CELL->counted ? tare_unsigned(CELL->counted->member) : tare_absent(TARE_NOT_MEASURED))
#define RATIO(member)                                                                              \
	tare_if(CELL->ratio.known, tare_number(CELL->ratio.member, TARE_NOT_KNOWN), TARE_NOT_KNOWN)

static struct tare_cell_value median_of(const struct tare_blocks_cell_row *row)
{
	double ns = tare_blocks_cell_ns(row->cell, row->rounds);

	return tare_if(ns > 0, tare_number(ns, TARE_NOT_MEASURED), TARE_NOT_MEASURED);
}

static bool is_own(const struct tare_blocks_cell_row *row)
{
	return !row->set->options;
}

static bool interval_cell(const struct tare_cell_text *cell)
{
	const struct tare_blocks_cell_row *row = cell->row;
	const struct tare_blocks_ratio *ratio = &row->cell->ratio;

	if (!is_own(row) && ratio->known)
		snprintf(cell->text, cell->size, "%.3f (%.3f to %.3f)", ratio->value, ratio->low,
		         ratio->high);
	return true;
}

static bool told_cell(const struct tare_cell_text *cell)
{
	const struct tare_blocks_cell_row *row = cell->row;

	if (!is_own(row))
		snprintf(cell->text, cell->size, "%s%s", told_apart[row->cell->told],
		         row->cell->best ? ", best" : "");
	return true;
}

// The kinds of which there are most.
static bool mix_cell(const struct tare_cell_text *cell)
{
	enum { MIXED = 4 };
	const struct tare_blocks_kernel *counted =
	    ((const struct tare_blocks_cell_row *)cell->row)->cell->counted;
	bool shown[TARE_BLOCKS_PARTS] = { false };
	size_t length = 0;

	for (int i = 0; counted && i < MIXED; i++) {
		const struct tare_blocks_tally *tally = &counted->tally;
		int most = -1;
		for (int part = 0; part < TARE_BLOCKS_PARTS; part++)
			if (!shown[part] && tare_blocks_part(tally, part) &&
			    (most < 0 ||
			     tare_blocks_part(tally, part) > tare_blocks_part(tally, most)))
				most = part;
		if (most < 0)
			break;
		shown[most] = true;
		length += (size_t)snprintf(cell->text + length, cell->size - length, "%s%s %.0f %%",
		                           i ? ", " : "", tare_blocks_part_name(most),
		                           100.0 * (double)tare_blocks_part(tally, most) /
		                               (double)tare_blocks_instructions(tally));
	}
	return true;
}

static const char *access_title(char text[64], size_t at)
{
	snprintf(text, 64, "%s_%s", tare_blocks_space_names[at / 2], at % 2 ? "stores" : "loads");
	return text;
}

static struct tare_cell_value access_count(const struct tare_blocks_kernel *counted, size_t at)
{
	if (!counted)
		return tare_absent(TARE_NOT_MEASURED);
	return tare_unsigned((at % 2 ? counted->tally.stores : counted->tally.loads)[at / 2]);
}

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
TARE_TABLE(, tare_blocks_cells_table, "options_of_kernel", "A kernel with sets of build options",
           "a set of build options", NULL, struct tare_blocks_name_row, name, name->of->set_count,
           &name->cells[index], cells_columns);
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
#define ROW struct tare_blocks_cell_row
#define TABLE options_csv
#define COLUMNS "blocks/report/tables/options_csv.def"
#include "table/declare.h"
TARE_TABLE(, tare_blocks_options_csv_table, "options_csv", "Kernels by build options, as CSV",
           "a kernel with a set of options", NULL, struct tare_blocks_trial_rows, trials,
           trials->name_count * trials->of->set_count,
           &trials->names[index / trials->of->set_count].cells[index % trials->of->set_count],
           options_csv_columns);
#define ROW struct tare_blocks_trial_rows
#define TABLE options
#define COLUMNS "blocks/report/tables/options.def"
#include "table/declare.h"
TARE_TABLE(, tare_blocks_options_table, "options", "Build options compared", "a comparison", NULL,
           struct tare_blocks_trial_rows, trials, 1, trials, options_columns);
