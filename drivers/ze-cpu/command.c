// SPDX-License-Identifier: Apache-2.0
// One command: what it holds, and its work.
#include "run.h"
#include "trap.h"

#include <stdlib.h>
#include <string.h>

struct command *cpu_command_new(enum command_type type, ze_event_handle_t signal,
                                const ze_event_handle_t *waits, uint32_t wait_count)
{
	struct command *command = calloc(1, sizeof *command);

	if (!command)
		return NULL;
	command->type = type;
	if (wait_count > 0) {
		command->waits = calloc(wait_count, sizeof(ze_event_handle_t));
		if (!command->waits) {
			free(command);
			return NULL;
		}
	}
	command->signal = signal;
	command->wait_count = wait_count;
	if (signal)
		cpu_event_retain(signal);
	for (uint32_t i = 0; i < wait_count; i++) {
		command->waits[i] = waits[i];
		cpu_event_retain(waits[i]);
	}
	return command;
}

void cpu_command_free(struct command *command)
{
	if (!command)
		return;
	if (command->signal)
		cpu_event_release(command->signal);
	for (uint32_t i = 0; i < command->wait_count; i++)
		cpu_event_release(command->waits[i]);
	if (command->event)
		cpu_event_release(command->event);
	for (uint32_t i = 0; i < command->queried_count; i++)
		cpu_event_release(command->queried[i]);
	if (command->launch)
		launch_free(command->launch);
	free(command->waits);
	free(command->queried);
	free(command->offsets);
	free(command->pattern);
	free(command);
}

// Rows of one region onto the other, both with their pitches.
static void copy_region(const void *context)
{
	const struct command *command = context;
	const ze_copy_region_t *to = &command->to, *from = &command->from;
	uint32_t depth = to->depth == 0 ? 1 : to->depth;
	char *destination;
	const char *source;

	for (uint32_t z = 0; z < depth; z++)
		for (uint32_t y = 0; y < to->height; y++) {
			destination = (char *)command->destination + to->originX +
			              ((size_t)to->originY + y) * command->to_pitch +
			              ((size_t)to->originZ + z) * command->to_slice;
			source = (const char *)command->source + from->originX +
			         ((size_t)from->originY + y) * command->from_pitch +
			         ((size_t)from->originZ + z) * command->from_slice;
			memmove(destination, source, to->width);
		}
}

// The pattern over and over; its last repeat may be cut.
static void fill(const void *context)
{
	const struct command *command = context;
	char *destination = command->destination;
	size_t done = command->bytes < command->pattern_bytes ? command->bytes : command->pattern_bytes;

	if (command->pattern_bytes == 1) {
		memset(destination, *(const unsigned char *)command->pattern, command->bytes);
		return;
	}
	memcpy(destination, command->pattern, done);
	while (done < command->bytes) {
		size_t more = command->bytes - done < done ? command->bytes - done : done;

		memcpy(destination + done, destination, more);
		done += more;
	}
}

static void copy(const void *context)
{
	const struct command *command = context;

	memmove(command->destination, command->source, command->bytes);
}

// A device that is told to touch what is not there is lost.
static ze_result_t guarded(void (*work)(const void *command), const struct command *command)
{
	if (trap_guard(work, command))
		return ZE_RESULT_SUCCESS;
	cpu_log("a copy or fill touched an address without memory: its queue is lost");
	return ZE_RESULT_ERROR_DEVICE_LOST;
}

static ze_result_t do_launch(const struct command *command)
{
	uint32_t limit = UINT32_MAX;

	if (command->limit && !trap_copy(&limit, command->limit, sizeof limit))
		return ZE_RESULT_ERROR_DEVICE_LOST;
	return command->limit_index >= limit ? ZE_RESULT_SUCCESS : launch_do(command->launch);
}

ze_result_t cpu_command_do(const struct command *command)
{
	switch (command->type) {
	case COMMAND_COPY:
		return guarded(copy, command);
	case COMMAND_REGION:
		return guarded(copy_region, command);
	case COMMAND_FILL:
		return guarded(fill, command);
	case COMMAND_LAUNCH:
		return do_launch(command);
	case COMMAND_HOST_CALL:
		command->function(command->context);
		return ZE_RESULT_SUCCESS;
	case COMMAND_BARRIER:
	case COMMAND_RESET:
	case COMMAND_GLOBAL_TIMESTAMP:
	case COMMAND_QUERY_TIMESTAMPS:
	case COMMAND_PREFETCH:
	case COMMAND_ADVISE:
		break;
	}
	return ZE_RESULT_SUCCESS;
}
