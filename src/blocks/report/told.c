// SPDX-License-Identifier: Apache-2.0
#include "blocks/report/told.h"

#include "base/units.h"
#include "blocks/report/source.h"
#include "report/terminal/write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int tare_blocks_told_make(const struct tare_blocks_kernel *kernel,
                          const struct tare_blocks_gains *gains, struct tare_blocks_told *told)
{
	told->kernel = kernel;
	told->findings.count = 0;
	told->gained = gains->asked;
	int status = tare_blocks_sampled_make(kernel, &told->sampled);

	status = status ?: tare_blocks_find(kernel, &told->sampled, &told->findings);
	for (uint32_t i = 0; status == 0 && i < told->findings.count; i++)
		tare_blocks_gain_of(gains, kernel, told->findings.at[i].advice, &told->gains[i]);
	return status;
}

void tare_blocks_told_free(struct tare_blocks_told *told)
{
	tare_blocks_sampled_free(&told->sampled);
}

enum { OF = 80 };

// " of part 2"; "" where the build has one source.
static const char *of_source(const struct tare_blocks_build *build, uint32_t file, char text[OF])
{
	const char *label = tare_blocks_label(build, file);

	snprintf(text, OF, "%s%s", label[0] ? " of " : "", label);
	return text;
}

const char *tare_blocks_span_words(const struct tare_blocks_build *build, uint32_t block,
                                   char *text, size_t size)
{
	char of[OF];
	uint32_t first, last, file = tare_blocks_span(&build->module, block, &first, &last);

	of_source(build, file, of);
	if (!first)
		snprintf(text, size, "-");
	else if (first == last)
		snprintf(text, size, "%" PRIu32 "%s", first, of);
	else
		snprintf(text, size, "%" PRIu32 "-%" PRIu32 "%s", first, last, of);
	return text;
}

static void write_lanes(const struct tare_blocks_told *told, FILE *file)
{
	const struct tare_blocks_sampled *sampled = &told->sampled;

	if (!tare_blocks_has_words(&told->kernel->build->module)) {
		fputs("  lanes and lines of memory: n/a, because PTX is not sampled\n", file);
		return;
	}
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

static void write_accesses(const struct tare_blocks_told *told, FILE *file)
{
	const struct tare_blocks_sampled *sampled = &told->sampled;
	char of[OF];

	for (uint32_t i = 0; i < sampled->accesses; i++) {
		const struct tare_blocks_access *access = &sampled->access[i];
		if (!tare_blocks_is_scattered(access))
			continue;
		fprintf(file,
		        "  %s of %" PRIu32 " bytes, line %" PRIu32
		        "%s: %.1f lines of memory by %d neighbours, %.1f would do\n",
		        access->site.store ? "store" : "load", access->site.bytes,
		        access->site.line, of_source(told->kernel->build, access->site.file, of),
		        (double)access->lines / (double)access->sub_groups, TARE_BLOCKS_LANES,
		        (double)access->fewest / (double)access->sub_groups);
	}
}

void tare_blocks_gain_text(const struct tare_blocks_gain *gain, FILE *file)
{
	char low[TARE_UNIT_TEXT], best[TARE_UNIT_TEXT], high[TARE_UNIT_TEXT], all[TARE_UNIT_TEXT];

	tare_format_ns(gain->low_ns, low);
	tare_format_ns(gain->best_ns, best);
	tare_format_ns(gain->high_ns, high);
	tare_format_ns(gain->kernel_ns, all);
	fputs("    ", file);
	if (gain->kernel_ns <= 0)
		fprintf(file, "What it brings in time: n/a, because %s.", gain->why);
	else if (gain->best_known && gain->high_ns <= 0)
		fprintf(file,
		        "It brings nothing on this device: with the change the kernel took no "
		        "less than its %s of device time.",
		        all);
	else if (gain->best_known)
		fprintf(file,
		        "It brings about %s of the kernel's %s of device time, %s to %s, as "
		        "measured with the change%s.",
		        best, all, gain->low_ns > 0 ? low : "0", high,
		        gain->told ? "" : "; that is not told from none");
	else if (gain->measured)
		fprintf(file,
		        "It brings %s or more of the kernel's %s of device time. More is not "
		        "known, because %s.",
		        low, all, gain->why);
	else
		fprintf(file,
		        "It brings at most %s, all of the kernel's device time. How much of it "
		        "is not known, because %s.",
		        all, gain->why);
	if (gain->results == TARE_BLOCKS_RESULT_DIFFERS)
		fputs(" The program's results differ with it.", file);
	else if (gain->results == TARE_BLOCKS_RESULT_VARIES)
		fputs(" Whether the program's results differ with it is not known: they differ "
		      "from run to run without it.",
		      file);
	fputc('\n', file);
}

static void write_finding(const struct tare_blocks_build *build,
                          const struct tare_blocks_finding *finding,
                          const struct tare_blocks_gain *gain, FILE *file)
{
	const struct tare_blocks_rule *rule = &tare_blocks_rules[finding->advice];
	char of[OF];

	fprintf(file, "  %s: %s", rule->id, rule->what);
	for (uint32_t i = 0; i < finding->place_count; i++)
		fprintf(file, "%s%" PRIu32 "%s",
		        i                           ? ", "
		        : finding->place_count == 1 ? " (line "
		                                    : " (lines ",
		        finding->places[i].line, of_source(build, finding->places[i].file, of));
	fprintf(file, "%s.\n    %.1f %% of the %s. %s\n    To change it, %s.\n",
	        finding->place_count ? ")" : "", 100 * finding->share, rule->of, rule->saves,
	        rule->advice);
	if (gain)
		tare_blocks_gain_text(gain, file);
}

void tare_blocks_lanes_text(const struct tare_blocks_told *told, FILE *file)
{
	write_lanes(told, file);
	write_accesses(told, file);
}

void tare_blocks_told_text(const struct tare_blocks_told *told, FILE *file)
{
	tare_blocks_lanes_text(told, file);
	if (told->findings.count)
		fputs("\n  What to change\n", file);
	for (uint32_t i = 0; i < told->findings.count; i++)
		write_finding(told->kernel->build, &told->findings.at[i],
		              told->gained ? &told->gains[i] : NULL, file);
	if (told->findings.count && !told->gained)
		fputs("  What these can bring in time is measured by --gains.\n", file);
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
