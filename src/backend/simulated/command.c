// SPDX-License-Identifier: Apache-2.0
#include "backend/simulated/simulated.h"
#include "base/room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct simulated_command *simulated_command_new(struct simulated_device *device)
{
	struct simulated_command *command = calloc(1, sizeof *command);

	if (!command)
		return NULL;
	command->device = device;
	command->references = 1;
	command->model.phase = TARE_PHASE_PENDING;
	return command;
}

static void drop_waits(struct simulated_command *command)
{
	for (size_t i = 0; i < command->model.wait_count; i++)
		simulated_command_release((struct simulated_command *)command->waits[i]);
	free(command->waits);
	command->waits = NULL;
	command->model.waits = NULL;
	command->model.wait_count = 0;
}

void simulated_command_release(struct simulated_command *command)
{
	if (!command || --command->references > 0)
		return;
	drop_waits(command);
	while (command->callbacks) {
		struct simulated_callback *callback = command->callbacks;
		command->callbacks = callback->next;
		free(callback);
	}
	free(command->arguments);
	free(command);
}

void simulated_command_leave(struct simulated_command *command)
{
	struct simulated_queue *queue = command->queue;

	drop_waits(command);
	if (!queue)
		return;
	*(command->previous ? &command->previous->next : &queue->first) = command->next;
	*(command->next ? &command->next->previous : &queue->last) = command->previous;
	if (queue->barrier == command)
		queue->barrier = NULL;
	command->queue = NULL;
	command->previous = command->next = NULL;
}

void simulated_command_cancel(struct simulated_command *command)
{
	tare_model_forget(command->device->model, &command->model);
	command->model.phase = TARE_PHASE_DONE;
	command->model.end_ps = tare_model_now_ps(command->device->model);
	command->status = -EIO;
	simulated_command_leave(command);
	simulated_command_release(command);
}

// The arguments and the values behind them, in one allocation.
static int copy_arguments(struct simulated_command *command, const struct tare_launch *launch,
                          struct tare_error *error)
{
	size_t values = 0;

	if (launch->argument_count == 0)
		return 0;
	for (uint32_t i = 0; i < launch->argument_count; i++)
		if (launch->arguments[i].type == TARE_ARGUMENT_VALUE)
			values += launch->arguments[i].bytes;
	command->arguments = malloc(launch->argument_count * sizeof *command->arguments + values);
	if (!command->arguments)
		return tare_fail(error, ENOMEM, "out of memory");
	unsigned char *at = (unsigned char *)(command->arguments + launch->argument_count);
	for (uint32_t i = 0; i < launch->argument_count; i++) {
		struct tare_argument *argument = &command->arguments[i];
		*argument = launch->arguments[i];
		if (argument->type == TARE_ARGUMENT_VALUE && argument->bytes) {
			memcpy(at, argument->value, argument->bytes);
			argument->value = at;
			at += argument->bytes;
		}
	}
	command->operation.launch.arguments = command->arguments;
	return 0;
}

int simulated_command_fill(struct simulated_command *command,
                           const struct tare_operation *operation, struct tare_error *error)
{
	command->operation = *operation;
	command->operation.waits = NULL;
	command->operation.wait_count = 0;
	if (operation->type == TARE_OPERATION_FILL) {
		if (!operation->fill.pattern || operation->fill.pattern_bytes == 0 ||
		    operation->fill.pattern_bytes > sizeof command->pattern ||
		    (operation->fill.pattern_bytes & (operation->fill.pattern_bytes - 1)))
			return tare_fail(error, EINVAL,
			                 "a fill pattern has 1, 2, 4, 8 or 16 bytes, not %u",
			                 operation->fill.pattern_bytes);
		memcpy(command->pattern, operation->fill.pattern, operation->fill.pattern_bytes);
		command->operation.fill.pattern = command->pattern;
	}
	if (operation->type == TARE_OPERATION_LAUNCH) {
		// A graph's node knows its kernel already; the handle may be gone when it is
		// launched.
		if (!command->kernel)
			command->kernel =
			    ((struct simulated_kernel *)operation->launch.kernel)->script;
		return copy_arguments(command, &operation->launch, error);
	}
	return 0;
}

