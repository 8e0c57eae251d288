// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"
#include "blocks/cuda/report/write.h"
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

static const char *share(uint64_t part, uint64_t whole, char buffer[RUN_TEXT])
{
	return tare_report_percent(whole ? (double)part / (double)whole : 0, buffer);
}

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

// So many launches, or what so many processes launched, are not in the counts.
static void write_left_out(uint64_t number, const char *noun, const char *why, FILE *file)
{
	char grouped[NUMBER];

	if (number)
		fprintf(file, "  not counted: %s %s%s %s\n", tare_format_grouped(number, grouped),
		        noun, number == 1 ? "" : "es", why);
}

static void write_missing(const struct tare_blocks_document *document, FILE *file)
{
	const struct tare_blocks_profile *profile = document->profile;
	char lost[160];

	snprintf(lost, sizeof lost,
	         "of kernels beyond the %d of a process for which there is room, or with names of "
	         "more than %d bytes",
	         BLOCKS_KERNELS, BLOCKS_NAME_BYTES - 1);
	write_left_out(profile->unknown_launches, "launch",
	               "of kernels that were made in a way that tare does not see", file);
	write_left_out(profile->lost_launches, "launch", lost, file);
	write_left_out(profile->without_room, "process",
	               "that launched kernels, as there was no room for counts in $TMPDIR", file);
	if (profile->command_buffers)
		fputs("  not counted: what the program launches by command buffers\n", file);
}

// ---- a kernel's sums

static void write_mix(const char *lead, const struct tare_blocks_tally *tally, FILE *file)
{
	uint64_t all = tare_blocks_instructions(tally);
	char percent[RUN_TEXT];
	bool first = true;

	fprintf(file, "  %s: ", lead);
	for (int i = 0; i < TARE_BLOCKS_PARTS; i++) {
		uint64_t part = tare_blocks_part(tally, i);
		if (!part)
			continue;
		fprintf(file, "%s%s %s", first ? "" : ", ", tare_blocks_part_name(i),
		        share(part, all, percent));
		first = false;
	}
	fputc('\n', file);
}

