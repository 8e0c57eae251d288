// SPDX-License-Identifier: Apache-2.0
// One page without scripts: which kernel and lines cost most, and what to change; then per kernel
// its findings, instruction mix as a bar, blocks by cost, and source and instructions side by side.
#include "blocks/cuda/report/write.h"
#include "blocks/page/side.h"
#include "blocks/report/answer.h"
#include "blocks/report/facts.h"
#include "blocks/report/options.h"
#include "blocks/report/times.h"
#include "blocks/report/told.h"
#include "blocks/report/write.h"
#include "report/core/figures.h"
#include "report/core/table_html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 112 // of text on it, in columns

static const char head[] = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                           "<meta name=\"viewport\" content=\"width=device-width\">\n";

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void write_share(double percent, FILE *file)
{
	char text[RUN_TEXT];

	tare_html_text(tare_report_percent(percent / 100, text), file);
}

// ---- the instruction mix

static void write_mix(const struct tare_blocks_tally *tally, FILE *file)
{
	static const char *const colours[TARE_BLOCKS_PARTS] = {
		"#8a8a8a", "#b8b8b8", "#6d8fb3", "#2f6db2", "#d9b23a", "#c2571a",
		"#8f2d56", "#5b3b8c", "#7a9e48", "#a9c27a", "#d14d72", "#404040",
		"#4aa3a2", "#2b7a5b", "#d0d0d0", "#1f9e89", "#87cfc3"
	};
	uint64_t all = tare_blocks_instructions(tally);

	fputs(
	    "<div class=\"bar\" role=\"img\" aria-label=\"instructions by type, as listed below\">",
	    file);
	for (int i = 0; i < TARE_BLOCKS_PARTS; i++)
		if (tare_blocks_part(tally, i))
			fprintf(file,
			        "<span style=\"width:%.3f%%;background:%s\" title=\"%s %.1f "
			        "%%\"></span>",
			        share(tare_blocks_part(tally, i), all), colours[i],
			        tare_blocks_part_name(i), share(tare_blocks_part(tally, i), all));
	fputs("</div>\n<div class=\"key\">", file);
	for (int i = 0; i < TARE_BLOCKS_PARTS; i++)
		if (tare_blocks_part(tally, i)) {
			fprintf(file, "<span><i style=\"background:%s\"></i>%s ", colours[i],
			        tare_blocks_part_name(i));
			write_share(share(tare_blocks_part(tally, i), all), file);
			fputs("</span>", file);
		}
	fputs("</div>\n", file);
}

// What a text has, as it is.
static void write_text(void (*write)(const void *of, FILE *file), const void *of, FILE *file)
{
	static const struct tare_text_options options = { .columns = WIDTH };
	char *lines = NULL, *wrapped = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&lines, &length);
	struct tare_text text = { .options = &options };

	if (stream) {
		write(of, stream);
		fclose(stream);
	}
	text.file = lines ? open_memstream(&wrapped, &length) : NULL;
	if (text.file) {
		tare_blocks_lines_text(&text, lines);
		fclose(text.file);
	}
	if (wrapped && *wrapped) {
		fputs("<pre>", file);
		tare_html_text(wrapped, file);
		fputs("</pre>\n", file);
	}
	free(lines);
	free(wrapped);
}

static void tell(const void *of, FILE *file)
{
	const struct tare_blocks_row *row = of;

	tare_blocks_facts_text(row->kernel, file);
	tare_blocks_times_text(row, file);
	tare_blocks_before_text(row, file);
	tare_blocks_arithmetic_text(&row->kernel->tally, file);
	tare_blocks_lanes_text(&row->told, file);
}

static void tell_trust(const void *of, FILE *file)
{
	const struct tare_blocks_row *row = of;

	tare_blocks_trust_text(row->kernel, file);
}

static void tell_missing(const void *document, FILE *file)
{
	tare_blocks_missing_text(document, file);
}

static void tell_models(const void *row, FILE *file)
{
	tare_blocks_models_text(row, file);
}

static void tell_gain(const void *gain, FILE *file)
{
	tare_blocks_gain_text(gain, file);
}

static void tell_options(const void *trials, FILE *file)
{
	static const struct tare_text_options options = { .columns = WIDTH, .verbosity = 1 };
	struct tare_text text = { .options = &options, .file = file };

	tare_blocks_options_text(&text, trials);
}

