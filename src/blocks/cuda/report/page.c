// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels' part of the page: stall reasons as bars, findings, blocks by cost, the source
// where it is still there with its lines tinted, and the instructions.
#include "blocks/cuda/report/tables.h"
#include "report/core/table_html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	KERNELS = 20,
	INSTRUCTIONS = 2000,
	OPEN_PERCENT = 3,
	TEXT = 700,
	WORDS = TARE_SAMPLED_WORDS,
	ID = 64
};

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void write_stalls(const struct tare_sampled_kernel *kernel, FILE *file)
{
	bool counted = kernel->states.all > 0 && tare_sampled_counts_stand(kernel);
	const struct tare_stall_counts *counts = counted ? &kernel->states : &kernel->stalls;
	const void *rows[TARE_STALLS];
	size_t count = tare_stalls_rows(counts, rows);

	tare_table_html(
	    counted ? &tare_states_table : &tare_stalls_table,
	    counted ? (const void *)kernel : counts,
	    &(struct tare_table_part){ .on = TARE_ON_PAGE, .rows = rows, .most = count }, file);
}

static void write_findings(const struct tare_sampled_row *row, FILE *file)
{
	for (uint32_t i = 0; i < row->found.count; i++) {
		const struct tare_stall_finding *finding = &row->found.at[i];
		const struct tare_stall_rule *rule = &tare_stall_rules[finding->advice];
		fprintf(file, "<p><b>%s</b>, %.0f %% of %s: %s", rule->id, 100 * finding->share,
		        finding->counted ? "its warps' cycles" : "samples", rule->what);
		for (uint32_t j = 0; j < finding->place_count; j++) {
			char place[WORDS];
			fprintf(file, "%s%" PRIx64 " (", j ? ", " : ", most at ",
			        tare_sampled_pc(row->kernel, finding->instructions[j]));
			tare_html_text(
			    tare_sampled_place(row->kernel, finding->instructions[j], 1, place),
			    file);
			fputc(')', file);
		}
		fprintf(file, ". Try: %s.</p>\n", rule->advice);
	}
}

static int write_part(const struct tare_sampled_row *row, enum tare_sampled_part part, FILE *file)
{
	struct tare_sampled_rows rows;
	int status = tare_sampled_part(row, part, &rows);

	if (status == 0)
		tare_table_html(rows.table, row,
		                &(struct tare_table_part){
		                    .on = TARE_ON_PAGE, .rows = rows.at, .most = rows.count },
		                file);
	free((void *)rows.at);
	return status;
}

static uint64_t met_at(const struct tare_sampled_kernel *kernel, uint32_t file, uint64_t line)
{
	for (size_t i = 0; i < kernel->line_count; i++)
		if (kernel->lines[i].file == file && kernel->lines[i].line == line)
			return kernel->lines[i].stalls.all;
	return 0;
}

// The file with most samples, as it is now; its lines from the first that was met to the last.
static void write_source(size_t number_of_kernel, const struct tare_sampled_kernel *kernel,
                         FILE *file)
{
	uint32_t number = kernel->line_count ? kernel->lines[0].file : 0;
	const char *name = kernel->line_count ? kernel->cubin->lines.files[number] : NULL;
	uint64_t first = UINT64_MAX, last = 0;
	char *text = NULL, id[ID];
	size_t room = 0;

	if (!name) {
		fputs("<p>No lines are known: a program built with -lineinfo tells them.</p>\n",
		      file);
		return;
	}
	for (size_t i = 0; i < kernel->line_count; i++) {
		uint64_t line = kernel->lines[i].line;
		if (kernel->lines[i].file != number)
			continue;
		first = line < first ? line : first;
		last = line > last ? line : last;
	}
	FILE *source = fopen(name, "re");
	fputs("<h4>", file);
	tare_html_text(name, file);
	fputs(source ? ", as it is now</h4>\n<div class=\"code\">\n"
	             : " is gone: its lines by share of samples</h4>\n<div class=\"code\">\n",
	      file);
	for (uint64_t line = 1; line <= last; line++) {
		bool read = source && getline(&text, &room, source) >= 0;
		uint64_t met = met_at(kernel, number, line);
		if (read)
			text[strcspn(text, "\r\n")] = '\0';
		if (line < first || (!read && !met))
			continue;
		snprintf(id, sizeof id, "c%zul%" PRIu64, number_of_kernel, line);
		tare_html_code_line(tare_html_heat(met, kernel->stalls.all), id, file);
		fprintf(file, "<span class=\"n\">%" PRIu64 "</span><span class=\"s\">", line);
		if (met)
			fprintf(file, "%.1f %%", share(met, kernel->stalls.all));
		fputs("</span>", file);
		tare_html_text(read ? text : "", file);
		fputs("</div>\n", file);
	}
	fputs("</div>\n", file);
	free(text);
	if (source)
		fclose(source);
}

static void write_instruction(const struct tare_sampled_kernel *kernel, uint32_t i, FILE *file)
{
	const struct tare_stall_counts *met = &kernel->instructions[i];
	char text[TEXT], place[WORDS], waits[WORDS];

	tare_sampled_instruction(kernel, i, text, sizeof text);
	tare_html_code_line(tare_html_heat(met->all, kernel->stalls.all), "", file);
	fprintf(file, "<span class=\"n\">%" PRIx64 "</span><span class=\"s\">",
	        tare_sampled_pc(kernel, i));
	if (met->all)
		fprintf(file, "%.1f %%", share(met->all, kernel->stalls.all));
	fputs("</span>", file);
	if (kernel->exact)
		fprintf(file, "<span class=\"s\" style=\"width:9em\">%" PRIu64 "</span> ",
		        kernel->exact->at[i].warps);
	tare_html_text(text, file);
	fputs("  <small>", file);
	tare_html_text(tare_sampled_place(kernel, i, 1, place), file);
	fputs("  ", file);
	tare_html_text(tare_sampled_waits(met, waits), file);
	fputs("</small></div>\n", file);
}

