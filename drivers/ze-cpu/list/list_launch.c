// SPDX-License-Identifier: Apache-2.0
// Appending kernels, and calls of host functions.
#include "kernel/kernel.h"
#include "run/run.h"

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

ze_result_t cpu_zeCommandListAppendLaunchCooperativeKernel(
    ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t *groups,
    ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	// Of several it is not sure that all run at once.
	if (groups &&
	    (groups->groupCountX > 1 || groups->groupCountY > 1 || groups->groupCountZ > 1))
		return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
	return append_launch(list, kernel, groups, false, signal, wait_count, waits);
}

// What the chain of parameters asks for; one that is not known may change everything.
static ze_result_t read_parameters(const void *next, bool *cooperative)
{
	*cooperative = false;
	for (const ze_base_desc_t *at = next; at; at = at->pNext) {
		if (at->stype != LEVELZERO_TYPE_COOPERATIVE)
			return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
		*cooperative = ((const struct levelzero_cooperative *)at)->cooperative;
	}
	return ZE_RESULT_SUCCESS;
}

levelzero_launch_with_parameters cpu_zeCommandListAppendLaunchKernelWithParameters;

ze_result_t cpu_zeCommandListAppendLaunchKernelWithParameters(
    ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t *groups,
    const void *next, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	bool cooperative;
	ze_result_t result = read_parameters(next, &cooperative);

	if (result != ZE_RESULT_SUCCESS)
		return result;
	return cooperative ? cpu_zeCommandListAppendLaunchCooperativeKernel(
	                         list, kernel, groups, signal, wait_count, waits)
	                   : append_launch(list, kernel, groups, false, signal, wait_count, waits);
}

// Of local memory the value is its size.
static ze_result_t set_arguments(ze_kernel_handle_t kernel, void **values)
{
	const struct tare_spirv_kernel *spirv = kernel->spirv;
	ze_result_t result = ZE_RESULT_SUCCESS;

	if (!values && spirv->parameter_count > 0)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	for (uint32_t i = 0; i < spirv->parameter_count && result == ZE_RESULT_SUCCESS; i++) {
		int64_t bytes = spirv->parameters[i].bytes;
		if (!values[i])
			return ZE_RESULT_ERROR_INVALID_ARGUMENT;
		if (spirv->parameters[i].kind == TARE_PARAMETER_LOCAL)
			result = cpu_zeKernelSetArgumentValue(kernel, i, *(const size_t *)values[i],
			                                      NULL);
		else if (spirv->parameters[i].kind == TARE_PARAMETER_MEMORY)
			result = cpu_zeKernelSetArgumentValue(kernel, i, sizeof(void *), values[i]);
		else
			result = cpu_zeKernelSetArgumentValue(
			    kernel, i, bytes > 0 ? (size_t)bytes : 0, values[i]);
	}
	return result;
}

levelzero_launch_with_arguments cpu_zeCommandListAppendLaunchKernelWithArguments;

// The kernel keeps the size of a group and the arguments, also where the launch is refused then.
ze_result_t cpu_zeCommandListAppendLaunchKernelWithArguments(
    ze_command_list_handle_t list, ze_kernel_handle_t kernel, ze_group_count_t groups,
    struct levelzero_group_size size, void **arguments, const void *next, ze_event_handle_t signal,
    uint32_t wait_count, ze_event_handle_t *waits)
{
	bool cooperative;
	ze_result_t result = read_parameters(next, &cooperative);

	if (!list || !kernel)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (result == ZE_RESULT_SUCCESS)
		result = cpu_zeKernelSetGroupSize(kernel, size.x, size.y, size.z);
	if (result == ZE_RESULT_SUCCESS)
		result = set_arguments(kernel, arguments);
	if (result != ZE_RESULT_SUCCESS)
		return result;
	return cpu_zeCommandListAppendLaunchKernelWithParameters(list, kernel, &groups, next,
	                                                         signal, wait_count, waits);
}

ze_result_t cpu_zeCommandListAppendLaunchKernelIndirect(
    ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t *groups,
    ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
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

	if (list && !function)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (result != ZE_RESULT_SUCCESS)
		return result;
	// There is no extension of it that is known here.
	if (next)
		return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
	command = cpu_command_new(COMMAND_HOST_CALL, signal, waits, wait_count);
	if (command) {
		command->function = function;
		command->context = context;
	}
	return cpu_list_append(list, command);
}
