// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"
#include "blocks/cuda/report/tables.h"
#include "report/core/table_text.h"

#include <inttypes.h>
#include <string.h>

enum { KERNELS = 10, ROWS = 8, NAME = 96, WORDS = TARE_SAMPLED_WORDS };

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void write_head(const struct tare_pc_samples_rows *rows, int64_t plain_ns,
                       int64_t sampled_ns, FILE *file)
{
	const struct tare_pc_samples *samples = rows->of;
	const struct samples_header *sums = &samples->sums;
	char plain[TARE_UNIT_TEXT], sampled[TARE_UNIT_TEXT], begin[TARE_UNIT_TEXT],
	    end[TARE_UNIT_TEXT], modules[TARE_UNIT_TEXT], reads[TARE_UNIT_TEXT],
	    room[TARE_UNIT_TEXT], counting[TARE_UNIT_TEXT], cost[TARE_SAMPLED_COST];

	fprintf(file, "CUDA kernels, by samples of their instructions (CUPTI)\n");
	if (samples->samples)
		fprintf(file,
		        "  %" PRIu64
		        " sample%s in %zu kernel%s; each core was sampled every 2^%" PRIu32
		        " = %" PRIu64 " cycles\n",
		        samples->samples, samples->samples == 1 ? "" : "s", samples->kernel_count,
		        samples->kernel_count == 1 ? "" : "s", samples->period,
		        UINT64_C(1) << (samples->period & 63));
	const char *how = samples->exact_count ? "with one kernel counted"
	                  : sums->contexts     ? "sampled"
	                                       : "not sampled";
	if (plain_ns)
		fprintf(file, "  run %s: %s %s, %s %s%s%s%s\n",
		        samples->counting_ns ? "three times" : "twice",
		        tare_format_ns((double)plain_ns, plain),
		        samples->exact_count ? "sampled" : "as it is",
		        tare_format_ns((double)sampled_ns, sampled), how,
		        samples->counting_ns ? ", " : "",
		        samples->counting_ns
		            ? tare_format_ns((double)samples->counting_ns, counting)
		            : "",
		        samples->counting_ns ? " while instructions were counted" : "");
	else
		fprintf(file, "  run once, %s: %s\n", how,
		        tare_format_ns((double)sampled_ns, sampled));
	if (sums->contexts)
		fprintf(
		    file,
		    "  sampling took %s of the program's threads to begin, %s to end, %s to copy "
		    "modules (%s), and %s of one beside them\n",
		    tare_format_ns((double)sums->enable_ns, begin),
		    tare_format_ns((double)sums->disable_ns, end),
		    tare_format_ns((double)sums->module_ns, modules),
		    tare_format_bytes(sums->module_bytes, room),
		    tare_format_ns((double)sums->read_ns, reads));
	if (tare_sampled_cost(samples, plain_ns, sampled_ns, cost))
		fprintf(file, "  %s\n", cost);
	for (size_t i = 0; i < rows->notes.count; i++)
		fprintf(file, "  %s\n", rows->notes.at[i]);
}

// Of states that were counted, with samples beside them; else of samples.
static void write_stalls(struct tare_text *text, const struct tare_sampled_kernel *kernel)
{
	bool counted = kernel->states.all > 0 && tare_sampled_counts_stand(kernel);
	const struct tare_stall_counts *counts = counted ? &kernel->states : &kernel->stalls;
	const void *rows[TARE_STALLS];
	size_t shown = tare_stalls_rows(counts, rows);
	double most = shown ? share(*(const uint64_t *)rows[0], counts->all) : 0;

	while (text->options->verbosity <= 0 && shown > 1 &&
	       (shown > ROWS || share(*(const uint64_t *)rows[shown - 1], counts->all) < 0.5))
		shown--;
	fputc('\n', text->file);
	tare_table_text(text, counted ? &tare_states_table : &tare_stalls_table,
	                counted ? (const void *)kernel : counts,
	                &(struct tare_table_part){ .on = TARE_ON_TEXT,
	                                           .rows = rows,
	                                           .most = shown,
	                                           .flush = true,
	                                           .indent = 2,
	                                           .bar_whole = most / 100 });
}

static void write_issued(const struct tare_sampled_kernel *kernel, FILE *file)
{
	uint64_t all = 0;
	bool first = true;

	for (int i = 0; i < TARE_SASS_CLASS_COUNT; i++)
		all += kernel->issued[i];
	if (!all)
		return;
	fputs("  issued: ", file);
	for (int i = 0; i < TARE_SASS_CLASS_COUNT; i++) {
		if (share(kernel->issued[i], all) < 0.05)
			continue;
		fprintf(file, "%s%s %.1f %%", first ? "" : ", ",
		        tare_sass_class_name((enum tare_sass_class)i),
		        share(kernel->issued[i], all));
		first = false;
	}
	fputc('\n', file);
}

