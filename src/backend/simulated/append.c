// SPDX-License-Identifier: Apache-2.0
// An operation on its way into a queue, or into the graph that the queue records.
#include "backend/simulated/simulated.h"

#include <errno.h>

static int check_gates(struct simulated_queue *queue, struct tare_error *error)
{
	const struct simulated_device *device = (struct simulated_device *)queue->base.device;
	uint64_t capacity = device->script->queue.gate_capacity;

	if (!queue->gates)
		return 0;
	if (capacity && queue->behind_gate >= capacity)
		return tare_fail(error, EINVAL,
		                 "%u operations wait behind a shut gate: one more would "
		                 "block the host for ever",
		                 queue->behind_gate);
	queue->behind_gate++;
	return 0;
}

// Gives the command its number, by which the script's faults strike.
static void number(struct simulated_device *device, struct simulated_command *command)
{
	command->number = ++device->commands;
	if (command->number == device->script->faults.hang_at)
		command->model.held = true;
}

static int enqueue(struct simulated_queue *queue, struct simulated_command *command,
                   const struct tare_operation *operation, struct tare_error *error)
{
	struct simulated_device *device = command->device;
	struct simulated_host_work work;
	int status = simulated_cost(queue, command, &work, error);

	status = status ?: check_gates(queue, error);
	if (status < 0)
		return status;
	number(device, command);
	simulated_spend(device, work.before_ps);
	status = simulated_command_enqueue(
	    queue, command, operation->waits, operation->wait_count,
	    tare_model_add_ps(device->host_ps, device->script->queue.submission_ps), error);
	if (status < 0)
		return status;
	simulated_spend(device, work.during_ps);
	if (!command->operation.blocking)
		return 0;
	if (queue->deferred)
		simulated_flush(queue);
	return simulated_wait(device, command, TARE_LIMIT_NATIVE, error);
}

int simulated_append(struct tare_queue *base, const struct tare_operation *operation,
                     struct tare_event **event, struct tare_error *error)
{
	struct simulated_queue *queue = (struct simulated_queue *)base;
	struct simulated_device *device = (struct simulated_device *)base->device;
	int status = simulated_check(device, error);

	if (status < 0)
		return status;
	simulated_graph_join(queue, operation);
	if (queue->recording)
		return simulated_graph_record(queue, operation, event, error);
	struct simulated_command *command = simulated_command_new(device);
	if (!command)
		return tare_fail(error, ENOMEM, "out of memory");
	struct tare_event *made = NULL;
	command->queued_ps = device->host_ps;
	command->timed = queue->timed;
	status = simulated_command_fill(command, operation, error);
	if (status == 0 && event) {
		made = simulated_event_new(device, command);
		if (!made)
			status = tare_fail(error, ENOMEM, "out of memory");
		simulated_spend(device, device->script->host.event_ps);
	}
	if (status == 0) {
		simulated_spend(device, device->script->host.append_ps);
		status = enqueue(queue, command, operation, error);
	}
	simulated_command_release(command);
	if (status < 0) {
		simulated_event_free(made);
		return status;
	}
	if (event)
		*event = made;
	return 0;
}
