// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"
#include "blocks/cuda/report/write.h"
#include "blocks/report/options.h"
#include "blocks/report/source.h"
#include "blocks/report/tables.h"
#include "blocks/report/times.h"
#include "blocks/report/told.h"
#include "blocks/report/wrap.h"
#include "blocks/report/write.h"
#include "report/core/figures.h"
#include "report/core/table_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 8, LINES = 8, LOOPS = 6, SOURCE_COLUMNS = 42 };

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

static void write_head(const struct tare_blocks_document *document, FILE *file)
{
	const struct tare_blocks_profile *profile = document->profile;
	char a[NUMBER], b[NUMBER], plain[TARE_UNIT_TEXT], slow[TARE_UNIT_TEXT],
	    room[TARE_UNIT_TEXT];
	uint64_t counted, launches;

	tare_blocks_coverage(profile, &counted, &launches);
	fprintf(file, "  %s of %s launch%s counted, exactly, by work-items\n",
	        tare_format_grouped(counted, a), tare_format_grouped(launches, b),
	        launches == 1 ? "" : "es");
	fprintf(file,
	        "  run twice: %s as it is, %s with counters (%s of them); times include building "
	        "the kernels\n",
	        tare_format_ns((double)document->plain_ns, plain),
	        tare_format_ns((double)document->counted_ns, slow),
	        tare_format_bytes(profile->counter_bytes, room));
}

static void write_missing(const struct tare_blocks_document *document, FILE *file)
{
	const struct tare_blocks_profile *profile = document->profile;
	char number[NUMBER];

	if (profile->unknown_launches)
		fprintf(file,
		        "  not counted: %s launch%s of kernels that were made in a way that "
		        "tare does not see\n",
		        tare_format_grouped(profile->unknown_launches, number),
		        plural(profile->unknown_launches)[0] ? "es" : "");
	if (profile->lost_kernels)
		fprintf(file, "  not counted: %s kernels more than there is room for\n",
		        tare_format_grouped(profile->lost_kernels, number));
	if (profile->command_buffers)
		fputs("  not counted: what the program launches by command buffers\n", file);
}

// ---- a kernel's sums

static void write_mix(const char *lead, const struct tare_blocks_tally *tally, FILE *file)
{
	uint64_t all = tare_blocks_instructions(tally), loads = 0, stores = 0;
	char percent[RUN_TEXT];
	bool first = true;

	fprintf(file, "  %s: ", lead);
	for (int i = 0; i < TARE_BLOCKS_SPACES; i++) {
		loads += tally->loads[i];
		stores += tally->stores[i];
	}
	for (int i = 0; i < TARE_BLOCKS_KINDS + 2; i++) {
		uint64_t part = i < TARE_BLOCKS_KINDS    ? tally->kinds[i]
		                : i == TARE_BLOCKS_KINDS ? loads
		                                         : stores;
		if (!part)
			continue;
		fprintf(file, "%s%s %s", first ? "" : ", ",
		        i < TARE_BLOCKS_KINDS    ? tare_blocks_kind_name((enum tare_blocks_kind)i)
		        : i == TARE_BLOCKS_KINDS ? "load"
		                                 : "store",
		        share(part, all, percent));
		first = false;
	}
	fputc('\n', file);
}

static void write_memory(const struct tare_blocks_tally *tally, FILE *file)
{
	char a[NUMBER], b[NUMBER], c[NUMBER], d[NUMBER];
	bool head = false;

	for (int i = 0; i < TARE_BLOCKS_SPACES; i++) {
		if (!tally->loads[i] && !tally->stores[i])
			continue;
		if (!head)
			fprintf(file, "  %-9s %15s %17s %15s %17s\n", "memory", "loads",
			        "bytes loaded", "stores", "bytes stored");
		head = true;
		fprintf(file, "  %-9s %15s %17s %15s %17s\n",
		        tare_blocks_space_name((enum tare_blocks_space)i),
		        tare_format_grouped(tally->loads[i], a),
		        tare_format_grouped(tally->loaded_bytes[i], b),
		        tare_format_grouped(tally->stores[i], c),
		        tare_format_grouped(tally->stored_bytes[i], d));
	}
}

static void write_arithmetic(const struct tare_blocks_tally *tally, FILE *file)
{
	static const char *const names[TARE_BLOCKS_WIDTHS] = { "fp16", "fp32", "fp64" };
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
		        tare_format_grouped(tally->flops[i], number), names[i]);
		first = false;
	}
	if (bytes)
		fprintf(file, "; %s for each byte of global and constant memory",
		        tare_format_significant((double)tare_blocks_flops(tally) / (double)bytes, 3,
		                                intensity));
	fputc('\n', file);
}

// ---- blocks, lines, loops

