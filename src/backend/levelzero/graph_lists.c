// SPDX-License-Identifier: Apache-2.0
// The lists of a graph. A closed regular list may be executed again and again: that is Level Zero's
// graph. There is one list an engine, a track, for two lists that wait for each other on one engine
// could wait for ever; and queues that share an engine share its track.
//
//   head     waits for `before`, which the launching queue signals; resets the nodes' events of the
//            launch before; then lets the other tracks start
//   body 0   the first track's nodes; waits for the `end` of every other track; signals `after`
//   body n   waits for its `start`; its nodes; signals its `end`
//
// Who waits for one of these four events resets it, so that a launch leaves them as it found them.
#include "backend/levelzero/graph.h"

#include <stdlib.h>

static int barrier(const struct levelzero_graph *graph, ze_command_list_handle_t list,
                   const struct levelzero_slot *signal, const struct levelzero_slot *wait,
                   struct tare_error *error)
{
	ze_event_handle_t waited = wait ? wait->handle : NULL;
	ze_result_t result = levelzero_calls(graph->base.device)
	                         ->zeCommandListAppendBarrier(list, signal ? signal->handle : NULL,
	                                                      wait ? 1 : 0, wait ? &waited : NULL);

	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeCommandListAppendBarrier", error,
		                      "cannot record a graph");
	return 0;
}

static int reset(const struct levelzero_graph *graph, ze_command_list_handle_t list,
                 const struct levelzero_slot *slot, struct tare_error *error)
{
	ze_result_t result =
	    levelzero_calls(graph->base.device)->zeCommandListAppendEventReset(list, slot->handle);

	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeCommandListAppendEventReset", error,
		                      "cannot record a graph");
	return 0;
}

static int wait_and_reset(const struct levelzero_graph *graph, ze_command_list_handle_t list,
                          const struct levelzero_slot *slot, struct tare_error *error)
{
	int status = barrier(graph, list, NULL, slot, error);
	return status < 0 ? status : reset(graph, list, slot, error);
}

static int begin_track(struct levelzero_graph *graph, struct levelzero_track *track,
                       struct tare_error *error)
{
	struct levelzero_device *device = levelzero_device_of(graph->base.device);
	int status = levelzero_regular_list_open(device, &track->engine, &track->body, error);

	if (status == 0)
		status = levelzero_native_queue_open(device, &track->engine, &track->native, error);
	if (status < 0 || track == graph->tracks)
		return status;
	status = levelzero_slot_take(device, false, &track->start, error);
	status = status ?: levelzero_slot_take(device, false, &track->end, error);
	return status < 0 ? status : wait_and_reset(graph, track->body, track->start, error);
}

// Gives back what every launch leaves as it found it, but for one that failed half way.
static void give_back(struct levelzero_graph *graph, struct levelzero_slot *slot)
{
	struct levelzero_device *device = levelzero_device_of(graph->base.device);

	if (graph->broken)
		levelzero_slot_give(device, slot, false);
	else
		levelzero_slot_give_unused(device, slot);
}

static void end_track(struct levelzero_graph *graph, struct levelzero_track *track)
{
	const struct levelzero_functions *call = levelzero_calls(graph->base.device);

	if (track->body)
		call->zeCommandListDestroy(track->body);
	if (track->native)
		call->zeCommandQueueDestroy(track->native);
	give_back(graph, track->start);
	give_back(graph, track->end);
	*track = (struct levelzero_track){ 0 };
}

int levelzero_track_of(struct levelzero_graph *graph, const struct levelzero_engine *engine,
                       struct levelzero_track **track, struct tare_error *error)
{
	for (uint32_t i = 0; i < graph->track_count; i++) {
		*track = &graph->tracks[i];
		if ((*track)->engine.ordinal == engine->ordinal &&
		    (*track)->engine.index == engine->index)
			return 0;
	}
	*track = &graph->tracks[graph->track_count];
	(*track)->engine = *engine;
	int status = begin_track(graph, *track, error);
	if (status < 0)
		end_track(graph, *track);
	else
		graph->track_count++;
	return status;
}

static int end_bodies(struct levelzero_graph *graph, struct tare_error *error)
{
	struct levelzero_track *first = &graph->tracks[0];
	int status = 0;

	for (uint32_t i = 1; status == 0 && i < graph->track_count; i++) {
		status = barrier(graph, graph->tracks[i].body, graph->tracks[i].end, NULL, error);
		status = status ?: wait_and_reset(graph, first->body, graph->tracks[i].end, error);
	}
	return status < 0 ? status : barrier(graph, first->body, graph->after, NULL, error);
}

static int write_head(struct levelzero_graph *graph, struct tare_error *error)
{
	struct levelzero_device *device = levelzero_device_of(graph->base.device);
	int status =
	    levelzero_regular_list_open(device, &graph->tracks[0].engine, &graph->head, error);

	status = status ?: wait_and_reset(graph, graph->head, graph->before, error);
	for (uint32_t i = 0; status == 0 && i < graph->count; i++)
		if (graph->nodes[i].slot)
			status = reset(graph, graph->head, graph->nodes[i].slot, error);
	status = status ?: barrier(graph, graph->head, NULL, NULL, error);
	for (uint32_t i = 1; status == 0 && i < graph->track_count; i++) {
		ze_result_t result = device->driver->call.zeCommandListAppendSignalEvent(
		    graph->head, graph->tracks[i].start->handle);
		if (result != ZE_RESULT_SUCCESS)
			status = levelzero_fail(result, "zeCommandListAppendSignalEvent", error,
			                        "cannot record a graph");
	}
	return status;
}

static int close_list(const struct levelzero_graph *graph, ze_command_list_handle_t list,
                      struct tare_error *error)
{
	ze_result_t result = levelzero_calls(graph->base.device)->zeCommandListClose(list);

	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeCommandListClose", error, "cannot record a graph");
	return 0;
}

int levelzero_graph_close_lists(struct levelzero_graph *graph, struct tare_error *error)
{
	int status = end_bodies(graph, error);

	status = status ?: write_head(graph, error);
	status = status ?: close_list(graph, graph->head, error);
	for (uint32_t i = 0; status == 0 && i < graph->track_count; i++)
		status = close_list(graph, graph->tracks[i].body, error);
	return status;
}

void levelzero_graph_free_lists(struct levelzero_graph *graph)
{
	struct levelzero_device *device = levelzero_device_of(graph->base.device);
	const struct levelzero_functions *call = &device->driver->call;

	while (graph->track_count)
		end_track(graph, &graph->tracks[--graph->track_count]);
	if (graph->head)
		call->zeCommandListDestroy(graph->head);
	for (uint32_t i = 0; i < graph->count; i++) {
		if (graph->launched)
			levelzero_slot_give(device, graph->nodes[i].slot, true);
		else
			levelzero_slot_give_unused(device, graph->nodes[i].slot);
	}
	give_back(graph, graph->before);
	// The launching queue may still have to reset it; then it is never seen signalled again,
	// and waits in limbo for the device to be closed.
	if (graph->after)
		graph->after->waited = graph->serial;
	levelzero_slot_give(device, graph->after, false);
}
