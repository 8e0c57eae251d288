// SPDX-License-Identifier: Apache-2.0
// Queues, and the end of the device's work. An in-order or out-of-order queue is an asynchronous
// immediate list; a deferred one a queue that executes regular lists (list.c).
#include "backend/levelzero/work.h"

#include <errno.h>
#include <stdlib.h>

// How long closing a device waits for work that its caller left in queues.
#define CLOSE_LIMIT_NS INT64_C(5000000000)

static void destroy(struct levelzero_device *device, struct levelzero_queue *queue)
{
	const struct levelzero_functions *call = &device->driver->call;
	struct levelzero_queue **at = &device->work->queues;

	while (*at && *at != queue)
		at = &(*at)->next;
	if (*at)
		*at = queue->next;
	levelzero_lists_close(queue);
	if (queue->list && !queue->deferred)
		call->zeCommandListDestroy(queue->list);
	if (queue->fence)
		call->zeFenceDestroy(queue->fence);
	if (queue->native)
		call->zeCommandQueueDestroy(queue->native);
	levelzero_slot_give(device, queue->token, true);
	free(queue);
}

// Destroys the queues that were freed with work in them and have done it since.
static void reap(struct levelzero_device *device)
{
	const struct levelzero_functions *call = &device->driver->call;
	struct levelzero_queue *next;

	for (struct levelzero_queue *queue = device->work->queues; queue; queue = next) {
		next = queue->next;
		if (!queue->retired)
			continue;
		ze_result_t result = queue->native
		                         ? call->zeCommandQueueSynchronize(queue->native, 0)
		                     : queue->token ? call->zeEventQueryStatus(queue->token->handle)
		                                    : ZE_RESULT_NOT_READY;
		if (result == ZE_RESULT_SUCCESS) {
			queue->done = queue->last;
			destroy(device, queue);
		}
	}
}

// ---- the contract's members

static int open_queue(struct levelzero_device *device, struct levelzero_queue *queue,
                      struct tare_error *error)
{
	int status = -ENOTSUP;

	if (queue->deferred)
		return levelzero_native_queue_open(device, &queue->engine, &queue->native, error);
	queue->chained =
	    !queue->out_of_order && device->place.version >= LEVELZERO_VERSION_IN_ORDER;
	if (queue->chained)
		status =
		    levelzero_list_open(device, &queue->engine, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
		                        true, &queue->list, error);
	// A layer of an older loader may refuse the flag that the driver knows.
	if (status == -ENOTSUP || status == -EINVAL) {
		queue->chained = false;
		status =
		    levelzero_list_open(device, &queue->engine, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
		                        false, &queue->list, error);
	}
	return status;
}

static int new_queue(struct tare_device *base, const struct levelzero_engine *engine,
                     struct levelzero_queue **queue, struct tare_error *error)
{
	struct levelzero_work *work = levelzero_device_of(base)->work;
	struct levelzero_queue *made = calloc(1, sizeof *made);

	if (!made)
		return tare_fail(error, ENOMEM, "out of memory");
	made->base.device = base;
	made->engine = *engine;
	made->number = ++work->numbers;
	*queue = made;
	return 0;
}

int levelzero_queue_create(struct tare_device *base, const struct tare_queue_options *options,
                           struct tare_queue **queue, struct tare_error *error)
{
	struct levelzero_device *device = levelzero_device_of(base);
	struct levelzero_queue *made = NULL;
	int status = levelzero_works(device, error);

	if (status < 0)
		return status;
	if (options->order == TARE_QUEUE_LEGACY_DEFAULT ||
	    options->order == TARE_QUEUE_THREAD_DEFAULT)
		return tare_fail(error, ENOTSUP, "Level Zero has no default queue");
	if (options->engine >= device->work->engine_count)
		return tare_fail(error, EINVAL, "this device has no engine %u; it has %u",
		                 options->engine, device->work->engine_count);
	reap(device);
	status = new_queue(base, &device->work->engines[options->engine], &made, error);
	if (status < 0)
		return status;
	made->timed = options->timed;
	made->out_of_order = options->order == TARE_QUEUE_OUT_OF_ORDER;
	made->deferred = options->order == TARE_QUEUE_DEFERRED;
	status = open_queue(device, made, error);
	if (status < 0) {
		free(made);
		return status;
	}
	made->next = device->work->queues;
	device->work->queues = made;
	*queue = &made->base;
	return 0;
}

// Nothing of the queue is on the device. Events tell of a deferred queue's commands, but not of its
// lists, which must not be destroyed while the device may still read them.
static bool is_idle(const struct levelzero_device *device, const struct levelzero_queue *queue)
{
	return queue->done == queue->last &&
	       (!queue->flying || device->driver->call.zeCommandQueueSynchronize(
	                              queue->native, 0) == ZE_RESULT_SUCCESS);
}

// What was appended still runs; an event tells when it has.
static void retire(struct levelzero_device *device, struct levelzero_queue *queue)
{
	queue->retired = true;
	if (queue->deferred) {
		levelzero_submit(&queue->base, NULL);
		return;
	}
	if (levelzero_slot_take(device, false, &queue->token, NULL) < 0)
		return;
	if (device->driver->call.zeCommandListAppendBarrier(queue->list, queue->token->handle, 0,
	                                                    NULL) != ZE_RESULT_SUCCESS) {
		levelzero_slot_give_unused(device, queue->token);
		queue->token = NULL;
	}
}

void levelzero_queue_free(struct tare_queue *base)
{
	struct levelzero_queue *queue = (struct levelzero_queue *)base;

	if (!queue)
		return;
	struct levelzero_device *device = levelzero_device_of(base->device);
	levelzero_graph_leave(queue);
	if (is_idle(device, queue))
		destroy(device, queue);
	else
		retire(device, queue);
	reap(device);
}

void levelzero_work_close(struct levelzero_device *device)
{
	struct levelzero_work *work = device->work;
	struct tare_host_time begun = tare_host_now();

	if (!work)
		return;
	levelzero_gates_open(device);
	for (struct levelzero_queue *queue = work->queues, *next; queue; queue = next) {
		int64_t left_ns = CLOSE_LIMIT_NS - tare_host_elapsed_ns(begun, tare_host_now());
		next = queue->next;
		if (is_idle(device, queue) ||
		    levelzero_finish(&queue->base, left_ns > 0 ? left_ns : 0, NULL) == 0)
			destroy(device, queue);
	}
	// Events that a command still names must stay.
	if (work->queues)
		return;
	if (work->service)
		device->driver->call.zeCommandListDestroy(work->service);
	levelzero_pools_close(device);
	free(work->engines);
	free(work);
	device->work = NULL;
}