static void write_instructions(const struct tare_sampled_kernel *kernel, FILE *file)
{
	uint32_t block = 0;

	fputs("<h4>instructions of the device</h4>\n<div class=\"code\">\n", file);
	for (uint32_t i = 0; i < kernel->count && i < INSTRUCTIONS; i++) {
		if (kernel->blocks && block < kernel->split.count &&
		    kernel->split.at[block].first == i) {
			const struct tare_stall_counts *stalls = &kernel->blocks[block].stalls;
			fputs(block ? "</details>\n" : "", file);
			fprintf(file, "<details%s>",
			        100 * (double)stalls->all >=
			                OPEN_PERCENT * (double)kernel->stalls.all
			            ? " open"
			            : "");
			tare_html_summary(tare_html_heat(stalls->all, kernel->stalls.all), file);
			fprintf(file, "block %" PRIu32 ": %.1f %% of samples</summary>\n", block++,
			        share(stalls->all, kernel->stalls.all));
		}
		write_instruction(kernel, i, file);
	}
	fputs(block ? "</details>\n" : "", file);
	if (kernel->count > INSTRUCTIONS)
		fprintf(file, "<p>%" PRIu32 " more; --json has them.</p>\n",
		        kernel->count - INSTRUCTIONS);
	fputs("</div>\n", file);
}

#define PANE "<div class=\"pane\" role=\"region\" tabindex=\"0\" aria-label=\""

static void write_side(size_t number, const struct tare_sampled_kernel *kernel, FILE *file)
{
	fputs("<h3>Source and instructions</h3>\n<div class=\"side\">\n" PANE
	      "source of the kernel, tinted by share of samples\">\n",
	      file);
	write_source(number, kernel, file);
	fputs("</div>\n" PANE "instructions by block\">\n", file);
	write_instructions(kernel, file);
	fputs("</div>\n</div>\n", file);
}

// Of the kernel that was counted.
static int write_exact(const struct tare_sampled_row *row, FILE *file)
{
	const struct tare_exact *exact = row->kernel->exact;
	char text[TARE_EXACT_WORDS];
	int status;

	if (!exact || !exact->blocks)
		return 0;
	fprintf(file, "<p>Counted exactly: %" PRIu64 " launches, %" PRIu64 " warps; %s; %s.</p>\n",
	        exact->launches, exact->warps, tare_exact_begun(exact),
	        tare_exact_cost(exact, text));
	tare_table_html(&tare_exact_classes_table, exact,
	                &(struct tare_table_part){ .on = TARE_ON_PAGE }, file);
	status = write_part(row, TARE_EXACT_BLOCKS, file);
	if (exact->uneven)
		fputs("<p>* of its first instruction</p>\n", file);
	return status;
}

static int write_kernel(const struct tare_pc_samples_rows *rows, const struct tare_sampled_row *row,
                        FILE *file)
{
	const struct tare_pc_samples *samples = rows->of;
	const struct tare_sampled_kernel *kernel = row->kernel;

	fputs("<h2>", file);
	tare_html_text(tare_sampled_name(kernel), file);
	fprintf(file, "</h2>\n<p>%" PRIu64 " samples, %.1f %% of all", kernel->stalls.all,
	        share(kernel->stalls.all, samples->samples));
	if (samples->sums.counts_launches)
		fprintf(file, "; %" PRIu64 " launches seen", kernel->launches);
	for (size_t i = 0; i < row->notes.count; i++) {
		fputs("; ", file);
		tare_html_text(row->notes.at[i], file);
	}
	fputs(".</p>\n", file);
	int status = write_exact(row, file);
	write_stalls(kernel, file);
	write_findings(row, file);
	status = status ?: write_part(row, TARE_SAMPLED_BLOCKS, file);
	if (kernel->blocks && kernel->why != TARE_SAMPLED_KNOWN && kernel->function)
		fprintf(file, "<p>Executions n/a: %s.</p>\n", tare_sampled_why(kernel->why));
	write_side((size_t)(row - rows->kernels), kernel, file);
	return status;
}

int tare_pc_samples_page(const struct tare_pc_samples_rows *rows, FILE *file)
{
	const struct tare_pc_samples *samples = rows->of;
	int status = 0;

	if (samples->samples)
		fprintf(file,
		        "<p>CUDA kernels, by %" PRIu64
		        " samples of their instructions; each core was "
		        "sampled every %" PRIu64 " cycles.</p>\n",
		        samples->samples, UINT64_C(1) << (samples->period & 63));
	for (size_t i = 0; i < rows->notes.count; i++) {
		fputs("<p>", file);
		tare_html_text(rows->notes.at[i], file);
		fputs(".</p>\n", file);
	}
	for (size_t i = 0; status == 0 && i < samples->kernel_count && i < KERNELS; i++)
		if (samples->kernels[i].stalls.all || samples->kernels[i].exact)
			status = write_kernel(rows, &rows->kernels[i], file);
	if (samples->kernel_count > KERNELS)
		fprintf(file, "<p>%zu more kernel%s.</p>\n", samples->kernel_count - KERNELS,
		        samples->kernel_count - KERNELS == 1 ? "; --csv and --json have it"
		                                             : "s; --csv and --json have them");
	return status;
}
