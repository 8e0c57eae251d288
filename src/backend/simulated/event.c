// SPDX-License-Identifier: Apache-2.0
#include "backend/simulated/simulated.h"

#include "base/interrupt.h"

#include <errno.h>
#include <stdlib.h>

struct tare_event *simulated_event_new(struct simulated_device *device,
                                       struct simulated_command *command)
{
	struct simulated_event *event = calloc(1, sizeof *event);

	if (!event)
		return NULL;
	event->base.device = &device->base;
	event->command = command ? simulated_command_keep(command) : NULL;
	return &event->base;
}

void simulated_event_free(struct tare_event *base)
{
	struct simulated_event *event = (struct simulated_event *)base;

	if (!event)
		return;
	simulated_command_release(event->command);
	free(event);
}

static int check(const struct simulated_event *event, struct tare_error *error)
{
	int status = simulated_check((struct simulated_device *)event->base.device, error);

	if (status < 0)
		return status;
	if (!event->command)
		return tare_fail(
		    error, EINVAL,
		    "an event of a graph's node has no life of its own; see graph_stamps");
	return 0;
}

int simulated_event_wait(struct tare_event *base, int64_t limit_ns, struct tare_error *error)
{
	struct simulated_event *event = (struct simulated_event *)base;
	struct simulated_device *device = (struct simulated_device *)base->device;
	int status = check(event, error);

	if (status < 0)
		return status;
	// Waiting flushes, as in OpenCL; a deferred queue is submitted by its owner only.
	struct simulated_queue *queue = event->command->queue;
	if (queue && queue->order != TARE_QUEUE_DEFERRED)
		simulated_flush(queue);
	status = simulated_wait(device, event->command, limit_ns, error);
	if (status == 0 && tare_interrupt_due())
		return tare_fail(error, EINTR, "interrupted while waiting for an operation");
	return status;
}

int simulated_event_done(struct tare_event *base, struct tare_error *error)
{
	struct simulated_event *event = (struct simulated_event *)base;
	struct simulated_device *device = (struct simulated_device *)base->device;
	int status = check(event, error);

	if (status < 0)
		return status;
	simulated_spend(device, device->script->host.query_ps);
	status = simulated_check(device, error);
	if (status < 0 || event->command->model.phase != TARE_PHASE_DONE)
		return status;
	if (event->command->status < 0)
		return tare_fail(error, -event->command->status,
		                 "operation %llu failed on the device",
		                 (unsigned long long)event->command->number);
	return 1;
}

int simulated_event_callback(struct tare_event *base, void (*function)(void *context),
                             void *context, struct tare_error *error)
{
	struct simulated_event *event = (struct simulated_event *)base;
	struct simulated_device *device = (struct simulated_device *)base->device;
	struct simulated_command *command = event->command;
	int status = check(event, error);

	status = status ?: simulated_lacks(device, TARE_LACK_CALLBACKS, error);
	if (status < 0)
		return status;
	struct simulated_callback *callback = calloc(1, sizeof *callback);
	if (!callback)
		return tare_fail(error, ENOMEM, "out of memory");
	*callback = (struct simulated_callback){ .function = function, .context = context };
	if (command->model.phase == TARE_PHASE_DONE) {
		callback->due_ps =
		    tare_model_add_ps(device->host_ps, device->script->host.callback_ps);
		simulated_call_at(device, callback);
		return 0;
	}
	struct simulated_callback **end = &command->callbacks;
	while (*end)
		end = &(*end)->next;
	*end = callback;
	return 0;
}

int simulated_command_stamps(const struct simulated_command *command, struct tare_stamps *stamps,
                             struct tare_error *error)
{
	const struct tare_script *script = command->device->script;
	const struct tare_model_operation *model = &command->model;
	bool stream = script->stamps & TARE_STAMPS_STREAM;
	uint32_t present = (uint32_t)script->stamps & 15;