// "12-14" or "12"; "-": not known.
static const char *lines_of(const struct tare_blocks_module *module, uint32_t block,
                            char text[NUMBER])
{
	uint32_t first, last;

	tare_blocks_span(module, block, &first, &last);
	if (!first)
		return "-";
	if (first == last)
		snprintf(text, NUMBER, "%" PRIu32, first);
	else
		snprintf(text, NUMBER, "%" PRIu32 "-%" PRIu32, first, last);
	return text;
}

static int write_blocks(const struct tare_blocks_kernel *kernel, bool verbose, FILE *file)
{
	static const struct tare_text_options options = { .columns = 80 };
	struct tare_text text = { .options = &options, .file = file };
	struct tare_blocks_row row = { .kernel = kernel };
	size_t shown;

	row.order = tare_blocks_order(kernel, &row.order_count);
	if (!row.order)
		return -ENOMEM;
	shown = verbose || row.order_count < BLOCKS ? row.order_count : BLOCKS;
	tare_table_text(&text, &tare_blocks_blocks_table, &row,
	                &(struct tare_table_part){
	                    .on = TARE_ON_TEXT, .flush = true, .indent = 2, .most = shown });
	if (shown < row.order_count)
		fprintf(file, "  %zu more blocks; --verbose shows them\n", row.order_count - shown);
	free(row.order);
	return text.failed ? -ENOMEM : 0;
}

// Whether the source is a file's as it is now.
static bool write_line(const struct tare_blocks_kernel *kernel, const struct tare_blocks_line *line,
                       FILE *file)
{
	const struct tare_blocks_build *build = kernel->build;
	uint64_t instructions = tare_blocks_instructions(&line->tally);
	char number[NUMBER], place[NUMBER] = "-", text[400], percent[RUN_TEXT];
	enum tare_blocks_source_from from =
	    tare_blocks_source_line(build, line->file, line->line, text, sizeof text);
	bool cut = strlen(text) > SOURCE_COLUMNS;

	if (line->line)
		snprintf(place, sizeof place, "%" PRIu32, line->line);
	fprintf(file, "  %5s %17s %7s  ", place, tare_format_grouped(instructions, number),
	        share(instructions, tare_blocks_instructions(&kernel->tally), percent));
	if (from == TARE_BLOCKS_SOURCE_NONE)
		fprintf(file, "%s\n",
		        line->line ? tare_blocks_file_name(&build->module, line->file)
		                   : "(the compiler's own, of no line)");
	else
		fprintf(file, "%.*s%s\n", SOURCE_COLUMNS, text, cut ? "..." : "");
	return from == TARE_BLOCKS_SOURCE_FILE;
}

