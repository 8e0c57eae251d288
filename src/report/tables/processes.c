// SPDX-License-Identifier: Apache-2.0
// The processes of a view.
#include "report/core/table_text.h"
#include "report/core/words.h"
#include "report/tables/tables.h"
#include "report/tables/values.h"

#include <string.h>

static size_t number_of(const struct tare_report *run, const struct tare_recorded_process *process)
{
	return (size_t)(process - run->recording->processes);
}

static size_t count_threads(const struct tare_report *run, size_t process)
{
	const struct tare_recording *recording = run->recording;
	size_t count = 0;

	for (size_t i = 0; i < recording->thread_count; i++)
		count += recording->threads[i].process == process && !recording->threads[i].helper;
	return count;
}

static bool several_hosts(const struct tare_report *run)
{
	const struct tare_recording *recording = run->recording;

	for (size_t i = 1; i < recording->process_count; i++)
		if (strcmp(recording->processes[i].host_name, recording->processes[0].host_name) !=
		    0)
			return true;
	return false;
}

enum { EVERYWHERE = TARE_ON_PAGE | TARE_ON_TEXT };
#define RANKED(value) (row->rank != TARE_TRACE_NO_RANK ? (value) : tare_absent(TARE_NOT_THERE))
#define COLUMNS "report/tables/processes.def"
#define ROW struct tare_recorded_process
#include "report/tables/declare.h"

static size_t count_processes(const struct tare_report *run)
{
	size_t count = 0;

	for (size_t i = 0; i < run->recording->process_count; i++)
		count += tare_view_has_process(run->view, (uint32_t)i);
	return count;
}

static const void *process_at(const struct tare_report *run, size_t index)
{
	uint32_t i = 0;

	while (!tare_view_has_process(run->view, i) || index-- > 0)
		i++;
	return &run->recording->processes[i];
}

TARE_RUN_TABLE(processes, "Processes", "a recorded process", NULL, count_processes(run),
               process_at(run, index))

void tare_processes_text(struct tare_text *text, const struct tare_report *run)
{
	size_t rows = count_processes(run), most = text->options->verbosity > 0 ? rows : 8;

	if (run->recording->process_count == 0 ||
	    (run->recording->process_count == 1 && text->options->verbosity < 1))
		return;
	tare_report_heading(text, "Processes", "");
	tare_table_text(text, &tare_table_processes, run,
	                &(struct tare_table_part){ .on = TARE_ON_TEXT,
	                                           .others = several_hosts(run) ? 62 : 46,
	                                           .most = most });
	if (rows > most)
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 3, "and %zu more (-v lists them)",
		                    rows - most);
}
