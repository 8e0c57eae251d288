// SPDX-License-Identifier: Apache-2.0
// Graphs: regular lists that are executed again (graph_lists.c). A queue that waits for a node of
// the graph that is being recorded is recorded with it.
#include "backend/levelzero/graph.h"
#include "base/room.h"

#include <errno.h>
#include <stdlib.h>

// How long freeing a graph waits for its last launch.
#define FREE_LIMIT_NS UINT64_C(5000000000)

// ---- recording

// No queue records any more.
static void stop_recording(struct levelzero_work *work)
{
	for (struct levelzero_queue *queue = work->queues; queue; queue = queue->next)
		queue->recording = NULL;
	if (work->recording)
		work->recording->origin = NULL;
	work->recording = NULL;
}

int levelzero_graph_begin(struct tare_queue *base, struct tare_error *error)
{
	struct levelzero_queue *queue = (struct levelzero_queue *)base;
	struct levelzero_device *device = levelzero_device_of(base->device);
	struct levelzero_work *work = device->work;
	struct levelzero_track *first;
	struct levelzero_graph *graph;
	int status = 0;

	if (work->recording)
		return tare_fail(error, EINVAL, "%s records a graph already",
		                 queue->recording ? "this queue" : "this device");
	graph = calloc(1, sizeof *graph);
	if (!graph)
		return tare_fail(error, ENOMEM, "out of memory");
	graph->base.device = base->device;
	graph->number = ++work->numbers;
	graph->origin = queue;
	graph->timed = queue->timed;
	graph->tracks = calloc(work->engine_count, sizeof *graph->tracks);
	if (!graph->tracks)
		status = tare_fail(error, ENOMEM, "out of memory");
	status = status ?: levelzero_slot_take(device, false, &graph->before, error);
	status = status ?: levelzero_try_to_open(device, graph->before, error);
	status = status ?: levelzero_slot_take(device, false, &graph->after, error);
	status = status ?: levelzero_track_of(graph, &queue->engine, &first, error);
	if (status < 0) {
		levelzero_graph_free(&graph->base);
		return status;
	}
	work->recording = queue->recording = graph;
	return 0;
}

void levelzero_graph_join(struct levelzero_queue *queue, const struct tare_operation *operation)
{
	struct levelzero_graph *graph = levelzero_device_of(queue->base.device)->work->recording;

	for (uint32_t i = 0; graph && !queue->recording && i < operation->wait_count; i++)
		if (((struct levelzero_event *)operation->waits[i])->graph == graph->number)
			queue->recording = graph;
}

void levelzero_graph_leave(struct levelzero_queue *queue)
{
	struct levelzero_graph *graph = queue->recording;

	if (!graph)
		return;
	// One that joined takes its part with it, and the rest means nothing without it.
	stop_recording(levelzero_device_of(queue->base.device)->work);
	levelzero_graph_free(&graph->base);
}

static int add_node(struct levelzero_graph *graph, bool signals, struct levelzero_node **node,
                    struct tare_error *error)
{
	struct levelzero_device *device = levelzero_device_of(graph->base.device);

	*node = TARE_ROOM_FOR(graph->nodes, graph->room, graph->count);
	if (!*node)
		return tare_fail(error, ENOMEM, "out of memory");
	**node = (struct levelzero_node){ 0 };
	if (signals) {
		int status = levelzero_slot_take(device, graph->timed, &(*node)->slot, error);
		if (status < 0)
			return status;
	}
	graph->count++;
	return 0;
}

static int order(const struct levelzero_append *append, struct levelzero_track *track,
                 struct tare_error *error)
{
	if (!track->unordered || append->operation->type == TARE_OPERATION_MARKER)
		return 0;
	ze_result_t result = append->call->zeCommandListAppendBarrier(track->body, NULL, 0, NULL);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeCommandListAppendBarrier", error,
		                      "cannot record a graph");
	return 0;
}

static int record(struct levelzero_queue *queue, struct levelzero_append *append, bool signals,
                  struct levelzero_node **node, struct tare_error *error)
{
	struct levelzero_graph *graph = queue->recording;
	struct levelzero_track *track = NULL;
	int status = 0;

	for (uint32_t i = 0; i < append->wait_count; i++) {
		const struct levelzero_event *event =
		    (struct levelzero_event *)append->operation->waits[i];
		if (event->graph != graph->number)
			return tare_fail(error, EINVAL,
			                 "a recorded operation waits only for others of its graph");
		append->waits[i] = event->node;
	}
	status = levelzero_track_of(graph, &queue->engine, &track, error);
	status = status ?: add_node(graph, signals || graph->timed, node, error);
	if (status < 0)
		return status;
	append->list = track->body;
	append->engine = &track->engine;
	append->signal = (*node)->slot ? (*node)->slot->handle : NULL;
	status = order(append, track, error);
	status = status ?: levelzero_append_command(append, error);
	if (status < 0) {
		levelzero_slot_give_unused(append->device, (*node)->slot);
		graph->count--;
		return status;
	}
	track->unordered = !queue->out_of_order && append->operation->type != TARE_OPERATION_MARKER;
	(*node)->unstamped = append->unstamped;
	return 0;
}

