// SPDX-License-Identifier: Apache-2.0
// Graphs of the stand-in for libcuda, recorded from streams by CUDA's rules:
//  - a stream joins a capture by waiting for an event that was recorded in it, and all that joined
//    must be joined to the first stream again before the capture ends there (904);
//  - what is captured does not run; an event recorded in a capture is none outside it (907), unless
//    it was recorded as external: then it is a node, recorded at each launch;
//  - asking or waiting for a stream that captures is refused (900) and spoils the capture (901);
//  - a launch runs behind what is in its stream, and what follows there behind the whole graph;
//    branches run beside each other. Launches of one graph follow one another.
#include "fake_cuda_device.h"

#include <stdlib.h>
#include <string.h>

static void add_node(size_t **nodes, size_t *count, size_t node)
{
	*nodes = realloc(*nodes, (*count + 1) * sizeof **nodes);
	(*nodes)[(*count)++] = node;
}

static uint64_t nodes_made;
static void (*node_observer)(uint64_t node, uint64_t original);

static uint64_t new_node(uint64_t original)
{
	nodes_made++;
	if (node_observer)
		node_observer(nodes_made, original);
	return nodes_made;
}

void fake_cuda_observe_nodes(void (*see)(uint64_t node, uint64_t original))
{
	pthread_mutex_lock(&mutex);
	node_observer = see;
	pthread_mutex_unlock(&mutex);
}

cu_result capture_operation(struct cu_stream_object *stream, const struct op *what)
{
	struct cu_graph_object *graph = stream->capture->graph;

	graph->nodes = realloc(graph->nodes, (graph->count + 1) * sizeof *graph->nodes);
	graph->nodes[graph->count] =
	    (struct node){ *what, stream->branch, graph->count, stream->nodes, stream->node_count };
	graph->nodes[graph->count].op.graph_node = new_node(0);
	if (what->kind == RECORD)
		what->event->users++;
	stream->nodes = NULL;
	stream->node_count = 0;
	add_node(&stream->nodes, &stream->node_count, graph->count++);
	return ABI_SUCCESS;
}

static struct capture *capture_of(const struct cu_event_object *event)
{
	for (int i = 0; event->capture && i < gpu.words.devices; i++)
		for (struct cu_stream_object *each = gpu.devices[i].streams; each;
		     each = each->next)
			if (each->capture && each->capture->number == event->capture)
				return each->capture;
	return NULL;
}

cu_result capture_wait(struct cu_stream_object *stream, struct cu_event_object *event)
{
	struct capture *capture = capture_of(event);

	if (stream->capture && !event->capture)
		return FAKE_CAPTURE_ISOLATION;
	if (!capture)
		return ABI_CAPTURED_EVENT; // of a capture that has ended
	if (stream->capture && stream->capture != capture)
		return FAKE_CAPTURE_MERGE;
	if (!stream->capture) {
		if (stream->legacy)
			return FAKE_CAPTURE_IMPLICIT;
		stream->capture = capture;
		stream->branch = capture->graph->branches++;
	}
	for (size_t i = 0; i < event->node_count; i++)
		add_node(&stream->nodes, &stream->node_count, event->nodes[i]);
	return ABI_SUCCESS;
}

void forget_captured(struct cu_event_object *event)
{
	free(event->nodes);
	event->nodes = NULL;
	event->node_count = 0;
	event->capture = 0;
}

void capture_event(struct cu_stream_object *stream, struct cu_event_object *event)
{
	forget_captured(event);
	event->capture = stream->capture->number;
	for (size_t i = 0; i < stream->node_count; i++)
		add_node(&event->nodes, &event->node_count, stream->nodes[i]);
}