// ---- waits

struct waits {
	struct tare_model_operation **at;
	size_t count, room;
};

static int add_wait(struct waits *waits, struct simulated_command *command)
{
	struct tare_model_operation **added = TARE_ROOM_FOR(waits->at, waits->room, waits->count);

	if (!added)
		return -ENOMEM;
	*added = &simulated_command_keep(command)->model;
	waits->count++;
	return 0;
}

static int add_queue(struct waits *waits, struct simulated_queue *queue)
{
	int status = 0;

	for (struct simulated_command *each = queue->first; each && status == 0; each = each->next)
		status = add_wait(waits, each);
	return status;
}

static int add_implied(struct waits *waits, struct simulated_queue *queue,
                       const struct simulated_command *command, bool alone)
{
	const struct simulated_device *device = command->device;
	int status = 0;

	if (queue->order == TARE_QUEUE_OUT_OF_ORDER) {
		// A marker that names nothing waits for everything before it, and everything after
		// for it.
		if (command->operation.type == TARE_OPERATION_MARKER && alone)
			return add_queue(waits, queue);
		return queue->barrier ? add_wait(waits, queue->barrier) : 0;
	}
	// CUDA's NULL stream and the others wait for each other.
	for (struct simulated_queue *other = device->queues; other && status == 0;
	     other = other->next)
		if (other != queue && (queue->order == TARE_QUEUE_LEGACY_DEFAULT ||
		                       other->order == TARE_QUEUE_LEGACY_DEFAULT))
			status = add_queue(waits, other);
	return status;
}

static int add_events(struct waits *waits, const struct simulated_device *device,
                      struct tare_event *const *events, uint32_t count, struct tare_error *error)
{
	for (uint32_t i = 0; i < count; i++) {
		struct simulated_event *event = (struct simulated_event *)events[i];
		if (event->base.device != &device->base)
			return tare_fail(error, EINVAL,
			                 "an event of another device cannot be waited for");
		if (!event->command)
			return tare_fail(error, EINVAL,
			                 "an event of a graph's node means nothing outside it");
		if (add_wait(waits, event->command) < 0)
			return tare_fail(error, ENOMEM, "out of memory");
	}
	return 0;
}

int simulated_command_enqueue(struct simulated_queue *queue, struct simulated_command *command,
                              struct tare_event *const *events, uint32_t count,
                              int64_t submitted_ps, struct tare_error *error)
{
	struct simulated_device *device = command->device;
	struct waits waits = { 0 };
	bool alone = count == 0;
	int status = add_events(&waits, device, events, count, error);

	if (status == 0 && add_implied(&waits, queue, command, alone) < 0)
		status = tare_fail(error, ENOMEM, "out of memory");
	command->waits = waits.at;
	command->model.waits = waits.at;
	command->model.wait_count = waits.count;
	if (status < 0) {
		drop_waits(command);
		return status;
	}
	if (queue->order == TARE_QUEUE_OUT_OF_ORDER && alone && !command->is_gate &&
	    command->operation.type == TARE_OPERATION_MARKER)
		queue->barrier = command;
	if (command->is_gate && queue->order == TARE_QUEUE_OUT_OF_ORDER)
		queue->barrier = command;
	command->queue = queue;
	command->previous = queue->last;
	*(queue->last ? &queue->last->next : &queue->first) = command;
	queue->last = command;
	command->model.submitted_ps =
	    queue->deferred && !command->is_gate ? TARE_MODEL_NEVER : submitted_ps;
	simulated_command_keep(command);
	tare_model_append(device->model, queue->model, &command->model);
	return 0;
}

void simulated_flush(struct simulated_queue *queue)
{
	struct simulated_device *device = (struct simulated_device *)queue->base.device;
	int64_t seen_ps = tare_model_add_ps(device->host_ps, device->script->queue.submission_ps);

	for (struct simulated_command *each = queue->first; each; each = each->next)
		tare_model_submit(&each->model, seen_ps);
}
