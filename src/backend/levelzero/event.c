// SPDX-License-Identifier: Apache-2.0
// Events: waiting, asking, stamps.
#include "backend/levelzero/work.h"

#include <errno.h>
#include <stdlib.h>

int levelzero_event_make(struct tare_device *device, bool timed, struct levelzero_event **event,
                         struct tare_error *error)
{
	struct levelzero_event *made = calloc(1, sizeof *made);
	int status;

	if (!made)
		return tare_fail(error, ENOMEM, "out of memory");
	made->base.device = device;
	made->timed = timed;
	status = levelzero_slot_take(levelzero_device_of(device), timed, &made->slot, error);
	if (status < 0) {
		free(made);
		return status;
	}
	*event = made;
	return 0;
}

void levelzero_event_free(struct tare_event *base)
{
	struct levelzero_event *event = (struct levelzero_event *)base;

	if (!event)
		return;
	levelzero_slot_give(levelzero_device_of(base->device), event->slot, event->done);
	free(event);
}

int levelzero_event_submit(const struct levelzero_event *event, struct tare_error *error)
{
	struct levelzero_queue *queue;

	if (event->done)
		return 0;
	queue = levelzero_queue_numbered(levelzero_device_of(event->base.device), event->queue);
	return queue && queue->deferred && queue->submitted < event->serial
	           ? levelzero_submit(&queue->base, error)
	           : 0;
}

static int refuse_node(const struct levelzero_event *event, struct tare_error *error)
{
	if (event->graph)
		return tare_fail(error, EINVAL,
		                 "this event belongs to a graph; wait for the graph's launch");
	return 0;
}

// What an in-order queue had before is done as well.
static void is_done(struct levelzero_event *event)
{
	struct levelzero_queue *queue =
	    levelzero_queue_numbered(levelzero_device_of(event->base.device), event->queue);

	event->done = true;
	if (queue && !queue->out_of_order && queue->done < event->serial)
		queue->done = event->serial;
	if (queue && !queue->out_of_order && queue->done == queue->last)
		queue->unordered = false;
}

int levelzero_event_wait(struct tare_event *base, int64_t limit_ns, struct tare_error *error)
{
	struct levelzero_event *event = (struct levelzero_event *)base;
	int status = refuse_node(event, error);

	status = status ?: levelzero_event_submit(event, error);
	if (status == 0)
		status = levelzero_slot_wait(levelzero_device_of(base->device), event->slot->handle,
		                             limit_ns, "an event", error);
	if (status == 0)
		is_done(event);
	return status;
}

int levelzero_event_done(struct tare_event *base, struct tare_error *error)
{
	struct levelzero_event *event = (struct levelzero_event *)base;
	int status = refuse_node(event, error);

	if (status < 0)
		return status;
	if (event->done)
		return 1;
	ze_result_t result = levelzero_calls(base->device)->zeEventQueryStatus(event->slot->handle);
	if (result == ZE_RESULT_NOT_READY)
		return 0;
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeEventQueryStatus", error, "the operation failed");
	is_done(event);
	return 1;
}

int levelzero_read_stamps(const struct levelzero_device *device, ze_event_handle_t handle,
                          struct tare_stamps *stamps, struct tare_error *error)
{
	ze_kernel_timestamp_result_t answer = { 0 };
	ze_result_t result = device->driver->call.zeEventQueryKernelTimestamp(handle, &answer);

	if (result == ZE_RESULT_NOT_READY)
		return tare_fail(error, EAGAIN, "the operation is not finished");
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeEventQueryKernelTimestamp", error,
		                      "cannot read the operation's stamps");
	// A clock that has run since the machine started is at 0 once in a wrap, not four times.
	if (!answer.global.kernelStart && !answer.global.kernelEnd && !answer.context.kernelStart &&
	    !answer.context.kernelEnd)
		return tare_fail(error, ENODATA, "the driver wrote no stamps for this operation");
	stamps->at[TARE_STAMP_START].ticks = answer.global.kernelStart;
	stamps->at[TARE_STAMP_END].ticks = answer.global.kernelEnd;
	stamps->at[TARE_STAMP_ACTIVE_START].ticks = answer.context.kernelStart;
	stamps->at[TARE_STAMP_ACTIVE_END].ticks = answer.context.kernelEnd;
	stamps->present = 1u << TARE_STAMP_START | 1u << TARE_STAMP_END |
	                  1u << TARE_STAMP_ACTIVE_START | 1u << TARE_STAMP_ACTIVE_END;
	stamps->brackets_engine = true;
	return 0;
}

int levelzero_event_stamps(struct tare_event *base, struct tare_stamps *stamps,
                           struct tare_error *error)
{
	struct levelzero_event *event = (struct levelzero_event *)base;
	int done;

	*stamps = (struct tare_stamps){ 0 };
	if (event->graph)
		return tare_fail(
		    error, ENODATA,
		    "this event belongs to a graph, whose nodes have stamps of their own");
	if (!event->timed)
		return tare_fail(error, ENODATA, "the queue was not created to be timed");
	done = levelzero_event_done(base, error);
	if (done < 0)
		return done;
	if (done == 0)
		return tare_fail(error, EAGAIN, "the operation is not finished");
	if (event->unstamped)
		return tare_fail(error, ENODATA, "%s", event->unstamped);
	return levelzero_read_stamps(levelzero_device_of(base->device), event->slot->handle, stamps,
	                             error);
}
