// SPDX-License-Identifier: Apache-2.0
#include "blocks/report/facts.h"

#include "base/units.h"
#include "blocks/module/printing.h"
#include "report/core/figures.h"

#include <inttypes.h>

#define NUMBER 32

static const char *share(uint64_t part, uint64_t whole, char buffer[RUN_TEXT])
{
	return tare_report_percent(whole ? (double)part / (double)whole : 0, buffer);
}

void tare_blocks_mix_text(const char *lead, const struct tare_blocks_tally *tally, FILE *file)
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

void tare_blocks_arithmetic_text(const struct tare_blocks_tally *tally, FILE *file)
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

static void write_fact(const char *name, uint64_t value, const char *unit, const char **before,
                       FILE *file)
{
	if (value == BLOCKS_NOT_TOLD)
		return;
	fprintf(file, "%s%s %" PRIu64 "%s", *before, name, value, unit);
	*before = ", ";
}

void tare_blocks_facts_text(const struct tare_blocks_kernel *kernel, FILE *file)
{
	const char *before = "  the driver says: ", *none = before;

	write_fact("work-groups best in multiples of", kernel->multiple, "", &before, file);
	write_fact("sub-groups of up to", kernel->sub_group, "", &before, file);
	write_fact("private memory", kernel->private_bytes, " bytes a work-item", &before, file);
	write_fact("spilled", kernel->spill_bytes, " bytes a work-item", &before, file);
	if (before != none)
		fputc('\n', file);
}

void tare_blocks_before_text(const struct tare_blocks_row *row, FILE *file)
{
	const struct tare_blocks_kernel *kernel = row->kernel, *before = row->before;
	char number[NUMBER], times[TARE_UNIT_TEXT], why[600];

	if (!before && tare_blocks_why_not_before(row->document, kernel, why, sizeof why))
		fprintf(file, "  before the optimisation: not counted, because %s\n", why);
	else if (!before && row->document->before->processes &&
	         kernel->build->language != BLOCKS_OPENCL_C)
		fprintf(file, "  before the optimisation: n/a, because %s is counted as the %s\n",
		        tare_blocks_language_of(kernel->build),
		        kernel->build->language == BLOCKS_PTX && kernel->api != BLOCKS_CUDA
		            ? "driver's own compiler made it"
		            : "program brought it");
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
	tare_blocks_mix_text("of which", &before->tally, file);
}

static void write_read_back(const struct tare_blocks_kernel *kernel, FILE *file)
{
	char number[NUMBER];

	if (kernel->far)
		fprintf(file, "  counted in the device's memory, which was read back%s\n",
		        kernel->build->plan.carries
		            ? "; it adds in two steps of 32 bits, having no atomic ones of 64"
		            : "");
	if (kernel->unread)
		fprintf(file,
		        "  the program ended before it was sure that the counts of %s launch%s had "
		        "been read from the device\n",
		        tare_format_grouped(kernel->unread, number),
		        kernel->unread == 1 ? "" : "es");
}

void tare_blocks_trust_text(const struct tare_blocks_kernel *kernel, FILE *file)
{
	char number[NUMBER];

	if (kernel->entered > kernel->work_items)
		fprintf(file,
		        "  more was counted than these launches: %s work-items (a graph, or the "
		        "device itself, launches it too)\n",
		        tare_format_grouped(kernel->entered, number));
	if (kernel->entered < kernel->work_items)
		fprintf(file,
		        "  counts are missing: %s of these work-items ended with their counts "
		        "written\n",
		        tare_format_grouped(kernel->entered, number));
	write_read_back(kernel, file);
	if (kernel->unchecked)
		fprintf(file,
		        "  not checked: of %s launch%s the device read from memory how many "
		        "work-groups there are, so that these work-items are those that were "
		        "counted\n",
		        tare_format_grouped(kernel->unchecked, number),
		        kernel->unchecked == 1 ? "" : "es");
	if (tare_blocks_rounds_otherwise(kernel->build))
		fprintf(file,
		        "  results may differ from those without counters in the last bit: %s\n",
		        tare_blocks_rounds_otherwise(kernel->build));
	if (kernel->tally.unsized)
		fprintf(file,
		        "  at least these bytes: %s cop%s had a size that is known at run time "
		        "only\n",
		        tare_format_grouped(kernel->tally.unsized, number),
		        kernel->tally.unsized == 1 ? "y" : "ies");
	if (tare_blocks_prints(&kernel->build->module, kernel->name))
		fputs("  it prints: lines of different work-items may come in another order than "
		      "without counters, as OpenCL leaves open\n",
		      file);
}

