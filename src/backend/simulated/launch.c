// SPDX-License-Identifier: Apache-2.0
// Launches of the simulated device: what is refused, and what they cost.
#include "backend/simulated/simulated.h"

#include <errno.h>
#include <string.h>

// The arguments that an action reads, one letter each: m a memory, v a value of 4 bytes.
static const char *const action_arguments[] = {
	[TARE_KERNEL_NONE] = "",
	[TARE_KERNEL_COPY] = "mm",
	[TARE_KERNEL_ADD] = "mmm",
	[TARE_KERNEL_OVERLAP_VOLATILE] = "mmvvvv",
	[TARE_KERNEL_OVERLAP_REGISTER] = "mmvvvv",
	[TARE_KERNEL_MATMUL] = "mmmv",
	[TARE_KERNEL_MATMUL_ELEMENT] = "mmmvvv",
};

static int check_grid(const struct simulated_command *command, uint64_t *groups, uint64_t *items,
                      struct tare_error *error)
{
	const struct tare_launch *launch = &command->operation.launch;
	uint64_t largest = simulated_group_limit(command->kernel, &command->device->script->device);

	*groups = *items = 1;
	for (int i = 0; i < 3; i++) {
		if (!launch->groups[i] || !launch->group_size[i])
			return tare_fail(error, EINVAL,
			                 "a launch has at least one work-group of one item");
		if (*groups > UINT64_C(1) << 32 || *items > UINT64_C(1) << 20)
			return tare_fail(error, EINVAL,
			                 "the launch has too many work-groups or items");
		*groups *= launch->groups[i];
		*items *= launch->group_size[i];
	}
	if (largest && *items > largest)
		return tare_fail(error, EINVAL,
		                 "a work-group has at most %llu items here, not %llu",
		                 (unsigned long long)largest, (unsigned long long)*items);
	return 0;
}

static int check_types(const struct simulated_command *command, struct tare_error *error)
{
	const struct tare_script_kernel *kernel = command->kernel;
	const struct tare_launch *launch = &command->operation.launch;
	const char *read = action_arguments[kernel->action];
	uint32_t needed = (uint32_t)strlen(read);

	if (launch->argument_count < needed ||
	    (kernel->arguments && launch->argument_count != kernel->arguments))
		return tare_fail(error, EINVAL, "kernel '%s' takes %llu arguments, not %u",
		                 kernel->name,
		                 kernel->arguments ? (unsigned long long)kernel->arguments : needed,
		                 launch->argument_count);
	for (uint32_t i = 0; i < needed; i++) {
		const struct tare_argument *argument = &launch->arguments[i];
		if (read[i] == 'm' && argument->type != TARE_ARGUMENT_MEMORY)
			return tare_fail(error, EINVAL, "argument %u of kernel '%s' is a memory", i,
			                 kernel->name);
		if (read[i] == 'v' &&
		    (argument->type != TARE_ARGUMENT_VALUE || argument->bytes != 4))
			return tare_fail(error, EINVAL,
			                 "argument %u of kernel '%s' is a value of 4 bytes", i,
			                 kernel->name);
	}
	return 0;
}

// How many items of 4 bytes, counted from the start of each memory, the action reaches.
static int reach(const struct simulated_command *command, uint64_t items, uint64_t *reached,
                 struct tare_error *error)
{
	const struct tare_launch *launch = &command->operation.launch;
	uint64_t n, first, count;

	switch ((enum tare_kernel_action)command->kernel->action) {
	case TARE_KERNEL_OVERLAP_VOLATILE:
	case TARE_KERNEL_OVERLAP_REGISTER:
		first = simulated_value(launch, 2);
		count = simulated_value(launch, 3);
		*reached = count ? first + count : 0;
		return 0;
	case TARE_KERNEL_MATMUL_ELEMENT:
		n = simulated_value(launch, 3);
		*reached = n * n;
		if (simulated_value(launch, 4) >= n || simulated_value(launch, 5) >= n)
			return tare_fail(error, EINVAL,
			                 "kernel '%s' is to compute row %u, column %u of a matrix "
			                 "of %llu",
			                 command->kernel->name, simulated_value(launch, 4),
			                 simulated_value(launch, 5), (unsigned long long)n);
		return 0;
	case TARE_KERNEL_MATMUL:
		n = simulated_value(launch, 3);
		*reached = n * n;
		return 0;
	case TARE_KERNEL_COPY:
	case TARE_KERNEL_ADD:
	case TARE_KERNEL_NONE:
		*reached = items;
		return 0;
	}
	return 0;
}

