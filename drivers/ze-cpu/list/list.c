// SPDX-License-Identifier: Apache-2.0
// Command lists, regular and immediate; and what is appended but copies and launches.
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

static struct command_chain *chain_new(void)
{
	struct command_chain *chain = calloc(1, sizeof *chain);

	if (chain)
		chain->references = 1;
	return chain;
}

void cpu_chain_release(struct command_chain *chain)
{
	struct command *next;

	if (__atomic_sub_fetch(&chain->references, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	for (struct command *command = chain->first; command; command = next) {
		next = command->next;
		cpu_command_free(command);
	}
	free(chain);
}

ze_result_t cpu_zeCommandListCreate(ze_context_handle_t context, ze_device_handle_t device,
                                    const ze_command_list_desc_t *description,
                                    ze_command_list_handle_t *made)
{
	ze_command_list_handle_t list;

	if (!context || !device)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!description || !made)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (description->flags > CPU_LIST_FLAGS)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	if (description->commandQueueGroupOrdinal >= cpu_device.group_count)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	list = calloc(1, sizeof *list);
	if (!list)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	list->chain = chain_new();
	if (!list->chain) {
		free(list);
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	}
	list->context = context;
	list->device = device;
	list->ordinal = description->commandQueueGroupOrdinal;
	list->flags = description->flags;
	list->in_order = (description->flags & LEVELZERO_LIST_IN_ORDER) != 0;
	*made = list;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeCommandListCreateImmediate(ze_context_handle_t context, ze_device_handle_t device,
                                             const ze_command_queue_desc_t *description,
                                             ze_command_list_handle_t *made)
{
	ze_command_list_handle_t list;
	ze_result_t result;

	if (!context || !device)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!description || !made)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (description->flags > CPU_QUEUE_FLAGS ||
	    description->mode > ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS ||
	    description->priority > ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	list = calloc(1, sizeof *list);
	if (!list)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	list->context = context;
	list->device = device;
	list->ordinal = description->ordinal;
	list->in_order = (description->flags & LEVELZERO_QUEUE_IN_ORDER) != 0;
	result = cpu_queue_new(device, description, &list->immediate);
	if (result != ZE_RESULT_SUCCESS)
		free(list);
	else
		*made = list;
	return result;
}

ze_result_t cpu_zeCommandListDestroy(ze_command_list_handle_t list)
{
	if (!list)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (list->chain)
		cpu_chain_release(list->chain);
	if (list->immediate)
		cpu_queue_end(list->immediate);
	free(list);
	return ZE_RESULT_SUCCESS;
}

// An immediate list never needs it, and a second time changes nothing.
ze_result_t cpu_zeCommandListClose(ze_command_list_handle_t list)
{
	if (!list)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	list->closed = list->chain;
	return ZE_RESULT_SUCCESS;
}

// What still runs keeps the commands that it runs.
ze_result_t cpu_zeCommandListReset(ze_command_list_handle_t list)
{
	struct command_chain *chain;

	if (!list)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!list->chain)
		return ZE_RESULT_SUCCESS;
	chain = chain_new();
	if (!chain)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	cpu_chain_release(list->chain);
	list->chain = chain;
	list->closed = false;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeCommandListHostSynchronize(ze_command_list_handle_t list, uint64_t timeout_ns)
{
	ze_result_t result;

	if (!list)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!list->immediate)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	pthread_mutex_lock(&work_lock);
	result = cpu_queue_wait(list->immediate, timeout_ns);
	pthread_mutex_unlock(&work_lock);
	return result;
}

ze_result_t cpu_check_waits(ze_command_list_handle_t list, uint32_t count,
                            const ze_event_handle_t *waits)
{
	if (!list)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!waits && count > 0)
		return ZE_RESULT_ERROR_INVALID_SIZE;
	for (uint32_t i = 0; i < count; i++)
		if (!waits[i])
			return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	return list->closed ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_SUCCESS;
}

static ze_result_t run_at_once(struct cpu_queue *queue, struct command *command)
{
	struct run *run = cpu_run_new(command, NULL, NULL);
	ze_result_t result;

	if (!run) {
		cpu_command_free(command);
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	}
	pthread_mutex_lock(&work_lock);
	result = cpu_device.lost ? ZE_RESULT_ERROR_DEVICE_LOST : cpu_queue_submit(queue, run);
	if (result == ZE_RESULT_SUCCESS) {
		run = NULL;
		cpu_command_count(command);
		if (queue->synchronous)
			result = cpu_queue_wait(queue, UINT64_MAX);
	}
	pthread_mutex_unlock(&work_lock);
	if (run)
		cpu_run_free(run);
	return result;
}