static void write_arithmetic(const struct tare_blocks_tally *tally, FILE *file)
{
	uint64_t bytes = tally->loaded_bytes[TARE_BLOCKS_GLOBAL] +
	                 tally->stored_bytes[TARE_BLOCKS_GLOBAL] +
	                 tally->loaded_bytes[TARE_BLOCKS_CONSTANT];
	char number[NUMBER], intensity[TARE_UNIT_TEXT];
	bool first = true;

	if (!tare_blocks_flops(tally))
		return;
	fputs("  floating-point operations: ", file);
	for (int i = 0; i < TARE_BLOCKS_WIDTHS; i++) {
		if (!tally->flops[i])
			continue;
		fprintf(file, "%s%s %s", first ? "" : ", ",
		        tare_format_grouped(tally->flops[i], number), tare_blocks_width_names[i]);
		first = false;
	}
	if (bytes)
		fprintf(file, "; %s for each byte of global and constant memory",
		        tare_format_significant((double)tare_blocks_flops(tally) / (double)bytes, 3,
		                                intensity));
	fputc('\n', file);
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
		fprintf(text->file, "  %zu more blocks; --verbose shows them\n", more);
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
		fprintf(text->file, "  %zu more lines; --verbose shows them\n", more);
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

static void write_fact(const char *name, uint64_t value, const char *unit, const char **before,
                       FILE *file)
{
	if (value == BLOCKS_NOT_TOLD)
		return;
	fprintf(file, "%s%s %" PRIu64 "%s", *before, name, value, unit);
	*before = ", ";
}

// What the driver says of the program's own kernel, on the device that it runs on.
static void write_facts(const struct tare_blocks_kernel *kernel, FILE *file)
{
	const char *before = "  the driver says: ", *none = before;

	write_fact("work-groups best in multiples of", kernel->multiple, "", &before, file);
	write_fact("sub-groups of up to", kernel->sub_group, "", &before, file);
	write_fact("private memory", kernel->private_bytes, " bytes a work-item", &before, file);
	write_fact("spilled", kernel->spill_bytes, " bytes a work-item", &before, file);
	if (before != none)
		fputc('\n', file);
}

static void write_before(const struct tare_blocks_row *row, FILE *file)
{
	const struct tare_blocks_kernel *kernel = row->kernel, *before = row->before;
	char number[NUMBER], times[TARE_UNIT_TEXT];

	if (!before)
		return;
	uint64_t all = tare_blocks_instructions(&before->tally),
	         after = tare_blocks_instructions(&kernel->tally);
	fprintf(file, "  before the optimisation: %s instructions",
	        tare_format_grouped(all, number));
	if (after)
		fprintf(file, ", %s times as many",
		        tare_format_significant((double)all / (double)after, 3, times));
	fprintf(file, "%s\n",
	        before->counted == kernel->counted ? "" : "; of another number of launches");
	write_mix("of which", &before->tally, file);
}

static void write_counted(struct tare_text *text, const struct tare_blocks_row *row)
{
	const struct tare_blocks_kernel *kernel = row->kernel;
	FILE *file = text->file;
	char a[NUMBER], b[NUMBER], mean[TARE_UNIT_TEXT];
	uint64_t all = tare_blocks_instructions(&kernel->tally);

	fprintf(file, "  %s launch%s, %s work-item%s", tare_format_grouped(kernel->counted, a),
	        kernel->counted == 1 ? "" : "es", tare_format_grouped(kernel->work_items, b),
	        plural(kernel->work_items));
	fprintf(file, "; %s instructions, %s a work-item; %s%s%s\n", tare_format_grouped(all, a),
	        tare_format_significant((double)all / (double)kernel->work_items, 4, mean),
	        kernel->build->level, kernel->build->options[0] ? ", built with " : "",
	        kernel->build->options);
	if (kernel->entered != kernel->work_items)
		fprintf(file,
		        "  counts are missing: %s of these work-items ended with their counts "
		        "written\n",
		        tare_format_grouped(kernel->entered, a));
	if (kernel->tally.unsized)
		fprintf(
		    file,
		    "  at least these bytes: %s copies had a size that is known at run time only\n",
		    tare_format_grouped(kernel->tally.unsized, a));
	write_facts(kernel, file);
	tare_blocks_times_text(row, file);
	write_mix("instructions", &kernel->tally, file);
	write_before(row, file);
	write_arithmetic(&kernel->tally, file);
	write_table(text, &tare_blocks_memory_table, &kernel->tally, SIZE_MAX);
	fputc('\n', file);
	write_blocks(text, row);
	fputc('\n', file);
	write_lines(text, row);
	write_loops(row, text->options->verbosity > 0, file);
	tare_blocks_told_text(&row->told, file);
}

// ---- on devices that are not there

// ": arithmetic 50.0 %, move 20.1 %", of what there is.
static void write_isa_mix(const uint64_t mix[TARE_BLOCKS_ISAS], uint64_t all, FILE *file)
{
	const char *before = ": ";
	char percent[RUN_TEXT];

	for (int i = 0; i < TARE_BLOCKS_ISAS; i++) {
		if (!mix[i])
			continue;
		fprintf(file, "%s%s %s", before, tare_blocks_isa_name((enum tare_blocks_isa)i),
		        share(mix[i], all, percent));
		before = ", ";
	}
	fputc('\n', file);
}

static uint64_t isa_sum(const uint64_t mix[TARE_BLOCKS_ISAS])
{
	uint64_t all = 0;

	for (int i = 0; i < TARE_BLOCKS_ISAS; i++)
		all += mix[i];
	return all;
}

static void write_isa(const struct tare_blocks_static *of, FILE *file)
{
	uint64_t all = isa_sum(of->mix);
	char number[NUMBER];

	if (!of->has_mix)
		fputs("    instructions: n/a, because ocloc took nothing apart; it needs "
		      "libiga64.so (on Debian: libigc-dev)\n",
		      file);
	if (!all)
		return;
	fprintf(file, "    %s instructions as they stand, not as often as they are executed",
	        tare_format_grouped(all, number));
	write_isa_mix(of->mix, all, file);
}

// As often as they would be executed.
static void write_joined(const struct tare_blocks_model *model, FILE *file)
{
	const struct tare_blocks_joined *joined = &model->joined;
	uint64_t all = isa_sum(joined->at_least);
	char number[NUMBER], percent[RUN_TEXT];

	if (joined->how != TARE_BLOCKS_JOINED) {
		fprintf(file, "    how often they are executed: n/a, because %s\n",
		        tare_blocks_join_why(joined->how));
		return;
	}
	fprintf(file,
	        "    executed, a model: at least %s instructions of hardware threads of %" PRIu32
	        " work-items",
	        tare_format_grouped(all, number), model->of.simd_width);
	write_isa_mix(joined->at_least, all, file);
	fprintf(file, "      %s of the code's instructions were joined with what was counted",
	        share(joined->joined, joined->instructions, percent));
	fputs(joined->joined < joined->instructions
	          ? "; how often the others are executed is not known.\n"
	          : "; where work-items part, it is more.\n",
	      file);
	if (joined->differing)
		fprintf(file,
		        "      Its blocks are of a build with -g, whose code has %s instruction%s "
		        "other than the above.\n",
		        tare_format_grouped(joined->differing, number), plural(joined->differing));
}

// Raised by what the compiler tells of that device.
static void write_spills(const struct tare_blocks_static *of, FILE *file)
{
	const struct tare_blocks_rule *rule = &tare_blocks_rules[TARE_BLOCKS_SPILLS];

	if (tare_blocks_spills(of))
		fprintf(file, "    %s: %s%s. %s\n      To change it, %s.\n", rule->id, rule->what,
		        of->spill_bytes ? "" : ", or an array is indexed as it runs", rule->saves,
		        rule->advice);
}

static void write_model(const struct tare_blocks_model *model, FILE *file)
{
	const struct tare_blocks_static *of = &model->of;
	char bytes[TARE_UNIT_TEXT];

	if (model->why.code) {
		fprintf(file, "  on %s: n/a, because %s\n", model->device, model->why.message);
		return;
	}
	fprintf(file, "  on %s (a model: compiled by ocloc, not run): ", model->device);
	if (of->simd_width)
		fprintf(file, "SIMD %" PRIu32 ", ", of->simd_width);
	if (of->registers)
		fprintf(file, "%" PRIu32 " registers, ", of->registers);
	if (of->spill_bytes)
		fprintf(file, "%s of them spilled, ", tare_format_bytes(of->spill_bytes, bytes));
	else if (of->scratch_bytes)
		fprintf(file, "%s of spilled registers and private arrays, ",
		        tare_format_bytes(of->scratch_bytes, bytes));
	else
		fputs("no spills, ", file);
	fprintf(file, "%s of local memory, %" PRIu32 " barrier%s\n",
	        tare_format_bytes(of->local_bytes, bytes), of->barriers, plural(of->barriers));
	write_isa(of, file);
	if (of->has_mix || model->listing.block_count)
		write_joined(model, file);
	write_spills(of, file);
}

static void write_models(const struct tare_blocks_models *models,
                         const struct tare_blocks_kernel *kernel, FILE *file)
{
	for (size_t i = 0; i < models->count; i++)
		if (tare_blocks_is_model_of(&models->at[i], kernel))
			write_model(&models->at[i], file);
}

static void write_kernel(struct tare_text *text, const struct tare_blocks_row *row)
{
	const struct tare_blocks_kernel *kernel = row->kernel;
	uint64_t missed = kernel->launches - kernel->counted;
	char number[NUMBER];

	fprintf(text->file, "\nkernel %s\n", kernel->name);
	if (row->counted && kernel->work_items)
		write_counted(text, row);
	write_models(row->document->models, kernel, text->file);
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
		fputs("\nInstructions are those of SPIR-V, after the compiler's optimisation that "
		      "knows no device; what a device executes for one may be none or several. "
		      "Executions are counted for each work-item.\n",
		      file);
}

static int write_rows(struct tare_text *text, const struct tare_blocks_rows *rows)
{
	const struct tare_blocks_document *document = rows->document;

	if (rows->launches) {
		write_head(rows, text->file);
		write_missing(document, text->file);
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
