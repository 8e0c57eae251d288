// SPDX-License-Identifier: Apache-2.0
// The kernel that was counted, as text.
#include "blocks/cuda/report/tables.h"

#include <inttypes.h>

enum { OPCODES = 8 };

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static double lanes_of(const struct tare_exact_counts *counts)
{
	return counts->warps ? (double)counts->threads / (double)counts->warps : 0;
}

static void write_mix(const struct tare_exact *exact, FILE *file)
{
	bool first = true;

	fprintf(file, "  executed: %" PRIu64 " instructions by warps, %.2f of 32 lanes",
	        exact->all.warps, lanes_of(&exact->all));
	for (int i = 0; i < TARE_SASS_CLASS_COUNT; i++) {
		double percent = share(exact->by_class[i].warps, exact->all.warps);
		if (percent < 0.05)
			continue;
		fprintf(file, "%s%s %.1f %%", first ? ": " : ", ",
		        tare_sass_class_name((enum tare_sass_class)i), percent);
		first = false;
	}
	fputs("\n  by opcode (warps, lanes): ", file);
	for (size_t i = 0; i < exact->opcode_count && i < OPCODES; i++)
		fprintf(file, "%s%s %" PRIu64 " %" PRIu64, i ? ", " : "",
		        exact->opcodes[i].name ? exact->opcodes[i].name : "unknown",
		        exact->opcodes[i].counts.warps, exact->opcodes[i].counts.threads);
	fputs(exact->opcode_count > OPCODES ? ", ...\n" : "\n", file);
}

int tare_exact_text(struct tare_text *text, const struct tare_sampled_row *row)
{
	const struct tare_exact *exact = row->kernel->exact;
	FILE *file = text->file;
	char cost[TARE_EXACT_WORDS];
	int status = 0;

	if (!exact)
		return 0;
	fprintf(file, "  counted exactly: %" PRIu64 " launch%s, %" PRIu64 " warps; %s\n",
	        exact->launches, exact->launches == 1 ? "" : "es", exact->warps,
	        tare_exact_begun(exact));
	fprintf(file, "  %s\n", tare_exact_cost(exact, cost));
	if (exact->blocks) {
		write_mix(exact, file);
		status = tare_sampled_part_text(text, row, TARE_EXACT_BLOCKS);
		if (exact->uneven)
			fputs("  * of its first instruction\n", file);
		if (status > 0)
			fprintf(file, "  %d more block%s\n", status,
			        status == 1 ? "; --verbose shows it" : "s; --verbose shows them");
		if (status >= 0)
			status = tare_sampled_part_text(text, row, TARE_EXACT_LINES);
	}
	if (status >= 0)
		status = tare_sampled_part_text(text, row, TARE_EXACT_INSTRUCTIONS);
	return status < 0 ? status : 0;
}
