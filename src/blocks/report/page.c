// SPDX-License-Identifier: Apache-2.0
// One page without scripts: per kernel its instruction mix as a bar, findings, blocks by cost, and
// the source with the lines tinted by their share.
#include "blocks/cuda/report/write.h"
#include "blocks/report/options.h"
#include "blocks/report/tables.h"
#include "blocks/report/told.h"
#include "blocks/report/write.h"
#include "report/core/figures.h"
#include "report/core/table_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<style>\n"
    ":root{color-scheme:light dark}body{font:14px/1.45 system-ui,sans-serif;margin:2em "
    "auto;max-width:70em;padding:0 1em}\n"
    "table{border-collapse:collapse}td,th{padding:.1em .7em;text-align:right;"
    "font-variant-numeric:tabular-nums}\n"
    "pre{overflow-x:auto;line-height:1.35}.n,.s{display:inline-block;text-align:right;"
    "opacity:.65}.n{width:4em}.s{width:5em;margin-right:1em}\n"
    ".bar{display:flex;height:1.6em;margin:.5em 0}.bar span{height:100%}.key{display:flex;"
    "flex-wrap:wrap;gap:.2em 1.2em}\n"
    ".key i{display:inline-block;width:.8em;height:.8em;margin-right:.4em}.cost{display:inline-"
    "block;height:.8em;background:#c2571a}\n"
    "</style>\n";

static void escape(const char *text, size_t length, FILE *file)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '&')
			fputs("&amp;", file);
		else if (text[i] == '<')
			fputs("&lt;", file);
		else if (text[i] == '>')
			fputs("&gt;", file);
		else if (text[i] == '"')
			fputs("&quot;", file);
		else
			fputc(text[i], file);
	}
}