static int check_memories(const struct simulated_command *command, uint64_t items,
                          int64_t *migration_ps, struct tare_error *error)
{
	const struct tare_script *script = command->device->script;
	const struct tare_launch *launch = &command->operation.launch;
	const char *read = action_arguments[command->kernel->action];
	uint64_t reached = 0, bytes;
	int status = reach(command, items, &reached, error);

	bytes = command->kernel->action == TARE_KERNEL_COPY ? simulated_copied_bytes(launch, items)
	        : reached > UINT64_MAX / 4                  ? UINT64_MAX
	                                                    : reached * 4;
	for (uint32_t i = 0; status == 0 && i < launch->argument_count; i++) {
		struct tare_span span = launch->arguments[i].span;
		if (launch->arguments[i].type != TARE_ARGUMENT_MEMORY)
			continue;
		if (span.memory)
			span.bytes = span.memory->bytes - span.offset_bytes;
		status = simulated_check_span(command->device, span, "argument", error);
		if (status < 0)
			return status;
		if (i < strlen(read) && span.bytes < bytes)
			return tare_fail(error, EINVAL,
			                 "argument %u of kernel '%s' is smaller than its grid", i,
			                 command->kernel->name);
		*migration_ps =
		    tare_model_add_ps(*migration_ps, simulated_migration_ps(script, span, false));
	}
	return status;
}

// An argument on which the cost depends: an unsigned integer of 4 or 8 bytes.
static int cost_value(const struct simulated_command *command, int64_t index, const char *key,
                      uint64_t *value, struct tare_error *error)
{
	const struct tare_launch *launch = &command->operation.launch;

	*value = 0;
	if (index < 0)
		return 0;
	const struct tare_argument *argument =
	    index < launch->argument_count ? &launch->arguments[index] : NULL;
	if (argument && argument->type == TARE_ARGUMENT_VALUE && argument->bytes == 8) {
		memcpy(value, argument->value, 8);
		return 0;
	}
	if (argument && argument->type == TARE_ARGUMENT_VALUE && argument->bytes == 4) {
		*value = simulated_value(launch, (uint32_t)index);
		return 0;
	}
	return tare_fail(error, EINVAL,
	                 "argument %lld of kernel '%s' says its cost ('%s' of the script) and is a "
	                 "value of 4 or 8 bytes",
	                 (long long)index, command->kernel->name, key);
}

// A kernel that copies from or to mapped memory does so over the link, at the rate of a copy.
static int link_cost(struct simulated_command *command, uint64_t items, struct tare_error *error)
{
	const struct tare_launch *launch = &command->operation.launch;
	enum tare_memory_kind to, from;
	const struct tare_script_copy *copy;
	int64_t link_ps;

	if (command->kernel->action != TARE_KERNEL_COPY)
		return 0;
	to = launch->arguments[0].span.memory->kind;
	from = launch->arguments[1].span.memory->kind;
	if (to != TARE_MEMORY_MAPPED && from != TARE_MEMORY_MAPPED)
		return 0;
	copy = &command->device->script->copies[from][to];
	if (!copy->line)
		return tare_fail(
		    error, ENOTSUP,
		    "this device's kernels do not reach mapped memory (no 'copy %s %s' "
		    "in the script)",
		    tare_place_name((enum tare_place)from), tare_place_name((enum tare_place)to));
	link_ps = tare_model_rate_ps(simulated_copied_bytes(launch, items), copy->rate);
	if (command->model.work_ps < link_ps)
		command->model.work_ps = link_ps;
	return 0;
}

// How many items each work-item of the grid handles: those of `overlap` take every n-th where there
// are fewer of them than items.
static uint64_t passes(const struct simulated_command *command, uint64_t grid)
{
	const struct tare_launch *launch = &command->operation.launch;
	uint64_t action = command->kernel->action, count;

	if (action != TARE_KERNEL_OVERLAP_VOLATILE && action != TARE_KERNEL_OVERLAP_REGISTER)
		return 1;
	count = simulated_value(launch, 3);
	return grid && count > grid ? (count + grid - 1) / grid : 1;
}

int simulated_launch_cost(struct simulated_command *command, struct tare_error *error)
{
	const struct tare_script_kernel *kernel = command->kernel;
	struct tare_model_repeat repeat;
	uint64_t groups, items;
	int64_t migration_ps = 0;
	int status = check_grid(command, &groups, &items, error);

	status = status ?: check_types(command, error);
	if (status == 0)
		status =
		    cost_value(command, kernel->repeat_argument, "repeat", &repeat.count, error);
	if (status == 0)
		status =
		    cost_value(command, kernel->span_argument, "span", &repeat.span_bytes, error);
	// Last, because it moves pages.
	uint64_t all = 0;
	if (status == 0 && __builtin_mul_overflow(groups, items, &all))
		all = UINT64_MAX;
	status = status ?: check_memories(command, all, &migration_ps, error);
	if (status < 0)
		return status;
	tare_model_kernel_cost(command->device->script, kernel, groups,
	                       items * passes(command, all), &repeat, &command->model);
	command->model.fixed_ps = tare_model_add_ps(command->model.fixed_ps, migration_ps);
	return link_cost(command, all, error);
}