static int write_lines(const struct tare_blocks_kernel *kernel, bool verbose, FILE *file)
{
	bool files = false;
	size_t count, shown;
	struct tare_blocks_line *lines = tare_blocks_lines(kernel, &count);

	if (!lines)
		return -ENOMEM;
	shown = verbose || count < LINES ? count : LINES;
	if (count == 1 && lines[0].line == 0)
		fputs("  no lines: the module has no debug information\n", file);
	else {
		fprintf(file, "  %5s %17s %7s  %s\n", "line", "instructions", "share", "source");
		for (size_t i = 0; i < shown; i++)
			files |= write_line(kernel, &lines[i], file);
		if (files)
			fputs("  sources are the files that the module names, as they are now\n",
			      file);
		if (shown < count)
			fprintf(file, "  %zu more lines; --verbose shows them\n", count - shown);
	}
	free(lines);
	return 0;
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

static int write_loops(const struct tare_blocks_kernel *kernel,
                       const struct tare_blocks_sampled *sampled, bool verbose, FILE *file)
{
	size_t count, shown;
	struct tare_blocks_loop *loops = tare_blocks_loops(kernel, &count);

	if (!loops)
		return -ENOMEM;
	shown = verbose || count < LOOPS ? count : LOOPS;
	for (size_t i = 0; i < shown; i++) {
		const struct tare_blocks_loop *loop = &loops[i];
		char lines[NUMBER], a[NUMBER], b[NUMBER], mean[TARE_UNIT_TEXT];
		fprintf(file, "  loop at block %" PRIu32 ", line %s: ", loop->header,
		        lines_of(&kernel->build->module, loop->header, lines));
		if (loop->known)
			fprintf(file, "%s turns in %s entries, %s on average",
			        tare_format_grouped(loop->turns, a),
			        tare_format_grouped(loop->entries, b),
			        tare_format_significant((double)loop->turns / (double)loop->entries,
			                                4, mean));
		else
			fprintf(file, "%s turns; how often it was entered is not known",
			        tare_format_grouped(loop->turns, a));
		write_turns(sampled, loop->header, file);
	}
	free(loops);
	return 0;
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

static void write_before(const struct tare_blocks_profile *profile,
                         const struct tare_blocks_kernel *kernel, FILE *file)
{
	const struct tare_blocks_kernel *before = tare_blocks_before(profile, kernel);
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

static int write_counted(const struct tare_blocks_document *document,
                         const struct tare_blocks_kernel *kernel, bool verbose, FILE *file)
{
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
	tare_blocks_times_text(document->times, document->profile, kernel, file);
	write_mix("instructions", &kernel->tally, file);
	write_before(document->before, kernel, file);
	write_arithmetic(&kernel->tally, file);
	write_memory(&kernel->tally, file);
	fputc('\n', file);
	int status = write_blocks(kernel, verbose, file);
	fputc('\n', file);
	status = status ?: write_lines(kernel, verbose, file);
	struct tare_blocks_told told;
	int made = tare_blocks_told_make(kernel, document->gains, &told);
	if (status == 0)
		status = made;
	status = status ?: write_loops(kernel, &told.sampled, verbose, file);
	if (status == 0)
		tare_blocks_told_text(&told, file);
	tare_blocks_told_free(&told);
	return status;
}

// ---- on devices that are not there

static void write_isa(const struct tare_blocks_static *of, FILE *file)
{
	uint64_t all = 0;
	char number[NUMBER], percent[RUN_TEXT];
	const char *before = ": ";

	if (!of->has_mix)
		fputs("    instructions: n/a, because ocloc took nothing apart; it needs "
		      "libiga64.so (on Debian: libigc-dev)\n",
		      file);
	for (int i = 0; i < TARE_BLOCKS_ISAS; i++)
		all += of->mix[i];
	if (!all)
		return;
	fprintf(file, "    %s instructions as they stand, not as often as they are executed",
	        tare_format_grouped(all, number));
	for (int i = 0; i < TARE_BLOCKS_ISAS; i++) {
		if (!of->mix[i])
			continue;
		fprintf(file, "%s%s %s", before, tare_blocks_isa_name((enum tare_blocks_isa)i),
		        share(of->mix[i], all, percent));
		before = ", ";
	}
	fputc('\n', file);
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
	write_spills(of, file);
}

static void write_models(const struct tare_blocks_models *models,
                         const struct tare_blocks_kernel *kernel, FILE *file)
{
	for (size_t i = 0; i < models->count; i++)
		if (tare_blocks_is_model_of(&models->at[i], kernel))
			write_model(&models->at[i], file);
}

static int write_kernel(const struct tare_blocks_document *document,
                        const struct tare_blocks_kernel *kernel, bool verbose, FILE *file)
{
	char why[600], number[NUMBER];
	uint64_t missed = kernel->launches - kernel->counted;
	int status = 0;

	if (!kernel->launches)
		return 0;
	fprintf(file, "\nkernel %s\n", kernel->name);
	if (kernel->counted && kernel->executions && kernel->work_items)
		status = write_counted(document, kernel, verbose, file);
	write_models(document->models, kernel, file);
	if (!missed)
		return status;
	tare_blocks_why(kernel, why, sizeof why);
	fprintf(file, "  not counted: %s launch%s, because %s\n",
	        tare_format_grouped(missed, number), missed == 1 ? "" : "es", why);
	if (verbose && kernel->log[0])
		fprintf(file, "  the driver said: %s\n", kernel->log);
	return status;
}

static void write_foot(const struct tare_blocks_document *document, FILE *file)
{
	uint64_t counted, launches;

	tare_blocks_coverage(document->profile, &counted, &launches);
	if (!counted)
		return;
	fputs("\nInstructions are those of SPIR-V, after the compiler's optimisation that knows no "
	      "device; what a device executes for one may be none or several. Executions are "
	      "counted for each work-item.\n",
	      file);
}

// Of kernels that are counted.
static int write_kernels(const struct tare_blocks_document *document, bool verbose, FILE *file)
{
	const struct tare_blocks_profile *profile = document->profile;
	uint64_t counted, launches;
	int status = 0;

	tare_blocks_coverage(profile, &counted, &launches);
	if (launches) {
		write_head(document, file);
		write_missing(document, file);
	}
	for (size_t i = 0; status == 0 && i < profile->kernel_count; i++)
		status = write_kernel(document, &profile->kernels[i], verbose, file);
	write_foot(document, file);
	return status;
}

int tare_blocks_text(const struct tare_blocks_document *document, bool verbose, FILE *file)
{
	char *text = NULL;
	size_t length = 0;
	FILE *kernels = open_memstream(&text, &length);
	int status = kernels ? write_kernels(document, verbose, kernels) : -ENOMEM;

	if (kernels && fclose(kernels) != 0)
		status = -ENOMEM;
	write_program(document, file);
	if (text)
		tare_blocks_wrap(text, file);
	free(text);
	if (document->trials->set_count)
		tare_blocks_options_text(document->trials, verbose, file);
	if (status == 0 && document->samples->used)
		status = tare_pc_samples_text(document->samples, document->plain_ns,
		                              document->counted_ns, verbose, file);
	return status;
}