static void text(const char *words, FILE *file)
{
	escape(words, strlen(words), file);
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

// ---- the instruction mix

struct part {
	const char *name, *colour;
	uint64_t count;
};

// Kinds, then loads and stores of any space.
enum { PARTS = TARE_BLOCKS_KINDS + 2 };

static void fill_parts(const struct tare_blocks_tally *tally, struct part parts[PARTS])
{
	static const char *const colours[PARTS] = { "#8a8a8a", "#b8b8b8", "#6d8fb3", "#2f6db2",
		                                    "#d9b23a", "#c2571a", "#8f2d56", "#5b3b8c",
		                                    "#7a9e48", "#a9c27a", "#d14d72", "#404040",
		                                    "#4aa3a2", "#2b7a5b", "#d0d0d0", "#1f9e89",
		                                    "#87cfc3" };

	for (int i = 0; i < PARTS; i++)
		parts[i] =
		    (struct part){ .name = i < TARE_BLOCKS_KINDS
			                       ? tare_blocks_kind_name((enum tare_blocks_kind)i)
			                   : i == TARE_BLOCKS_KINDS ? "load"
			                                            : "store",
			           .colour = colours[i],
			           .count = i < TARE_BLOCKS_KINDS ? tally->kinds[i] : 0 };
	for (int i = 0; i < TARE_BLOCKS_SPACES; i++) {
		parts[TARE_BLOCKS_KINDS].count += tally->loads[i];
		parts[TARE_BLOCKS_KINDS + 1].count += tally->stores[i];
	}
}

static void write_mix(const struct tare_blocks_tally *tally, FILE *file)
{
	char percent[RUN_TEXT];
	uint64_t all = tare_blocks_instructions(tally);
	struct part parts[PARTS];

	fill_parts(tally, parts);
	fputs("<div class=\"bar\" role=\"img\" aria-label=\"instruction mix\">", file);
	for (int i = 0; i < PARTS; i++)
		if (parts[i].count)
			fprintf(file,
			        "<span style=\"width:%.3f%%;background:%s\" title=\"%s %.1f "
			        "%%\"></span>",
			        share(parts[i].count, all), parts[i].colour, parts[i].name,
			        share(parts[i].count, all));
	fputs("</div>\n<div class=\"key\">", file);
	for (int i = 0; i < PARTS; i++)
		if (parts[i].count) {
			fprintf(file, "<span><i style=\"background:%s\"></i>%s ", parts[i].colour,
			        parts[i].name);
			text(tare_report_percent(share(parts[i].count, all) / 100, percent), file);
			fputs("</span>", file);
		}
	fputs("</div>\n", file);
}

// ---- blocks and lines

static double cost_share(const struct tare_blocks_kernel *kernel, uint32_t block)
{
	const struct tare_blocks_tally *tally = &kernel->build->module.blocks[block].tally;

	return share(tare_blocks_instructions(tally) * kernel->executions[block],
	             tare_blocks_instructions(&kernel->tally));
}

static int write_blocks(const struct tare_blocks_kernel *kernel, FILE *file)
{
	const struct tare_table *table = &tare_blocks_blocks_table;
	struct tare_blocks_row row = { .kernel = kernel };

	row.order = tare_blocks_order(kernel, &row.order_count);
	if (!row.order)
		return -ENOMEM;
	fputs("<table><tr>", file);
	for (size_t c = 0; c < table->column_count; c++)
		if (table->columns[c].on & TARE_ON_PAGE)
			fprintf(file, "<th>%s", table->columns[c].title);
	fputs("<th>\n", file);
	for (size_t i = 0; i < row.order_count; i++) {
		char cell[RUN_TEXT];
		fputs("<tr>", file);
		for (size_t c = 0; c < table->column_count; c++) {
			if (!(table->columns[c].on & TARE_ON_PAGE))
				continue;
			fputs("<td>", file);
			text(tare_table_cell(table, &row, &table->columns[c], &row.order[i], cell),
			     file);
		}
		fprintf(file,
		        "<td style=\"text-align:left\"><span class=\"cost\" "
		        "style=\"width:%.2fem\"></span>\n",
		        cost_share(kernel, row.order[i]) / 8);
	}
	fputs("</table>\n", file);
	free(row.order);
	return 0;
}

// What a line of the build's own source executed.
static uint64_t cost_of(const struct tare_blocks_build *build, const struct tare_blocks_line *lines,
                        size_t count, uint32_t number)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		const char *name = tare_blocks_file_name(&build->module, lines[i].file);
		const char *slash = strrchr(name, '/');
		if (lines[i].line == number && strcmp(slash ? slash + 1 : name, build->source) == 0)
			sum += tare_blocks_instructions(&lines[i].tally);
	}
	return sum;
}

static int write_source(const struct tare_blocks_kernel *kernel, FILE *file)
{
	char percent[RUN_TEXT];
	const struct tare_blocks_build *build = kernel->build;
	const char *at = build->language == BLOCKS_OPENCL_C ? build->text : NULL;
	uint64_t all = tare_blocks_instructions(&kernel->tally);
	size_t count;

	if (!at || !at[0])
		return 0;
	struct tare_blocks_line *lines = tare_blocks_lines(kernel, &count);
	if (!lines)
		return -ENOMEM;
	fputs("<details open><summary>source, tinted by share of instructions</summary><pre>",
	      file);
	for (uint32_t number = 1; *at; number++) {
		size_t length = strcspn(at, "\n");
		double part = share(cost_of(build, lines, count, number), all);
		if (part > 0) {
			fprintf(file,
			        "<span style=\"background:rgba(194,87,26,%.2f)\"><span "
			        "class=\"n\">%" PRIu32 "</span><span class=\"s\">",
			        part < 90 ? 0.05 + part / 120 : 0.8, number);
			text(tare_report_percent(part / 100, percent), file);
			fputs("</span>", file);
		} else
			fprintf(file,
			        "<span><span class=\"n\">%" PRIu32
			        "</span><span class=\"s\"></span>",
			        number);
		escape(at, length, file);
		fputs("</span>\n", file);
		at += length + (at[length] == '\n');
	}
	fputs("</pre></details>\n", file);
	free(lines);
	return 0;
}

