// SPDX-License-Identifier: Apache-2.0
// Which phase launched a command.
#include "analysis/recording/intervals.h"
#include "analysis/tables/phases.h"

#include <stdlib.h>

// By thread, and in the order of their begins on each.
static int compare_begins(const void *a, const void *b, void *context)
{
	const struct tare_recorded_phase *phases = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	if (phases[i].thread != phases[k].thread)
		return phases[i].thread < phases[k].thread ? -1 : 1;
	if (phases[i].from_ns != phases[k].from_ns)
		return phases[i].from_ns < phases[k].from_ns ? -1 : 1;
	return (i > k) - (i < k);
}

// Where a thread stands: the phases that are to begin, and the one that began last of those that
// may be open.
struct thread_phases {
	size_t next, end;
	uint32_t last;
};

struct launching {
	const struct tare_recording *recording;
	uint32_t *order;
	uint32_t *before; // by phase: what began before it and was not over; TARE_NO_INDEX
	struct thread_phases *threads;
};

static int prepare(struct launching *launching)
{
	const struct tare_recording *recording = launching->recording;
	size_t count = 0, phases = recording->phase_count;
	launching->order = malloc((phases + 1) * sizeof *launching->order);
	launching->before = malloc((phases + 1) * sizeof *launching->before);
	launching->threads = calloc(recording->thread_count + 1, sizeof *launching->threads);
	if (!launching->order || !launching->before || !launching->threads)
		return -1;
	for (uint32_t i = 0; i < phases; i++)
		if (!recording->phases[i].instant &&
		    recording->phases[i].thread < recording->thread_count)
			launching->order[count++] = i;
	qsort_r(launching->order, count, sizeof *launching->order, compare_begins,
	        recording->phases);
	for (size_t i = 0; i < recording->thread_count; i++)
		launching->threads[i].last = TARE_NO_INDEX;
	for (size_t i = 0; i < count; i++) {
		struct thread_phases *thread =
		    &launching->threads[recording->phases[launching->order[i]].thread];
		if (thread->end == 0)
			thread->next = i;
		thread->end = i + 1;
	}
	return 0;
}

// A range may end before what began after it: what is over goes when it is the last.
static uint32_t open_at(const struct launching *launching, struct thread_phases *thread,
                        int64_t at_ns)
{
	const struct tare_recorded_phase *phases = launching->recording->phases;
	for (; thread->next < thread->end; thread->next++) {
		uint32_t phase = launching->order[thread->next];
		if (phases[phase].from_ns > at_ns)
			break;
		launching->before[phase] = thread->last;
		thread->last = phase;
	}
	while (thread->last != TARE_NO_INDEX && phases[thread->last].to_ns <= at_ns)
		thread->last = launching->before[thread->last];
	return thread->last;
}

uint32_t *tare_phases_of_commands(const struct tare_recording *recording)
{
	struct launching launching = { .recording = recording };
	uint32_t *of = malloc((recording->command_count + 1) * sizeof *of);
	if (prepare(&launching) < 0) {
		free(of);
		of = NULL;
	}
	for (size_t i = 0; of && i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		bool known =
		    command->thread < recording->thread_count && !tare_command_is_drivers(command);
		of[i] = known ? open_at(&launching, &launching.threads[command->thread],
		                        command->enter_ns)
		              : TARE_NO_INDEX;
	}
	free(launching.order);
	free(launching.before);
	free(launching.threads);
	return of;
}
