// SPDX-License-Identifier: Apache-2.0
// The kernel that was counted, as text.
#include "blocks/cuda/report/write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { ROWS = 8, TEXT = 700, WORDS = TARE_SAMPLED_WORDS };

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
	for (size_t i = 0; i < exact->opcode_count && i < ROWS; i++)
		fprintf(file, "%s%s %" PRIu64 " %" PRIu64, i ? ", " : "",
		        exact->opcodes[i].name ? exact->opcodes[i].name : "unknown",
		        exact->opcodes[i].counts.warps, exact->opcodes[i].counts.threads);
	fputs(exact->opcode_count > ROWS ? ", ...\n" : "\n", file);
}

static int write_blocks(const struct tare_sampled_kernel *kernel, bool verbose, FILE *file)
{
	const struct tare_exact *exact = kernel->exact;
	size_t count;
	uint32_t *order = tare_exact_order(kernel, true, &count);

	if (!order)
		return -ENOMEM;
	fprintf(file, "\n  %5s %13s %8s %16s %6s  %s\n", "block", "instructions", "executed",
	        "executions", "lanes", "line");
	for (size_t i = 0; i < count && (verbose || i < ROWS); i++) {
		const struct tare_sass_block *block = &kernel->split.at[order[i]];
		const struct tare_exact_block *counted = &exact->blocks[order[i]];
		char line[WORDS];
		fprintf(file,
		        "  %5" PRIu32 " %6" PRIx64 "-%-6" PRIx64 " %6.1f %% %16" PRIu64
		        "%s %5.2f  %s\n",
		        order[i], tare_sampled_pc(kernel, block->first),
		        tare_sampled_pc(kernel, block->first + block->count - 1),
		        share(counted->all.warps, exact->all.warps), counted->executions,
		        counted->even ? " " : "*", lanes_of(&counted->all),
		        tare_sampled_place(kernel, block->first, block->count, line));
	}
	if (exact->uneven)
		fputs("  * of its first instruction\n", file);
	if (!verbose && count > ROWS)
		fprintf(file, "  %zu more blocks; --verbose shows them\n", count - ROWS);
	free(order);
	return 0;
}

static void write_lines(const struct tare_sampled_kernel *kernel, bool verbose, FILE *file)
{
	const struct tare_exact *exact = kernel->exact;

	if (!exact->line_count)
		return;
	fprintf(file, "\n  %8s %16s %6s  %s\n", "executed", "instructions", "lanes", "line");
	for (size_t i = 0; i < exact->line_count && (verbose || i < ROWS); i++)
		fprintf(file, "  %6.1f %% %16" PRIu64 " %6.2f  %s:%" PRIu32 "\n",
		        share(exact->lines[i].counts.warps, exact->all.warps),
		        exact->lines[i].counts.warps, lanes_of(&exact->lines[i].counts),
		        tare_sampled_file(kernel, exact->lines[i].file), exact->lines[i].line);
}

static int write_instructions(const struct tare_sampled_kernel *kernel, bool verbose, FILE *file)
{
	const struct tare_exact *exact = kernel->exact;
	size_t count;
	uint32_t *order = tare_exact_order(kernel, false, &count);

	if (!order)
		return -ENOMEM;
	fprintf(file, "\n  %16s %6s %6s %-20s %s\n", "executions", "lanes", "pc", "line",
	        "instruction");
	for (size_t i = 0; i < count && (verbose || i < ROWS); i++) {
		char text[TEXT], line[WORDS];
		tare_sampled_instruction(kernel, order[i], text, sizeof text);
		fprintf(file, "  %16" PRIu64 " %6.2f %6" PRIx64 " %-20s %s\n",
		        exact->at[order[i]].warps, lanes_of(&exact->at[order[i]]),
		        tare_sampled_pc(kernel, order[i]),
		        tare_sampled_place(kernel, order[i], 1, line), text);
	}
	free(order);
	return 0;
}

int tare_exact_text(const struct tare_sampled_kernel *kernel, bool verbose, FILE *file)
{
	const struct tare_exact *exact = kernel->exact;
	char text[TARE_EXACT_WORDS];

	if (!exact)
		return 0;
	fprintf(file, "  counted exactly: %" PRIu64 " launch%s, %" PRIu64 " warps; %s\n",
	        exact->launches, exact->launches == 1 ? "" : "es", exact->warps,
	        tare_exact_begun(exact));
	fprintf(file, "  %s\n", tare_exact_cost(exact, text));
	int status = 0;
	if (exact->blocks) {
		write_mix(exact, file);
		status = write_blocks(kernel, verbose, file);
		write_lines(kernel, verbose, file);
	}
	return status == 0 ? write_instructions(kernel, verbose, file) : status;
}
