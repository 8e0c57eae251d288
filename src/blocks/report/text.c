// SPDX-License-Identifier: Apache-2.0
#include "analysis/core/demangle.h"
#include "base/units.h"
#include "blocks/cuda/report/write.h"
#include "blocks/report/answer.h"
#include "blocks/report/facts.h"
#include "blocks/report/options.h"
#include "blocks/report/source.h"
#include "blocks/report/tables.h"
#include "blocks/report/times.h"
#include "blocks/report/told.h"
#include "blocks/report/write.h"
#include "report/core/figures.h"
#include "report/core/table_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 8, LINES = 8, LOOPS = 6 };

#define NUMBER 32

static const char *plural(uint64_t number)
{
	return number == 1 ? "" : "s";
}

// ---- the head

static void write_program(const struct tare_blocks_document *document, FILE *file)
{
	fputs("blocks of", file);
	for (char *const *word = document->program; *word; word++)
		fprintf(file, " %s", *word);
	fputc('\n', file);
}

static void write_head(const struct tare_blocks_rows *rows, FILE *file)
{
	const struct tare_blocks_document *document = rows->document;
	char a[NUMBER], b[NUMBER], plain[TARE_UNIT_TEXT], slow[TARE_UNIT_TEXT],
	    room[TARE_UNIT_TEXT];

	write_program(document, file);
	fprintf(file, "  %s of %s launch%s counted%s\n", tare_format_grouped(rows->counted, a),
	        tare_format_grouped(rows->launches, b), rows->launches == 1 ? "" : "es",
	        rows->counted ? ", exactly, by work-items" : "");
	if (tare_blocks_ran_once(document)) {
		fprintf(file, "  run once, %s\n",
		        tare_format_ns((double)document->counted_ns, slow));
		return;
	}
	fprintf(file,
	        "  run twice: %s as it is, %s with counters (%s of them); times include building "
	        "the kernels\n",
	        tare_format_ns((double)document->plain_ns, plain),
	        tare_format_ns((double)document->counted_ns, slow),
	        tare_format_bytes(document->profile->counter_bytes, room));
}

// ---- blocks, lines, loops

// `most` rows of a table without -v; returns how many are left out.
static size_t write_table(struct tare_text *text, const struct tare_table *table,
                          const void *source, size_t most)
{
	size_t count = table->count(source);

	if (text->options->verbosity > 0 || count < most)
		most = count;
	tare_table_text(text, table, source,
	                &(struct tare_table_part){
	                    .on = TARE_ON_TEXT, .flush = true, .indent = 2, .most = most });
	return count - most;
}

static void write_blocks(struct tare_text *text, const struct tare_blocks_row *row)
{
	size_t more = write_table(text, &tare_blocks_blocks_table, row, BLOCKS);

	if (more)
		fprintf(text->file, "  %zu more block%s; --verbose shows %s\n", more, plural(more),
		        more == 1 ? "it" : "them");
}

// Whether the source of a line that is shown is a file's as it is now.
static bool shows_files(const struct tare_blocks_row *row, size_t shown)
{
	bool files = false;
	char line[4];

	for (size_t i = 0; i < shown && !files; i++)
		files = tare_blocks_source_line(row->kernel->build, row->lines[i].file,
		                                row->lines[i].line, line,
		                                sizeof line) == TARE_BLOCKS_SOURCE_FILE;
	return files;
}

static void write_lines(struct tare_text *text, const struct tare_blocks_row *row)
{
	size_t more;

	if (row->line_count == 1 && row->lines[0].line == 0) {
		fputs("  no lines: the module has no debug information\n", text->file);
		return;
	}
	more = write_table(text, &tare_blocks_lines_table, row, LINES);
	if (shows_files(row, row->line_count - more))
		fputs("  sources are the files that the module names, as they are now\n",
		      text->file);
	if (more)
		fprintf(text->file, "  %zu more line%s; --verbose shows %s\n", more, plural(more),
		        more == 1 ? "it" : "them");
}

static void write_turns(const struct tare_blocks_sampled *sampled, uint32_t header, FILE *file)
{
	const struct tare_blocks_turns *turns =
	    sampled->work_items ? &sampled->turns[header] : NULL;
	char a[NUMBER], b[NUMBER];

	if (turns && turns->most && turns->least == turns->most)
		fprintf(file, "; %s by each work-item that has any, in the sample",
		        tare_format_grouped(turns->least, a));
	else if (turns && turns->most)
		fprintf(file, "; %s to %s by a work-item that has any, in the sample",
		        tare_format_grouped(turns->least, a), tare_format_grouped(turns->most, b));
	fputc('\n', file);
}

