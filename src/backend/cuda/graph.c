// SPDX-License-Identifier: Apache-2.0
// A graph is what a stream captures between begin and end, and with it every stream that waits for
// an event of it meanwhile. On a timed queue each operation stands between two event-record nodes,
// which are recorded anew at each launch: positions in the graph, as events are in a stream. A
// graph that is recorded while the engines are traced has none of them; there CUPTI tells.
#include "backend/cuda/graph.h"
#include "base/room.h"

#include <errno.h>
#include <stdlib.h>

int cuda_graph_begin(struct tare_queue *base, struct tare_error *error)
{
	struct cuda_queue *queue = (struct cuda_queue *)base;
	struct cuda_device *device = cuda_device_of(base->device);
	const struct cuda_functions *call = &device->driver->call;
	struct cuda_graph *graph;
	int status = cuda_queue_enter(queue, error);

	if (status < 0)
		return status;
	if (!call->cuStreamBeginCapture_v2 || !call->cuStreamEndCapture || !call->cuGraphLaunch ||
	    !call->cuGraphInstantiateWithFlags || !call->cuGraphDestroy ||
	    !call->cuGraphExecDestroy)
		return tare_fail(error, ENOTSUP,
		                 "this CUDA driver has no graphs (they need 11.4 or later)");
	if (queue->legacy)
		return tare_fail(error, ENOTSUP,
		                 "CUDA does not record graphs on the legacy default stream");
	if (device->recording)
		return tare_fail(error, EINVAL, "%s records a graph already",
		                 queue->capturing ? "this queue" : "this device");
	graph = calloc(1, sizeof *graph);
	if (!graph)
		return tare_fail(error, ENOMEM, "out of memory");
	// Relaxed: what else this thread does meanwhile (allocate, ask events) is no mistake here.
	cu_result result =
	    call->cuStreamBeginCapture_v2(queue->stream, ABI_STREAM_CAPTURE_MODE_RELAXED);
	if (result != ABI_SUCCESS) {
		free(graph);
		return cuda_fail(device->driver, result, "cuStreamBeginCapture_v2", error,
		                 "cannot record a graph");
	}
	graph->base.device = base->device;
	graph->origin = queue;
	graph->chain = true;
	graph->timed = queue->timed && call->cuEventRecordWithFlags && !device->trace;
	queue->capturing = true;
	device->recording = graph;
	return 0;
}

void cuda_graph_join(struct cuda_queue *queue, const struct cuda_event *event)
{
	struct cuda_graph *graph = cuda_device_of(queue->base.device)->recording;

	if (!graph || queue->capturing || !event->captured)
		return;
	graph->chain = false;
	queue->capturing = true;
	queue->next_joined = graph->joined;
	graph->joined = queue;
}

// ---- nodes

static int record_node(struct cuda_queue *queue, cu_event *event, struct tare_error *error)
{
	struct cuda_device *device = cuda_device_of(queue->base.device);
	int status = cuda_event_take(device, true, event, error);

	if (status < 0)
		return status;
	cu_result result = device->driver->call.cuEventRecordWithFlags(*event, queue->stream,
	                                                               ABI_EVENT_RECORD_EXTERNAL);
	if (result != ABI_SUCCESS)
		return cuda_fail(device->driver, result, "cuEventRecordWithFlags", error,
		                 "cannot record an event in a graph");
	return 0;
}

// A copy, a fill and a kernel are one record each; the others have none.
static bool has_engine(enum tare_operation_type type)
{
	return type == TARE_OPERATION_COPY || type == TARE_OPERATION_RECTANGLE ||
	       type == TARE_OPERATION_FILL || type == TARE_OPERATION_LAUNCH;
}

int cuda_node_begin(struct cuda_queue *queue, enum tare_operation_type type,
                    struct tare_error *error)
{
	struct cuda_device *device = cuda_device_of(queue->base.device);
	struct cuda_graph *graph = device->recording;

