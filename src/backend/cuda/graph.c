// SPDX-License-Identifier: Apache-2.0
// A graph is what a stream captures between begin and end.
#include "backend/cuda/internal.h"

#include <errno.h>
#include <stdlib.h>

int cuda_graph_begin(struct tare_queue *base, struct tare_error *error)
{
	struct cuda_queue *queue = (struct cuda_queue *)base;
	struct cuda_device *device = cuda_device_of(base->device);
	const struct cuda_functions *call = &device->driver->call;
	int status = cuda_enter(device, error);

	if (status < 0)
		return status;
	if (!call->cuStreamBeginCapture_v2 || !call->cuStreamEndCapture || !call->cuGraphLaunch ||
	    !call->cuGraphInstantiateWithFlags || !call->cuGraphDestroy || !call->cuGraphExecDestroy)
		return tare_fail(error, ENOTSUP,
		                 "this CUDA driver has no graphs (they need 11.4 or later)");
	if (queue->legacy)
		return tare_fail(error, ENOTSUP,
		                 "CUDA does not record graphs on the legacy default stream");
	if (queue->capturing)
		return tare_fail(error, EINVAL, "this queue records a graph already");
	// Relaxed: what else this thread does meanwhile (allocate, ask events) is no mistake here.
	cu_result result = call->cuStreamBeginCapture_v2(queue->stream,
	                                                 ABI_STREAM_CAPTURE_MODE_RELAXED);
	if (result != ABI_SUCCESS)
		return cuda_fail(device->driver, result, "cuStreamBeginCapture_v2", error,
		                 "cannot record a graph");
	queue->capturing = true;
	return 0;
}

int cuda_graph_end(struct tare_queue *base, struct tare_graph **graph, struct tare_error *error)
{
	struct cuda_queue *queue = (struct cuda_queue *)base;
	struct cuda_device *device = cuda_device_of(base->device);
	const struct cuda_functions *call = &device->driver->call;
	struct cuda_graph *made;
	cu_graph recorded = NULL;
	int status = cuda_enter(device, error);

	if (status < 0)
		return status;
	if (!queue->capturing)
		return tare_fail(error, EINVAL, "this queue records no graph");
	queue->capturing = false;
	cu_result result = call->cuStreamEndCapture(queue->stream, &recorded);
	if (result != ABI_SUCCESS)
		return cuda_fail(device->driver, result, "cuStreamEndCapture", error, "cannot record a graph");
	made = calloc(1, sizeof *made);
	if (!made) {
		call->cuGraphDestroy(recorded);
		return tare_fail(error, ENOMEM, "out of memory");
	}
	made->base.device = base->device;
	result = call->cuGraphInstantiateWithFlags(&made->exec, recorded, 0);
	call->cuGraphDestroy(recorded);
	if (result != ABI_SUCCESS) {
		free(made);
		return cuda_fail(device->driver, result, "cuGraphInstantiateWithFlags", error,
		                 "cannot make the graph ready");
	}
	// So that the first launch costs what the others do.
	if (call->cuGraphUpload)
		call->cuGraphUpload(made->exec, queue->stream);
	*graph = &made->base;
	return 0;
}

int cuda_graph_launch(struct tare_graph *base, struct tare_queue *base_queue,
                      struct tare_event **event, struct tare_error *error)
{
	struct cuda_graph *graph = (struct cuda_graph *)base;
	struct cuda_queue *queue = (struct cuda_queue *)base_queue;
	struct cuda_device *device = cuda_device_of(base->device);
	struct cuda_event *made = NULL;
	int status = cuda_enter(device, error);

	if (status == 0)
		status = cuda_count_held(queue, 0, event != NULL, error);
	if (status == 0 && event)
		status = cuda_bracket_begin(queue, &made, error);
	if (status < 0)
		return status;
	cu_result result = device->driver->call.cuGraphLaunch(graph->exec, queue->stream);
	if (result != ABI_SUCCESS)
		status = cuda_fail(device->driver, result, "cuGraphLaunch", error, "cannot launch the graph");
	if (status == 0 && made)
		status = cuda_bracket_end(queue, made, error);
	if (status < 0) {
		if (made)
			cuda_event_free(&made->base);
		return status;
	}
	if (event)
		*event = &made->base;
	return 0;
}

void cuda_graph_free(struct tare_graph *base)
{
	if (!base)
		return;
	struct cuda_device *device = cuda_device_of(base->device);

	cuda_enter(device, NULL);
	device->driver->call.cuGraphExecDestroy(((struct cuda_graph *)base)->exec);
	free(base);
}
