// SPDX-License-Identifier: Apache-2.0
#include "kernel/ending.h"
#include "kernel/kernel.h"
#include "kernel/runner.h"
#include "kernel/trap.h"

#include <stdlib.h>
#include <string.h>

struct launch {
	atomic_uint references; // the command's, and one each time it runs
	struct cpu_program *program;
	const struct tare_spirv_kernel *spirv;
	uint32_t index;
	struct kernel_argument *arguments;
	ze_group_count_t groups;
	const ze_group_count_t *indirect; // read when it runs; NULL: `groups`
	uint32_t group_size[3], offset[3];
};

struct launch_errand {
	struct errand base;
	struct launch *launch;
	size_t global[3], local[3], offset[3];
};

static void release(struct launch *launch)
{
	if (atomic_fetch_sub(&launch->references, 1) > 1)
		return;
	kernel_arguments_free(launch->arguments, launch->spirv->parameter_count);
	program_release(launch->program);
	free(launch);
}

static ze_result_t check(const struct _ze_kernel_handle_t *kernel)
{
	uint64_t local_bytes = kernel->limits.local_bytes;
	uint64_t items =
	    (uint64_t)kernel->group_size[0] * kernel->group_size[1] * kernel->group_size[2];

	// PoCL keeps the private variables of a whole group on one stack.
	if (kernel->limits.item_bytes > CPU_OPENCL_PRIVATE_BYTES / items)
		return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
	for (uint32_t i = 0; i < kernel->spirv->parameter_count; i++) {
		const struct kernel_argument *argument = &kernel->arguments[i];
		if (argument->kind == TARE_PARAMETER_UNKNOWN)
			return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
		if (argument->kind != TARE_PARAMETER_LOCAL)
			continue;
		if (!argument->set)
			return ZE_RESULT_ERROR_INVALID_ARGUMENT;
		if (argument->bytes > kernel->limits.device_local_bytes)
			return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
		local_bytes += argument->bytes;
	}
	return local_bytes > kernel->limits.device_local_bytes
	           ? ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY
	           : ZE_RESULT_SUCCESS;
}

// An argument that was never set is zeros, as it is on devices.
static bool set_missing(const struct _ze_kernel_handle_t *kernel, uint32_t index,
                        struct kernel_argument *argument)
{
	int64_t bytes = kernel->spirv->parameters[index].bytes;

	if (argument->set || argument->kind != TARE_PARAMETER_VALUE)
		return true;
	argument->bytes = bytes > 0 ? (size_t)bytes : sizeof argument->small;
	if (argument->bytes <= sizeof argument->small)
		return true;
	argument->big = calloc(1, argument->bytes);
	if (!argument->big)
		argument->bytes = 0;
	return argument->big != NULL;
}

ze_result_t launch_new(ze_kernel_handle_t kernel, const ze_group_count_t *groups, bool indirect,
                       struct launch **launch)
{
	ze_result_t result = check(kernel);

	ending_watch_thread();
	if (result)
		return result;
	struct launch *made = calloc(1, sizeof *made);
	if (!made)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	made->references = 1;
	made->program = program_hold(kernel->program);
	made->spirv = kernel->spirv;
	made->index = kernel->index;
	made->arguments =
	    calloc(kernel->spirv->parameter_count + (size_t)1, sizeof *made->arguments);
	bool complete = made->arguments != NULL;
	for (uint32_t i = 0; complete && i < kernel->spirv->parameter_count; i++)
		complete = kernel_argument_copy(&made->arguments[i], &kernel->arguments[i]) &&
		           set_missing(kernel, i, &made->arguments[i]);
	if (!complete) {
		release(made);
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	}
	if (indirect)
		made->indirect = groups;
	else
		made->groups = *groups;
	memcpy(made->group_size, kernel->group_size, sizeof made->group_size);
	memcpy(made->offset, kernel->offset, sizeof made->offset);
	*launch = made;
	return ZE_RESULT_SUCCESS;
}

static cl_int set_argument(const cl_icd_dispatch *cl, cl_kernel kernel, uint32_t index,
                           const struct kernel_argument *argument)
{
	switch (argument->kind) {
	case TARE_PARAMETER_MEMORY:
		return cl->clSetKernelArgSVMPointer(kernel, index, argument->pointer);
	case TARE_PARAMETER_LOCAL:
		return cl->clSetKernelArg(kernel, index, argument->bytes, NULL);
	default:
		return cl->clSetKernelArg(kernel, index, argument->bytes,
		                          kernel_argument_value(argument));
	}
}

