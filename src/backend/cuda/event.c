// SPDX-License-Identifier: Apache-2.0
// What the contract calls an event is up to two CUevents: one recorded before the operation and one
// after it. They tell positions in the stream, not the engine's work: what queued between two
// streams is inside. A record costs a launch's share of the stream, so both exist only where the
// caller asked for an event of a timed queue. While the device's engines are traced (trace.h) every
// event has a ticket too, and its stamps are the engine's.
#include "backend/cuda/graph.h"
#include "backend/cuda/trace.h"

#include <errno.h>
#include <stdlib.h>

int cuda_bracket_graph(struct cuda_queue *queue, struct cuda_graph *graph,
                       struct cuda_event **event, struct tare_error *error)
{
	struct cuda_device *device = cuda_device_of(queue->base.device);
	bool timed = queue->timed && !queue->capturing;
	struct cuda_event *made = calloc(1, sizeof *made);
	int status;

	if (!made)
		return tare_fail(error, ENOMEM, "out of memory");
	made->base.device = queue->base.device;
	// Inside a graph a record would become a node.
	made->captured = queue->capturing;
	status = timed ? cuda_epoch_take(device, &made->epoch, error) : 0;
	if (status == 0 && timed)
		status = cuda_event_take(device, true, &made->start, error);
	status = status ?: cuda_event_take(device, timed, &made->end, error);
	if (status == 0 && timed)
		status = cuda_event_record(device, made->start, queue->stream, error);
	if (status == 0 && !queue->capturing)
		status = cuda_trace_push(device, made, graph, error);
	if (status < 0) {
		cuda_event_free(&made->base);
		return status;
	}
	*event = made;
	return 0;
}

int cuda_bracket_begin(struct cuda_queue *queue, struct cuda_event **event,
                       struct tare_error *error)
{
	return cuda_bracket_graph(queue, NULL, event, error);
}

int cuda_bracket_end(struct cuda_queue *queue, struct cuda_event *event, struct tare_error *error)
{
	cuda_trace_pop(event);
	return cuda_event_record(cuda_device_of(queue->base.device), event->end, queue->stream,
	                         error);
}

int cuda_bracket_give(struct cuda_event *made, int status, struct tare_event **event)
{
	if (status < 0 && made)
		cuda_event_free(&made->base);
	else if (status == 0 && event)
		*event = &made->base;
	return status;
}

void cuda_event_free(struct tare_event *base)
{
	if (!base)
		return;
	struct cuda_event *event = (struct cuda_event *)base;
	struct cuda_device *device = cuda_device_of(base->device);

	cuda_enter(device, NULL);
	cuda_trace_forget(event);
	if (event->captured) {
		// It belongs to a graph: recording it again outside would confuse the two.
		if (event->end)
			device->driver->call.cuEventDestroy_v2(event->end);
	} else {
		cuda_event_give(device, event->epoch != NULL, event->end);
		cuda_event_give(device, true, event->start);
	}
	cuda_epoch_give(device, event->epoch);
	free(event);
}

// What can be asked of it: nothing where it is a graph's.
static int enter(const struct cuda_event *event, struct tare_error *error)
{
	if (event->captured)
		return tare_fail(error, EINVAL,
		                 "this event belongs to a graph; wait for the graph's launch");
	return cuda_enter(cuda_device_of(event->base.device), error);
}

int cuda_event_wait(struct tare_event *base, int64_t limit_ns, struct tare_error *error)
{
	struct cuda_event *event = (struct cuda_event *)base;
	struct cuda_device *device = cuda_device_of(base->device);
	int status = enter(event, error);

	if (status < 0)
		return status;
	if (limit_ns != TARE_LIMIT_NATIVE) {
		status = cuda_poll_event(device, event->end, limit_ns, error);
		if (status < 0)
			tare_error_prefix(error, "event of device %u", base->device->index);
		return status;
	}
	cu_result result = device->driver->call.cuEventSynchronize(event->end);
	if (result != ABI_SUCCESS)
		return cuda_fail(device->driver, result, "cuEventSynchronize", error,
		                 "waiting failed");
	return 0;
}

