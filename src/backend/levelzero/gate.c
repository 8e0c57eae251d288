// SPDX-License-Identifier: Apache-2.0
// A gate is an event that the host signals, and a barrier in the queue that waits for it. It is a
// barrier because a wait alone need not hold back what follows.
#include "backend/levelzero/work.h"

#include <errno.h>
#include <stdlib.h>

int levelzero_try_to_open(struct levelzero_device *device, const struct levelzero_slot *slot,
                          struct tare_error *error)
{
	const struct levelzero_functions *call = &device->driver->call;
	ze_result_t result;

	if (device->work->opens_gates)
		return 0;
	// The reset is tried first: an event that stays signalled is no spare one.
	result = call->zeEventHostReset(slot->handle);
	if (result == ZE_RESULT_SUCCESS) {
		result = call->zeEventHostSignal(slot->handle);
		if (result != ZE_RESULT_SUCCESS)
			return levelzero_fail(result, "zeEventHostSignal", error,
			                      "cannot let a queue go");
		result = call->zeEventHostReset(slot->handle);
	}
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeEventHostReset", error, "cannot hold a queue");
	device->work->opens_gates = true;
	return 0;
}

int levelzero_gate_shut(struct tare_queue *base, struct tare_gate **gate, struct tare_error *error)
{
	struct levelzero_queue *queue = (struct levelzero_queue *)base;
	struct levelzero_device *device = levelzero_device_of(base->device);
	struct levelzero_gate *made;
	ze_command_list_handle_t list;
	int status;

	if (queue->recording)
		return tare_fail(error, EINVAL, "a graph cannot contain a gate");
	made = calloc(1, sizeof *made);
	if (!made)
		return tare_fail(error, ENOMEM, "out of memory");
	made->base.device = base->device;
	made->queue = queue->number;
	status = levelzero_slot_take(device, false, &made->slot, error);
	status = status ?: levelzero_try_to_open(device, made->slot, error);
	status = status ?: levelzero_list_of(queue, &list, error);
	if (status == 0) {
		ze_result_t result = device->driver->call.zeCommandListAppendBarrier(
		    list, NULL, 1, &made->slot->handle);
		if (result != ZE_RESULT_SUCCESS)
			status = levelzero_fail(result, "zeCommandListAppendBarrier", error,
			                        "cannot hold a queue");
	}
	if (status < 0) {
		levelzero_slot_give_unused(device, made->slot);
		free(made);
		return status;
	}
	queue->unordered = false;
	queue->last = made->slot->waited = ++device->work->serial;
	queue->shut_gates++;
	made->next = device->work->gates;
	device->work->gates = made;
	*gate = &made->base;
	return 0;
}

static void forget(struct levelzero_device *device, const struct levelzero_gate *gate)
{
	struct levelzero_gate **at = &device->work->gates;
	struct levelzero_queue *queue = levelzero_queue_numbered(device, gate->queue);

	while (*at && *at != gate)
		at = &(*at)->next;
	if (*at)
		*at = gate->next;
	if (queue)
		queue->shut_gates--;
}

int levelzero_gate_open(struct tare_gate *base, struct tare_error *error)
{
	struct levelzero_gate *gate = (struct levelzero_gate *)base;
	struct levelzero_device *device = levelzero_device_of(base->device);

	if (gate->open)
		return 0;
	ze_result_t result = device->driver->call.zeEventHostSignal(gate->slot->handle);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeEventHostSignal", error, "cannot let a queue go");
	gate->open = true;
	forget(device, gate);
	return 0;
}

void levelzero_gate_free(struct tare_gate *base)
{
	struct levelzero_gate *gate = (struct levelzero_gate *)base;

	if (!gate)
		return;
	struct levelzero_device *device = levelzero_device_of(base->device);
	// One that cannot be opened keeps its event, which nothing may use again.
	if (levelzero_gate_open(base, NULL) == 0)
		levelzero_slot_give(device, gate->slot, true);
	else
		forget(device, gate);
	free(gate);
}

void levelzero_gates_open(struct levelzero_device *device)
{
	while (device->work->gates) {
		struct levelzero_gate *gate = device->work->gates;
		device->driver->call.zeEventHostSignal(gate->slot->handle);
		gate->open = true;
		forget(device, gate);
	}
}