	if (!queue->capturing)
		return 0;
	struct cuda_node *added = TARE_ROOM_FOR(graph->nodes, graph->room, graph->count);
	if (!added)
		return tare_fail(error, ENOMEM, "out of memory");
	*added = (struct cuda_node){ 0 };
	graph->count++;
	graph->idle += !has_engine(type);
	if (device->trace)
		cuda_trace_record_graph(graph);
	return graph->timed ? record_node(queue, &graph->nodes[graph->count - 1].start, error) : 0;
}

int cuda_node_end(struct cuda_queue *queue, struct tare_error *error)
{
	struct cuda_graph *graph = cuda_device_of(queue->base.device)->recording;

	if (!queue->capturing)
		return 0;
	cuda_trace_record_graph(NULL);
	return graph->timed ? record_node(queue, &graph->nodes[graph->count - 1].end, error) : 0;
}

// ---- the end of recording

// The device records no more; the queues are what they were.
static struct cuda_graph *stop_recording(struct cuda_device *device)
{
	struct cuda_graph *graph = device->recording;

	cuda_trace_record_graph(NULL);
	for (struct cuda_queue *queue = graph->joined; queue; queue = queue->next_joined)
		queue->capturing = false;
	if (graph->origin)
		graph->origin->capturing = false;
	graph->joined = graph->origin = NULL;
	device->recording = NULL;
	return graph;
}

void cuda_graph_leave(struct cuda_queue *queue)
{
	struct cuda_device *device = cuda_device_of(queue->base.device);
	const struct cuda_functions *call = &device->driver->call;
	struct cuda_graph *graph = device->recording;
	cu_graph recorded = NULL;

	if (!queue->capturing || !graph)
		return;
	cuda_enter(device, NULL);
	// One that joined takes its part with it, and the rest cannot be ended without it.
	if (graph->origin &&
	    call->cuStreamEndCapture(graph->origin->stream, &recorded) == ABI_SUCCESS)
		call->cuGraphDestroy(recorded);
	cuda_graph_free(&stop_recording(device)->base);
}

int cuda_graph_end(struct tare_queue *base, struct tare_graph **graph, struct tare_error *error)
{
	struct cuda_queue *queue = (struct cuda_queue *)base;
	struct cuda_device *device = cuda_device_of(base->device);
	const struct cuda_functions *call = &device->driver->call;
	struct cuda_graph *made = device->recording;
	cu_graph recorded = NULL;
	int status = cuda_queue_enter(queue, error);

	if (status < 0)
		return status;
	if (!made || made->origin != queue)
		return tare_fail(error, EINVAL, "this queue records no graph");
	cu_result result = call->cuStreamEndCapture(queue->stream, &recorded);
	stop_recording(device);
	if (result != ABI_SUCCESS) {
		cuda_graph_free(&made->base);
		return cuda_fail(device->driver, result, "cuStreamEndCapture", error,
		                 "cannot record a graph");
	}
	made->recorded = true;
	if (device->trace)
		cuda_trace_record_graph(made);
	result = call->cuGraphInstantiateWithFlags(&made->exec, recorded, 0);
	cuda_trace_record_graph(NULL);
	call->cuGraphDestroy(recorded);
	if (result != ABI_SUCCESS) {
		made->exec = NULL;
		cuda_graph_free(&made->base);
		return cuda_fail(device->driver, result, "cuGraphInstantiateWithFlags", error,
		                 "cannot make the graph ready");
	}
	// So that the first launch costs what the others do.
	if (call->cuGraphUpload)
		call->cuGraphUpload(made->exec, queue->stream);
	*graph = &made->base;
	return 0;
}

// ---- launches

static int take_epoch(struct cuda_graph *graph, struct tare_error *error)
{
	struct cuda_device *device = cuda_device_of(graph->base.device);
	struct cuda_epoch *epoch = NULL;
	int status = graph->timed ? cuda_epoch_take(device, &epoch, error) : 0;

	if (status < 0)
		return status;
	cuda_epoch_give(device, graph->epoch);
	graph->epoch = epoch;
	return 0;
}

// Its stamps are those of another launch from now on.
static void leave_trace(struct cuda_graph *graph)
{
	cuda_trace_forget_graph(graph->trace, graph);
	graph->trace = NULL;
}

