// SPDX-License-Identifier: Apache-2.0
#include "blocks/report/told.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int tare_blocks_told_make(const struct tare_blocks_kernel *kernel, struct tare_blocks_told *told)
{
	told->findings.count = 0;
	int status = tare_blocks_sampled_make(kernel, &told->sampled);

	return status < 0 ? status : tare_blocks_find(kernel, &told->sampled, &told->findings);
}

void tare_blocks_told_free(struct tare_blocks_told *told)
{
	tare_blocks_sampled_free(&told->sampled);
}

const char *tare_blocks_span_words(const struct tare_blocks_module *module, uint32_t block,
                                   char *text, size_t size)
{
	uint32_t first, last;

	tare_blocks_span(module, block, &first, &last);
	if (!first)
		snprintf(text, size, "-");
	else if (first == last)
		snprintf(text, size, "%" PRIu32, first);
	else
		snprintf(text, size, "%" PRIu32 "-%" PRIu32, first, last);
	return text;
}

static void write_lanes(const struct tare_blocks_sampled *sampled, FILE *file)
{
	if (!sampled->work_items) {
		fputs("  lanes and lines of memory: not sampled; --sample does\n", file);
		return;
	}
	fprintf(file,
	        "  lanes: %.1f %% used where %d neighbours run side by side (a model, by %" PRIu64
	        " sampled work-items)\n",
	        sampled->all.offered
	            ? 100.0 * (double)sampled->all.used / (double)sampled->all.offered
	            : 100.0,
	        TARE_BLOCKS_LANES, sampled->work_items);
}

static void write_accesses(const struct tare_blocks_sampled *sampled, FILE *file)
{
	for (uint32_t i = 0; i < sampled->accesses; i++) {
		const struct tare_blocks_access *access = &sampled->access[i];
		if (!access->sub_groups || access->lines < 2 * access->fewest)
			continue;
		fprintf(file,
		        "  %s of %" PRIu32 " bytes, line %" PRIu32
		        ": %.1f lines of memory by %d neighbours, %.1f would do\n",
		        access->site.store ? "store" : "load", access->site.bytes,
		        access->site.line, (double)access->lines / (double)access->sub_groups,
		        TARE_BLOCKS_LANES, (double)access->fewest / (double)access->sub_groups);
	}
}

static void write_finding(const struct tare_blocks_finding *finding, FILE *file)
{
	const struct tare_blocks_rule *rule = &tare_blocks_rules[finding->advice];

	fprintf(file, "  %s: %s", rule->id, rule->what);
	for (uint32_t i = 0; i < finding->place_count; i++)
		fprintf(file, "%s%" PRIu32,
		        i                           ? ", "
		        : finding->place_count == 1 ? " (line "
		                                    : " (lines ",
		        finding->places[i].line);
	fprintf(file, "%s.\n    %.1f %% of the %s. %s\n    To change it, %s.\n",
	        finding->place_count ? ")" : "", 100 * finding->share, rule->of, rule->saves,
	        rule->advice);
}

void tare_blocks_told_text(const struct tare_blocks_told *told, FILE *file)
{
	write_lanes(&told->sampled, file);
	write_accesses(&told->sampled, file);
	if (told->findings.count)
		fputs("\n  What to change\n", file);
	for (uint32_t i = 0; i < told->findings.count; i++)
		write_finding(&told->findings.at[i], file);
}

void tare_blocks_lines_text(struct tare_text *text, const char *lines)
{
	while (*lines && !text->failed) {
		int length = (int)strcspn(lines, "\n"), indent = (int)strspn(lines, " ");
		char *line = NULL, *clean = NULL;
		if (asprintf(&line, "%.*s", length, lines) >= 0)
			clean = tare_text_clean(text, line);
		text->failed |= !clean;
		if (clean && tare_text_width(clean) > text->options->columns)
			tare_text_paragraph(text, TARE_STYLE_PLAIN, "",
			                    indent ? (size_t)indent + 2 : 0, "%*s%s", indent, "",
			                    clean + indent);
		else if (clean)
			fprintf(text->file, "%s\n", clean);
		free(line);
		free(clean);
		lines += length + (lines[length] == '\n');
	}
}
