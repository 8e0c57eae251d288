// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels' part of the page: stall reasons as bars, findings, blocks by cost, the source
// where it is still there with its lines tinted, and the instructions.
#include "blocks/cuda/report/write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS = 20, INSTRUCTIONS = 2000, TEXT = 700, WORDS = TARE_SAMPLED_WORDS };

static void escape(const char *text, FILE *file)
{
	for (; *text; text++) {
		if (*text == '&')
			fputs("&amp;", file);
		else if (*text == '<')
			fputs("&lt;", file);
		else if (*text == '>')
			fputs("&gt;", file);
		else if (*text == '"')
			fputs("&quot;", file);
		else
			fputc(*text, file);
	}
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static double tint(double percent)
{
	return percent < 90 ? 0.05 + percent / 120 : 0.8;
}

static void write_stalls(const struct tare_stall_counts *counts, FILE *file)
{
	enum tare_stall order[TARE_STALLS];
	uint32_t count = tare_stalls_order(counts, order);

	fputs("<table>", file);
	for (uint32_t i = 0; i < count; i++) {
		double percent = share(counts->by[order[i]], counts->all);
		fprintf(file,
		        "<tr><td style=\"text-align:left\" title=\"%s\">%s<td>%.1f %%<td "
		        "style=\"text-align:left\"><span class=\"cost\" "
		        "style=\"width:%.2fem\"></span>\n",
		        tare_stall_what(order[i]), tare_stall_name(order[i]), percent,
		        percent * 0.3);
	}
	fputs("</table>\n", file);
}

static void write_findings(const struct tare_sampled_kernel *kernel, FILE *file)
{
	struct tare_stall_findings findings;

	tare_stalls_find(kernel, &findings);
	for (uint32_t i = 0; i < findings.count; i++) {
		const struct tare_stall_finding *finding = &findings.at[i];
		const struct tare_stall_rule *rule = &tare_stall_rules[finding->advice];
		fprintf(file, "<p><b>%s</b>, %.0f %% of samples: %s", rule->id,
		        100 * finding->share, rule->what);
		for (uint32_t j = 0; j < finding->place_count; j++) {
			char place[WORDS];
			fprintf(file, "%s%" PRIx64 " (", j ? ", " : ", most at ",
			        tare_sampled_pc(kernel, finding->instructions[j]));
			escape(tare_sampled_place(kernel, finding->instructions[j], 1, place),
			       file);
			fputc(')', file);
		}
		fprintf(file, ". Try: %s.</p>\n", rule->advice);
	}
}

static int write_blocks(const struct tare_sampled_kernel *kernel, FILE *file)
{
	size_t count;
	uint32_t *order = tare_sampled_block_order(kernel, &count);

	if (!order)
		return -ENOMEM;
	if (count)
		fputs("<table><tr><th>block<th>pc<th>samples<th>cycles a pass<th>executions "
		      "(warps)<th>line<th>waits\n",
		      file);
	for (size_t i = 0; i < count; i++) {
		const struct tare_sampled_block *block = &kernel->blocks[order[i]];
		char cycles[WORDS], executions[WORDS], place[WORDS], waits[WORDS];
		fprintf(file,
		        "<tr><td>%" PRIu32 "<td>%" PRIx64 "&ndash;%" PRIx64
		        "<td>%.1f %%<td>%s<td>%s<td>",
		        order[i], tare_sampled_pc(kernel, block->first),
		        tare_sampled_pc(kernel, block->first + block->count - 1),
		        share(block->stalls.all, kernel->stalls.all),
		        tare_sampled_figure(&block->cycles, cycles),
		        tare_sampled_figure(&block->executions, executions));
		escape(tare_sampled_place(kernel, block->first, block->count, place), file);
		fprintf(file, "<td style=\"text-align:left\">%s\n",
		        tare_sampled_waits(&block->stalls, waits));
	}
	if (count)
		fputs("</table>\n", file);
	if (kernel->why != TARE_SAMPLED_KNOWN && kernel->function)
		fprintf(file, "<p>Executions n/a: %s.</p>\n", tare_sampled_why(kernel->why));
	free(order);
	return 0;
}

static uint64_t met_at(const struct tare_sampled_kernel *kernel, uint32_t file, uint64_t line)
{
	for (size_t i = 0; i < kernel->line_count; i++)
		if (kernel->lines[i].file == file && kernel->lines[i].line == line)
			return kernel->lines[i].stalls.all;
	return 0;
}

// The file with most samples, as it is now; its lines from the first that was met to the last.
static void write_source(const struct tare_sampled_kernel *kernel, FILE *file)
{
	if (!kernel->line_count)
		return;
	uint32_t number = kernel->lines[0].file;
	const char *name = kernel->cubin->files[number];
	uint64_t first = UINT64_MAX, last = 0;
	for (size_t i = 0; i < kernel->line_count; i++) {
		uint64_t line = kernel->lines[i].line;
		if (kernel->lines[i].file != number)
			continue;
		first = line < first ? line : first;
		last = line > last ? line : last;
	}
	FILE *source = fopen(name, "re");
	fputs("<details open><summary>", file);
	escape(name, file);
	fputs(source ? ", tinted by share of samples</summary><pre>"
	             : " is gone: its lines by share of samples</summary><pre>",
	      file);
	char *text = NULL;
	size_t room = 0;
	for (uint64_t line = 1; line <= last; line++) {
		bool read = source && getline(&text, &room, source) >= 0;
		double percent = share(met_at(kernel, number, line), kernel->stalls.all);
		if (read)
			text[strcspn(text, "\r\n")] = '\0';
		if (line < first || (!read && percent == 0))
			continue;
		fprintf(file,
		        "<span style=\"background:rgba(194,87,26,%.2f)\"><span class=\"n\">%" PRIu64
		        "</span><span class=\"s\">",
		        percent > 0 ? tint(percent) : 0, line);
		if (percent > 0)
			fprintf(file, "%.1f %%", percent);
		fputs("</span>", file);
		escape(read ? text : "", file);
		fputs("</span>\n", file);
	}
	free(text);
	if (source)
		fclose(source);
	fputs("</pre></details>\n", file);
}

static void write_instructions(const struct tare_sampled_kernel *kernel, FILE *file)
{
	uint32_t block = 0;

	fputs("<details><summary>instructions</summary><pre>", file);
	for (uint32_t i = 0; i < kernel->count && i < INSTRUCTIONS; i++) {
		const struct tare_stall_counts *met = &kernel->instructions[i];
		double percent = share(met->all, kernel->stalls.all);
		char text[TEXT], place[WORDS], waits[WORDS];
		if (block < kernel->split.count && kernel->split.at[block].first == i)
			fprintf(file, "block %" PRIu32 "\n", block++);
		tare_sampled_instruction(kernel, i, text, sizeof text);
		fprintf(file,
		        "<span style=\"background:rgba(194,87,26,%.2f)\"><span class=\"n\">%" PRIx64
		        "</span><span class=\"s\">%.1f %%</span>",
		        percent > 0 ? tint(percent) : 0, tare_sampled_pc(kernel, i), percent);
		if (kernel->exact)
			fprintf(file, "<span class=\"s\" style=\"width:9em\">%" PRIu64 "</span> ",
			        kernel->exact->at[i].warps);
		escape(text, file);
		fputs("  <small>", file);
		escape(tare_sampled_place(kernel, i, 1, place), file);
		fprintf(file, " %s</small></span>\n", tare_sampled_waits(met, waits));
	}
	fputs("</pre></details>\n", file);
	if (kernel->count > INSTRUCTIONS)
		fprintf(file, "<p>%" PRIu32 " more instructions; --csv and --json have them.</p>\n",
		        kernel->count - INSTRUCTIONS);
}

// Of the kernel that was counted.
static int write_exact(const struct tare_sampled_kernel *kernel, FILE *file)
{
	const struct tare_exact *exact = kernel->exact;
	char text[TARE_EXACT_WORDS], place[WORDS];
	size_t count;
	uint32_t *order = exact && exact->blocks ? tare_exact_order(kernel, true, &count) : NULL;

	if (!exact || !exact->blocks)
		return 0;
	if (!order)
		return -ENOMEM;
	fprintf(
	    file,
	    "<p>Counted exactly: %" PRIu64 " launches, %" PRIu64 " warps; %s; %s.</p>\n<table><tr>"
	    "<th>class<th>executed<th>share\n",
	    exact->launches, exact->warps, tare_exact_begun(exact), tare_exact_cost(exact, text));
	for (int i = 0; i < TARE_SASS_CLASS_COUNT; i++)
		if (exact->by_class[i].warps)
			fprintf(file,
			        "<tr><td style=\"text-align:left\">%s<td>%" PRIu64
			        "<td style=\"text-align:left\"><span class=\"cost\" "
			        "style=\"width:%.2fem\"></span> %.1f %%\n",
			        tare_sass_class_name((enum tare_sass_class)i),
			        exact->by_class[i].warps,
			        0.3 * share(exact->by_class[i].warps, exact->all.warps),
			        share(exact->by_class[i].warps, exact->all.warps));
	fputs("</table>\n<table><tr><th>block<th>pc<th>executed<th>executions (warps)<th>lanes<th>"
	      "line\n",
	      file);
	for (size_t i = 0; i < count; i++) {
		const struct tare_sass_block *block = &kernel->split.at[order[i]];
		const struct tare_exact_block *counted = &exact->blocks[order[i]];
		fprintf(file,
		        "<tr><td>%" PRIu32 "<td>%" PRIx64 "&ndash;%" PRIx64
		        "<td>%.1f %%<td>%" PRIu64 "%s<td>%.2f<td>",
		        order[i], tare_sampled_pc(kernel, block->first),
		        tare_sampled_pc(kernel, block->first + block->count - 1),
		        share(counted->all.warps, exact->all.warps), counted->executions,
		        counted->even ? "" : " (of its first instruction)",
		        (double)counted->all.threads / (double)counted->all.warps);
		escape(tare_sampled_place(kernel, block->first, block->count, place), file);
		fputc('\n', file);
	}
	fputs("</table>\n", file);
	free(order);
	return 0;
}

static int write_kernel(const struct tare_pc_samples *samples,
                        const struct tare_sampled_kernel *kernel, FILE *file)
{
	char note[TEXT];

	fputs("<h2>", file);
	escape(tare_sampled_name(kernel), file);
	fprintf(file, "</h2>\n<p>%" PRIu64 " samples, %.1f %% of all", kernel->stalls.all,
	        share(kernel->stalls.all, samples->samples));
	if (samples->sums.counts_launches)
		fprintf(file, "; %" PRIu64 " launches seen", kernel->launches);
	for (uint32_t i = 0; tare_sampled_note(kernel, i, note, sizeof note); i++) {
		fputs("; ", file);
		escape(note, file);
	}
	fputs(".</p>\n", file);
	if (write_exact(kernel, file) < 0)
		return -ENOMEM;
	write_stalls(&kernel->stalls, file);
	write_findings(kernel, file);
	int status = kernel->blocks ? write_blocks(kernel, file) : 0;
	write_source(kernel, file);
	write_instructions(kernel, file);
	return status;
}

int tare_pc_samples_page(const struct tare_pc_samples *samples, FILE *file)
{
	char note[TEXT];
	int status = 0;

	if (samples->samples)
		fprintf(file,
		        "<p>CUDA kernels, by %" PRIu64
		        " samples of their instructions; each core was "
		        "sampled every %" PRIu64 " cycles.</p>\n",
		        samples->samples, UINT64_C(1) << (samples->period & 63));
	for (uint32_t i = 0; tare_pc_samples_note(samples, i, note, sizeof note); i++) {
		fputs("<p>", file);
		escape(note, file);
		fputs(".</p>\n", file);
	}
	for (size_t i = 0; status == 0 && i < samples->kernel_count && i < KERNELS; i++)
		if (samples->kernels[i].stalls.all || samples->kernels[i].exact)
			status = write_kernel(samples, &samples->kernels[i], file);
	if (samples->kernel_count > KERNELS)
		fprintf(file, "<p>%zu more kernels; --csv and --json have them.</p>\n",
		        samples->kernel_count - KERNELS);
	return status;
}