int cuda_graph_launch(struct tare_graph *base, struct tare_queue *base_queue,
                      struct tare_event **event, struct tare_error *error)
{
	struct cuda_graph *graph = (struct cuda_graph *)base;
	struct cuda_queue *queue = (struct cuda_queue *)base_queue;
	struct cuda_device *device = cuda_device_of(base->device);
	struct cuda_event *made = NULL;
	int status = cuda_queue_enter(queue, error);

	status = status ?: cuda_count_held(queue, 0, event != NULL, error);
	status = status ?: take_epoch(graph, error);
	leave_trace(graph);
	if (status == 0 && event)
		status = cuda_bracket_graph(queue, graph, &made, error);
	if (status < 0)
		return status;
	cu_result result = device->driver->call.cuGraphLaunch(graph->exec, queue->stream);
	if (result != ABI_SUCCESS)
		status = cuda_fail(device->driver, result, "cuGraphLaunch", error,
		                   "cannot launch the graph");
	if (status == 0 && made)
		status = cuda_bracket_end(queue, made, error);
	if (status == 0)
		graph->launched = true;
	return cuda_bracket_give(made, status, event);
}

// By the two events around the node.
static int position_stamps(struct cuda_graph *graph, const struct cuda_node *node,
                           struct tare_stamps *stamps, struct tare_error *error)
{
	struct cuda_device *device = cuda_device_of(graph->base.device);

	if (!node->start || !node->end)
		return tare_fail(error, ENODATA, "this operation was not recorded");
	cu_result result = device->driver->call.cuEventQuery(node->end);
	if (result == ABI_NOT_READY)
		return tare_fail(error, EAGAIN, "the graph is not finished");
	if (result != ABI_SUCCESS)
		return cuda_fail(device->driver, result, "cuEventQuery", error, "the graph failed");
	return cuda_epoch_stamps(device, graph->epoch, node->start, node->end, stamps, error);
}

int cuda_graph_stamps(struct tare_graph *base, uint32_t index, struct tare_stamps *stamps,
                      struct tare_error *error)
{
	struct cuda_graph *graph = (struct cuda_graph *)base;
	struct cuda_device *device = cuda_device_of(base->device);
	int status = cuda_enter(device, error);

	*stamps = (struct tare_stamps){ 0 };
	if (status < 0)
		return status;
	if (index >= graph->count)
		return tare_fail(error, EINVAL, "a graph of %u operations has no number %u",
		                 graph->count, index);
	if (!graph->launched)
		return tare_fail(error, EAGAIN, "the graph was not launched yet");
	if (graph->trace && !graph->id_count && !cuda_graph_in_order(graph))
		return tare_fail(
		    error, ENODATA,
		    "the graph's nodes do not follow one another, and it was recorded "
		    "before its engines were traced, or this CUPTI does not number nodes");
	if (graph->trace)
		return cuda_trace_tell(graph->trace, &graph->nodes[index].times, stamps, error);
	if (graph->timed)
		return position_stamps(graph, &graph->nodes[index], stamps, error);
	return tare_fail(
	    error, ENODATA,
	    device->driver->call.cuEventRecordWithFlags
	        ? "the graph was not recorded on a timed queue"
	        : "this CUDA driver has no event nodes in graphs (they need 11.1 or later)");
}

void cuda_graph_free(struct tare_graph *base)
{
	if (!base)
		return;
	struct cuda_graph *graph = (struct cuda_graph *)base;
	struct cuda_device *device = cuda_device_of(base->device);
	const struct cuda_functions *call = &device->driver->call;

	cuda_enter(device, NULL);
	if (graph->exec)
		call->cuGraphExecDestroy(graph->exec);
	for (uint32_t i = 0; i < graph->count; i++) {
		// They belong to the graph: recording them again outside would confuse the two.
		if (graph->nodes[i].start)
			call->cuEventDestroy_v2(graph->nodes[i].start);
		if (graph->nodes[i].end)
			call->cuEventDestroy_v2(graph->nodes[i].end);
	}
	leave_trace(graph);
	cuda_epoch_give(device, graph->epoch);
	free(graph->nodes);
	free(graph->ids);
	free(graph);
}
