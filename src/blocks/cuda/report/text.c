// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"
#include "blocks/cuda/report/write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS = 10, ROWS = 8, BAR = 30, NAME = 96, TEXT = 700, WORDS = TARE_SAMPLED_WORDS };

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void write_head(const struct tare_pc_samples *samples, int64_t plain_ns, int64_t sampled_ns,
                       FILE *file)
{
	const struct samples_header *sums = &samples->sums;
	char plain[TARE_UNIT_TEXT], sampled[TARE_UNIT_TEXT], begin[TARE_UNIT_TEXT],
	    end[TARE_UNIT_TEXT], modules[TARE_UNIT_TEXT], reads[TARE_UNIT_TEXT],
	    room[TARE_UNIT_TEXT], counting[TARE_UNIT_TEXT], note[TEXT];

	fprintf(file, "CUDA kernels, by samples of their instructions (CUPTI)\n");
	if (samples->samples)
		fprintf(file,
		        "  %" PRIu64
		        " samples in %zu kernels; each core was sampled every 2^%" PRIu32
		        " = %" PRIu64 " cycles\n",
		        samples->samples, samples->kernel_count, samples->period,
		        UINT64_C(1) << (samples->period & 63));
	const char *how = samples->exact_count ? "with one kernel counted"
	                  : sums->contexts     ? "sampled"
	                                       : "not sampled";
	if (plain_ns)
		fprintf(file, "  run %s: %s %s, %s %s%s%s%s\n",
		        samples->counting_ns ? "three times" : "twice",
		        tare_format_ns((double)plain_ns, plain),
		        samples->exact_count ? "sampled" : "as it is",
		        tare_format_ns((double)sampled_ns, sampled), how,
		        samples->counting_ns ? ", " : "",
		        samples->counting_ns
		            ? tare_format_ns((double)samples->counting_ns, counting)
		            : "",
		        samples->counting_ns ? " while instructions were counted" : "");
	else
		fprintf(file, "  run once, %s: %s\n", how,
		        tare_format_ns((double)sampled_ns, sampled));
	if (sums->contexts)
		fprintf(
		    file,
		    "  sampling took %s of the program's threads to begin, %s to end, %s to copy "
		    "modules (%s), and %s of one beside them\n",
		    tare_format_ns((double)sums->enable_ns, begin),
		    tare_format_ns((double)sums->disable_ns, end),
		    tare_format_ns((double)sums->module_ns, modules),
		    tare_format_bytes(sums->module_bytes, room),
		    tare_format_ns((double)sums->read_ns, reads));
	if (tare_sampled_cost(samples, plain_ns, sampled_ns, note))
		fprintf(file, "  %s\n", note);
	for (uint32_t i = 0; tare_pc_samples_note(samples, i, note, sizeof note); i++)
		fprintf(file, "  %s\n", note);
}

static void write_bar(double percent, FILE *file)
{
	int filled = (int)(percent * BAR / 100 + 0.5);

	for (int i = 0; i < BAR; i++)
		fputc(i < filled ? '#' : ' ', file);
}

static void write_stalls(const struct tare_stall_counts *counts, bool verbose, FILE *file)
{
	enum tare_stall order[TARE_STALLS];
	uint32_t count = tare_stalls_order(counts, order);

	for (uint32_t i = 0; i < count; i++) {
		double percent = share(counts->by[order[i]], counts->all);
		if (!verbose && (i >= ROWS || percent < 0.5))
			break;
		fprintf(file, "  %-18s ", tare_stall_name(order[i]));
		write_bar(percent, file);
		fprintf(file, " %5.1f %%  %s%s\n", percent,
		        order[i] == TARE_STALL_SELECTED ? "" : "waits for ",
		        order[i] == TARE_STALL_SELECTED ? "issues" : tare_stall_what(order[i]));
	}
}

static void write_issued(const struct tare_sampled_kernel *kernel, FILE *file)
{
	uint64_t all = 0;
	bool first = true;

	for (int i = 0; i < TARE_SASS_CLASS_COUNT; i++)
		all += kernel->issued[i];
	if (!all)
		return;
	fputs("  issued: ", file);
	for (int i = 0; i < TARE_SASS_CLASS_COUNT; i++) {
		if (share(kernel->issued[i], all) < 0.05)
			continue;
		fprintf(file, "%s%s %.1f %%", first ? "" : ", ",
		        tare_sass_class_name((enum tare_sass_class)i),
		        share(kernel->issued[i], all));
		first = false;
	}
	fputc('\n', file);
}

static int write_blocks(const struct tare_sampled_kernel *kernel, bool verbose, FILE *file)
{
	size_t count;
	uint32_t *order = tare_sampled_block_order(kernel, &count);

	if (!order)
		return -ENOMEM;
	if (count)
		fprintf(file, "\n  %5s %13s %8s  %-15s %-18s %-20s %s\n", "block", "instructions",
		        "samples", "cycles a pass", "executions (warps)", "line", "waits");
	for (size_t i = 0; i < count && (verbose || i < ROWS); i++) {
		const struct tare_sampled_block *block = &kernel->blocks[order[i]];
		char cycles[WORDS], executions[WORDS], line[WORDS], waits[WORDS];
		fprintf(file,
		        "  %5" PRIu32 " %6" PRIx64 "-%-6" PRIx64
		        " %6.1f %%  %-15s %-18s %-20s %s\n",
		        order[i], tare_sampled_pc(kernel, block->first),
		        tare_sampled_pc(kernel, block->first + block->count - 1),
		        share(block->stalls.all, kernel->stalls.all),
		        tare_sampled_figure(&block->cycles, cycles),
		        tare_sampled_figure(&block->executions, executions),
		        tare_sampled_place(kernel, block->first, block->count, line),
		        tare_sampled_waits(&block->stalls, waits));
	}
	if (!verbose && count > ROWS)
		fprintf(file, "  %zu more blocks; --verbose shows them\n", count - ROWS);
	if (kernel->why != TARE_SAMPLED_KNOWN && kernel->function)
		fprintf(file, "  executions n/a: %s\n", tare_sampled_why(kernel->why));
	free(order);
	return 0;
}

