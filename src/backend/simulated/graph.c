// SPDX-License-Identifier: Apache-2.0
// Graphs: operations recorded from one queue, launched as a chain at the cost of one call.
#include "backend/simulated/simulated.h"

#include <errno.h>
#include <stdlib.h>

int simulated_graph_begin(struct tare_queue *base, struct tare_error *error)
{
	struct simulated_queue *queue = ((struct simulated_queue *)base)->owner;
	struct simulated_device *device = (struct simulated_device *)base->device;
	int status = simulated_check(device, error);

	if (status == 0)
		status = simulated_lacks(device, TARE_LACK_GRAPHS, error);
	if (status < 0)
		return status;
	if (queue->recording)
		return tare_fail(error, EINVAL, "the queue records a graph already");
	struct simulated_graph *graph = calloc(1, sizeof *graph);
	if (!graph)
		return tare_fail(error, ENOMEM, "out of memory");
	graph->base.device = base->device;
	graph->queue = queue;
	queue->recording = graph;
	return 0;
}

int simulated_graph_record(struct simulated_queue *queue, const struct tare_operation *operation,
                           struct tare_event **event, struct tare_error *error)
{
	struct simulated_graph *graph = queue->recording;
	struct simulated_device *device = (struct simulated_device *)queue->base.device;
	struct simulated_host_work work;

	if (operation->blocking)
		return tare_fail(error, EINVAL, "a blocking operation cannot be recorded");
	for (uint32_t i = 0; i < operation->wait_count; i++)
		if (((struct simulated_event *)operation->waits[i])->graph != graph)
			return tare_fail(error, EINVAL,
			                 "a recorded operation waits only for others of its graph");
	if (graph->count == graph->capacity) {
		uint32_t capacity = graph->capacity ? 2 * graph->capacity : 16;
		void *grown = realloc(graph->nodes, capacity * sizeof *graph->nodes);
		if (!grown)
			return tare_fail(error, ENOMEM, "out of memory");
		graph->nodes = grown;
		graph->capacity = capacity;
	}
	struct simulated_command *node = simulated_command_new(device);
	struct tare_event *made = event && node ? simulated_event_new(device, NULL) : NULL;
	int status = 0;
	if (!node || (event && !made))
		status = tare_fail(error, ENOMEM, "out of memory");
	if (status == 0)
		status = simulated_command_fill(node, operation, error);
	if (status == 0)
		status = simulated_cost(queue, node, &work, error);
	if (status == 0 && (work.before_ps || work.during_ps))
		status = tare_fail(error, ENOTSUP, "copies of pageable memory cannot be recorded");
	if (status < 0) {
		simulated_command_release(node);
		simulated_event_free(made);
		return status;
	}
	int64_t node_ps = device->script->graph.node_ps;
	if (node_ps >= 0 && operation->type == TARE_OPERATION_LAUNCH)
		node->model.fixed_ps = node_ps;
	graph->nodes[graph->count++] = node;
	if (event) {
		((struct simulated_event *)made)->graph = graph;
		*event = made;
	}
	simulated_spend(device, device->script->host.append_ps);
	return 0;
}

int simulated_graph_end(struct tare_queue *base, struct tare_graph **result,
                        struct tare_error *error)
{
	struct simulated_queue *queue = ((struct simulated_queue *)base)->owner;
	struct simulated_device *device = (struct simulated_device *)base->device;
	int status = simulated_check(device, error);

	if (status < 0)
		return status;
	struct simulated_graph *graph = queue->recording;
	if (!graph)
		return tare_fail(error, EINVAL, "the queue records no graph");
	queue->recording = NULL;
	if (graph->count == 0) {
		simulated_graph_free(&graph->base);
		return tare_fail(error, EINVAL, "nothing was recorded");
	}
	simulated_spend(device, device->script->graph.instantiate_ps);
	*result = &graph->base;
	return 0;
}

// A copy of a node that can be run.
static struct simulated_command *instance_of(const struct simulated_command *node, bool timed,
                                             struct tare_error *error)
{
	struct simulated_command *command = simulated_command_new(node->device);

	if (!command) {
		tare_fail(error, ENOMEM, "out of memory");
		return NULL;
	}
	command->kernel = node->kernel;
	if (simulated_command_fill(command, &node->operation, error) < 0) {
		simulated_command_release(command);
		return NULL;
	}
	command->timed = timed;
	command->queued_ps = node->device->host_ps;
	command->model.flow = node->model.flow;
	command->model.fixed_ps = node->model.fixed_ps;
	command->model.work_ps = node->model.work_ps;
	command->model.tail_ps = node->model.tail_ps;
	return command;
}

static void forget_launch(struct simulated_graph *graph)
{
	for (uint32_t i = 0; graph->launched && i < graph->count; i++)
		simulated_command_release(graph->launched[i]);
	free(graph->launched);
	graph->launched = NULL;
}

static int make_instances(struct simulated_graph *graph, bool timed, struct tare_error *error)
{
	forget_launch(graph);
	graph->launched = calloc(graph->count, sizeof(struct simulated_command *));
	if (!graph->launched)
		return tare_fail(error, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < graph->count; i++) {
		graph->launched[i] = instance_of(graph->nodes[i], timed, error);
		if (!graph->launched[i])
			return -ENOMEM;
	}
	return 0;
}

int simulated_graph_launch(struct tare_graph *base, struct tare_queue *queue_base,
                           struct tare_event **event, struct tare_error *error)
{
	struct simulated_graph *graph = (struct simulated_graph *)base;
	struct simulated_queue *queue = ((struct simulated_queue *)queue_base)->owner;
	struct simulated_device *device = (struct simulated_device *)base->device;
	int status = simulated_check(device, error);

	if (status == 0)
		status = make_instances(graph, queue->timed, error);
	if (status < 0)
		return status;
	struct tare_event *made = NULL;
	if (event) {
		made = simulated_event_new(device, graph->launched[graph->count - 1]);
		if (!made)
			return tare_fail(error, ENOMEM, "out of memory");
	}
	simulated_spend(device, device->script->graph.launch_ps);
	int64_t seen_ps = tare_model_add_ps(device->host_ps, device->script->queue.submission_ps);
	for (uint32_t i = 0; i < graph->count && status == 0; i++) {
		// An out-of-order queue would not keep the chain: each node names its predecessor.
		struct simulated_event before = { .base = { &device->base },
			                          .command = i ? graph->launched[i - 1] : NULL };
		struct tare_event *wait = &before.base;
		graph->launched[i]->number = ++device->commands;
		status = simulated_command_enqueue(queue, graph->launched[i], &wait, i > 0, seen_ps,
		                                   error);
	}
	if (status < 0) {
		simulated_event_free(made);
		return status;
	}
	if (event)
		*event = made;
	return 0;
}

int simulated_graph_stamps(struct tare_graph *base, uint32_t node, struct tare_stamps *stamps,
                           struct tare_error *error)
{
	struct simulated_graph *graph = (struct simulated_graph *)base;

	if (node >= graph->count)
		return tare_fail(error, EINVAL,
		                 "the graph has %u nodes; number %u is not among them",
		                 graph->count, node);
	if (!graph->launched)
		return tare_fail(error, EINVAL, "the graph was not launched");
	return simulated_command_stamps(graph->launched[node], stamps, error);
}

void simulated_graph_free(struct tare_graph *base)
{
	struct simulated_graph *graph = (struct simulated_graph *)base;

	if (!graph)
		return;
	forget_launch(graph);
	for (uint32_t i = 0; i < graph->count; i++)
		simulated_command_release(graph->nodes[i]);
	free(graph->nodes);
	free(graph);
}
