// SPDX-License-Identifier: Apache-2.0
// Entry points newer than specification 1.4 that only tell what a queue, list, pool or event is;
// and lists that an immediate list runs.
#include "run/run.h"

ze_result_t cpu_zeCommandQueueGetOrdinal(ze_command_queue_handle_t queue, uint32_t *ordinal)
{
	if (!queue)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!ordinal)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*ordinal = queue->queue->ordinal;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeCommandQueueGetIndex(ze_command_queue_handle_t queue, uint32_t *index)
{
	if (!queue)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!index)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*index = queue->queue->index;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeCommandListGetDeviceHandle(ze_command_list_handle_t list,
                                             ze_device_handle_t *device)
{
	if (!list)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!device)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*device = list->device;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeCommandListGetContextHandle(ze_command_list_handle_t list,
                                              ze_context_handle_t *context)
{
	if (!list)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!context)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*context = list->context;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeCommandListGetOrdinal(ze_command_list_handle_t list, uint32_t *ordinal)
{
	if (!list)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!ordinal)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*ordinal = list->ordinal;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeCommandListImmediateGetIndex(ze_command_list_handle_t list, uint32_t *index)
{
	if (!list)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!index)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!list->immediate)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	*index = list->immediate->index;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeCommandListIsImmediate(ze_command_list_handle_t list, ze_bool_t *immediate)
{
	if (!list)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!immediate)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*immediate = list->immediate != NULL;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeEventPoolGetContextHandle(ze_event_pool_handle_t pool,
                                            ze_context_handle_t *context)
{
	if (!pool)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!context)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*context = pool->context;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeEventPoolGetFlags(ze_event_pool_handle_t pool, ze_event_pool_flags_t *flags)
{
	if (!pool)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!flags)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*flags = pool->flags;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeEventGetEventPool(ze_event_handle_t event, ze_event_pool_handle_t *pool)
{
	if (!event)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!pool)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	// One that counts may have none.
	if (!event->pool)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	*pool = event->pool;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeEventGetSignalScope(ze_event_handle_t event, ze_event_scope_flags_t *scope)
{
	if (!event)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!scope)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*scope = event->signal_scope;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeEventGetWaitScope(ze_event_handle_t event, ze_event_scope_flags_t *scope)
{
	if (!event)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!scope)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*scope = event->wait_scope;
	return ZE_RESULT_SUCCESS;
}

static bool all_done(void *context)
{
	const uint64_t *sequence = context;

	return cpu_oldest_run() > *sequence;
}

ze_result_t cpu_zeDeviceSynchronize(ze_device_handle_t device)
{
	uint64_t sequence;
	ze_result_t result;

	if (!device)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	pthread_mutex_lock(&work_lock);
	sequence = cpu_last_sequence();
	result = cpu_wait(all_done, &sequence, UINT64_MAX);
	pthread_mutex_unlock(&work_lock);
	return result;
}

ze_result_t cpu_zeEventPoolPutIpcHandle(ze_context_handle_t context,
                                        ze_ipc_event_pool_handle_t handle)
{
	(void)handle;
	return !context ? ZE_RESULT_ERROR_INVALID_NULL_HANDLE : ZE_RESULT_SUCCESS;
}

// The lists' commands between two barriers: one with the waits, one that signals.
ze_result_t cpu_zeCommandListImmediateAppendCommandListsExp(
    ze_command_list_handle_t immediate, uint32_t count, ze_command_list_handle_t *lists,
    ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	ze_result_t result = cpu_check_waits(immediate, wait_count, waits);

	if (immediate && !lists)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (result != ZE_RESULT_SUCCESS)
		return result;
	if (!immediate->immediate)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	// Else its waits would already be there.
	result = cpu_check_lists(immediate->immediate, count, lists);
	if (result != ZE_RESULT_SUCCESS)
		return result;
	if (wait_count > 0)
		result = cpu_zeCommandListAppendBarrier(immediate, NULL, wait_count, waits);
	if (result == ZE_RESULT_SUCCESS)
		result = cpu_execute(immediate->immediate, count, lists, NULL);
	if (result == ZE_RESULT_SUCCESS && signal)
		result = cpu_zeCommandListAppendBarrier(immediate, signal, 0, NULL);
	return result;
}
