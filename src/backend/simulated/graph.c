// SPDX-License-Identifier: Apache-2.0
// Graphs: operations recorded from a queue, and from those that wait for its nodes, launched at the
// cost of one call. Each queue's nodes are a chain, as in the queue itself.
#include "backend/simulated/simulated.h"
#include "base/room.h"

#include <errno.h>
#include <stdlib.h>

// The number of a queue's lane; made if it has none yet. -ENOMEM.
static int lane_of(struct simulated_graph *graph, const struct simulated_queue *queue,
                   uint32_t *lane)
{
	struct simulated_lane *grown;

	for (*lane = 0; *lane < graph->lane_count; ++*lane)
		if (graph->lanes[*lane].from == queue)
			return 0;
	grown = tare_grow(graph->lanes, graph->lane_count, sizeof *grown);
	if (!grown)
		return -ENOMEM;
	graph->lanes = grown;
	graph->lanes[graph->lane_count++] = (struct simulated_lane){ .from = queue };
	return 0;
}

int simulated_graph_begin(struct tare_queue *base, struct tare_error *error)
{
	struct simulated_queue *queue = (struct simulated_queue *)base;
	struct simulated_device *device = (struct simulated_device *)base->device;
	int status = simulated_check(device, error);

	status = status ?: simulated_lacks(device, TARE_LACK_GRAPHS, error);
	if (status < 0)
		return status;
	if (queue->recording)
		return tare_fail(error, EINVAL, "the queue records a graph already");
	struct simulated_graph *graph = calloc(1, sizeof *graph);
	if (!graph)
		return tare_fail(error, ENOMEM, "out of memory");
	graph->base.device = base->device;
	graph->queue = queue;
	uint32_t first;
	if (lane_of(graph, queue, &first) < 0) {
		free(graph);
		return tare_fail(error, ENOMEM, "out of memory");
	}
	queue->recording = graph;
	return 0;
}

void simulated_graph_join(struct simulated_queue *queue, const struct tare_operation *operation)
{
	for (uint32_t i = 0; !queue->recording && i < operation->wait_count; i++) {
		const struct simulated_graph *graph =
		    ((struct simulated_event *)operation->waits[i])->graph;
		// Graphs that are recorded to the end are in no queue, and may be gone.
		for (struct simulated_queue *each =
		         ((struct simulated_device *)queue->base.device)->queues;
		     graph && each; each = each->next)
			if (each->recording == graph)
				queue->recording = each->recording;
	}
}

// Room for one more node, and its place.
static int make_place(struct simulated_graph *graph, const struct simulated_queue *queue,
                      const struct tare_operation *operation)
{
	struct simulated_place *place;

	place = TARE_ROOM_FOR(graph->places, graph->place_room, graph->count);
	if (!place || !TARE_ROOM_FOR(graph->nodes, graph->node_room, graph->count))
		return -ENOMEM;
	*place = (struct simulated_place){ .wait_count = operation->wait_count };
	if (lane_of(graph, queue, &place->lane) < 0)
		return -ENOMEM;
	place->waits = calloc(operation->wait_count + 1, sizeof *place->waits);
	for (uint32_t i = 0; place->waits && i < operation->wait_count; i++)
		place->waits[i] = ((struct simulated_event *)operation->waits[i])->node;
	return place->waits ? 0 : -ENOMEM;
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
	if (make_place(graph, queue, operation) < 0)
		return tare_fail(error, ENOMEM, "out of memory");
	struct simulated_command *node = simulated_command_new(device);
	struct tare_event *made = event && node ? simulated_event_new(device, NULL) : NULL;
	int status = 0;
	if (!node || (event && !made))
		status = tare_fail(error, ENOMEM, "out of memory");
	status = status ?: simulated_command_fill(node, operation, error);
	status = status ?: simulated_cost(queue, node, &work, error);
	if (status == 0 && (work.before_ps || work.during_ps))
		status = tare_fail(error, ENOTSUP, "copies of pageable memory cannot be recorded");
	if (status < 0) {
		free(graph->places[graph->count].waits);
		simulated_command_release(node);
		simulated_event_free(made);
		return status;
	}
	int64_t node_ps = device->script->graph.node_ps;
	if (node_ps >= 0 && operation->type == TARE_OPERATION_LAUNCH)
		node->model.fixed_ps = node_ps;
	// It only says who waits for whom.
	if (operation->type == TARE_OPERATION_MARKER)
		node->model.fixed_ps = 0;
	graph->nodes[graph->count++] = node;
	if (event) {
		((struct simulated_event *)made)->graph = graph;
		((struct simulated_event *)made)->node = graph->count - 1;
		*event = made;
	}
	simulated_spend(device, device->script->host.append_ps);
	return 0;
}

