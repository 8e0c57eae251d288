// SPDX-License-Identifier: Apache-2.0
// A schedule as a graph: chunks in as many queues as it says, recorded once, launched as one. The
// first queue is recorded; the others join by waiting for it, and it waits for them in the end.
#include "backend/call.h"
#include "measure/pipeline/internal.h"

#include <stdlib.h>
#include <string.h>

static bool is_for(const struct pipeline_graph *graph, const struct tare_pipeline *pipeline,
                   const struct tare_schedule *schedule)
{
	return graph->graph && graph->scalars_set == pipeline->scalars_set &&
	       graph->backwards == pipeline->backwards &&
	       memcmp(&graph->schedule, schedule, sizeof *schedule) == 0;
}

static void clear(struct pipeline_graph *graph)
{
	tare_graph_free(graph->graph);
	*graph = (struct pipeline_graph){ 0 };
}

void pipeline_graphs_free(struct tare_pipeline *pipeline)
{
	for (int i = 0; i < PIPELINE_GRAPHS; i++)
		clear(&pipeline->graphs[i]);
}

// An operation that only says who waits for whom.
static int mark(struct tare_queue *queue, struct tare_event *const *waits, uint32_t count,
                struct tare_event **event, struct tare_error *error)
{
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER,
		                         .waits = waits,
		                         .wait_count = count };

	return tare_append(queue, &marker, event, error);
}

struct recording {
	struct tare_pipeline *pipeline;
	struct pipeline_operation prepared[TARE_STAGE_COUNT];
	uint32_t queues;
	struct tare_queue **queue;
	struct tare_event *fork;
	struct tare_event **ends; // of the queues but the first
	bool *joined;
};

static int record_steps(struct recording *recording, struct tare_error *error)
{
	struct tare_pipeline *pipeline = recording->pipeline;
	const struct pipeline_plan *plan = &pipeline->plan;
	int status = 0;

	for (size_t i = 0; status == 0 && i < plan->step_count; i++) {
		const struct tare_step *step = &plan->steps[i];
		struct pipeline_operation *prepared = &recording->prepared[step->stage];
		bool joins = step->queue > 0 && !recording->joined[step->queue];
		pipeline_aim(pipeline, step->stage, plan->starts[step->chunk],
		             plan->sizes[step->chunk], prepared);
		prepared->operation.waits = joins ? &recording->fork : NULL;
		prepared->operation.wait_count = joins;
		recording->joined[step->queue] = true;
		status =
		    tare_append(recording->queue[step->queue], &prepared->operation, NULL, error);
	}
	return status;
}

static int record_all(struct recording *recording, struct tare_error *error)
{
	uint32_t ends = 0;
	int status = 0;

	if (recording->queues > 1)
		status = mark(recording->queue[0], NULL, 0, &recording->fork, error);
	status = status ?: record_steps(recording, error);
	for (uint32_t i = 1; status == 0 && i < recording->queues; i++)
		if (recording->joined[i]) {
			status = mark(recording->queue[i], NULL, 0, &recording->ends[ends], error);
			ends += status == 0;
		}
	return status == 0 && ends ? mark(recording->queue[0], recording->ends, ends, NULL, error)
	                           : status;
}

static int record_graph(struct recording *recording, struct tare_graph **graph,
                        struct tare_error *error)
{
	struct tare_error ignored;
	int ended, status = tare_graph_begin(recording->queue[0], error);

	if (status < 0)
		return status;
	status = record_all(recording, error);
	ended = tare_graph_end(recording->queue[0], graph, status < 0 ? &ignored : error);
	if (status < 0 && ended == 0) {
		tare_graph_free(*graph);
		*graph = NULL;
	}
	tare_event_free(recording->fork);
	for (uint32_t i = 0; i < recording->queues; i++)
		tare_event_free(recording->ends[i]);
	return status < 0 ? status : ended;
}

static int record(struct tare_pipeline *pipeline, const struct tare_schedule *schedule,
                  struct tare_graph **graph, struct tare_error *error)
{
	struct recording recording = { .pipeline = pipeline,
		                       .queues = tare_schedule_queues(schedule) };
	struct pipeline_ends ends = pipeline_ends(pipeline);
	struct pipeline_queue *queue;
	int status = 0;

	recording.queue = calloc(recording.queues, sizeof(struct tare_queue *));
	recording.ends = calloc(recording.queues, sizeof(struct tare_event *));
	recording.joined = calloc(recording.queues, sizeof *recording.joined);
	if (!recording.queue || !recording.ends || !recording.joined)
		status = tare_fail(error, ENOMEM, "out of memory");
	for (uint32_t i = recording.queues; status == 0 && i-- > 0;) {
		status = pipeline_queue(pipeline, PIPELINE_PLAIN, i, &queue, error);
		if (status == 0)
			recording.queue[i] = queue->queue;
	}
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		if (pipeline_has(pipeline, (enum tare_stage)stage))
			pipeline_prepare(pipeline, (enum tare_stage)stage, &ends,
			                 &recording.prepared[stage]);
	status = status ?: record_graph(&recording, graph, error);
	free(recording.queue);
	free(recording.ends);
	free(recording.joined);
	return status;
}

int pipeline_graph(struct tare_pipeline *pipeline, const struct tare_schedule *schedule,
                   struct pipeline_graph **found, struct tare_error *error)
{
	struct pipeline_graph *oldest = &pipeline->graphs[0];
	int status;

	for (int i = 0; i < PIPELINE_GRAPHS; i++) {
		struct pipeline_graph *each = &pipeline->graphs[i];
		if (is_for(each, pipeline, schedule)) {
			each->used = ++pipeline->graphs_used;
			*found = each;
			return 0;
		}
		if (each->used < oldest->used)
			oldest = each;
	}
	clear(oldest);
	status = record(pipeline, schedule, &oldest->graph, error);
	if (status < 0)
		return status;
	oldest->schedule = *schedule;
	oldest->scalars_set = pipeline->scalars_set;
	oldest->backwards = pipeline->backwards;
	oldest->used = ++pipeline->graphs_used;
	*found = oldest;
	return 0;
}

int pipeline_can_graph(struct tare_pipeline *pipeline, struct tare_error *error)
{
	static const struct tare_schedule two = { .chunks = 1,
		                                  .queues = 1,
		                                  .mechanism = TARE_MECHANISM_GRAPH };
	struct pipeline_graph *graph;
	int status = pipeline_plan(pipeline, &two, TARE_BREAK_NONE, error);

	return status < 0 ? status : pipeline_graph(pipeline, &two, &graph, error);
}