int levelzero_graph_append(struct levelzero_queue *queue, const struct tare_operation *operation,
                           struct tare_event **event, struct tare_error *error)
{
	struct levelzero_append append = {
		.device = levelzero_device_of(queue->base.device),
		.call = levelzero_calls(queue->base.device),
		.operation = operation,
		.wait_count = operation->wait_count,
	};
	struct levelzero_event *made = NULL;
	struct levelzero_node *node = NULL;
	int status = 0;

	if (operation->blocking)
		return tare_fail(error, EINVAL, "a graph cannot contain a blocking operation");
	append.waits = calloc(operation->wait_count + 1, sizeof(ze_event_handle_t));
	if (event)
		made = calloc(1, sizeof *made);
	if (!append.waits || (event && !made))
		status = tare_fail(error, ENOMEM, "out of memory");
	status = status ?: record(queue, &append, event != NULL, &node, error);
	free(append.waits);
	if (status < 0) {
		free(made);
		return status;
	}
	if (made) {
		made->base.device = queue->base.device;
		made->graph = queue->recording->number;
		made->node = node->slot->handle;
		*event = &made->base;
	}
	return 0;
}

int levelzero_graph_end(struct tare_queue *base, struct tare_graph **graph,
                        struct tare_error *error)
{
	struct levelzero_queue *queue = (struct levelzero_queue *)base;
	struct levelzero_graph *made = queue->recording;
	int status;

	if (!made || made->origin != queue)
		return tare_fail(error, EINVAL, "this queue records no graph");
	stop_recording(levelzero_device_of(base->device)->work);
	status = levelzero_graph_close_lists(made, error);
	if (status < 0) {
		levelzero_graph_free(&made->base);
		return status;
	}
	*graph = &made->base;
	return 0;
}

// ---- launches

// Whether the queue of the last launch has seen it end. Queues that were freed count until they are
// gone.
static bool is_over(const struct levelzero_graph *graph)
{
	const struct levelzero_work *work = levelzero_device_of(graph->base.device)->work;

	for (const struct levelzero_queue *queue = work->queues; queue; queue = queue->next)
		if (queue->number == graph->queue)
			return queue->done >= graph->serial;
	return true;
}

// Lets the graph begin after what the queue has.
static int let_begin(struct levelzero_graph *graph, struct levelzero_queue *queue,
                     struct tare_error *error)
{
	const struct levelzero_functions *call = levelzero_calls(queue->base.device);
	ze_command_list_handle_t list;
	ze_result_t result;
	int status;

	if (queue->done == queue->last) {
		result = call->zeEventHostSignal(graph->before->handle);
		if (result != ZE_RESULT_SUCCESS)
			return levelzero_fail(result, "zeEventHostSignal", error,
			                      "cannot launch the graph");
		return 0;
	}
	status = levelzero_list_of(queue, &list, error);
	if (status < 0)
		return status;
	result = call->zeCommandListAppendBarrier(list, graph->before->handle, 0, NULL);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeCommandListAppendBarrier", error,
		                      "cannot launch the graph");
	return levelzero_submit(&queue->base, error);
}

static int execute(struct levelzero_graph *graph, struct tare_error *error)
{
	const struct levelzero_functions *call = levelzero_calls(graph->base.device);

	for (uint32_t i = 0; i < graph->track_count; i++) {
		struct levelzero_track *track = &graph->tracks[i];
		ze_command_list_handle_t lists[2] = { i ? track->body : graph->head, track->body };
		ze_result_t result =
		    call->zeCommandQueueExecuteCommandLists(track->native, i ? 1 : 2, lists, NULL);
		if (result != ZE_RESULT_SUCCESS)
			return levelzero_fail(result, "zeCommandQueueExecuteCommandLists", error,
			                      "cannot launch the graph");
	}
	return 0;
}

