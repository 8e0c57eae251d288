// SPDX-License-Identifier: Apache-2.0
#include "blocks/report/answer.h"

#include "blocks/report/source.h"
#include "report/core/figures.h"

#include <inttypes.h>
#include <string.h>

enum { KERNELS = 6 };

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

static void write_hottest(const struct tare_blocks_row *row, FILE *file)
{
	const struct tare_blocks_answer answer = tare_blocks_answer(row);
	const struct tare_blocks_build *build = row->kernel->build;
	char percent[RUN_TEXT], line[RUN_TEXT];

	if (!answer.line)
		return;
	const char *label = tare_blocks_label(build, answer.line->file);
	enum tare_blocks_source_from from = tare_blocks_source_line(
	    build, answer.line->file, answer.line->line, line, sizeof line);
	fprintf(file, ", most in line %" PRIu32 "%s%s, %s of it%s%s", answer.line->line,
	        label[0] ? " of " : "", label, tare_report_percent(answer.share, percent),
	        from == TARE_BLOCKS_SOURCE_NONE ? "" : ": ",
	        from == TARE_BLOCKS_SOURCE_NONE ? "" : line);
}

void tare_blocks_answers_text(struct tare_text *text, const struct tare_blocks_rows *rows)
{
	size_t left = text->options->verbosity > 0 ? SIZE_MAX : KERNELS;
	uint64_t all = 0;
	char percent[RUN_TEXT];

	for (size_t i = 0; i < rows->kernel_count; i++)
		all += tare_blocks_instructions(&rows->kernels[i].kernel->tally);
	for (size_t i = 0; i < rows->kernel_count && all && left; i++) {
		const struct tare_blocks_row *row = &rows->kernels[i];
		uint64_t own = tare_blocks_instructions(&row->kernel->tally);
		if (!own)
			continue;
		left--;
		fprintf(text->file, "  %s of the instructions: %s",
		        tare_report_percent((double)own / (double)all, percent), row->kernel->name);
		write_hottest(row, text->file);
		fputc('\n', text->file);
		for (uint32_t k = 0; k < row->told.findings.count; k++) {
			const struct tare_blocks_rule *rule =
			    &tare_blocks_rules[row->told.findings.at[k].advice];
			fprintf(text->file, "    %s: %s\n", rule->id, rule->advice);
		}
	}
}