// So many launches, or what so many processes launched, are not in the counts.
static void write_left_out(uint64_t number, const char *noun, const char *why, FILE *file)
{
	char grouped[NUMBER];

	if (number)
		fprintf(file, "  not counted: %s %s%s %s\n", tare_format_grouped(number, grouped),
		        noun, number == 1 ? "" : "es", why);
}

// What a CUDA program loaded, by kinds.
static void write_brought(const struct tare_blocks_profile *profile, FILE *file)
{
	static const char *const kinds[BLOCKS_BROUGHT_KINDS][2] = {
		[BLOCKS_BROUGHT_PTX] = { "of PTX", "of PTX" },
		[BLOCKS_BROUGHT_FAT_BINARY] = { "fat binary", "fat binaries" },
		[BLOCKS_BROUGHT_MACHINE_CODE] = { "of machine code", "of machine code" },
		[BLOCKS_BROUGHT_LINKED] = { "linked by cuLink", "linked by cuLink" },
		[BLOCKS_BROUGHT_OTHER] = { "of another kind", "of another kind" },
	};
	const char *before = "  modules that the program loaded into CUDA: ";
	char number[NUMBER];

	for (int i = 0; i < BLOCKS_BROUGHT_KINDS; i++) {
		if (!profile->brought[i])
			continue;
		fprintf(file, "%s%s %s", before, tare_format_grouped(profile->brought[i], number),
		        kinds[i][profile->brought[i] != 1]);
		before = ", ";
	}
	if (before[0] == ',')
		fputc('\n', file);
}

void tare_blocks_missing_text(const struct tare_blocks_document *document, FILE *file)
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
	write_left_out(profile->graphs, "launch",
	               "of CUDA graphs that may run other kernels each time, or of which the "
	               "driver does not tell the kernels; what counted kernels did there is in "
	               "their counts, without these launches",
	               file);
	write_left_out(profile->without_room, "process",
	               "that launched kernels, as there was no room for counts in $TMPDIR", file);
	if (tare_blocks_unseen(profile))
		fprintf(file, "  not counted: what the program launches by CUDA, as %s\n",
		        tare_blocks_unseen(profile));
	if (profile->command_buffers)
		fputs("  not counted: what the program launches by command buffers\n", file);
	write_brought(profile, file);
}

const char *tare_blocks_language_of(const struct tare_blocks_build *build)
{
	return tare_blocks_has_words(&build->module) ? "SPIR-V" : "PTX";
}

const char *tare_blocks_language_text(const struct tare_blocks_rows *rows)
{
	bool spirv = false, ptx = false;

	for (size_t i = 0; i < rows->kernel_count; i++) {
		const struct tare_blocks_row *row = &rows->kernels[i];
		bool has_words = row->counted && tare_blocks_has_words(&row->kernel->build->module);
		spirv |= has_words;
		ptx |= row->counted && !has_words;
	}
	return !ptx    ? "Instructions are those of SPIR-V, after the compiler's optimisation that "
	                 "knows no device"
	       : spirv ? "Instructions are those of SPIR-V or of PTX, as each kernel says"
	               : "Instructions are those of PTX, NVIDIA's assembly language for all its "
	                 "devices";
}
