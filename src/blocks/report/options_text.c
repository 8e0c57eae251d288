// SPDX-License-Identifier: Apache-2.0
// Sets of build options beside each other.
#include "blocks/report/options.h"
#include "blocks/report/tables.h"
#include "report/core/table_text.h"
#include "result/kernels.h"

#include <math.h>

enum { KERNELS = 9 };

// ---- the sets

static void write_result(const struct tare_blocks_set *set, FILE *file)
{
	if (set->end == TARE_BLOCKS_RESULT_DIFFERS)
		fprintf(file,
		        "     hazard: the program ends otherwise with these options (status %d)\n",
		        set->given.status);
	if (set->read == TARE_BLOCKS_RESULT_DIFFERS)
		fputs("     hazard: what the program reads back from the device differs with these "
		      "options\n",
		      file);
	if (set->output == TARE_BLOCKS_RESULT_DIFFERS)
		fputs("     hazard: what the program prints differs with these options\n", file);
	if (set->output == TARE_BLOCKS_RESULT_VARIES && set->read != TARE_BLOCKS_RESULT_DIFFERS &&
	    set->read != TARE_BLOCKS_RESULT_SAME)
		fputs("     whether results differ is not known: what the program prints differs "
		      "from run to run\n",
		      file);
}

static void write_sets(const struct tare_blocks_trials *trials, FILE *file)
{
	for (uint32_t i = 0; i < trials->set_count; i++) {
		const struct tare_blocks_set *set = &trials->sets[i];
		if (i == 0)
			fprintf(file, "  A  the program's own options\n");
		else
			fprintf(file, "  %c  %s\n", tare_kernel_set_letter(i),
			        set->options[0] ? set->options : "'' (none)");
		if (set->why.code)
			fprintf(file, "     n/a, because %s\n", set->why.message);
		else if (i > 0)
			write_result(set, file);
	}
}

// ---- a kernel

static void write_best(const struct tare_blocks_trials *trials, size_t name, FILE *file)
{
	uint32_t count = 0, known = 0;
	bool unchanged = false, of_parts = false;

	for (uint32_t i = 1; i < trials->set_count; i++) {
		const struct tare_blocks_cell *cell = &trials->sets[i].cells[name];
		unchanged |= cell->unchanged;
		of_parts |= cell->of_parts;
		known += cell->told != TARE_BLOCKS_NOT_KNOWN;
		if (!cell->best)
			continue;
		fprintf(file, "%s%c", count ? " or " : "  best: ", tare_kernel_set_letter(i));
		count++;
	}
	if (count > 1)
		fputs(", which are not told apart", file);
	if (count)
		fputc('\n', file);
	else if (known)
		fputs("  best: the program's own; no set is faster that can be told from chance\n",
		      file);
	else if (of_parts)
		fputs("  best: n/a, because its module is of several parts, which keep their own "
		      "flags: no set was used\n",
		      file);
	else if (unchanged)
		fputs("  best: n/a, because its program is loaded as a binary, of which options "
		      "change "
		      "nothing: remove the program's cache of kernels\n",
		      file);
	else
		fputs("  best: n/a, because no set has times to compare\n", file);
}

static bool has_figures(const void *name, const void *row)
{
	(void)name;
	return ((const struct tare_blocks_cell_row *)row)->set->why.code == 0;
}

static void write_kernel(struct tare_text *text, const struct tare_blocks_name_row *row)
{
	const struct tare_table_part part = {
		.on = TARE_ON_TEXT | (row->name ? TARE_BLOCKS_ON_KERNEL : 0),
		.flush = true,
		.indent = 2,
		.fold = true,
		.keep = has_figures,
	};

	if (row->name == 0)
		fputs("\n  all kernels together, of each run\n", text->file);
	else
		fprintf(text->file, "\n  kernel %s, of each launch\n", row->of->names[row->name]);
	tare_table_text(text, &tare_blocks_cells_table, row, &part);
	write_best(row->of, row->name, text->file);
}

void tare_blocks_options_text(struct tare_text *text, const struct tare_blocks_trial_rows *rows)
{
	const struct tare_blocks_trials *trials = rows->of;
	bool verbose = text->options->verbosity > 0;
	FILE *file = text->file;
	size_t all = rows->name_count && rows->names[0].name == 0, shown = 0;
	size_t launched = rows->name_count - all;
	bool compares = false;

	for (uint32_t i = 1; i < trials->set_count; i++)
		compares |= trials->sets[i].why.code == 0;
	if (compares)
		fprintf(file,
		        "\noptions compared, by device times of the driver: %u round%s, in each "
		        "of which every set was run once\n",
		        trials->rounds, trials->rounds == 1 ? "" : "s");
	else
		fputs("\noptions: no set could be run, so that there is nothing to compare\n",
		      file);
	if (trials->stopped)
		fputs("  a signal ended the runs before all were done\n", file);
	write_sets(trials, file);
	if (!compares)
		return;
	// All together are the only one.
	for (size_t i = launched == 1 ? all : 0; i < rows->name_count; i++, shown++)
		if (verbose || shown < KERNELS)
			write_kernel(text, &rows->names[i]);
	if (launched == 0)
		fputs(
		    "  no launch of an OpenCL or Level Zero kernel was recorded: options of other "
		    "APIs are not changed\n",
		    file);
	if (!verbose && shown > KERNELS)
		fprintf(file, "  %zu more kernel%s\n", shown - KERNELS,
		        shown - KERNELS == 1 ? "; --verbose shows it" : "s; --verbose shows them");
	if (trials->rounds >= TARE_BLOCKS_LEAST_ROUNDS)
		fprintf(file,
		        "\n  An interval is from the least to the most of the rounds' ratios; it "
		        "holds the median with %.1f %% confidence. A set is faster or slower "
		        "where that leaves 1 out.\n",
		        100 * (1 - exp2(1.0 - trials->rounds)));
	else
		fprintf(file, "\n  No set is told apart by fewer than %d rounds.\n",
		        TARE_BLOCKS_LEAST_ROUNDS);
}