static void write_loops(const struct tare_blocks_row *row, bool verbose, FILE *file)
{
	size_t shown = verbose || row->loop_count < LOOPS ? row->loop_count : LOOPS;

	for (size_t i = 0; i < shown; i++) {
		const struct tare_blocks_loop *loop = &row->loops[i];
		char lines[2 * NUMBER + 64], a[NUMBER], b[NUMBER], mean[TARE_UNIT_TEXT];
		fprintf(
		    file, "  loop at block %" PRIu32 ", line %s: ", loop->header,
		    tare_blocks_span_words(row->kernel->build, loop->header, lines, sizeof lines));
		if (loop->known)
			fprintf(file, "%s turns in %s entries, %s on average",
			        tare_format_grouped(loop->turns, a),
			        tare_format_grouped(loop->entries, b),
			        tare_format_significant((double)loop->turns / (double)loop->entries,
			                                4, mean));
		else
			fprintf(file, "%s turns; how often it was entered is not known",
			        tare_format_grouped(loop->turns, a));
		write_turns(&row->told.sampled, loop->header, file);
	}
}

// ---- a kernel

static void write_counted(struct tare_text *text, const struct tare_blocks_row *row)
{
	const struct tare_blocks_kernel *kernel = row->kernel;
	FILE *file = text->file;
	char a[NUMBER], b[NUMBER], mean[TARE_UNIT_TEXT];
	uint64_t all = tare_blocks_instructions(&kernel->tally);

	fprintf(file, "  %s launch%s, %s work-item%s", tare_format_grouped(kernel->counted, a),
	        kernel->counted == 1 ? "" : "es", tare_format_grouped(kernel->work_items, b),
	        plural(kernel->work_items));
	fprintf(file, "; %s instructions", tare_format_grouped(all, a));
	if (kernel->entered <= kernel->work_items)
		fprintf(file, ", %s a work-item",
		        tare_format_significant((double)all / (double)kernel->work_items, 4, mean));
	fprintf(file, "; %s%s%s\n", kernel->build->level,
	        kernel->build->options[0] ? ", built with " : "", kernel->build->options);
	tare_blocks_trust_text(kernel, file);
	tare_blocks_facts_text(kernel, file);
	tare_blocks_times_text(row, file);
	tare_blocks_mix_text("instructions", &kernel->tally, file);
	tare_blocks_before_text(row, file);
	tare_blocks_arithmetic_text(&kernel->tally, file);
	write_table(text, &tare_blocks_memory_table, &kernel->tally, SIZE_MAX);
	fputc('\n', file);
	write_blocks(text, row);
	fputc('\n', file);
	write_lines(text, row);
	write_loops(row, text->options->verbosity > 0, file);
	tare_blocks_told_text(&row->told, file);
}

// ---- all

static void write_kernel(struct tare_text *text, const struct tare_blocks_row *row)
{
	const struct tare_blocks_kernel *kernel = row->kernel;
	uint64_t missed = kernel->launches - kernel->counted;
	char number[NUMBER];

	char *plain = tare_demangle(kernel->name);
	fprintf(text->file, "\nkernel %s\n", plain ? plain : kernel->name);
	free(plain);
	if (row->counted && kernel->work_items)
		write_counted(text, row);
	tare_blocks_models_text(row, text->file);
	if (!missed)
		return;
	fprintf(text->file, "  not counted: %s launch%s, because %s\n",
	        tare_format_grouped(missed, number), missed == 1 ? "" : "es", row->why);
	if (text->options->verbosity > 0 && kernel->log[0])
		fprintf(text->file, "  the driver said: %s\n", kernel->log);
}

static void write_foot(const struct tare_blocks_rows *rows, FILE *file)
{
	if (rows->counted)
		fprintf(file,
		        "\n%s; what a device executes for one may be none or several. Executions "
		        "are counted for each work-item.\n",
		        tare_blocks_language_text(rows));
}

static int write_rows(struct tare_text *text, const struct tare_blocks_rows *rows)
{
	const struct tare_blocks_document *document = rows->document;

	if (rows->launches) {
		write_head(rows, text->file);
		tare_blocks_missing_text(document, text->file);
		tare_blocks_answers_text(text, rows);
	} else {
		write_program(document, text->file);
	}
	for (size_t i = 0; i < rows->kernel_count; i++)
		write_kernel(text, &rows->kernels[i]);
	write_foot(rows, text->file);
	if (document->trials->set_count)
		tare_blocks_options_text(text, &rows->trials);
	return document->samples->used
	           ? tare_pc_samples_text(text, &rows->samples, document->plain_ns,
	                                  document->counted_ns)
	           : 0;
}

int tare_blocks_text(const struct tare_blocks_document *document,
                     const struct tare_text_options *options, FILE *file)
{
	struct tare_text_options plain = *options;
	struct tare_text text = { .options = &plain };
	struct tare_blocks_rows rows;
	char *lines = NULL;
	size_t bytes;
	int status = tare_blocks_rows_make(document, &rows);

	plain.colour = false; // which would count as text
	text.file = status == 0 ? open_memstream(&lines, &bytes) : NULL;
	text.failed = !text.file;
	status = text.file ? write_rows(&text, &rows) : -ENOMEM;
	if (text.file)
		text.failed |= fclose(text.file) != 0;
	text.file = file;
	if (status == 0 && !text.failed)
		tare_blocks_lines_text(&text, lines);
	free(lines);
	tare_blocks_rows_free(&rows);
	return text.failed ? -ENOMEM : status;
}