// No queue records into it any more.
static void leave(struct simulated_graph *graph)
{
	struct simulated_device *device = (struct simulated_device *)graph->base.device;

	for (struct simulated_queue *each = device->queues; each; each = each->next)
		if (each->recording == graph)
			each->recording = NULL;
}

void simulated_graph_leave(struct simulated_queue *queue)
{
	struct simulated_graph *graph = queue->recording;

	if (graph && graph->queue == queue) {
		leave(graph);
		simulated_graph_free(&graph->base);
	}
	queue->recording = NULL;
}

// Whether a node after the last one of each lane waits for it.
static bool is_joined(const struct simulated_graph *graph)
{
	for (uint32_t lane = 1; lane < graph->lane_count; lane++) {
		uint32_t last = 0;
		bool waited = false;
		for (uint32_t i = 0; i < graph->count; i++)
			if (graph->places[i].lane == lane)
				last = i;
		for (uint32_t i = last; i < graph->count; i++)
			for (uint32_t k = 0; k < graph->places[i].wait_count; k++)
				waited |= graph->places[i].waits[k] == last;
		if (!waited)
			return false;
	}
	return true;
}

static int open_lanes(struct simulated_graph *graph, struct tare_error *error)
{
	static const struct tare_queue_options options = { .order = TARE_QUEUE_IN_ORDER };
	int status = 0;

	for (uint32_t i = 1; status == 0 && i < graph->lane_count; i++) {
		status = simulated_queue_create(graph->base.device, &options, &graph->lanes[i].runs,
		                                error);
		if (status == 0)
			((struct simulated_queue *)graph->lanes[i].runs)->deferred = false;
	}
	return status;
}

int simulated_graph_end(struct tare_queue *base, struct tare_graph **result,
                        struct tare_error *error)
{
	struct simulated_queue *queue = (struct simulated_queue *)base;
	struct simulated_device *device = (struct simulated_device *)base->device;
	int status = simulated_check(device, error);

	if (status < 0)
		return status;
	struct simulated_graph *graph = queue->recording;
	if (!graph || graph->queue != queue)
		return tare_fail(error, EINVAL, "the queue records no graph");
	leave(graph);
	if (graph->count == 0)
		status = tare_fail(error, EINVAL, "nothing was recorded");
	else if (!is_joined(graph))
		status = tare_fail(error, EINVAL,
		                   "a queue that joined the graph was not waited for in the end");
	else
		status = open_lanes(graph, error);
	if (status < 0) {
		simulated_graph_free(&graph->base);
		return status;
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

// An out-of-order queue would not keep a lane's chain: each node names its predecessor.
static int enqueue_node(struct simulated_graph *graph, uint32_t index,
                        struct simulated_queue *queue, int64_t seen_ps, struct tare_error *error)
{
	const struct simulated_place *place = &graph->places[index];
	struct tare_queue *lane = graph->lanes[place->lane].runs;
	uint32_t count = 0, before = index;
	struct simulated_event *waits = calloc(place->wait_count + 1, sizeof *waits);
	struct tare_event **events = calloc(place->wait_count + 1, sizeof(struct tare_event *));
	int status = waits && events ? 0 : tare_fail(error, ENOMEM, "out of memory");

	while (before > 0 && graph->places[before - 1].lane != place->lane)
		before--;
	for (uint32_t i = 0; status == 0 && i <= place->wait_count; i++) {
		bool own = i == place->wait_count;
		if (own && before == 0)
			break;
		waits[count] = (struct simulated_event){
			.base = { graph->base.device },
			.command = graph->launched[own ? before - 1 : place->waits[i]],
		};
		events[count] = &waits[count].base;
		count++;
	}
	if (status == 0)
		status = simulated_command_enqueue(lane ? (struct simulated_queue *)lane : queue,
		                                   graph->launched[index], events, count, seen_ps,
		                                   error);
	free(waits);
	free(events);
	return status;
}

int simulated_graph_launch(struct tare_graph *base, struct tare_queue *queue_base,
                           struct tare_event **event, struct tare_error *error)
{
	struct simulated_graph *graph = (struct simulated_graph *)base;
	struct simulated_queue *queue = (struct simulated_queue *)queue_base;
	struct simulated_device *device = (struct simulated_device *)base->device;
	int status = simulated_check(device, error);

	status = status ?: make_instances(graph, queue->timed, error);
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
		graph->launched[i]->number = ++device->commands;
		status = enqueue_node(graph, i, queue, seen_ps, error);
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
	for (uint32_t i = 0; i < graph->count; i++) {
		simulated_command_release(graph->nodes[i]);
		free(graph->places[i].waits);
	}
	for (uint32_t i = 0; i < graph->lane_count; i++)
		simulated_queue_free(graph->lanes[i].runs);
	free(graph->lanes);
	free(graph->places);
	free(graph->nodes);
	free(graph);
}