// ---- findings

static void write_finding(const struct tare_blocks_rows *rows, const struct tare_blocks_row *row,
                          const struct tare_blocks_finding_row *one)
{
	const struct tare_blocks_finding *finding = one->finding;
	const struct tare_blocks_rule *rule = &tare_blocks_rules[finding->advice];
	FILE *file = rows->page;

	fprintf(file, "<div class=\"finding\"><h4>%s</h4>\n<p>%s", rule->id, rule->what);
	for (uint32_t i = 0; i < finding->place_count; i++) {
		fputs(i ? ", " : finding->place_count == 1 ? " (line " : " (lines ", file);
		tare_blocks_line_link(rows, row, finding->places[i].file, finding->places[i].line);
	}
	fprintf(file, "%s.</p>\n<p>%.1f %% of the ", finding->place_count ? ")" : "",
	        100 * finding->share);
	tare_html_text(rule->of, file);
	fprintf(file, ". %s</p>\n<p>To change it, %s.</p>\n", rule->saves, rule->advice);
	if (one->gain)
		write_text(tell_gain, one->gain, file);
	fputs("</div>\n", file);
}

static void write_findings(const struct tare_blocks_rows *rows, const struct tare_blocks_row *row)
{
	const struct tare_blocks_told *told = &row->told;

	if (told->findings.count)
		fputs("<h3>What to change</h3>\n", rows->page);
	for (uint32_t i = 0; i < told->findings.count; i++)
		write_finding(rows, row, &row->findings[i]);
	if (told->findings.count && !told->gained)
		fputs("<p>What these can bring in time is measured by --gains.</p>\n", rows->page);
}

// ---- a kernel

static void write_table(const struct tare_table *table, const void *source, FILE *file)
{
	fputs("<div class=\"wide\">", file);
	tare_table_html(table, source, &(struct tare_table_part){ .on = TARE_ON_PAGE }, file);
	fputs("</div>\n", file);
}

static int write_counted(struct tare_blocks_rows *rows, const struct tare_blocks_row *row)
{
	const struct tare_blocks_kernel *kernel = row->kernel;
	char launches[RUN_TEXT], items[RUN_TEXT], instructions[RUN_TEXT];
	FILE *file = rows->page;

	fprintf(file, "<p>%s launch%s, %s work-item%s, %s instructions of %s; ",
	        tare_report_count(kernel->counted, launches), kernel->counted == 1 ? "" : "es",
	        tare_report_count(kernel->work_items, items), kernel->work_items == 1 ? "" : "s",
	        tare_report_count(tare_blocks_instructions(&kernel->tally), instructions),
	        tare_blocks_language_of(kernel->build));
	tare_html_text(kernel->build->level, file);
	fputs(".</p>\n", file);
	write_text(tell_trust, row, file);
	write_findings(rows, row);
	fputs("<h3>Instructions by type</h3>\n", file);
	write_mix(&kernel->tally, file);
	write_text(tell, row, file);
	fputs("<h3>Blocks by cost</h3>\n", file);
	write_table(&tare_blocks_blocks_table, row, file);
	return tare_blocks_side(rows, row);
}

static void write_models(const struct tare_blocks_rows *rows, const struct tare_blocks_row *row)
{
	const struct tare_blocks_models *models = row->document->models;
	bool any = false;

	for (size_t i = 0; i < models->count; i++) {
		if (!tare_blocks_is_model_of(&models->at[i], row->kernel))
			continue;
		if (!any) {
			fputs("<h3>On devices that are not there</h3>\n", rows->page);
			write_text(tell_models, row, rows->page);
		}
		any = true;
		tare_blocks_model_side(rows, row, &models->at[i]);
	}
}

static int write_kernel(struct tare_blocks_rows *rows, size_t at)
{
	const struct tare_blocks_row *row = &rows->kernels[at];
	const struct tare_blocks_kernel *kernel = row->kernel;
	uint64_t others = kernel->launches - kernel->counted;
	int status = 0;

	fprintf(rows->page, "<h2 id=\"k%zu\">", at);
	tare_html_text(kernel->name, rows->page);
	fputs("</h2>\n", rows->page);
	if (row->counted && kernel->work_items)
		status = write_counted(rows, row);
	write_models(rows, row);
	if (!others)
		return status;
	fprintf(rows->page, "<p>Not counted: %" PRIu64 " launch%s, because ", others,
	        others == 1 ? "" : "es");
	tare_html_text(row->why, rows->page);
	fputs(".</p>\n", rows->page);
	return status;
}