cu_result cuStreamBeginCapture_v2(cu_stream handle, cu_capture_mode mode)
{
	static uint64_t number;
	struct cu_stream_object *stream;
	(void)mode;
	ENTER_CONTEXT();
	cu_result result = stream_of(handle, &stream);
	if (result != ABI_SUCCESS)
		return leave(result);
	if (stream->legacy)
		return leave(FAKE_CAPTURE_UNSUPPORTED);
	if (stream->capture)
		return leave(ABI_INVALID_VALUE);
	stream->capture = calloc(1, sizeof *stream->capture);
	stream->capture->graph = calloc(1, sizeof *stream->capture->graph);
	stream->capture->graph->device = stream->device;
	stream->capture->graph->branches = 1;
	stream->capture->origin = stream;
	stream->capture->number = ++number;
	stream->branch = 0;
	return leave(ABI_SUCCESS);
}

static void free_graph(struct cu_graph_object *graph)
{
	for (size_t i = 0; i < graph->count; i++) {
		struct op *op = &graph->nodes[i].op;
		free(op->arguments);
		free(op->staged);
		free(graph->nodes[i].after);
		if (op->event && --op->event->users == 0) {
			forget_captured(op->event);
			free(op->event);
		}
	}
	free(graph->nodes);
	free(graph);
}

// Whether all nodes, and all that joined, come before the origin's end.
static bool all_joined(const struct capture *capture)
{
	const struct cu_graph_object *graph = capture->graph;
	bool *seen = calloc(graph->count + 1, sizeof *seen), all = true;

	for (size_t i = 0; i < capture->origin->node_count; i++)
		seen[capture->origin->nodes[i]] = true;
	for (size_t i = graph->count; i-- > 0;) {
		all &= seen[i];
		for (size_t k = 0; seen[i] && k < graph->nodes[i].after_count; k++)
			seen[graph->nodes[i].after[k]] = true;
	}
	free(seen);
	return all;
}

static void end_capture(struct capture *capture)
{
	for (int i = 0; i < gpu.words.devices; i++)
		for (struct cu_stream_object *each = gpu.devices[i].streams; each;
		     each = each->next)
			if (each->capture == capture) {
				free(each->nodes);
				each->nodes = NULL;
				each->node_count = 0;
				each->capture = NULL;
			}
	free(capture);
}

cu_result cuStreamEndCapture(cu_stream handle, cu_graph *graph)
{
	struct cu_stream_object *stream;
	ENTER_CONTEXT();
	cu_result result = stream_of(handle, &stream);
	*graph = NULL;
	if (result != ABI_SUCCESS)
		return leave(result);
	struct capture *capture = stream->capture;
	if (!capture)
		return leave(ABI_INVALID_VALUE);
	if (capture->origin != stream)
		return leave(FAKE_CAPTURE_UNMATCHED);
	result = capture->invalid      ? FAKE_CAPTURE_INVALIDATED
	         : all_joined(capture) ? ABI_SUCCESS
	                               : FAKE_CAPTURE_UNJOINED;
	if (result == ABI_SUCCESS) {
		*graph = capture->graph;
		gpu.objects++;
	} else {
		free_graph(capture->graph);
	}
	end_capture(capture);
	return leave(result);
}

static char *copy_bytes(const char *bytes, size_t count)
{
	char *made = bytes ? malloc(count ? count : 1) : NULL;
	if (made)
		memcpy(made, bytes, count);
	return made;
}

static size_t argument_bytes(const struct op *op)
{
	if (op->parameter_count == 0)
		return 0;
	const struct parameter *last = &op->parameters[op->parameter_count - 1];
	return last->offset + last->bytes;
}

static struct op copy_op(const struct op *op)
{
	struct op made = *op;
	made.arguments = copy_bytes(op->arguments, argument_bytes(op));
	made.staged = NULL;
	return made;
}

cu_result cuGraphInstantiateWithFlags(cu_graph_exec *exec, cu_graph graph, unsigned long long flags)
{
	(void)flags;
	ENTER_CONTEXT();
	struct cu_graph_object *made = calloc(1, sizeof *made);
	*made = *graph;
	made->last = NULL;
	made->nodes = calloc(graph->count + 1, sizeof *made->nodes);
	for (size_t i = 0; i < graph->count; i++) {
		struct node *node = &made->nodes[i];
		*node = graph->nodes[i];
		node->op = copy_op(&node->op);
		node->op.graph_node = new_node(node->op.graph_node);
		node->after = (size_t *)copy_bytes((char *)node->after,
		                                   node->after_count * sizeof *node->after);
		if (node->op.event)
			node->op.event->users++;
		// Within a graph a kernel costs what the script says of nodes.
		if (node->op.kind == KERNEL && graph->device->script.graph.node_ps >= 0)
			node->op.model.fixed_ps = graph->device->script.graph.node_ps;
	}
	*exec = (cu_graph_exec)made;
	gpu.objects++;
	return leave(ABI_SUCCESS);
}