int cuda_event_done(struct tare_event *base, struct tare_error *error)
{
	struct cuda_event *event = (struct cuda_event *)base;
	struct cuda_device *device = cuda_device_of(base->device);
	int status = enter(event, error);

	if (status < 0)
		return status;
	cu_result result = device->driver->call.cuEventQuery(event->end);
	if (result == ABI_SUCCESS)
		return 1;
	if (result == ABI_NOT_READY)
		return 0;
	return cuda_fail(device->driver, result, "cuEventQuery", error, "the operation failed");
}

// A stream of our own that has nothing to do. Host functions of one stream run one after another,
// so that a callback whose event is not done yet must not stand before others.
static int callback_stream(struct cuda_device *device, cu_stream *stream, bool *keep,
                           struct tare_error *error)
{
	const struct cuda_functions *call = &device->driver->call;

	*keep = true;
	for (uint32_t i = 0; i < device->callback_stream_count; i++) {
		*stream = device->callback_streams[i];
		if (call->cuStreamQuery(*stream) == ABI_SUCCESS)
			return 0;
	}
	cu_result result = call->cuStreamCreate(stream, ABI_STREAM_NON_BLOCKING);
	if (result != ABI_SUCCESS)
		return cuda_fail(device->driver, result, "cuStreamCreate", error,
		                 "cannot create a stream");
	*keep = device->callback_stream_count < CUDA_CALLBACK_STREAMS;
	if (*keep)
		device->callback_streams[device->callback_stream_count++] = *stream;
	return 0;
}

int cuda_event_callback(struct tare_event *base, void (*function)(void *context), void *context,
                        struct tare_error *error)
{
	struct cuda_event *event = (struct cuda_event *)base;
	struct cuda_device *device = cuda_device_of(base->device);
	const struct cuda_functions *call = &device->driver->call;
	const char *name = "cuStreamWaitEvent";
	cu_stream stream;
	bool keep;
	int status = enter(event, error);

	if (status < 0)
		return status;
	if (!call->cuLaunchHostFunc)
		return tare_fail(error, ENOTSUP,
		                 "this CUDA driver has no host functions (it needs 10.0 or later)");
	status = callback_stream(device, &stream, &keep, error);
	if (status < 0)
		return status;
	cu_result result = call->cuStreamWaitEvent(stream, event->end, 0);
	if (result == ABI_SUCCESS) {
		name = "cuLaunchHostFunc";
		result = call->cuLaunchHostFunc(stream, function, context);
	}
	if (!keep)
		call->cuStreamDestroy_v2(stream); // goes when the callback has run
	if (result != ABI_SUCCESS)
		return cuda_fail(device->driver, result, name, error, "cannot call back");
	return 0;
}

int cuda_event_stamps(struct tare_event *base, struct tare_stamps *stamps, struct tare_error *error)
{
	struct cuda_event *event = (struct cuda_event *)base;
	struct cuda_device *device = cuda_device_of(base->device);
	int status;

	*stamps = (struct tare_stamps){ 0 };
	if (event->captured)
		return tare_fail(
		    error, ENODATA,
		    "this event belongs to a graph, whose nodes have stamps of their own");
	if (!event->start && !event->trace)
		return tare_fail(error, ENODATA, "the queue was not created to be timed");
	status = cuda_event_done(base, error);
	if (status < 0)
		return status;
	if (status == 0)
		return tare_fail(error, EAGAIN, "the operation is not finished");
	if (event->trace)
		return cuda_trace_tell(event->trace, &event->trace->at[event->traced].times, stamps,
		                       error);
	return cuda_epoch_stamps(device, event->epoch, event->start, event->end, stamps, error);
}
