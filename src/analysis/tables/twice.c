// SPDX-License-Identifier: Apache-2.0
// Work that two APIs recorded: an OpenCL driver that stands on Level Zero makes a command of its
// own inside the call that enqueues the program's. The program asked for one.
#include "analysis/tables/internal.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t api_of(const struct tare_recording *recording,
                       const struct tare_recorded_command *command)
{
	return command->queue < recording->queue_count ? recording->queues[command->queue].api
	                                               : TARE_TRACE_NO_API;
}

// Whether both are kernels, or both move something. The outer one must have all that the inner one
// has to tell.
static bool is_same_work(const struct tare_recorded_command *outer,
                         const struct tare_recorded_command *inner)
{
	bool alike = (tables_is_kernel(outer) && tables_is_kernel(inner)) ||
	             (tables_is_transfer(outer) && tables_is_transfer(inner));
	return alike && (tare_command_timed(outer) || !tare_command_timed(inner));
}

int tables_find_twice(const struct tare_recording *recording, bool **twice)
{
	*twice = NULL;
	if ((recording->apis & (recording->apis - 1)) == 0)
		return 0; // of one API, or none
	TARE_FREE uint32_t *last = malloc((recording->thread_count + 1) * sizeof *last);
	*twice = calloc(recording->command_count + 1, sizeof **twice);
	if (!last || !*twice)
		return -ENOMEM;
	for (size_t i = 0; i < recording->thread_count; i++)
		last[i] = TARE_NO_INDEX;
	// In the order of entering: who encloses comes first.
	for (size_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		if (command->thread >= recording->thread_count)
			continue;
		uint32_t before = last[command->thread];
		const struct tare_recorded_command *outer =
		    before == TARE_NO_INDEX ? NULL : TARE_COMMAND(recording, before);
		bool within = outer && command->exit_ns <= outer->exit_ns &&
		              command->enter_ns >= outer->enter_ns &&
		              api_of(recording, outer) != api_of(recording, command);
		if (within)
			(*twice)[i] = is_same_work(outer, command);
		else if (!outer || command->enter_ns >= outer->exit_ns)
			last[command->thread] = (uint32_t)i;
	}
	return 0;
}
