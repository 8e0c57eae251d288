// SPDX-License-Identifier: Apache-2.0
// One page without scripts: per kernel its instruction mix as a bar, findings, blocks by cost, and
// the source with the lines tinted by their share.
#include "blocks/cuda/report/write.h"
#include "blocks/report/options.h"
#include "blocks/report/source.h"
#include "blocks/report/tables.h"
#include "blocks/report/times.h"
#include "blocks/report/told.h"
#include "blocks/report/write.h"
#include "report/core/figures.h"
#include "report/core/table_html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 112 // of text on it, in columns

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<style>\n"
    ":root{color-scheme:light dark}body{font:14px/1.45 system-ui,sans-serif;margin:2em "
    "auto;max-width:70em;padding:0 1em}\n"
    "table{border-collapse:collapse;margin:.6em 0}td,th{padding:.1em "
    ".7em;text-align:right;white-space:nowrap;"
    "font-variant-numeric:tabular-nums}\n"
    "pre{overflow-x:auto;line-height:1.35}.n,.s{display:inline-block;text-align:right;"
    "opacity:.65}.n{width:4em}.s{width:5em;margin-right:1em}\n"
    ".bar{display:flex;height:1.6em;margin:.5em 0}.bar span{height:100%}.key{display:flex;"
    "flex-wrap:wrap;gap:.2em 1.2em}\n"
    ".key i{display:inline-block;width:.8em;height:.8em;margin-right:.4em}.cost{display:inline-"
    "block;height:.8em;background:#c2571a}.l{text-align:left;white-space:normal}\n"
    "</style>\n";

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

	fputs("<div class=\"bar\" role=\"img\" aria-label=\"instruction mix\">", file);
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

// ---- lines

// What a line of a source executed.
static uint64_t cost_of(const struct tare_blocks_row *row, const struct tare_blocks_source *source,
                        uint32_t number)
{
	const struct tare_blocks_build *build = row->kernel->build;
	uint64_t sum = 0;

	for (size_t i = 0; i < row->line_count; i++)
		if (row->lines[i].line == number &&
		    tare_blocks_sources_find(
		        &build->sources,
		        tare_blocks_file_name(&build->module, row->lines[i].file)) == source)
			sum += tare_blocks_instructions(&row->lines[i].tally);
	return sum;
}

static void write_line(uint32_t number, double part, const char *line, FILE *file)
{
	char *text = strndup(line, strcspn(line, "\n"));

	if (part > 0) {
		fprintf(file,
		        "<span style=\"background:rgba(194,87,26,%.2f)\"><span "
		        "class=\"n\">%" PRIu32 "</span><span class=\"s\">",
		        part < 90 ? 0.05 + part / 120 : 0.8, number);
		write_share(part, file);
		fputs("</span>", file);
	} else {
		fprintf(file, "<span><span class=\"n\">%" PRIu32 "</span><span class=\"s\"></span>",
		        number);
	}
	if (text)
		tare_html_text(text, file);
	fputs("</span>\n", file);
	free(text);
}

static void write_source(const struct tare_blocks_row *row, const struct tare_blocks_source *source,
                         FILE *file)
{
	uint64_t all = tare_blocks_instructions(&row->kernel->tally);
	uint32_t number = 1;

	if (!source->text[0])
		return;
	fputs("<details open><summary>", file);
	tare_html_text(source->label[0] ? source->label : "source", file);
	fputs(", tinted by share of instructions</summary><pre>", file);
	for (const char *line = source->text; *line;) {
		uint32_t next = tare_blocks_next_line(line, number);
		uint64_t cost = next == number + 1 ? cost_of(row, source, number) : 0;
		write_line(number, share(cost, all), line, file);
		line += strcspn(line, "\n");
		line += *line == '\n';
		number = next;
	}
	fputs("</pre></details>\n", file);
}

