// SPDX-License-Identifier: Apache-2.0
// What is not on the page, said where it was asked for.
#include "report/run/text_run.h"

#include <errno.h>

int tare_report_left_out_text(const struct tare_page_left_out *left_out,
                              const struct tare_text_options *options, FILE *file)
{
	struct tare_text text = { options, file };
	const struct {
		uint64_t count;
		const char *one;
	} counts[] = {
		{ left_out->commands, "command" },   { left_out->calls, "call" },
		{ left_out->callbacks, "callback" }, { left_out->phases, "phase" },
		{ left_out->gaps, "gap" },
	};
	char list[200] = "", number[RUN_TEXT];
	size_t used = 0;

	if (!left_out->why[0])
		return 0;
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		if (counts[i].count > 0)
			used += (size_t)snprintf(
			    list + used, sizeof list - used, "%s%s %s%s", used ? ", " : "",
			    tare_report_count(counts[i].count, number), counts[i].one,
			    tare_report_plural(counts[i].count));
	tare_text_paragraph(&text, TARE_STYLE_PLAIN, "page: ", 1, "%s%s%s", left_out->why,
	                    used ? ": " : "", list);
	return text.failed ? -ENOMEM : 0;
}