static int write_blocks(struct tare_text *text, const struct tare_sampled_row *row)
{
	const struct tare_sampled_kernel *kernel = row->kernel;
	int more = tare_sampled_part_text(text, row, TARE_SAMPLED_BLOCKS);

	if (more > 0)
		fprintf(text->file, "  %d more block%s\n", more,
		        more == 1 ? "; --verbose shows it" : "s; --verbose shows them");
	if (kernel->why != TARE_SAMPLED_KNOWN && kernel->function)
		fprintf(text->file, "  executions n/a: %s\n", tare_sampled_why(kernel->why));
	return more;
}

static void write_findings(const struct tare_sampled_row *row, FILE *file)
{
	for (uint32_t i = 0; i < row->found.count; i++) {
		const struct tare_stall_finding *finding = &row->found.at[i];
		const struct tare_stall_rule *rule = &tare_stall_rules[finding->advice];
		char line[WORDS];
		fprintf(file, "  %s: %.0f %% of %s: %s", rule->id, 100 * finding->share,
		        finding->counted ? "its warps' cycles" : "samples", rule->what);
		for (uint32_t j = 0; j < finding->place_count; j++)
			fprintf(file, "%s%" PRIx64 " (%s)", j ? ", " : ", most at ",
			        tare_sampled_pc(row->kernel, finding->instructions[j]),
			        tare_sampled_place(row->kernel, finding->instructions[j], 1, line));
		fprintf(file, "\n    %s\n", rule->advice);
	}
}

static int write_kernel(struct tare_text *text, const struct tare_pc_samples *samples,
                        const struct tare_sampled_row *row)
{
	const struct tare_sampled_kernel *kernel = row->kernel;
	const char *name = tare_sampled_name(kernel);
	bool verbose = text->options->verbosity > 0;
	FILE *file = text->file;

	fprintf(file, "\nkernel %.*s%s\n", verbose ? (int)strlen(name) : NAME, name,
	        !verbose && strlen(name) > NAME ? "..." : "");
	fprintf(file, "  %" PRIu64 " samples", kernel->stalls.all);
	if (samples->samples)
		fprintf(file, ", %.1f %% of all", share(kernel->stalls.all, samples->samples));
	if (kernel->launches)
		fprintf(file, "; %" PRIu64 " launch%s seen, %" PRIu64 " warps", kernel->launches,
		        kernel->launches == 1 ? "" : "es", kernel->warps);
	if (kernel->cubin)
		fprintf(file, "; sm_%" PRIu32, kernel->cubin->sm);
	fputc('\n', file);
	for (size_t i = 0; i < row->notes.count; i++)
		fprintf(file, "  %s\n", row->notes.at[i]);
	int status = tare_exact_text(text, row);
	if (status < 0 || !kernel->stalls.all)
		return status;
	write_stalls(text, kernel);
	write_issued(kernel, file);
	write_findings(row, file);
	if (kernel->blocks)
		status = write_blocks(text, row);
	if (status >= 0)
		status = tare_sampled_part_text(text, row, TARE_SAMPLED_LINES);
	return status < 0 ? status : tare_sampled_part_text(text, row, TARE_SAMPLED_INSTRUCTIONS);
}

int tare_pc_samples_text(struct tare_text *text, const struct tare_pc_samples_rows *rows,
                         int64_t plain_ns, int64_t sampled_ns)
{
	const struct tare_pc_samples *samples = rows->of;
	bool verbose = text->options->verbosity > 0;
	int status = 0;

	write_head(rows, plain_ns, sampled_ns, text->file);
	for (size_t i = 0; status >= 0 && i < samples->kernel_count && (verbose || i < KERNELS);
	     i++)
		if (samples->kernels[i].stalls.all || samples->kernels[i].exact)
			status = write_kernel(text, samples, &rows->kernels[i]);
	if (!verbose && samples->kernel_count > KERNELS)
		fprintf(text->file, "\n%zu more kernel%s\n", samples->kernel_count - KERNELS,
		        samples->kernel_count - KERNELS == 1 ? "; --verbose shows it"
		                                             : "s; --verbose shows them");
	if (samples->samples)
		fputs("\nA sample is a warp that a core was found with, and what it waited for. "
		      "Cycles "
		      "and executions leave out the first instruction of a block, which the "
		      "hardware "
		      "books elsewhere after a branch.\n",
		      text->file);
	return status < 0 ? status : 0;
}