static void write_lines(const struct tare_sampled_kernel *kernel, bool verbose, FILE *file)
{
	char waits[WORDS];

	if (!kernel->line_count)
		return;
	fprintf(file, "\n  %8s  %-30s %s\n", "samples", "line", "waits");
	for (size_t i = 0; i < kernel->line_count && (verbose || i < ROWS); i++)
		fprintf(file, "  %6.1f %%  %s:%-5" PRIu32 " %s\n",
		        share(kernel->lines[i].stalls.all, kernel->stalls.all),
		        tare_sampled_file(kernel, kernel->lines[i].file), kernel->lines[i].line,
		        tare_sampled_waits(&kernel->lines[i].stalls, waits));
}

static int write_instructions(const struct tare_sampled_kernel *kernel, bool verbose, FILE *file)
{
	size_t count;
	uint32_t *order = tare_sampled_order(kernel, &count);

	if (!order)
		return -ENOMEM;
	fprintf(file, "\n  %8s  %6s %-20s %-40s %s\n", "samples", "pc", "line", "instruction",
	        "waits");
	for (size_t i = 0; i < count && (verbose || i < ROWS); i++) {
		const struct tare_stall_counts *met = &kernel->instructions[order[i]];
		char text[TEXT], waits[WORDS], line[WORDS];
		tare_sampled_instruction(kernel, order[i], text, sizeof text);
		fprintf(file, "  %6.1f %%  %6" PRIx64 " %-20s %-40s %s\n",
		        share(met->all, kernel->stalls.all), tare_sampled_pc(kernel, order[i]),
		        tare_sampled_place(kernel, order[i], 1, line), text,
		        tare_sampled_waits(met, waits));
	}
	free(order);
	return 0;
}

static void write_findings(const struct tare_sampled_kernel *kernel, FILE *file)
{
	struct tare_stall_findings findings;

	tare_stalls_find(kernel, &findings);
	for (uint32_t i = 0; i < findings.count; i++) {
		const struct tare_stall_finding *finding = &findings.at[i];
		const struct tare_stall_rule *rule = &tare_stall_rules[finding->advice];
		char line[WORDS];
		fprintf(file, "  %s: %.0f %% of samples: %s", rule->id, 100 * finding->share,
		        rule->what);
		for (uint32_t j = 0; j < finding->place_count; j++)
			fprintf(file, "%s%" PRIx64 " (%s)", j ? ", " : ", most at ",
			        tare_sampled_pc(kernel, finding->instructions[j]),
			        tare_sampled_place(kernel, finding->instructions[j], 1, line));
		fprintf(file, "\n    %s\n", rule->advice);
	}
}

static int write_kernel(const struct tare_pc_samples *samples,
                        const struct tare_sampled_kernel *kernel, bool verbose, FILE *file)
{
	const char *name = tare_sampled_name(kernel);
	char note[TEXT];

	fprintf(file, "\nkernel %.*s%s\n", verbose ? (int)strlen(name) : NAME, name,
	        !verbose && strlen(name) > NAME ? "..." : "");
	fprintf(file, "  %" PRIu64 " samples", kernel->stalls.all);
	if (samples->samples)
		fprintf(file, ", %.1f %% of all", share(kernel->stalls.all, samples->samples));
	if (kernel->launches)
		fprintf(file, "; %" PRIu64 " launch%s seen, %" PRIu64 " warps", kernel->launches,
		        kernel->launches == 1 ? "" : "es", kernel->warps);
	if (kernel->cubin)
		fprintf(file, "; sm_%" PRIu32, kernel->cubin->sm);
	fputc('\n', file);
	for (uint32_t i = 0; tare_sampled_note(kernel, i, note, sizeof note); i++)
		fprintf(file, "  %s\n", note);
	int counted = tare_exact_text(kernel, verbose, file);
	if (counted < 0 || !kernel->stalls.all)
		return counted;
	write_stalls(&kernel->stalls, verbose, file);
	write_issued(kernel, file);
	write_findings(kernel, file);
	int status = kernel->blocks ? write_blocks(kernel, verbose, file) : 0;
	write_lines(kernel, verbose, file);
	return status == 0 ? write_instructions(kernel, verbose, file) : status;
}

int tare_pc_samples_text(const struct tare_pc_samples *samples, int64_t plain_ns,
                         int64_t sampled_ns, bool verbose, FILE *file)
{
	int status = 0;

	write_head(samples, plain_ns, sampled_ns, file);
	for (size_t i = 0; status == 0 && i < samples->kernel_count && (verbose || i < KERNELS);
	     i++)
		if (samples->kernels[i].stalls.all || samples->kernels[i].exact)
			status = write_kernel(samples, &samples->kernels[i], verbose, file);
	if (!verbose && samples->kernel_count > KERNELS)
		fprintf(file, "\n%zu more kernels; --verbose shows them\n",
		        samples->kernel_count - KERNELS);
	if (samples->samples)
		fputs("\nA sample is a warp that a core was found with, and what it waited for. "
		      "Cycles "
		      "and executions leave out\nthe first instruction of a block, which the "
		      "hardware "
		      "books elsewhere after a branch.\n",
		      file);
	return status;
}
