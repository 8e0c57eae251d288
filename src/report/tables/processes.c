// SPDX-License-Identifier: Apache-2.0
// The processes of a view.
#include "report/core/words.h"
#include "report/tables/tables.h"
#include "report/tables/values.h"

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

#define TOLD(value) tare_if((value) != 0, tare_unsigned(value), TARE_NOT_TOLD)
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