// ---- a kernel, and the page

static int write_counted(const struct tare_blocks_document *document,
                         const struct tare_blocks_kernel *kernel, FILE *file)
{
	struct tare_blocks_told told;
	char launches[RUN_TEXT], items[RUN_TEXT], instructions[RUN_TEXT];
	int status = tare_blocks_told_make(kernel, document->gains, &told);

	fprintf(file, "<p>%s launch%s, %s work-item%s, %s instructions of SPIR-V; ",
	        tare_report_count(kernel->counted, launches), kernel->counted == 1 ? "" : "es",
	        tare_report_count(kernel->work_items, items), kernel->work_items == 1 ? "" : "s",
	        tare_report_count(tare_blocks_instructions(&kernel->tally), instructions));
	text(kernel->build->level, file);
	fputs(tare_blocks_is_whole(kernel) || kernel->counted < kernel->launches
	          ? ".</p>\n"
	          : ". Counts are missing.</p>\n",
	      file);
	write_mix(&kernel->tally, file);
	if (status == 0) {
		fputs("<pre>", file);
		char *lines = NULL;
		size_t length = 0;
		FILE *stream = open_memstream(&lines, &length);
		if (stream) {
			tare_blocks_told_text(&told, stream);
			fclose(stream);
		}
		if (lines)
			escape(lines, length, file);
		free(lines);
		fputs("</pre>\n", file);
		status = write_blocks(kernel, file);
	}
	tare_blocks_told_free(&told);
	return status == 0 ? write_source(kernel, file) : status;
}

// As the text has it.
static void write_options(const struct tare_blocks_trials *trials, FILE *file)
{
	char *lines = NULL;
	size_t length = 0;
	FILE *stream = trials->set_count ? open_memstream(&lines, &length) : NULL;

	if (!stream)
		return;
	tare_blocks_options_text(trials, true, stream);
	fclose(stream);
	fputs("<h2>Build options</h2>\n<pre>", file);
	escape(lines, length, file);
	fputs("</pre>\n", file);
	free(lines);
}

static int write_kernel(const struct tare_blocks_document *document,
                        const struct tare_blocks_kernel *kernel, FILE *file)
{
	char why[600];
	int status = 0;

	if (!kernel->launches)
		return 0;
	fputs("<h2>", file);
	text(kernel->name, file);
	fputs("</h2>\n", file);
	if (kernel->counted && kernel->executions && kernel->work_items)
		status = write_counted(document, kernel, file);
	if (kernel->counted == kernel->launches)
		return status;
	tare_blocks_why(kernel, why, sizeof why);
	uint64_t others = kernel->launches - kernel->counted;
	fprintf(file, "<p>Not counted: %" PRIu64 " launch%s, because ", others,
	        others == 1 ? "" : "es");
	text(why, file);
	fputs(".</p>\n", file);
	return status;
}

int tare_blocks_page(const struct tare_blocks_document *document, FILE *file)
{
	const struct tare_blocks_profile *profile = document->profile;
	uint64_t counted, launches;
	int status = 0;

	tare_blocks_coverage(profile, &counted, &launches);
	fputs(head, file);
	fputs("<title>blocks - tare</title></head><body>\n<h1>blocks of", file);
	for (char *const *word = document->program; *word; word++) {
		fputc(' ', file);
		text(*word, file);
	}
	fputs("</h1>\n", file);
	if (launches)
		fprintf(file,
		        "<p>%" PRIu64 " of %" PRIu64
		        " launches counted, exactly, by work-items. Instructions are those of "
		        "SPIR-V, after the compiler's optimisation that knows no device.</p>\n",
		        counted, launches);
	for (size_t i = 0; status == 0 && i < profile->kernel_count; i++)
		status = write_kernel(document, &profile->kernels[i], file);
	write_options(document->trials, file);
	if (status == 0 && document->samples->used)
		status = tare_pc_samples_page(document->samples, file);
	fputs("</body></html>\n", file);
	return status;
}
