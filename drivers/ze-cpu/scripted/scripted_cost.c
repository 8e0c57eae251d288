// SPDX-License-Identifier: Apache-2.0
// What each command costs by the script. The names of costs are those of docs/simulated-device.md;
// docs/ze-cpu-scripts.md says which command pays which.
#include "ze_cpu.h"

#include <string.h>

// `any` stands for every kernel that the script does not name.
static const struct tare_script_kernel *find_kernel(const char *name)
{
	const struct tare_script *script = &cpu_device.script;
	const struct tare_script_kernel *any = NULL;

	for (size_t i = 0; i < script->kernel_count; i++) {
		if (strcmp(script->kernels[i].name, name) == 0)
			return &script->kernels[i];
		if (strcmp(script->kernels[i].name, "any") == 0)
			any = &script->kernels[i];
	}
	return any;
}

static uint64_t value_of(const struct launch *launch, int64_t index)
{
	uint64_t value = 0;

	if (index >= 0 && !launch_argument_value(launch, (uint32_t)index, &value))
		return 0;
	return value;
}

static void launch_cost(const struct launch *launch, struct tare_model_operation *operation)
{
	const struct tare_script_kernel *kernel = find_kernel(launch_kernel_name(launch));
	uint64_t groups = 0, group_items = 0;

	operation->flow = TARE_FLOW_KERNEL;
	if (!kernel)
		return;
	struct tare_model_repeat repeat = { value_of(launch, kernel->repeat_argument),
		                            value_of(launch, kernel->span_argument) };
	launch_grid(launch, &groups, &group_items);
	tare_model_kernel_cost(&cpu_device.script, kernel, groups, group_items, &repeat, operation);
}

static void copy_cost(const void *source, const void *destination, uint64_t bytes, uint64_t rows,
                      struct tare_model_operation *operation)
{
	const struct tare_script *script = &cpu_device.script;
	enum tare_place from = cpu_place_of(source), to = cpu_place_of(destination);
	const struct tare_script_copy *copy = &script->copies[from][to];
	enum tare_flow flow = tare_flow_of_copy(from, to);
	uint64_t boundary = script->boundary_bytes, rate = copy->rate;

	if (boundary && ((uintptr_t)source % boundary || (uintptr_t)destination % boundary))
		rate = (uint64_t)((unsigned __int128)rate * script->unaligned_speed_ppm / 1000000);
	if (copy->staging && copy->staging < rate)
		rate = copy->staging;
	// Without a line the copy takes no time: a driver cannot refuse what Level Zero allows.
	tare_model_copy_cost(copy->fixed_ps, copy->line && !rate ? 1 : rate, bytes, flow,
	                     operation);
	operation->fixed_ps = tare_model_add_ps(
	    operation->fixed_ps, tare_model_times_ps(rows, script->rectangle_row_ps));
}

static void region_cost(const struct command *command, struct tare_model_operation *operation)
{
	const ze_copy_region_t *from = &command->from, *to = &command->to;
	uint64_t depth = from->depth ? from->depth : 1;
	uint64_t rows = (uint64_t)from->height * depth;
	const char *source = (const char *)command->source + from->originX +
	                     (uint64_t)from->originY * command->from_pitch +
	                     (uint64_t)from->originZ * command->from_slice;
	const char *destination = (const char *)command->destination + to->originX +
	                          (uint64_t)to->originY * command->to_pitch +
	                          (uint64_t)to->originZ * command->to_slice;

	copy_cost(source, destination, rows * from->width, rows, operation);
}

// A prefetch moves whole pages, and those only that the device does not have.
static void prefetch_cost(const struct command *command, struct tare_model_operation *operation)
{
	const struct tare_script_pages *migrate = &cpu_device.script.migrate;

	if (!migrate->line || cpu_place_of(command->source) != TARE_PLACE_SHARED)
		return;
	operation->flow = TARE_FLOW_TO_DEVICE;
	operation->fixed_ps = migrate->fixed_ps;
}

static void transfer_cost(const struct tare_script_transfer *transfer, uint64_t bytes,
                          enum tare_flow flow, struct tare_model_operation *operation)
{
	tare_model_copy_cost(transfer->fixed_ps, transfer->rate, bytes,
	                     transfer->rate && bytes ? flow : TARE_FLOW_NONE, operation);
}

void scripted_cost(const struct command *command, struct tare_model_operation *operation)
{
	const struct tare_script *script = &cpu_device.script;

	operation->flow = TARE_FLOW_NONE;
	switch (command->type) {
	case COMMAND_BARRIER:
		transfer_cost(&script->marker, 0, TARE_FLOW_NONE, operation);
		break;
	case COMMAND_COPY:
		copy_cost(command->source, command->destination, command->bytes, 0, operation);
		break;
	case COMMAND_REGION:
		region_cost(command, operation);
		break;
	case COMMAND_FILL:
		transfer_cost(&script->fill, command->bytes, TARE_FLOW_LOCAL, operation);
		break;
	case COMMAND_LAUNCH:
		launch_cost(command->launch, operation);
		break;
	case COMMAND_PREFETCH:
		prefetch_cost(command, operation);
		break;
	case COMMAND_HOST_CALL:
		transfer_cost(&script->call, 0, TARE_FLOW_NONE, operation);
		break;
	case COMMAND_RESET:
	case COMMAND_GLOBAL_TIMESTAMP:
	case COMMAND_QUERY_TIMESTAMPS:
	case COMMAND_ADVISE:
		break;
	}
}
