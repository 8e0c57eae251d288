// SPDX-License-Identifier: Apache-2.0
// One command: what it holds, and its work.
#include "kernel/trap.h"
#include "memory/memory.h"
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

// The slots that events have now: an event that counts may be signalled elsewhere later, which is
// nothing to this command.
static bool take_slots(struct command *command, struct cpu_slot ***slots, uint32_t *slot_count,
                       const ze_event_handle_t *events, uint32_t count)
{
	if (count == 0)
		return true;
	*slots = calloc(count, sizeof **slots);
	if (!*slots)
		return false;
	for (; *slot_count < count; ++*slot_count) {
		(*slots)[*slot_count] = cpu_event_slot(events[*slot_count]);
		command->counts = command->counts || events[*slot_count]->counting;
	}
	return true;
}

static bool take_signal(struct command *command, ze_event_handle_t signal)
{
	if (!signal)
		return true;
	command->signal = signal->counting ? cpu_slot_new(true) : cpu_event_slot(signal);
	if (signal->counting) {
		command->counts = true;
		command->counter = signal;
		cpu_event_retain(signal);
	}
	return command->signal;
}

struct command *cpu_command_new(enum command_type type, ze_event_handle_t signal,
                                const ze_event_handle_t *waits, uint32_t wait_count)
{
	struct command *command = calloc(1, sizeof *command);

	if (!command)
		return NULL;
	command->type = type;
	if (!take_slots(command, &command->waits, &command->wait_count, waits, wait_count) ||
	    !take_signal(command, signal)) {
		cpu_command_free(command);
		return NULL;
	}
	return command;
}

bool cpu_command_query(struct command *command, const ze_event_handle_t *events, uint32_t count)
{
	return take_slots(command, &command->queried, &command->queried_count, events, count);
}

void cpu_command_free(struct command *command)
{
	if (!command)
		return;
	cpu_slot_release(command->signal);
	cpu_slot_release(command->reset);
	for (uint32_t i = 0; i < command->wait_count; i++)
		cpu_slot_release(command->waits[i]);
	for (uint32_t i = 0; i < command->queried_count; i++)
		cpu_slot_release(command->queried[i]);
	if (command->counter)
		cpu_event_release(command->counter);
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

	// Else nothing at all may take years.
	if (to->width == 0)
		return;
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
	size_t done =
	    command->bytes < command->pattern_bytes ? command->bytes : command->pattern_bytes;

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

// Where a region ends, in bytes from its memory's begin; SIZE_MAX where that is more.
static size_t region_end(const ze_copy_region_t *region, uint32_t pitch, uint32_t slice)
{
	uint64_t rows, slices, end, row = (uint64_t)region->originX + region->width;
	uint64_t last_row = (uint64_t)region->originY + region->height - 1;
	uint64_t last_slice =
	    (uint64_t)region->originZ + (region->depth == 0 ? 0 : region->depth - 1);

	if (region->width == 0 || region->height == 0)
		return 0;
	return __builtin_mul_overflow(last_row, pitch, &rows) ||
	               __builtin_mul_overflow(last_slice, slice, &slices) ||
	               __builtin_add_overflow(rows, slices, &end) ||
	               __builtin_add_overflow(end, row, &end)
	           ? SIZE_MAX
	           : end;
}

// Whether so many bytes lie within the allocation that the first is in. Memory of the program's own
// and mapped physical memory, which may go on behind a mapping, are not known so well.
static bool fits(const void *at, size_t bytes)
{
	struct memory_record record;

	if (!memory_find(at, &record) || record.virtual)
		return bytes <= PTRDIFF_MAX;
	return bytes <= record.mapped_bytes - ((uintptr_t)at - (uintptr_t)record.is.base);
}

static bool is_inside(const struct command *command)
{
	if (command->type == COMMAND_REGION)
		return fits(command->destination,
		            region_end(&command->to, command->to_pitch, command->to_slice)) &&
		       fits(command->source,
		            region_end(&command->from, command->from_pitch, command->from_slice));
	return fits(command->destination, command->bytes) &&
	       (command->type != COMMAND_COPY || fits(command->source, command->bytes));
}

// A queue that is told to touch what is not there is lost. What lies behind an allocation may be
// the program's own, which a device would not reach: nothing is touched then.
static ze_result_t guarded(void (*work)(const void *command), const struct command *command)
{
	bool inside = is_inside(command);

	if (inside && trap_guard(work, command))
		return ZE_RESULT_SUCCESS;
	cpu_log("a copy or fill %s: its queue is lost",
	        inside ? "touched an address without memory"
	               : "would go past the end of its allocation");
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