cu_result cuGraphUpload(cu_graph_exec exec, cu_stream stream)
{
	(void)exec;
	(void)stream;
	ENTER_CONTEXT();
	return leave(ABI_SUCCESS);
}

// A launch: what its branches follow (what was in its stream, and the graph's last launch), and
// when all of its nodes are submitted, at once, however long this host takes over them.
struct launched {
	struct op *stream, *launch;
	int64_t at_ps;
	uint32_t correlation;
};

static struct op *launch_node(struct cu_stream_object *stream, const struct node *node,
                              struct op *const *made, const struct launched *launched)
{
	struct op what = copy_op(&node->op);
	struct lane *lane = lane_of(stream, node->branch);
	bool first = true;

	for (struct op *each = lane->last; each && first; each = each->previous)
		first = each->correlation != launched->correlation;
	what.model.submitted_ps = launched->at_ps;
	if (what.kernel)
		count_in_ptx(what.kernel, (uint64_t)what.grid[0] * what.grid[1] * what.grid[2] *
		                              what.block[0] * what.block[1] * what.block[2]);
	struct op *op = enqueue(stream, lane, &what);
	op->correlation = launched->correlation;
	if (first) {
		follow(op, launched->stream);
		follow(op, launched->launch);
		order_streams(op);
	}
	for (size_t i = 0; i < node->after_count; i++)
		follow(op, made[node->after[i]]);
	return op->kind == HOST_CALL ? enqueue_return(op) : op;
}

cu_result cuGraphLaunch(cu_graph_exec exec, cu_stream handle)
{
	struct cu_graph_object *graph = (struct cu_graph_object *)exec;
	struct cu_stream_object *stream;
	ENTER_CONTEXT();
	cu_result result = stream_of(handle, &stream);
	if (result == ABI_SUCCESS && stream->capture)
		result = ABI_NOT_SUPPORTED; // a child graph: not played here
	if (result == ABI_SUCCESS)
		result = wait_for_room(stream);
	if (result != ABI_SUCCESS)
		return leave(result);
	struct op **made = calloc(graph->count + 1, sizeof *made);
	struct launched launched = { stream->lanes->last, graph->last, now_ps(),
		                     next_correlation() };
	for (size_t i = 0; i < graph->count; i++)
		made[i] = launch_node(stream, &graph->nodes[i], made, &launched);
	struct op end = { .kind = NOTHING,
		          .correlation = launched.correlation,
		          .entry = true,
		          .graph = graph,
		          .model.flow = TARE_FLOW_NONE };
	graph->last = enqueue(stream, stream->lanes, &end);
	if (graph->count == 0)
		order_streams(graph->last);
	for (size_t i = 0; i < graph->count; i++)
		if (graph->nodes[i].branch)
			follow(graph->last, made[i]);
	stream->count++;
	free(made);
	return leave(ABI_SUCCESS);
}

cu_result cuGraphDestroy(cu_graph graph)
{
	ENTER_CONTEXT();
	free_graph(graph);
	gpu.objects--;
	return leave(ABI_SUCCESS);
}

// A launch that is under way goes on.
cu_result cuGraphExecDestroy(cu_graph_exec exec)
{
	struct cu_graph_object *graph = (struct cu_graph_object *)exec;
	ENTER_CONTEXT();
	for (struct cu_stream_object *each = graph->device->streams; each; each = each->next)
		for (struct op *op = each->lanes->first; op; op = op->next)
			if (op->graph == graph)
				op->graph = NULL;
	free_graph(graph);
	gpu.objects--;
	return leave(ABI_SUCCESS);
}
