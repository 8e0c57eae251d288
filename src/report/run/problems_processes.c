// SPDX-License-Identifier: Apache-2.0
// What a reader must know of a recorded run's processes.
#include "report/core/words.h"
#include "report/run/problems.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum about { STILL_RUNNING, KILLED, OUTLIVED, STOPPED, DAMAGED, COUNTED, NOT_TOLD, ABOUT_COUNT };

static bool is_about(const struct tare_recording *recording,
                     const struct tare_recorded_process *process, enum about about)
{
	switch (about) {
	case STILL_RUNNING:
		return process->state == TARE_TRACE_RECORDING && !recording->complete;
	case KILLED:
		return process->state == TARE_TRACE_RECORDING && recording->complete &&
		       process->end_ns < recording->end_ns;
	case OUTLIVED:
		return process->state == TARE_TRACE_RECORDING && recording->complete &&
		       process->end_ns >= recording->end_ns;
	case STOPPED:
		return process->state == TARE_TRACE_STOPPED;
	case DAMAGED:
		return process->problem != NULL;
	case COUNTED:
		return process->flags & TARE_TRACE_COUNT_ONLY;
	default:
		return !process->problem && process->unknown_records > 0;
	}
}

// Commands of such processes whose times would have come later.
static uint64_t count_uncollected(const struct tare_recording *recording,
                                  const struct tare_view *view, enum about about)
{
	uint64_t count = 0;

	for (size_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		uint32_t process = command->thread < recording->thread_count
		                       ? recording->threads[command->thread].process
		                       : TARE_NO_INDEX;
		bool uncollected =
		    command->start_ns == TARE_NO_TIME &&
		    !(command->flags & TARE_COMMAND_NO_TIMES) &&
		    (command->untimed == 0 || command->untimed == TARE_UNTIMED_ABANDONED);
		count += uncollected && process < recording->process_count &&
		         tare_view_has_process(view, process) &&
		         is_about(recording, &recording->processes[process], about);
	}
	return count;
}

// It concerns figures only where times are missing because of it.
static void add_unended(struct problem_finder *finder, enum about about, const char *who)
{
	uint64_t missing = count_uncollected(finder->run->recording, finder->run->view, about);
	char times[80] = "";

	if (missing)
		snprintf(times, sizeof times, "; device times of %llu command%s were not collected",
		         problem_number(missing), problem_plural(missing));
	if (about == KILLED)
		problem_add(finder, "killed", missing > 0,
		            "%s ended without exit handlers (killed, or _exit)%s", who, times);
	else
		problem_add(finder, "outlived", missing > 0, "%s was still running at the end%s",
		            who, times);
}

// "process 412", "process 412 and 2 more".
static void add_processes(struct problem_finder *finder, enum about about)
{
	const struct tare_recording *recording = finder->run->recording;
	const struct tare_recorded_process *first = NULL;
	uint64_t count = 0;
	char who[64], more[32] = "";

	for (size_t i = 0; i < recording->process_count; i++) {
		const struct tare_recorded_process *process = &recording->processes[i];
		if (!tare_view_has_process(finder->run->view, (uint32_t)i) ||
		    !is_about(recording, process, about))
			continue;
		if (count++ == 0)
			first = process;
	}
	if (!first)
		return;
	if (count > 1)
		snprintf(more, sizeof more, " and %llu more", problem_number(count - 1));
	snprintf(who, sizeof who, "process %llu%s", problem_number(first->pid), more);
	switch (about) {
	case STILL_RUNNING:
		problem_add(
		    finder, "still-recording", true,
		    "the trace is still being written, or its recording was cut off (%s): the "
		    "figures "
		    "hold up to the last sign of life",
		    who);
		break;
	case KILLED:
	case OUTLIVED:
		add_unended(finder, about, who);
		break;
	case STOPPED: {
		const char *why = tare_report_stop_title(first->stop_reason);
		problem_add(
		    finder, "stopped", true,
		    "the recording of %s stopped before its end: %s; what came later is missing",
		    who, why ? why : "for a reason that this tare does not know");
		break;
	}
	case DAMAGED:
		problem_add(finder, "damaged", true,
		            "the file of %s is damaged, what could be read is reported: %.300s",
		            who, first->problem);
		break;
	case COUNTED:
		problem_add(finder, "count-only", true,
		            "%s was recorded without asking for device times", who);
		break;
	default:
		problem_add(
		    finder, "unknown-records", false,
		    "the file of %s holds %llu record%s that this tare does not know: a newer one "
		    "wrote "
		    "it",
		    who, problem_number(first->unknown_records),
		    problem_plural(first->unknown_records));
	}
}

void problems_find_processes(struct problem_finder *finder)
{
	for (enum about about = 0; about < ABOUT_COUNT; about++)
		add_processes(finder, about);
}