static ze_result_t result_of(cl_int code)
{
	switch (code) {
	case CL_SUCCESS:
		return ZE_RESULT_SUCCESS;
	case CL_OUT_OF_HOST_MEMORY:
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	case CL_OUT_OF_RESOURCES:
	case CL_MEM_OBJECT_ALLOCATION_FAILURE:
		return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
	case CL_INVALID_WORK_GROUP_SIZE:
	case CL_INVALID_WORK_ITEM_SIZE:
		return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
	case CL_INVALID_ARG_SIZE:
		return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
	case CL_INVALID_KERNEL_ARGS:
	case CL_INVALID_ARG_VALUE:
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	case CL_DEVICE_NOT_AVAILABLE:
		return ZE_RESULT_ERROR_DEVICE_LOST;
	default:
		return ZE_RESULT_ERROR_UNKNOWN;
	}
}

static ze_result_t run_launch(struct errand *base, const struct cpu_opencl *opencl,
                              struct runner *runner)
{
	const struct launch_errand *errand = (const struct launch_errand *)base;
	const struct launch *launch = errand->launch;
	const cl_icd_dispatch *cl = opencl->cl;
	cl_kernel kernel = program_take_kernel(launch->program, launch->index);
	cl_int code = CL_SUCCESS;

	if (!kernel)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	for (uint32_t i = 0; !code && i < launch->spirv->parameter_count; i++)
		code = set_argument(cl, kernel, i, &launch->arguments[i]);
	if (!code)
		code = runner_launch(runner, kernel, errand->offset, errand->global, errand->local);
	if (code)
		cpu_log("kernel %s: OpenCL says %d", launch->spirv->name, code);
	program_give_kernel(launch->program, launch->index, kernel);
	return result_of(code);
}

static void leave(struct errand *base)
{
	struct launch_errand *errand = (struct launch_errand *)base;

	release(errand->launch);
	free(errand);
}

// False: there is no memory where the program said that they lie.
static bool read_groups(const struct launch *launch, ze_group_count_t *count)
{
	*count = launch->groups;
	return !launch->indirect || trap_copy(count, launch->indirect, sizeof *count);
}

ze_result_t launch_do(const struct launch *launch)
{
	ze_group_count_t count;

	if (!read_groups(launch, &count))
		return ZE_RESULT_ERROR_DEVICE_LOST;
	const uint32_t groups[3] = { count.groupCountX, count.groupCountY, count.groupCountZ };
	if (!groups[0] || !groups[1] || !groups[2])
		return ZE_RESULT_SUCCESS;
	struct launch_errand *errand = calloc(1, sizeof *errand);
	if (!errand)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	errand->base = (struct errand){ run_launch, leave, launch->spirv->name };
	errand->launch = (struct launch *)launch;
	atomic_fetch_add(&errand->launch->references, 1);
	for (int i = 0; i < 3; i++) {
		errand->local[i] = launch->group_size[i];
		errand->global[i] = (size_t)groups[i] * launch->group_size[i];
		errand->offset[i] = launch->offset[i];
	}
	return runner_run(&errand->base, launch->program->opencl);
}

void launch_free(struct launch *launch)
{
	if (launch)
		release(launch);
}

const char *launch_kernel_name(const struct launch *launch)
{
	return launch->spirv->name;
}

bool launch_indirect(const struct launch *launch)
{
	return launch->indirect;
}

void launch_grid(const struct launch *launch, uint64_t *groups, uint64_t *group_items)
{
	ze_group_count_t count;

	read_groups(launch, &count);
	*groups = (uint64_t)count.groupCountX * count.groupCountY * count.groupCountZ;
	*group_items =
	    (uint64_t)launch->group_size[0] * launch->group_size[1] * launch->group_size[2];
}

bool launch_argument_value(const struct launch *launch, uint32_t index, uint64_t *value)
{
	if (index >= launch->spirv->parameter_count)
		return false;
	const struct kernel_argument *argument = &launch->arguments[index];
	if (argument->kind != TARE_PARAMETER_VALUE ||
	    (argument->bytes != 4 && argument->bytes != 8))
		return false;
	*value = argument->small;
	return true;
}

void launch_pointers(const struct launch *launch, void (*each)(void *context, const void *at),
                     void *context)
{
	for (uint32_t i = 0; i < launch->spirv->parameter_count; i++)
		if (launch->arguments[i].kind == TARE_PARAMETER_MEMORY &&
		    launch->arguments[i].pointer)
			each(context, launch->arguments[i].pointer);
}
