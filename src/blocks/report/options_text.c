// SPDX-License-Identifier: Apache-2.0
// Sets of build options beside each other.
#include "base/units.h"
#include "blocks/report/options.h"
#include "result/kernels.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MIXED = 4, KERNELS = 9, COLUMN = 40 };

const char *tare_blocks_told_apart_name(enum tare_blocks_told_apart told)
{
	static const char *const names[] = { [TARE_BLOCKS_NOT_KNOWN] = "n/a",
		                             [TARE_BLOCKS_FASTER] = "faster",
		                             [TARE_BLOCKS_SLOWER] = "slower",
		                             [TARE_BLOCKS_ALIKE] = "not told apart" };

	return names[told];
}

const char *tare_blocks_result_name(enum tare_blocks_result result)
{
	static const char *const names[] = { [TARE_BLOCKS_RESULT_SAME] = "same",
		                             [TARE_BLOCKS_RESULT_DIFFERS] = "differs",
		                             [TARE_BLOCKS_RESULT_VARIES] = "varies",
		                             [TARE_BLOCKS_RESULT_UNKNOWN] = "n/a" };

	return names[result];
}

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

static void write_number(uint64_t number, int width, FILE *file)
{
	if (number == UINT64_MAX)
		fprintf(file, " %*s", width, "n/a");
	else
		fprintf(file, " %*" PRIu64, width, number);
}

static uint64_t part_of(const struct tare_blocks_tally *tally, int kind)
{
	uint64_t count = 0;

	if (kind < TARE_BLOCKS_KINDS)
		return tally->kinds[kind];
	for (int i = 0; i < TARE_BLOCKS_SPACES; i++)
		count += kind == TARE_BLOCKS_KINDS ? tally->loads[i] : tally->stores[i];
	return count;
}

static const char *part_name(int kind)
{
	return kind < TARE_BLOCKS_KINDS    ? tare_blocks_kind_name((enum tare_blocks_kind)kind)
	       : kind == TARE_BLOCKS_KINDS ? "load"
	                                   : "store";
}

// The kinds of which there are most.
static void write_mix(const struct tare_blocks_tally *tally, FILE *file)
{
	uint64_t all = tare_blocks_instructions(tally);
	bool shown[TARE_BLOCKS_KINDS + 2] = { false };

	for (int i = 0; i < MIXED; i++) {
		int most = -1;
		for (int kind = 0; kind < TARE_BLOCKS_KINDS + 2; kind++)
			if (!shown[kind] && part_of(tally, kind) &&
			    (most < 0 || part_of(tally, kind) > part_of(tally, most)))
				most = kind;
		if (most < 0)
			break;
		shown[most] = true;
		fprintf(file, "%s%s %.0f %%", i ? ", " : "  ", part_name(most),
		        100.0 * (double)part_of(tally, most) / (double)all);
	}
}

static void write_time(const struct tare_blocks_trials *trials, uint32_t set,
                       const struct tare_blocks_cell *cell, FILE *file)
{
	double ns = tare_blocks_cell_ns(cell, trials->rounds);
	char time[TARE_UNIT_TEXT] = "n/a", ratio[COLUMN] = "", told[COLUMN] = "";

	if (ns > 0)
		tare_format_ns(ns, time);
	if (set > 0 && cell->ratio.known)
		snprintf(ratio, sizeof ratio, "%.3f (%.3f to %.3f)", cell->ratio.value,
		         cell->ratio.low, cell->ratio.high);
	if (set > 0)
		snprintf(told, sizeof told, "%s%s", tare_blocks_told_apart_name(cell->told),
		         cell->best ? ", best" : "");
	// Bytes that continue a sign ("µ") take no column.
	int more = 0;
	for (const char *at = time; *at; at++)
		more += ((unsigned char)*at & 0xc0) == 0x80;
	fprintf(file, "  %c %*s  %-24s %-16s", tare_kernel_set_letter(set), 10 + more, time, ratio,
	        told);
}

static void write_cell(const struct tare_blocks_trials *trials, uint32_t set, size_t name,
                       FILE *file)
{
	const struct tare_blocks_cell *cell = &trials->sets[set].cells[name];

	write_time(trials, set, cell, file);
	if (name > 0) {
		write_number(cell->multiple, 8, file);
		write_number(cell->sub_group, 9, file);
		write_number(cell->private_bytes, 8, file);
		write_number(cell->spill_bytes, 8, file);
		write_number(cell->counted ? tare_blocks_instructions(&cell->counted->tally)
		                           : UINT64_MAX,
		             15, file);
		if (cell->counted)
			write_mix(&cell->counted->tally, file);
	}
	fputc('\n', file);
}

static void write_best(const struct tare_blocks_trials *trials, size_t name, FILE *file)
{
	uint32_t count = 0, known = 0;
	bool unchanged = false;

	for (uint32_t i = 1; i < trials->set_count; i++) {
		const struct tare_blocks_cell *cell = &trials->sets[i].cells[name];
		unchanged |= cell->unchanged;
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
	else if (unchanged)
		fputs("  best: n/a, because its program is loaded as a binary, of which options "
		      "change "
		      "nothing: remove the program's cache of kernels\n",
		      file);
	else
		fputs("  best: n/a, because no set has times to compare\n", file);
}

static void write_kernel(const struct tare_blocks_trials *trials, size_t name, FILE *file)
{
	if (name == 0)
		fputs("\n  all kernels together, of each run\n", file);
	else
		fprintf(file, "\n  kernel %s, of each launch\n", trials->names[name]);
	fprintf(file, "    %10s  %-24s %-16s", "time", "of A's (interval)", "");
	if (name > 0)
		fprintf(file, " %8s %9s %8s %8s %15s", "multiple", "sub-group", "private",
		        "spilled", "instructions");
	fputc('\n', file);
	for (uint32_t i = 0; i < trials->set_count; i++)
		if (trials->sets[i].why.code == 0)
			write_cell(trials, i, name, file);
	write_best(trials, name, file);
}

void tare_blocks_options_text(const struct tare_blocks_trials *trials, bool verbose, FILE *file)
{
	size_t launched = 0, shown = 0;

	fprintf(file,
	        "\noptions compared, by device times of the driver: %u round%s, in each of which "
	        "every set was run once\n",
	        trials->rounds, trials->rounds == 1 ? "" : "s");
	if (trials->stopped)
		fputs("  a signal ended the runs before all were done\n", file);
	write_sets(trials, file);
	for (size_t name = 1; name < trials->name_count; name++)
		launched += tare_blocks_was_launched(trials, name);
	for (size_t name = launched == 1; name < trials->name_count; name++) {
		if (!tare_blocks_was_launched(trials, name))
			continue;
		if (verbose || shown < KERNELS)
			write_kernel(trials, name, file);
		shown++;
	}
	if (launched == 0)
		fputs(
		    "  no launch of an OpenCL or Level Zero kernel was recorded: options of other "
		    "APIs are not changed\n",
		    file);
	if (!verbose && shown > KERNELS)
		fprintf(file, "  %zu more kernels; --verbose shows them\n", shown - KERNELS);
	if (trials->rounds >= TARE_BLOCKS_LEAST_ROUNDS)
		fprintf(file,
		        "\n  An interval is from the least to the most of the rounds' ratios; it "
		        "holds the median with %.1f %%\n  confidence. A set is faster or slower "
		        "where that leaves 1 out.\n",
		        100 * (1 - exp2(1.0 - trials->rounds)));
	else
		fprintf(file, "\n  No set is told apart by fewer than %d rounds.\n",
		        TARE_BLOCKS_LEAST_ROUNDS);
}
