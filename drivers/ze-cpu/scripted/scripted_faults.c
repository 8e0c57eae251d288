// SPDX-License-Identifier: Apache-2.0
// The faults `failure`, and `wrong-data`: a bit flips in the middle of what an operation wrote.
#include "scripted/scripted.h"

// A kernel's first pointer is taken for what it writes.
static void first_pointer(void *context, const void *at)
{
	const void **first = context;

	if (!*first)
		*first = at;
}

static char *middle_of(const struct command *command)
{
	const void *first = NULL;

	switch (command->type) {
	case COMMAND_COPY:
	case COMMAND_FILL:
		return command->bytes ? (char *)command->destination + command->bytes / 2 : NULL;
	case COMMAND_REGION:
		if (!command->bytes)
			return NULL;
		return (char *)command->destination + command->to.originX + command->to.width / 2 +
		       ((size_t)command->to.originY + command->to.height / 2) * command->to_pitch +
		       (size_t)command->to.originZ * command->to_slice;
	case COMMAND_LAUNCH:
		launch_pointers(command->launch, first_pointer, &first);
		if (!first || cpu_allocation_of(first).type == ZE_MEMORY_TYPE_UNKNOWN)
			return NULL;
		struct cpu_allocation memory = cpu_allocation_of(first);
		return (char *)first + (size_t)(memory.base + memory.bytes - (char *)first) / 2;
	default:
		return NULL;
	}
}

void scripted_worked(struct run *run)
{
	if (!run->scripted)
		return;
	if (run->scripted->fails && run->result == ZE_RESULT_SUCCESS)
		run->result = ZE_RESULT_ERROR_UNKNOWN;
	bool wrong = run->scripted->wrong && run->result == ZE_RESULT_SUCCESS;
	char *middle = wrong ? middle_of(run->command) : NULL;
	if (middle)
		*middle ^= 1;
	scripted_pages_leave(run->command);
}
