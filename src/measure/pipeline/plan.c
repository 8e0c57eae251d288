// SPDX-License-Identifier: Apache-2.0
// What a run does, step by step, before it begins.
#include "backend/call.h"
#include "measure/pipeline/internal.h"
#include <errno.h>
#include <stdlib.h>

static int reserve(struct pipeline_plan *plan, uint32_t chunks, struct tare_error *error)
{
	size_t steps = (size_t)chunks * TARE_STAGE_COUNT;
	struct pipeline_plan grown = { .capacity = chunks };

	if (chunks <= plan->capacity)
		return 0;
	free(plan->starts);
	free(plan->sizes);
	free(plan->steps);
	free(plan->events);
	free(plan->wanted);
	grown.starts = calloc(chunks, sizeof *grown.starts);
	grown.sizes = calloc(chunks, sizeof *grown.sizes);
	grown.steps = calloc(steps, sizeof *grown.steps);
	grown.events = calloc(steps, sizeof(struct tare_event *));
	grown.wanted = calloc(steps, sizeof *grown.wanted);
	*plan = grown;
	if (grown.starts && grown.sizes && grown.steps && grown.events && grown.wanted)
		return 0;
	plan->capacity = 0;
	return tare_fail(error, ENOMEM, "out of memory");
}

int pipeline_plan(struct tare_pipeline *pipeline, const struct tare_schedule *schedule,
                  enum tare_break how, struct tare_error *error)
{
	struct pipeline_plan *plan = &pipeline->plan;
	int status = reserve(plan, schedule->chunks, error);

	if (status == 0)
		status = tare_schedule_chunks(schedule, pipeline->items, pipeline->kernel.align,
		                              plan->starts, plan->sizes, error);
	if (status < 0)
		return status;
	plan->step_count =
	    tare_schedule_steps(schedule, tare_pipeline_stages(pipeline), plan->steps);
	for (size_t i = 0; i < (size_t)schedule->chunks * TARE_STAGE_COUNT; i++)
		plan->wanted[i] = false;
	for (size_t i = 0; i < plan->step_count; i++) {
		struct tare_step *step = &plan->steps[i];
		if (pipeline->backwards)
			step->chunk = schedule->chunks - 1 - step->chunk;
		if (how == TARE_BREAK_DEFAULT_QUEUE) {
			step->queue = 0;
			step->waits = false;
		}
		// Without input there is nothing that a kernel could wait for.
		if (step->stage == TARE_STAGE_TO_DEVICE ||
		    (step->stage == TARE_STAGE_KERNEL && !pipeline->kernel.in_bytes))
			step->waits = false;
		if (step->waits)
			plan->wanted[pipeline_awaited(step)] = true;
	}
	return 0;
}
