// SPDX-License-Identifier: Apache-2.0
// The device's work as a whole: its engines, its queues by number, and native queues and lists on
// an engine.
#include "backend/levelzero/work.h"

#include <errno.h>
#include <stdlib.h>

static int check_functions(const struct levelzero_functions *call, struct tare_error *error)
{
#define X(name)                                                                                    \
	if (!call->name)                                                                           \
		return tare_fail(error, ENOTSUP, "this Level Zero loader lacks " #name);
	LEVELZERO_WORK_FUNCTIONS(X)
#undef X
	return 0;
}

static int find_engines(struct levelzero_device *device, struct tare_error *error)
{
	ze_command_queue_group_properties_t groups[LEVELZERO_GROUPS];
	struct levelzero_work *work = device->work;
	uint32_t count = 0, all = 0;

	for (int i = 0; i < LEVELZERO_GROUPS; i++)
		groups[i] = (ze_command_queue_group_properties_t){
			.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES,
		};
	// Asked for the number first: not every driver lowers one that is too large.
	ze_result_t result = device->driver->call.zeDeviceGetCommandQueueGroupProperties(
	    device->place.device, &count, NULL);
	if (count > LEVELZERO_GROUPS)
		count = LEVELZERO_GROUPS;
	if (result == ZE_RESULT_SUCCESS && count > 0)
		result = device->driver->call.zeDeviceGetCommandQueueGroupProperties(
		    device->place.device, &count, groups);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeDeviceGetCommandQueueGroupProperties", error,
		                      "cannot list the engines");
	for (uint32_t i = 0; i < count && i < LEVELZERO_GROUPS; i++)
		all += groups[i].numQueues;
	work->engines = calloc(all ? all : 1, sizeof *work->engines);
	if (!work->engines)
		return tare_fail(error, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < count && i < LEVELZERO_GROUPS; i++)
		// As levelzero_engines_of counts: a group for something else (media) has no engine.
		for (uint32_t each = 0;
		     groups[i].flags & LEVELZERO_GROUP_FLAGS && each < groups[i].numQueues; each++)
			work->engines[work->engine_count++] = (struct levelzero_engine){
				.ordinal = i,
				.index = each,
				.compute =
				    groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE,
				.fill_pattern_bytes = groups[i].maxMemoryFillPatternSize,
			};
	if (work->engine_count == 0)
		return tare_fail(error, ENOTSUP, "the driver tells of no engine to give work to");
	return 0;
}

int levelzero_works(struct levelzero_device *device, struct tare_error *error)
{
	int status;

	if (device->work)
		return 0;
	status = check_functions(&device->driver->call, error);
	if (status < 0)
		return status;
	if (!device->context)
		return tare_fail(error, ENOTSUP,
		                 "this driver makes no context (zeContextCreate); update it");
	device->work = calloc(1, sizeof *device->work);
	if (!device->work)
		return tare_fail(error, ENOMEM, "out of memory");
	status = find_engines(device, error);
	if (status < 0) {
		free(device->work->engines);
		free(device->work);
		device->work = NULL;
	}
	return status;
}

struct levelzero_queue *levelzero_queue_numbered(const struct levelzero_device *device,
                                                 uint64_t number)
{
	struct levelzero_queue *queue = device->work->queues;

	while (queue && (queue->number != number || queue->retired))
		queue = queue->next;
	return queue;
}

// ---- native handles

int levelzero_list_open(struct levelzero_device *device, const struct levelzero_engine *engine,
                        ze_command_queue_mode_t mode, bool in_order, ze_command_list_handle_t *list,
                        struct tare_error *error)
{
	const ze_command_queue_desc_t wanted = {
		.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		.ordinal = engine->ordinal,
		.index = engine->index,
		.flags = in_order ? LEVELZERO_QUEUE_IN_ORDER : 0,
		.mode = mode,
		.priority = ZE_COMMAND_QUEUE_PRIORITY_NORMAL,
	};
	ze_result_t result = device->driver->call.zeCommandListCreateImmediate(
	    device->context, device->place.device, &wanted, list);

	if (result == ZE_RESULT_SUCCESS)
		return 0;
	*list = NULL;
	return levelzero_fail(result, "zeCommandListCreateImmediate", error,
	                      "cannot make a queue on ordinal %u, index %u", engine->ordinal,
	                      engine->index);
}

int levelzero_regular_list_open(struct levelzero_device *device,
                                const struct levelzero_engine *engine,
                                ze_command_list_handle_t *list, struct tare_error *error)
{
	const ze_command_list_desc_t wanted = {
		.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
		.commandQueueGroupOrdinal = engine->ordinal,
	};
	ze_result_t result = device->driver->call.zeCommandListCreate(
	    device->context, device->place.device, &wanted, list);

	if (result == ZE_RESULT_SUCCESS)
		return 0;
	*list = NULL;
	return levelzero_fail(result, "zeCommandListCreate", error,
	                      "cannot make a command list for ordinal %u", engine->ordinal);
}

int levelzero_native_queue_open(struct levelzero_device *device,
                                const struct levelzero_engine *engine,
                                ze_command_queue_handle_t *queue, struct tare_error *error)
{
	const ze_command_queue_desc_t wanted = {
		.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		.ordinal = engine->ordinal,
		.index = engine->index,
		.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
		.priority = ZE_COMMAND_QUEUE_PRIORITY_NORMAL,
	};
	ze_result_t result = device->driver->call.zeCommandQueueCreate(
	    device->context, device->place.device, &wanted, queue);

	if (result == ZE_RESULT_SUCCESS)
		return 0;
	*queue = NULL;
	return levelzero_fail(result, "zeCommandQueueCreate", error,
	                      "cannot make a queue on ordinal %u, index %u", engine->ordinal,
	                      engine->index);
}
