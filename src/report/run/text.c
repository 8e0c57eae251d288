// SPDX-License-Identifier: Apache-2.0
// The text report of a recorded run: the order of its parts.
#include "report/run/text_run.h"
#include "report/tables/tables.h"

#include <errno.h>

#define QUIET_PARTS 2 // with -q: where the time went, and what to change

static void write_phases(struct tare_text *text, const struct tare_report *run)
{
	tare_phases_text(text, run);
}

int tare_report_run_text(const struct tare_report *run, const struct tare_text_options *options,
                         FILE *file, struct tare_error *error)
{
	static void (*const parts[])(struct tare_text *, const struct tare_report *) = {
		tare_report_text_ledgers, tare_report_text_findings, write_phases,
		tare_tasks_text,          tare_transfers_text,       tare_sites_text,
		tare_calls_text,          tare_builds_text,          tare_report_text_memory,
		tare_queues_text,
	};
	bool quiet = options->verbosity < 0;
	size_t count = quiet ? QUIET_PARTS : sizeof parts / sizeof *parts;
	struct tare_text text = { options, file };
	struct tare_report_problems problems;

	text.failed = tare_report_problems_find(run, &problems) < 0;
	if (!text.failed)
		tare_report_text_head(&text, run, &problems);
	for (size_t i = 0; i < count && !text.failed; i++)
		parts[i](&text, run);
	if (!text.failed && !quiet)
		tare_report_text_notes(&text, run, &problems);
	tare_report_problems_free(&problems);
	return text.failed ? tare_fail(error, ENOMEM, "no memory left for the report") : 0;
}
