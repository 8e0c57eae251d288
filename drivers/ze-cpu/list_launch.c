// SPDX-License-Identifier: Apache-2.0
// Appending kernels, and calls of host functions.
#include "run.h"

static ze_result_t check_launch(ze_command_list_handle_t list, uint32_t wait_count,
                                const ze_event_handle_t *waits)
{
	ze_result_t result = cpu_check_waits(list, wait_count, waits);

	if (result == ZE_RESULT_SUCCESS && !cpu_device.groups[list->ordinal].compute)
		return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
	return result;
}

static ze_result_t append_launch(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                                 const ze_group_count_t *groups, bool indirect,
                                 ze_event_handle_t signal, uint32_t wait_count,
                                 ze_event_handle_t *waits)
{
	struct command *command;
	struct launch *launch;
	ze_result_t result;

	if (!list || !kernel)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!groups)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	result = check_launch(list, wait_count, waits);
	if (result == ZE_RESULT_SUCCESS)
		result = launch_new(kernel, groups, indirect, &launch);
	if (result != ZE_RESULT_SUCCESS)
		return result;
	command = cpu_command_new(COMMAND_LAUNCH, signal, waits, wait_count);
	if (!command)
		launch_free(launch);
	else
		command->launch = launch;
	return cpu_list_append(list, command);
}

ze_result_t cpu_zeCommandListAppendLaunchKernel(ze_command_list_handle_t list,
                                                ze_kernel_handle_t kernel,
                                                const ze_group_count_t *groups,
                                                ze_event_handle_t signal, uint32_t wait_count,
                                                ze_event_handle_t *waits)
{
	return append_launch(list, kernel, groups, false, signal, wait_count, waits);
}

ze_result_t cpu_zeCommandListAppendLaunchCooperativeKernel(ze_command_list_handle_t list,
                                                           ze_kernel_handle_t kernel,
                                                           const ze_group_count_t *groups,
                                                           ze_event_handle_t signal,
                                                           uint32_t wait_count,
                                                           ze_event_handle_t *waits)
{
	// Of several it is not sure that all run at once.
	if (groups && (groups->groupCountX > 1 || groups->groupCountY > 1 || groups->groupCountZ > 1))
		return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
	return append_launch(list, kernel, groups, false, signal, wait_count, waits);
}

ze_result_t cpu_zeCommandListAppendLaunchKernelIndirect(ze_command_list_handle_t list,
                                                        ze_kernel_handle_t kernel,
                                                        const ze_group_count_t *groups,
                                                        ze_event_handle_t signal,
                                                        uint32_t wait_count,
                                                        ze_event_handle_t *waits)
{
	return append_launch(list, kernel, groups, true, signal, wait_count, waits);
}

// One command each, which looks at the count in its turn; a barrier behind them signals.
ze_result_t cpu_zeCommandListAppendLaunchMultipleKernelsIndirect(
	ze_command_list_handle_t list, uint32_t kernel_count, ze_kernel_handle_t *kernels,
	const uint32_t *count, const ze_group_count_t *groups, ze_event_handle_t signal,
	uint32_t wait_count, ze_event_handle_t *waits)
{
	struct command *command;
	struct launch *launch;
	ze_result_t result;

	if (!list)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!kernels || !count || !groups)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	result = check_launch(list, wait_count, waits);
	for (uint32_t i = 0; result == ZE_RESULT_SUCCESS && i < kernel_count; i++) {
		if (!kernels[i])
			return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
		result = launch_new(kernels[i], &groups[i], true, &launch);
		if (result != ZE_RESULT_SUCCESS)
			return result;
		command = cpu_command_new(COMMAND_LAUNCH, NULL, waits, wait_count);
		if (!command) {
			launch_free(launch);
			return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
		}
		command->launch = launch;
		command->limit = count;
		command->limit_index = i;
		result = cpu_list_append(list, command);
	}
	if (result != ZE_RESULT_SUCCESS)
		return result;
	return cpu_list_append(list, cpu_command_new(COMMAND_BARRIER, signal, waits, wait_count));
}

ze_result_t cpu_zeCommandListAppendHostFunction(ze_command_list_handle_t list,
                                                void (*function)(void *), void *context,
                                                const void *next, ze_event_handle_t signal,
                                                uint32_t wait_count, ze_event_handle_t *waits)
{
	struct command *command;
	ze_result_t result = cpu_check_waits(list, wait_count, waits);

	(void)next;
	if (list && !function)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (result != ZE_RESULT_SUCCESS)
		return result;
	command = cpu_command_new(COMMAND_HOST_CALL, signal, waits, wait_count);
	if (command) {
		command->function = function;
		command->context = context;
	}
	return cpu_list_append(list, command);
}
