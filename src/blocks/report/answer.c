// SPDX-License-Identifier: Apache-2.0
#include "blocks/report/answer.h"
#include "analysis/core/demangle.h"

#include "blocks/report/source.h"
#include "report/core/figures.h"
#include "report/terminal/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Kernels without -v; columns of a name, and those that a source has at the least.
enum { KERNELS = 6, NAME_COLUMNS = 40, LEAST_COLUMNS = 14 };

struct tare_blocks_answer tare_blocks_answer(const struct tare_blocks_row *row)
{
	uint64_t all = tare_blocks_instructions(&row->kernel->tally);

	// The first is the compiler's own where that has most.
	for (size_t i = 0; i < row->line_count; i++)
		if (row->lines[i].line && all)
			return (struct tare_blocks_answer){
				&row->lines[i],
				(double)tare_blocks_instructions(&row->lines[i].tally) / (double)all
			};
	return (struct tare_blocks_answer){ NULL, 0 };
}

// "92.2 % matmul, 63.7 % of it in line 12: sum += ...", as much of the source as one line has room
// for.
static void write_kernel(const struct tare_text *text, const struct tare_blocks_row *row,
                         double share)
{
	const struct tare_blocks_answer answer = tare_blocks_answer(row);
	const struct tare_blocks_build *build = row->kernel->build;
	char percent[RUN_TEXT], name[RUN_TEXT], line[RUN_TEXT], cut[RUN_TEXT], *lead = NULL;
	size_t used = 0, columns = text->options->columns;

	char *plain = tare_demangle(row->kernel->name);
	tare_name_shorten(plain ? plain : row->kernel->name, NAME_COLUMNS, name, sizeof name);
	free(plain);
	if (asprintf(&lead, "  %7s %s", tare_report_percent(share, percent), name) < 0)
		return;
	used = tare_text_width(lead);
	fputs(lead, text->file);
	free(lead);
	if (!answer.line) {
		fputc('\n', text->file);
		return;
	}
	const char *label = tare_blocks_label(build, answer.line->file);
	enum tare_blocks_source_from from =
	    tare_blocks_source_line(build, answer.line->file, answer.line->line, line, sizeof line);
	used += (size_t)fprintf(text->file, ", %s of it in line %" PRIu32 "%s%s",
	                        tare_report_percent(answer.share, percent), answer.line->line,
	                        label[0] ? " of " : "", label);
	if (from != TARE_BLOCKS_SOURCE_NONE)
		fprintf(text->file, ": %s",
		        used + LEAST_COLUMNS < columns
		            ? tare_text_shorten(line, columns - used - 2, cut, sizeof cut)
		            : line);
	fputc('\n', text->file);
}

void tare_blocks_answers_text(struct tare_text *text, const struct tare_blocks_rows *rows)
{
	size_t left = text->options->verbosity > 0 ? SIZE_MAX : KERNELS;
	uint64_t all = 0;
	bool begun = false;

	for (size_t i = 0; i < rows->kernel_count; i++)
		all += tare_blocks_instructions(&rows->kernels[i].kernel->tally);
	for (size_t i = 0; i < rows->kernel_count && all && left; i++) {
		const struct tare_blocks_row *row = &rows->kernels[i];
		uint64_t own = tare_blocks_instructions(&row->kernel->tally);
		if (!own)
			continue;
		if (!begun)
			fputs("  where the instructions are:\n", text->file);
		begun = true;
		left--;
		write_kernel(text, row, (double)own / (double)all);
		for (uint32_t k = 0; k < row->told.findings.count; k++) {
			const struct tare_blocks_rule *rule =
			    &tare_blocks_rules[row->told.findings.at[k].advice];
			fprintf(text->file, "          %s: %s\n", rule->id, rule->advice);
		}
	}
}
