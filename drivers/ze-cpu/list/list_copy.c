// SPDX-License-Identifier: Apache-2.0
// Appending what moves bytes: copies, regions, fills, and hints about memory.
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

ze_result_t cpu_zeCommandListAppendMemoryCopy(ze_command_list_handle_t list, void *destination,
                                              const void *source, size_t bytes,
                                              ze_event_handle_t signal, uint32_t wait_count,
                                              ze_event_handle_t *waits)
{
	struct command *command;
	ze_result_t result = cpu_check_waits(list, wait_count, waits);

	if (list && (!destination || !source))
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (result != ZE_RESULT_SUCCESS)
		return result;
	command = cpu_command_new(COMMAND_COPY, signal, waits, wait_count);
	if (command) {
		command->destination = destination;
		command->source = source;
		command->bytes = bytes;
	}
	return cpu_list_append(list, command);
}

// All contexts share one address space.
ze_result_t
cpu_zeCommandListAppendMemoryCopyFromContext(ze_command_list_handle_t list, void *destination,
                                             ze_context_handle_t context, const void *source,
                                             size_t bytes, ze_event_handle_t signal,
                                             uint32_t wait_count, ze_event_handle_t *waits)
{
	if (!list || !context)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	return cpu_zeCommandListAppendMemoryCopy(list, destination, source, bytes, signal,
	                                         wait_count, waits);
}

ze_result_t cpu_zeCommandListAppendMemoryFill(ze_command_list_handle_t list, void *destination,
                                              const void *pattern, size_t pattern_bytes,
                                              size_t bytes, ze_event_handle_t signal,
                                              uint32_t wait_count, ze_event_handle_t *waits)
{
	struct command *command;
	ze_result_t result = cpu_check_waits(list, wait_count, waits);

	if (list && (!destination || !pattern))
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (result != ZE_RESULT_SUCCESS)
		return result;
	if (pattern_bytes == 0 || pattern_bytes > CPU_FILL_PATTERN_BYTES ||
	    (pattern_bytes & (pattern_bytes - 1)) != 0)
		return ZE_RESULT_ERROR_INVALID_SIZE;
	command = cpu_command_new(COMMAND_FILL, signal, waits, wait_count);
	if (command) {
		command->pattern = malloc(pattern_bytes);
		if (!command->pattern) {
			cpu_command_free(command);
			return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
		}
		memcpy(command->pattern, pattern, pattern_bytes);
		command->pattern_bytes = pattern_bytes;
		command->destination = destination;
		command->bytes = bytes;
	}
	return cpu_list_append(list, command);
}

static ze_result_t check_region(const ze_copy_region_t *to, const ze_copy_region_t *from)
{
	return to->width == from->width && to->height == from->height && to->depth == from->depth
	           ? ZE_RESULT_SUCCESS
	           : ZE_RESULT_ERROR_INVALID_SIZE;
}

ze_result_t cpu_zeCommandListAppendMemoryCopyRegion(
    ze_command_list_handle_t list, void *destination, const ze_copy_region_t *to, uint32_t to_pitch,
    uint32_t to_slice, const void *source, const ze_copy_region_t *from, uint32_t from_pitch,
    uint32_t from_slice, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	struct command *command;
	ze_result_t result = cpu_check_waits(list, wait_count, waits);

	if (list && (!destination || !source || !to || !from))
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (result == ZE_RESULT_SUCCESS)
		result = check_region(to, from);
	if (result != ZE_RESULT_SUCCESS)
		return result;
	command = cpu_command_new(COMMAND_REGION, signal, waits, wait_count);
	if (command) {
		command->destination = destination;
		command->source = source;
		command->to = *to;
		command->from = *from;
		command->to_pitch = to_pitch;
		command->to_slice = to_slice;
		command->from_pitch = from_pitch;
		command->from_slice = from_slice;
		command->bytes = (size_t)to->width * to->height * (to->depth == 0 ? 1 : to->depth);
	}
	return cpu_list_append(list, command);
}

static ze_result_t append_hint(ze_command_list_handle_t list, enum command_type type,
                               const void *at, size_t bytes)
{
	struct command *command;
	ze_result_t result = cpu_check_waits(list, 0, NULL);

	if (result != ZE_RESULT_SUCCESS)
		return result;
	if (!at)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	command = cpu_command_new(type, NULL, NULL, 0);
	if (command) {
		command->source = at;
		command->bytes = bytes;
	}
	return cpu_list_append(list, command);
}

ze_result_t cpu_zeCommandListAppendMemoryPrefetch(ze_command_list_handle_t list, const void *at,
                                                  size_t bytes)
{
	return append_hint(list, COMMAND_PREFETCH, at, bytes);
}

ze_result_t cpu_zeCommandListAppendMemAdvise(ze_command_list_handle_t list,
                                             ze_device_handle_t device, const void *at,
                                             size_t bytes, ze_memory_advice_t advice)
{
	if (!list || !device)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!at)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if ((uint32_t)advice > CPU_LAST_ADVICE)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	return append_hint(list, COMMAND_ADVISE, at, bytes);
}
