// SPDX-License-Identifier: Apache-2.0
// LAUNCH: arguments and group size are the kernel's, and are read when the launch is appended.
#include "backend/levelzero/module.h"
#include "backend/levelzero/work.h"

#include <errno.h>

static int refused(ze_result_t result, uint32_t index, struct tare_error *error)
{
	if (result == ZE_RESULT_SUCCESS)
		return 0;
	return levelzero_fail(result, "zeKernelSetArgumentValue", error, "argument %u refused",
	                      index);
}

static int set_memory(const struct levelzero_append *append, ze_kernel_handle_t kernel,
                      uint32_t index, const struct tare_span *span, struct tare_error *error)
{
	const void *at = levelzero_address(span);

	if (span->memory->kind == TARE_MEMORY_PAGEABLE && !levelzero_reaches_heap(append->device))
		return tare_fail(
		    error, ENOTSUP,
		    "this device's kernels cannot address plain host memory (argument %u)", index);
	return refused(append->call->zeKernelSetArgumentValue(kernel, index, sizeof at, &at), index,
	               error);
}

static int set_arguments(const struct levelzero_append *append, ze_kernel_handle_t kernel,
                         const struct tare_launch *launch, struct tare_error *error)
{
	int status = 0;

	for (uint32_t i = 0; status == 0 && i < launch->argument_count; i++) {
		const struct tare_argument *argument = &launch->arguments[i];
		if (argument->type == TARE_ARGUMENT_MEMORY)
			status = set_memory(append, kernel, i, &argument->span, error);
		else
			status = refused(
			    append->call->zeKernelSetArgumentValue(
			        kernel, i, argument->bytes,
			        argument->type == TARE_ARGUMENT_LOCAL ? NULL : argument->value),
			    i, error);
	}
	return status;
}

int levelzero_append_launch(const struct levelzero_append *append, struct tare_error *error)
{
	const struct tare_launch *launch = &append->operation->launch;
	ze_kernel_handle_t kernel = ((struct levelzero_kernel *)launch->kernel)->handle;
	const ze_group_count_t groups = { launch->groups[0], launch->groups[1], launch->groups[2] };
	int status;

	if (!append->engine->compute)
		return tare_fail(error, ENOTSUP, "ordinal %u has no compute engine: it only copies",
		                 append->engine->ordinal);
	status = set_arguments(append, kernel, launch, error);
	if (status < 0)
		return status;
	ze_result_t result = append->call->zeKernelSetGroupSize(
	    kernel, launch->group_size[0], launch->group_size[1], launch->group_size[2]);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeKernelSetGroupSize", error,
		                      "groups of %u x %u x %u are refused", launch->group_size[0],
		                      launch->group_size[1], launch->group_size[2]);
	result = append->call->zeCommandListAppendLaunchKernel(
	    append->list, kernel, &groups, append->signal, append->wait_count, append->waits);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeCommandListAppendLaunchKernel", error,
		                      "cannot launch %u x %u x %u groups of %u x %u x %u",
		                      launch->groups[0], launch->groups[1], launch->groups[2],
		                      launch->group_size[0], launch->group_size[1],
		                      launch->group_size[2]);
	return 0;
}