	if (!command->timed || !present)
		return tare_fail(error, ENODATA,
		                 command->timed
		                     ? "this device stamps nothing (stamps none in the script)"
		                     : "the queue is not timed");
	if (model->phase != TARE_PHASE_DONE)
		return tare_fail(error, EAGAIN, "the operation is not finished");
	if (command->status < 0)
		return tare_fail(error, ENODATA, "an operation that failed has no stamps");
	const int64_t at_ps[TARE_STAMP_COUNT] = {
		[TARE_STAMP_QUEUED] = command->queued_ps,
		[TARE_STAMP_SUBMITTED] = model->submitted_ps,
		[TARE_STAMP_START] = stream ? model->ready_ps : model->start_ps,
		[TARE_STAMP_END] = model->end_ps,
		[TARE_STAMP_ACTIVE_START] = model->start_ps,
		[TARE_STAMP_ACTIVE_END] = model->leave_ps,
	};
	if (script->stamps & TARE_STAMPS_ACTIVE)
		present |= 1u << TARE_STAMP_ACTIVE_START | 1u << TARE_STAMP_ACTIVE_END;
	*stamps = (struct tare_stamps){ .present = present, .brackets_engine = !stream };
	for (int i = 0; i < TARE_STAMP_COUNT; i++)
		if (present >> i & 1)
			stamps->at[i] = tare_model_ticks(&script->timer, at_ps[i]);
	return 0;
}

int simulated_event_stamps(struct tare_event *base, struct tare_stamps *stamps,
                           struct tare_error *error)
{
	struct simulated_event *event = (struct simulated_event *)base;
	int status = check(event, error);

	return status < 0 ? status : simulated_command_stamps(event->command, stamps, error);
}

// ---- gates: a held marker, behind which an in-order queue waits by itself

int simulated_gate_shut(struct tare_queue *base, struct tare_gate **result,
                        struct tare_error *error)
{
	struct simulated_queue *queue = (struct simulated_queue *)base;
	struct simulated_device *device = (struct simulated_device *)base->device;
	int status = simulated_check(device, error);

	status = status ?: simulated_lacks(device, TARE_LACK_GATES, error);
	if (status < 0)
		return status;
	struct simulated_gate *gate = calloc(1, sizeof *gate);
	struct simulated_command *command = simulated_command_new(device);
	if (!gate || !command) {
		free(gate);
		simulated_command_release(command);
		return tare_fail(error, ENOMEM, "out of memory");
	}
	command->operation.type = TARE_OPERATION_MARKER;
	command->is_gate = true;
	command->queued_ps = device->host_ps;
	command->model.flow = TARE_FLOW_NONE;
	command->model.held = true;
	simulated_spend(device, device->script->host.gate_ps);
	status = simulated_command_enqueue(queue, command, NULL, 0, device->host_ps, error);
	if (status < 0) {
		free(gate);
		simulated_command_release(command);
		return status;
	}
	gate->base =
	    (struct tare_gate){ .device = &device->base,
		                .capacity = (uint32_t)device->script->queue.gate_capacity };
	gate->command = command;
	queue->gates++;
	*result = &gate->base;
	return 0;
}

static void open_gate(struct simulated_gate *gate)
{
	struct simulated_device *device = gate->command->device;
	struct simulated_queue *queue = gate->command->queue;

	gate->open = true;
	if (!queue) // freed, and the gate with it
		return;
	tare_model_release(&gate->command->model, device->host_ps);
	if (--queue->gates == 0)
		queue->behind_gate = 0;
}

int simulated_gate_open(struct tare_gate *base, struct tare_error *error)
{
	struct simulated_gate *gate = (struct simulated_gate *)base;
	struct simulated_device *device = (struct simulated_device *)base->device;
	int status = simulated_check(device, error);

	if (status < 0)
		return status;
	if (gate->open)
		return 0;
	simulated_spend(device, device->script->host.gate_ps);
	open_gate(gate);
	return 0;
}

void simulated_gate_free(struct tare_gate *base)
{
	struct simulated_gate *gate = (struct simulated_gate *)base;

	if (!gate)
		return;
	if (!gate->open)
		open_gate(gate);
	simulated_command_release(gate->command);
	free(gate);
}
