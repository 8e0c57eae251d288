// SPDX-License-Identifier: Apache-2.0
// Appending: events to wait for, order, the command, the event that it signals.
#include "backend/levelzero/work.h"

#include <errno.h>
#include <stdlib.h>

#define FEW_WAITS 16

// Native events to wait for, and one place more. A queue that waits for what another still gathers
// would wait for ever: that is submitted.
static int gather_waits(const struct levelzero_queue *queue, const struct tare_operation *operation,
                        ze_event_handle_t *waits, struct tare_error *error)
{
	for (uint32_t i = 0; i < operation->wait_count; i++) {
		const struct levelzero_event *event = (struct levelzero_event *)operation->waits[i];
		int status = 0;
		if (event->graph)
			return tare_fail(
			    error, EINVAL,
			    "an operation waits for one of a graph, which is not running");
		if (event->queue != queue->number)
			status = levelzero_event_submit(event, error);
		if (status < 0)
			return status;
		waits[i] = event->slot->handle;
	}
	return 0;
}

static void mark_waits(const struct tare_operation *operation, uint64_t serial)
{
	for (uint32_t i = 0; i < operation->wait_count; i++)
		((struct levelzero_event *)operation->waits[i])->slot->waited = serial;
}

static int refuse_to_hang(const struct levelzero_queue *queue,
                          const struct tare_operation *operation, struct tare_error *error)
{
	if (operation->blocking && queue->shut_gates)
		return tare_fail(error, EINVAL,
		                 "a blocking operation behind a shut gate would wait for ever");
	return 0;
}

static int append_command(struct levelzero_queue *queue, struct levelzero_append *append,
                          struct tare_error *error)
{
	bool marker = append->operation->type == TARE_OPERATION_MARKER;
	int status = levelzero_list_of(queue, &append->list, error);

	// A marker is a barrier itself.
	if (status == 0 && !marker)
		status = levelzero_order(queue, append->list, error);
	status = status ?: levelzero_append_command(append, error);
	if (status < 0)
		return status;
	queue->unordered = !marker;
	queue->last = ++append->device->work->serial;
	return 0;
}

static int append_with(struct levelzero_queue *queue, const struct tare_operation *operation,
                       ze_event_handle_t *waits, struct levelzero_event *event,
                       struct tare_error *error)
{
	struct levelzero_append append = {
		.device = levelzero_device_of(queue->base.device),
		.call = levelzero_calls(queue->base.device),
		.engine = &queue->engine,
		.operation = operation,
		.signal = event ? event->slot->handle : NULL,
		.wait_count = operation->wait_count,
		.waits = waits,
	};
	int status = append_command(queue, &append, error);

	if (status < 0)
		return status;
	if (event) {
		event->queue = queue->number;
		event->serial = queue->last;
		event->unstamped = append.unstamped;
	}
	mark_waits(operation, queue->last);
	status = operation->blocking
	             ? levelzero_event_wait(&event->base, TARE_LIMIT_DEFAULT_NS, error)
	             : 0;
	// The event is in the queue, and the caller will not have it.
	if (status < 0) {
		levelzero_slot_give(append.device, event->slot, false);
		event->slot = NULL;
	}
	return status;
}

static int append(struct levelzero_queue *queue, const struct tare_operation *operation,
                  struct levelzero_event *event, struct tare_error *error)
{
	ze_event_handle_t few[FEW_WAITS], *waits = few;
	int status;

	if (operation->wait_count >= FEW_WAITS) {
		waits = calloc(operation->wait_count + 1, sizeof(ze_event_handle_t));
		if (!waits)
			return tare_fail(error, ENOMEM, "out of memory");
	}
	status = gather_waits(queue, operation, waits, error);
	status = status ?: append_with(queue, operation, waits, event, error);
	if (waits != few)
		free(waits);
	return status;
}

int levelzero_append(struct tare_queue *base, const struct tare_operation *operation,
                     struct tare_event **event, struct tare_error *error)
{
	struct levelzero_queue *queue = (struct levelzero_queue *)base;
	struct levelzero_event *made = NULL;
	int status;

	levelzero_graph_join(queue, operation);
	if (queue->recording)
		return levelzero_graph_append(queue, operation, event, error);
	status = refuse_to_hang(queue, operation, error);
	// The API's own blocking form, a list that works synchronously, has no limit and would wait
	// for ever for a device that does nothing: a blocking operation waits for its event.
	if (status == 0 && (event || operation->blocking))
		status = levelzero_event_make(base->device, event && queue->timed, &made, error);
	status = status ?: append(queue, operation, made, error);
	if (status < 0 && made) {
		levelzero_slot_give_unused(levelzero_device_of(base->device), made->slot);
		free(made);
	}
	if (status == 0 && event)
		*event = &made->base;
	else if (status == 0 && made)
		levelzero_event_free(&made->base);
	return status;
}

// It is ordered as a command is, by barriers where the list keeps no order by itself: else it could
// be written before what it should follow is done.
int levelzero_append_clock(struct tare_queue *base, struct tare_span to, struct tare_error *error)
{
	struct levelzero_queue *queue = (struct levelzero_queue *)base;
	const struct levelzero_functions *call = levelzero_calls(base->device);
	ze_command_list_handle_t list;
	int status;

	if (!call->zeCommandListAppendWriteGlobalTimestamp || queue->recording)
		return tare_fail(error, ENOTSUP,
		                 queue->recording ? "a graph writes no clock"
		                                  : "this Level Zero loader lacks "
		                                    "zeCommandListAppendWriteGlobalTimestamp");
	status = levelzero_list_of(queue, &list, error);
	status = status ?: levelzero_order(queue, list, error);
	if (status < 0)
		return status;
	ze_result_t result = call->zeCommandListAppendWriteGlobalTimestamp(
	    list, (uint64_t *)levelzero_address(&to), NULL, 0, NULL);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeCommandListAppendWriteGlobalTimestamp", error,
		                      "cannot write the device's clock");
	queue->unordered = true;
	queue->last = ++levelzero_device_of(base->device)->work->serial;
	return 0;
}
