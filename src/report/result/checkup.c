// SPDX-License-Identifier: Apache-2.0
// `checkup` as text: what follows from all of its parts, then each of them.
#include "report/result/parts.h"

#include <string.h>

// As wide as the terminal; in a wide one not wider than text is read.
void tare_text_heading(struct tare_text *text, const char *name)
{
	size_t width = text->options->columns < 100 ? text->options->columns : 100;
	size_t used = strlen("== ") + tare_text_width(name) + 1;
	char rule[101];

	width = width > used ? width - used : 0;
	memset(rule, '=', width);
	rule[width] = '\0';
	fputc('\n', text->file);
	tare_text_paragraph(text, TARE_STYLE_BOLD, "", 0, "== %s %s", name, rule);
}

void tare_text_checkup(struct tare_text *text, const struct tare_result *result)
{
	bool ends = result->cell_count || (result->warning_count && text->options->verbosity >= 0);
	result->part_count ? tare_text_conclusions(text, result) : 0;

	for (size_t i = 0; i < result->part_count; i++) {
		const struct tare_result *part = result->parts[i];
		tare_text_heading(text, part->command);
		text->body(text, part);
		tare_text_end(text, part);
	}
	if (result->part_count == 0)
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "", 0, "No figures.");
	if (result->part_count && ends)
		tare_text_heading(text, "together");
	if (result->cell_count)
		tare_text_latency(text, result);
}
