// SPDX-License-Identifier: Apache-2.0
// Kernels on devices that are not there.
#include "base/units.h"
#include "blocks/report/facts.h"
#include "report/core/figures.h"

#include <inttypes.h>

#define NUMBER 32

static const char *share(uint64_t part, uint64_t whole, char buffer[RUN_TEXT])
{
	return tare_report_percent(whole ? (double)part / (double)whole : 0, buffer);
}

static const char *plural(uint64_t number)
{
	return number == 1 ? "" : "s";
}

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

void tare_blocks_models_text(const struct tare_blocks_row *row, FILE *file)
{
	const struct tare_blocks_models *models = row->document->models;

	for (size_t i = 0; i < models->count; i++)
		if (tare_blocks_is_model_of(&models->at[i], row->kernel))
			write_model(&models->at[i], file);
}
