// SPDX-License-Identifier: Apache-2.0
#include "ze_cpu.h"

ze_result_t launch_new(ze_kernel_handle_t kernel, const ze_group_count_t *groups, bool indirect,
                       struct launch **launch)
{
	(void)kernel;
	(void)groups;
	(void)indirect;
	*launch = NULL;
	return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

ze_result_t launch_do(const struct launch *launch)
{
	(void)launch;
	return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

void launch_free(struct launch *launch)
{
	(void)launch;
}

const char *launch_kernel_name(const struct launch *launch)
{
	(void)launch;
	return "";
}

void launch_grid(const struct launch *launch, uint64_t *groups, uint64_t *group_items)
{
	(void)launch;
	*groups = *group_items = 0;
}

bool launch_argument_value(const struct launch *launch, uint32_t index, uint64_t *value)
{
	(void)launch;
	(void)index;
	(void)value;
	return false;
}

void launch_pointers(const struct launch *launch, void (*each)(void *context, const void *at),
                     void *context)
{
	(void)launch;
	(void)each;
	(void)context;
}
