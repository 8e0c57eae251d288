// SPDX-License-Identifier: Apache-2.0
// Command queues as the program sees them.
#include "run/run.h"

#include <stdlib.h>

ze_result_t cpu_zeCommandQueueCreate(ze_context_handle_t context, ze_device_handle_t device,
                                     const ze_command_queue_desc_t *description,
                                     ze_command_queue_handle_t *made)
{
	ze_command_queue_handle_t queue;
	ze_result_t result;

	if (!context || !device)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!description || !made)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (description->mode > ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS ||
	    description->priority > ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH ||
	    description->flags > CPU_QUEUE_FLAGS)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	queue = calloc(1, sizeof *queue);
	if (!queue)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	result = cpu_queue_new(device, description, &queue->queue);
	if (result != ZE_RESULT_SUCCESS)
		free(queue);
	else
		*made = queue;
	return result;
}

ze_result_t cpu_zeCommandQueueDestroy(ze_command_queue_handle_t queue)
{
	if (!queue)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	cpu_queue_end(queue->queue);
	free(queue);
	return ZE_RESULT_SUCCESS;
}

// Runs of everything in the lists, and of the fence behind it.
static ze_result_t make_runs(uint32_t count, ze_command_list_handle_t *lists,
                             ze_fence_handle_t fence, struct run **runs)
{
	struct run **at = runs;

	*runs = NULL;
	for (uint32_t i = 0; i < count; i++)
		for (const struct command *command = lists[i]->chain->first; command;
		     command = command->next) {
			*at = cpu_run_new(command, lists[i]->chain, NULL);
			if (!*at)
				return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
			at = &(*at)->next;
		}
	if (!fence)
		return ZE_RESULT_SUCCESS;
	*at = cpu_run_new(NULL, NULL, fence);
	return !*at ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : ZE_RESULT_SUCCESS;
}

static void free_runs(struct run *runs)
{
	struct run *next;

	for (; runs; runs = next) {
		next = runs->next;
		cpu_run_free(runs);
	}
}

ze_result_t cpu_check_lists(const struct cpu_queue *queue, uint32_t count,
                            ze_command_list_handle_t *lists)
{
	for (uint32_t i = 0; i < count; i++) {
		if (!lists[i])
			return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
		if (!lists[i]->chain || lists[i]->ordinal != queue->ordinal)
			return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
		if (!lists[i]->closed)
			return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	}
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_execute(struct cpu_queue *queue, uint32_t count, ze_command_list_handle_t *lists,
                        ze_fence_handle_t fence)
{
	ze_result_t result = cpu_check_lists(queue, count, lists);
	struct run *runs;

	if (result != ZE_RESULT_SUCCESS)
		return result;
	result = make_runs(count, lists, fence, &runs);
	if (result != ZE_RESULT_SUCCESS) {
		free_runs(runs);
		return result;
	}
	pthread_mutex_lock(&work_lock);
	result = cpu_device.lost ? ZE_RESULT_ERROR_DEVICE_LOST : cpu_queue_submit(queue, runs);
	if (result == ZE_RESULT_SUCCESS) {
		runs = NULL;
		if (queue->synchronous)
			result = cpu_queue_wait(queue, UINT64_MAX);
	}
	pthread_mutex_unlock(&work_lock);
	free_runs(runs);
	return result;
}

ze_result_t cpu_zeCommandQueueExecuteCommandLists(ze_command_queue_handle_t queue, uint32_t count,
                                                  ze_command_list_handle_t *lists,
                                                  ze_fence_handle_t fence)
{
	if (!queue)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!lists)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (count == 0)
		return ZE_RESULT_ERROR_INVALID_SIZE;
	if (fence && fence->queue != queue)
		return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
	return cpu_execute(queue->queue, count, lists, fence);
}

ze_result_t cpu_zeCommandQueueSynchronize(ze_command_queue_handle_t queue, uint64_t timeout_ns)
{
	ze_result_t result;

	if (!queue)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	pthread_mutex_lock(&work_lock);
	result = cpu_queue_wait(queue->queue, timeout_ns);
	pthread_mutex_unlock(&work_lock);
	return result;
}