// ---- all kernels

static void write_hottest(const struct tare_blocks_rows *rows, const struct tare_blocks_row *row)
{
	const struct tare_blocks_answer answer = tare_blocks_answer(row);
	char line[RUN_TEXT];

	if (!answer.line)
		return;
	fputs("line ", rows->page);
	tare_blocks_line_link(rows, row, answer.line->file, answer.line->line);
	fputs(", ", rows->page);
	write_share(100 * answer.share, rows->page);
	if (tare_blocks_source_line(row->kernel->build, answer.line->file, answer.line->line, line,
	                            sizeof line) == TARE_BLOCKS_SOURCE_NONE)
		return;
	fputs(": <code>", rows->page);
	tare_html_text(line, rows->page);
	fputs("</code>", rows->page);
}

// Kernels by cost: which, where, and what to change.
static void write_answer(const struct tare_blocks_rows *rows)
{
	FILE *file = rows->page;
	uint64_t all = 0;

	for (size_t i = 0; i < rows->kernel_count; i++)
		all += tare_blocks_instructions(&rows->kernels[i].kernel->tally);
	fputs("<div class=\"wide\"><table class=\"answer\"><tr><th "
	      "class=\"l\">kernel<th>instructions<th>"
	      "<th class=\"l\">most in<th class=\"l\">what to change",
	      file);
	for (size_t i = 0; i < rows->kernel_count; i++) {
		const struct tare_blocks_row *row = &rows->kernels[i];
		double percent = share(tare_blocks_instructions(&row->kernel->tally), all);
		fprintf(file, "\n<tr><td class=\"l\"><a href=\"#k%zu\">", i);
		tare_html_text(row->kernel->name, file);
		fputs("</a><td>", file);
		if (row->counted)
			write_share(percent, file);
		else
			fputs("n/a", file);
		fprintf(file,
		        "<td class=\"l\"><span class=\"cost\" style=\"width:%.2fem\"></span>"
		        "<td class=\"l\">",
		        percent / 10);
		write_hottest(rows, row);
		fputs("<td class=\"l\">", file);
		for (uint32_t k = 0; k < row->told.findings.count; k++)
			fprintf(file, "%s%s", k ? ", " : "",
			        tare_blocks_rules[row->told.findings.at[k].advice].id);
	}
	fputs("\n</table></div>\n", file);
}

static void write_program(const struct tare_blocks_document *document, FILE *file)
{
	fputs("<title>blocks - tare</title></head><body>\n<h1>blocks of", file);
	for (char *const *word = document->program; *word; word++) {
		fputc(' ', file);
		tare_html_text(*word, file);
	}
	fputs("</h1>\n", file);
}

static int write_rows(struct tare_blocks_rows *rows)
{
	const struct tare_blocks_document *document = rows->document;
	FILE *file = rows->page;
	int status = 0;

	fputs(head, file);
	fputs(tare_blocks_style, file);
	write_program(document, file);
	if (rows->launches) {
		fprintf(file,
		        "<p>%" PRIu64 " of %" PRIu64
		        " launch%s counted, exactly, by work-items. %s.</p>\n",
		        rows->counted, rows->launches, rows->launches == 1 ? "" : "es",
		        tare_blocks_language_text(rows));
		write_text(tell_missing, document, file);
		write_answer(rows);
	}
	for (size_t i = 0; i < rows->kernel_count && status == 0; i++)
		status = write_kernel(rows, i);
	if (document->trials->set_count) {
		fputs("<h2>Build options</h2>\n", file);
		write_text(tell_options, &rows->trials, file);
	}
	if (document->samples->used)
		status = status ?: tare_pc_samples_page(&rows->samples, file);
	fputs("</body></html>\n", file);
	return status;
}

int tare_blocks_page(const struct tare_blocks_document *document, FILE *file)
{
	struct tare_blocks_rows rows;
	int status = tare_blocks_rows_make(document, &rows);

	rows.page = file;
	status = status ?: write_rows(&rows);
	tare_blocks_rows_free(&rows);
	return status;
}