// Events that count are signalled by lists in order, of the kind that they were made for.
static bool may_count(const struct _ze_command_list_handle_t *list,
                      const struct _ze_event_handle_t *event)
{
	uint32_t kind = list->immediate ? LEVELZERO_COUNTER_IMMEDIATE : LEVELZERO_COUNTER_REGULAR;

	return list->in_order && (event->counting & kind) != 0;
}

ze_result_t cpu_list_append(ze_command_list_handle_t list, struct command *command)
{
	if (!command)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	if (command->counter && !may_count(list, command->counter)) {
		cpu_command_free(command);
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	}
	if (list->immediate)
		return run_at_once(list->immediate, command);
	if (list->chain->last)
		list->chain->last->next = command;
	else
		list->chain->first = command;
	list->chain->last = command;
	if (command->counter) {
		pthread_mutex_lock(&work_lock);
		cpu_command_count(command);
		pthread_mutex_unlock(&work_lock);
	}
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeCommandListAppendBarrier(ze_command_list_handle_t list, ze_event_handle_t signal,
                                           uint32_t wait_count, ze_event_handle_t *waits)
{
	ze_result_t result = cpu_check_waits(list, wait_count, waits);

	if (result != ZE_RESULT_SUCCESS)
		return result;
	return cpu_list_append(list, cpu_command_new(COMMAND_BARRIER, signal, waits, wait_count));
}

ze_result_t cpu_zeCommandListAppendMemoryRangesBarrier(
    ze_command_list_handle_t list, uint32_t count, const size_t *sizes, const void **ranges,
    ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	(void)count;
	if (!list)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!sizes || !ranges)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	return cpu_zeCommandListAppendBarrier(list, signal, wait_count, waits);
}

ze_result_t cpu_zeCommandListAppendSignalEvent(ze_command_list_handle_t list,
                                               ze_event_handle_t event)
{
	if (!list || !event)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	return cpu_zeCommandListAppendBarrier(list, event, 0, NULL);
}

ze_result_t cpu_zeCommandListAppendWaitOnEvents(ze_command_list_handle_t list, uint32_t count,
                                                ze_event_handle_t *events)
{
	if (!list)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!events)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	return cpu_zeCommandListAppendBarrier(list, NULL, count, events);
}

ze_result_t cpu_zeCommandListAppendEventReset(ze_command_list_handle_t list,
                                              ze_event_handle_t event)
{
	struct command *command;
	ze_result_t result = cpu_check_waits(list, 0, NULL);

	if (!list || !event)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (result != ZE_RESULT_SUCCESS)
		return result;
	if (event->counting)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	command = cpu_command_new(COMMAND_RESET, NULL, NULL, 0);
	if (command)
		command->reset = cpu_event_slot(event);
	return cpu_list_append(list, command);
}

ze_result_t cpu_zeCommandListAppendWriteGlobalTimestamp(ze_command_list_handle_t list,
                                                        uint64_t *destination,
                                                        ze_event_handle_t signal,
                                                        uint32_t wait_count,
                                                        ze_event_handle_t *waits)
{
	struct command *command;
	ze_result_t result = cpu_check_waits(list, wait_count, waits);

	if (list && !destination)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (result != ZE_RESULT_SUCCESS)
		return result;
	if ((uintptr_t)destination % sizeof *destination != 0)
		return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
	command = cpu_command_new(COMMAND_GLOBAL_TIMESTAMP, signal, waits, wait_count);
	if (command)
		command->destination = destination;
	return cpu_list_append(list, command);
}

// Copies what the program may change after the call.
static struct command *query_new(uint32_t count, const ze_event_handle_t *events,
                                 const size_t *offsets, ze_event_handle_t signal,
                                 uint32_t wait_count, const ze_event_handle_t *waits)
{
	struct command *command =
	    cpu_command_new(COMMAND_QUERY_TIMESTAMPS, signal, waits, wait_count);

	if (!command)
		return NULL;
	if (offsets)
		command->offsets = calloc(count == 0 ? 1 : count, sizeof *offsets);
	if (!cpu_command_query(command, events, count) || (offsets && !command->offsets)) {
		cpu_command_free(command);
		return NULL;
	}
	for (uint32_t i = 0; offsets && i < count; i++)
		command->offsets[i] = offsets[i];
	return command;
}

ze_result_t cpu_zeCommandListAppendQueryKernelTimestamps(
    ze_command_list_handle_t list, uint32_t count, ze_event_handle_t *events, void *destination,
    const size_t *offsets, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	struct command *command;
	ze_result_t result = cpu_check_waits(list, wait_count, waits);

	if (list && (!events || !destination))
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	for (uint32_t i = 0; result == ZE_RESULT_SUCCESS && i < count; i++)
		if (!events[i])
			result = ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (result != ZE_RESULT_SUCCESS)
		return result;
	command = query_new(count, events, offsets, signal, wait_count, waits);
	if (command)
		command->destination = destination;
	return cpu_list_append(list, command);
}