// ---- a kernel, and the page

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
	fputs("<pre>", file);
	if (wrapped)
		tare_html_text(wrapped, file);
	fputs("</pre>\n", file);
	free(lines);
	free(wrapped);
}

static void tell(const void *row, FILE *file)
{
	tare_blocks_times_text(row, file);
	tare_blocks_told_text(&((const struct tare_blocks_row *)row)->told, file);
}

static void tell_options(const void *trials, FILE *file)
{
	static const struct tare_text_options options = { .columns = WIDTH, .verbosity = 1 };
	struct tare_text text = { .options = &options, .file = file };

	tare_blocks_options_text(&text, trials);
}

static void write_counted(const struct tare_blocks_row *row, FILE *file)
{
	const struct tare_blocks_kernel *kernel = row->kernel;
	char launches[RUN_TEXT], items[RUN_TEXT], instructions[RUN_TEXT];

	fprintf(file, "<p>%s launch%s, %s work-item%s, %s instructions of SPIR-V; ",
	        tare_report_count(kernel->counted, launches), kernel->counted == 1 ? "" : "es",
	        tare_report_count(kernel->work_items, items), kernel->work_items == 1 ? "" : "s",
	        tare_report_count(tare_blocks_instructions(&kernel->tally), instructions));
	tare_html_text(kernel->build->level, file);
	fputs(kernel->unchecked ? ". Some launches could not be checked.</p>\n"
	      : kernel->entered == kernel->work_items ? ".</p>\n"
	                                              : ". Counts are missing.</p>\n",
	      file);
	write_mix(&kernel->tally, file);
	write_text(tell, row, file);
	tare_table_html(&tare_blocks_blocks_table, row,
	                &(struct tare_table_part){ .on = TARE_ON_PAGE }, file);
	for (size_t i = 0; i < kernel->build->sources.count; i++)
		write_source(row, &kernel->build->sources.at[i], file);
}

static void write_kernel(const struct tare_blocks_row *row, FILE *file)
{
	const struct tare_blocks_kernel *kernel = row->kernel;
	uint64_t others = kernel->launches - kernel->counted;

	fputs("<h2>", file);
	tare_html_text(kernel->name, file);
	fputs("</h2>\n", file);
	if (row->counted && kernel->work_items)
		write_counted(row, file);
	if (!others)
		return;
	fprintf(file, "<p>Not counted: %" PRIu64 " launch%s, because ", others,
	        others == 1 ? "" : "es");
	tare_html_text(row->why, file);
	fputs(".</p>\n", file);
}

static int write_rows(const struct tare_blocks_rows *rows, FILE *file)
{
	const struct tare_blocks_document *document = rows->document;
	int status = 0;

	fputs(head, file);
	fputs("<title>blocks - tare</title></head><body>\n<h1>blocks of", file);
	for (char *const *word = document->program; *word; word++) {
		fputc(' ', file);
		tare_html_text(*word, file);
	}
	fputs("</h1>\n", file);
	if (rows->launches)
		fprintf(file,
		        "<p>%" PRIu64 " of %" PRIu64
		        " launch%s counted, exactly, by work-items. Instructions are those of "
		        "SPIR-V, after the compiler's optimisation that knows no device.</p>\n",
		        rows->counted, rows->launches, rows->launches == 1 ? "" : "es");
	for (size_t i = 0; i < rows->kernel_count; i++)
		write_kernel(&rows->kernels[i], file);
	if (document->trials->set_count) {
		fputs("<h2>Build options</h2>\n", file);
		write_text(tell_options, &rows->trials, file);
	}
	if (document->samples->used)
		status = tare_pc_samples_page(&rows->samples, file);
	fputs("</body></html>\n", file);
	return status;
}

int tare_blocks_page(const struct tare_blocks_document *document, FILE *file)
{
	struct tare_blocks_rows rows;
	int status = tare_blocks_rows_make(document, &rows);

	status = status ?: write_rows(&rows, file);
	tare_blocks_rows_free(&rows);
	return status;
}