// The queue goes on, and the event is signalled, when the graph is done.
static int wait_for_end(struct levelzero_graph *graph, struct levelzero_queue *queue,
                        const struct levelzero_event *event, struct tare_error *error)
{
	const struct levelzero_functions *call = levelzero_calls(queue->base.device);
	const char *name = "zeCommandListAppendBarrier";
	ze_command_list_handle_t list;
	int status = levelzero_list_of(queue, &list, error);

	if (status < 0)
		return status;
	ze_result_t result = call->zeCommandListAppendBarrier(list, NULL, 1, &graph->after->handle);
	if (result == ZE_RESULT_SUCCESS) {
		name = "zeCommandListAppendEventReset";
		result = call->zeCommandListAppendEventReset(list, graph->after->handle);
	}
	// Not by the barrier before: the reset must be done when the program hears of the end.
	if (result == ZE_RESULT_SUCCESS && event) {
		name = "zeCommandListAppendBarrier";
		result = call->zeCommandListAppendBarrier(list, event->slot->handle, 0, NULL);
	}
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, name, error, "cannot launch the graph");
	queue->last = ++levelzero_device_of(queue->base.device)->work->serial;
	queue->unordered = false;
	return 0;
}

int levelzero_graph_launch(struct tare_graph *base, struct tare_queue *base_queue,
                           struct tare_event **event, struct tare_error *error)
{
	struct levelzero_graph *graph = (struct levelzero_graph *)base;
	struct levelzero_queue *queue = (struct levelzero_queue *)base_queue;
	struct levelzero_event *made = NULL;
	int status = 0;

	if (queue->recording)
		return tare_fail(error, EINVAL, "a graph cannot contain another");
	if (graph->broken)
		return tare_fail(
		    error, EINVAL,
		    "a launch of this graph failed half way, and may still run; record it again");
	if (graph->launched && graph->queue != queue->number && !is_over(graph))
		return tare_fail(error, EINVAL,
		                 "the graph may still run in another queue; finish that first");
	if (event)
		status = levelzero_event_make(base->device, false, &made, error);
	status = status ?: let_begin(graph, queue, error);
	if (status == 0) {
		graph->launched = true;
		graph->done = false;
		status = execute(graph, error);
		status = status ?: wait_for_end(graph, queue, made, error);
		graph->broken = status < 0;
	}
	if (status < 0) {
		if (made)
			levelzero_event_free(&made->base);
		return status;
	}
	graph->queue = queue->number;
	graph->serial = queue->last;
	if (made) {
		made->queue = queue->number;
		made->serial = queue->last;
		made->timed = queue->timed;
		made->unstamped =
		    "nothing stamps a graph's launch as a whole; its nodes have stamps";
		*event = &made->base;
	}
	return 0;
}

// 0 when the last launch has ended.
static int look_whether_done(struct levelzero_graph *graph, struct tare_error *error)
{
	const struct levelzero_functions *call = levelzero_calls(graph->base.device);

	if (graph->done)
		return 0;
	ze_result_t result = call->zeCommandQueueSynchronize(graph->tracks[0].native, 0);
	if (result == ZE_RESULT_NOT_READY)
		return tare_fail(error, EAGAIN, "the graph is not finished");
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeCommandQueueSynchronize", error,
		                      "the graph failed");
	graph->done = true;
	return 0;
}

int levelzero_graph_stamps(struct tare_graph *base, uint32_t index, struct tare_stamps *stamps,
                           struct tare_error *error)
{
	struct levelzero_graph *graph = (struct levelzero_graph *)base;
	int status;

	*stamps = (struct tare_stamps){ 0 };
	if (index >= graph->count)
		return tare_fail(error, EINVAL, "a graph of %u operations has no number %u",
		                 graph->count, index);
	if (!graph->launched)
		return tare_fail(error, EAGAIN, "the graph was not launched yet");
	if (!graph->timed)
		return tare_fail(error, ENODATA, "the graph was not recorded on a timed queue");
	if (graph->broken)
		return tare_fail(error, ENODATA, "the graph's last launch failed half way");
	status = look_whether_done(graph, error);
	if (status < 0)
		return status;
	if (graph->nodes[index].unstamped)
		return tare_fail(error, ENODATA, "%s", graph->nodes[index].unstamped);
	return levelzero_read_stamps(levelzero_device_of(base->device),
	                             graph->nodes[index].slot->handle, stamps, error);
}

void levelzero_graph_free(struct tare_graph *base)
{
	struct levelzero_graph *graph = (struct levelzero_graph *)base;
	bool over = true;

	if (!graph)
		return;
	for (uint32_t i = 0; graph->launched && i < graph->track_count; i++)
		over =
		    over && levelzero_calls(base->device)
		                    ->zeCommandQueueSynchronize(graph->tracks[i].native,
		                                                FREE_LIMIT_NS) == ZE_RESULT_SUCCESS;
	// What the device still works on is left behind.
	if (over)
		levelzero_graph_free_lists(graph);
	free(graph->tracks);
	free(graph->nodes);
	free(graph);
}
