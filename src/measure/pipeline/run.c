// SPDX-License-Identifier: Apache-2.0
// Running a schedule: appending its steps, submitting them, waiting; and every way of doing it
// wrong that `--break` knows.
#include "backend/call.h"
#include "measure/pipeline/internal.h"

#include <errno.h>
#include <stdlib.h>

// Operations that a queue gathers before it is submitted, once the device has work.
#define GATHER 3
// So many operations at least are submitted one by one first.
#define ALONE_LEAST 12

struct execution {
	struct tare_pipeline *pipeline;
	enum tare_break how;
	bool all_events;
	bool native; // wait with the API's own call
	enum pipeline_queue_set set;
	uint32_t queue_count;
	size_t alone;                 // so many operations are submitted one by one
	uint32_t *waiting;            // operations in each queue that are not submitted
	struct pipeline_graph *graph; // launched instead; NULL: none
	struct tare_module *module;   // of a kernel that was never launched
	struct tare_kernel *kernel;
	struct pipeline_operation prepared[TARE_STAGE_COUNT];
};

// ---- the plan

void pipeline_drop_events(struct tare_pipeline *pipeline)
{
	struct pipeline_plan *plan = &pipeline->plan;

	for (size_t i = 0; i < plan->step_count; i++) {
		size_t at = pipeline_slot(plan->steps[i].chunk, plan->steps[i].stage);
		tare_event_free(plan->events[at]);
		plan->events[at] = NULL;
	}
}

// ---- one run

static struct tare_queue *queue_of(const struct execution *execution, uint32_t index)
{
	return execution->pipeline->queues[execution->set].at[index].queue;
}

static int submit_waiting(struct execution *execution, struct tare_error *error)
{
	int status = 0;

	for (uint32_t i = 0; status == 0 && i < execution->queue_count; i++) {
		if (execution->waiting[i])
			status = tare_submit(queue_of(execution, i), error);
		execution->waiting[i] = 0;
	}
	return status;
}

// The break: what a program does that allocates in its loop.
static int allocate(struct execution *execution, uint32_t chunk, struct tare_error *error)
{
	const struct tare_chunk_kernel *kernel = &execution->pipeline->kernel;
	uint64_t item = kernel->in_bytes > kernel->out_bytes ? kernel->in_bytes : kernel->out_bytes;
	struct tare_memory *memory = NULL;
	int status = tare_memory_create(execution->pipeline->device, TARE_MEMORY_DEVICE,
	                                item ? item * execution->pipeline->plan.sizes[chunk] : 64,
	                                &memory, error);

	tare_memory_free(memory);
	return status;
}

static int append_step(struct execution *execution, size_t index, struct tare_error *error)
{
	struct pipeline_plan *plan = &execution->pipeline->plan;
	const struct tare_step *step = &plan->steps[index];
	struct pipeline_operation *prepared = &execution->prepared[step->stage];
	struct tare_operation *operation = &prepared->operation;
	size_t at = pipeline_slot(step->chunk, step->stage);
	bool event = execution->all_events || plan->wanted[at];
	int status = 0;

	pipeline_aim(execution->pipeline, step->stage, plan->starts[step->chunk],
	             plan->sizes[step->chunk], prepared);
	operation->blocking =
	    execution->how == TARE_BREAK_BLOCKING && step->stage != TARE_STAGE_KERNEL;
	operation->waits = step->waits ? &plan->events[pipeline_awaited(step)] : NULL;
	operation->wait_count = step->waits;
	// It must not wait for what no device has seen yet.
	if (operation->blocking)
		status = submit_waiting(execution, error);
	if (status == 0)
		status = tare_append(queue_of(execution, step->queue), operation,
		                     event ? &plan->events[at] : NULL, error);
	if (status < 0)
		return status;
	execution->waiting[step->queue]++;
	// A word in time to a device that has nothing to do; later, a few operations at once.
	if (index < execution->alone || execution->waiting[step->queue] >= GATHER)
		status = submit_waiting(execution, error);
	return status;
}

static int append_all(struct execution *execution, struct tare_error *error)
{
	struct pipeline_plan *plan = &execution->pipeline->plan;
	uint32_t begun = 0; // chunks
	int status = 0;

	for (size_t i = 0; status == 0 && i < plan->step_count; i++) {
		if (execution->how == TARE_BREAK_ALLOCATION && plan->steps[i].chunk >= begun) {
			begun = plan->steps[i].chunk + 1;
			if (begun > 1)
				status = allocate(execution, plan->steps[i].chunk, error);
		}
		status = status ?: append_step(execution, i, error);
	}
	return status < 0 ? status : submit_waiting(execution, error);
}

static int launch_graph(struct execution *execution, struct tare_error *error)
{
	int status =
	    tare_graph_launch(execution->graph->graph, queue_of(execution, 0), NULL, error);

	return status < 0 ? status : tare_submit(queue_of(execution, 0), error);
}

static int finish_all(struct execution *execution, int64_t limit_ns, struct tare_error *error)
{
	int status = 0;

	for (uint32_t i = 0; status == 0 && i < execution->queue_count; i++)
		status = tare_finish(queue_of(execution, i), limit_ns, error);
	return status;
}

// These are about what the host does while the device works.
static bool is_of_host(enum tare_break how)
{
	return how == TARE_BREAK_BLOCKING || how == TARE_BREAK_ALLOCATION ||
	       how == TARE_BREAK_LAZY_LOADING;
}

static int issue(struct execution *execution, struct tare_error *error)
{
	struct tare_pipeline *pipeline = execution->pipeline;
	const struct pipeline_queue *queues = pipeline->queues[execution->set].at;
	bool ordered = execution->set != PIPELINE_OUT_OF_ORDER &&
	               execution->set != PIPELINE_OUT_OF_ORDER_TIMED;
	bool clocked = tare_pipeline_by_device(pipeline);
	int status = 0;

	if (clocked)
		status = pipeline_clock_begin(pipeline, queues, execution->queue_count,
		                              execution->graph ? 0 : pipeline->plan.steps[0].queue,
		                              error);
	if (status == 0 && clocked && is_of_host(execution->how))
		status = pipeline_clock_go(pipeline, error);
	if (status == 0)
		status = execution->graph ? launch_graph(execution, error)
		                          : append_all(execution, error);
	if (status == 0 && clocked)
		status =
		    pipeline_clock_end(pipeline, queues, execution->queue_count, ordered, error);
	return status;
}

static int execute(struct execution *execution, int64_t *ns, int64_t *issue_ns,
                   struct tare_error *error)
{
	struct tare_pipeline *pipeline = execution->pipeline;
	bool clocked = tare_pipeline_by_device(pipeline);
	struct tare_host_time begin = tare_run_now(pipeline->bench->run), issued;
	int status = issue(execution, error);

	issued = tare_run_now(pipeline->bench->run);
	if (status == 0 && clocked)
		status = pipeline_clock_go(pipeline, error);
	if (status == 0)
		status = finish_all(execution,
		                    execution->native ? TARE_LIMIT_NATIVE : TARE_LIMIT_DEFAULT_NS,
		                    error);
	*ns = tare_host_elapsed_ns(begin, tare_run_now(pipeline->bench->run));
	*issue_ns = tare_host_elapsed_ns(begin, issued);
	if (status == 0 && clocked)
		status = pipeline_clock_read(pipeline, execution->queue_count, *ns, ns, error);
	pipeline_clock_clear(pipeline);
	if (status < 0 && !tare_device_is_gone(status)) {
		// What was appended before the failure must not meet the next run.
		struct tare_error why;
		int settled = submit_waiting(execution, &why);
		if (settled == 0)
			settled = finish_all(execution, TARE_LIMIT_DEFAULT_NS, &why);
		if (tare_device_is_gone(settled)) {
			status = settled;
			if (error)
				*error = why;
		}
	}
	return status;
}

// ---- its preparation

static enum pipeline_queue_set set_of(const struct tare_pipeline *pipeline,
                                      const struct tare_schedule *schedule, enum tare_break how,
                                      bool timed)
{
	if (how == TARE_BREAK_DEFAULT_QUEUE)
		return PIPELINE_DEFAULT;
	if (schedule->mechanism == TARE_MECHANISM_OUT_OF_ORDER)
		return timed ? PIPELINE_OUT_OF_ORDER_TIMED : PIPELINE_OUT_OF_ORDER;
	if (schedule->mechanism == TARE_MECHANISM_STAGE_QUEUES)
		return pipeline_stage_set(pipeline, timed);
	return timed ? PIPELINE_TIMED : PIPELINE_PLAIN;
}

static int prepare(struct execution *execution, const struct tare_schedule *schedule, bool timed,
                   struct tare_error *error)
{
	struct tare_pipeline *pipeline = execution->pipeline;
	struct pipeline_ends ends = pipeline_ends(pipeline);
	struct pipeline_queue *last;
	int status = pipeline_plan(pipeline, schedule, execution->how, error);

	execution->set = set_of(pipeline, schedule, execution->how, timed);
	execution->queue_count =
	    execution->how == TARE_BREAK_DEFAULT_QUEUE ? 1 : tare_schedule_queues(schedule);
	execution->alone = 2 * (size_t)execution->queue_count;
	if (execution->alone < ALONE_LEAST)
		execution->alone = ALONE_LEAST;
	if (status == 0)
		status = pipeline_queue(pipeline, execution->set, execution->queue_count - 1, &last,
		                        error);
	if (status == 0 && execution->how == TARE_BREAK_PAGEABLE && !pipeline->pinned)
		status = tare_fail(error, ENOTSUP,
		                   "all host memory is pageable here: this device gave none that "
		                   "is pinned");
	if (status == 0 && execution->how == TARE_BREAK_PAGEABLE)
		status = pipeline_need_heap(pipeline, error);
	if (status < 0)
		return status;
	if (execution->how == TARE_BREAK_PAGEABLE) {
		ends.from = pipeline->heap_in;
		ends.to = pipeline->heap_out;
	}
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		if (pipeline_has(pipeline, (enum tare_stage)stage))
			pipeline_prepare(pipeline, (enum tare_stage)stage, &ends,
			                 &execution->prepared[stage]);
	execution->waiting = calloc(execution->queue_count, sizeof *execution->waiting);
	return execution->waiting ? 0 : tare_fail(error, ENOMEM, "out of memory");
}

// A break, stamps for each operation: these are not recorded, but run as the queues of the graph.
static int need_graph(struct execution *execution, const struct tare_schedule *schedule,
                      struct tare_error *error)
{
	if (schedule->mechanism != TARE_MECHANISM_GRAPH || execution->how != TARE_BREAK_NONE)
		return 0;
	// It is launched into the first queue, and done when that is.
	execution->queue_count = 1;
	return pipeline_graph(execution->pipeline, schedule, &execution->graph, error);
}

// For the break: the kernel anew, which nobody has launched yet.
static int need_kernel(struct execution *execution, struct tare_error *error)
{
	const struct tare_chunk_kernel *kernel = &execution->pipeline->kernel;
	int status;

	if (execution->how != TARE_BREAK_LAZY_LOADING)
		return 0;
	if (!kernel->rebuild)
		return tare_fail(error, ENOTSUP, "this kernel cannot be built a second time");
	status = kernel->rebuild(kernel->context, &execution->module, &execution->kernel, error);
	if (status == 0)
		execution->prepared[TARE_STAGE_KERNEL].operation.launch.kernel = execution->kernel;
	return status;
}

static void clean(struct execution *execution)
{
	pipeline_drop_events(execution->pipeline);
	tare_kernel_free(execution->kernel);
	tare_module_free(execution->module);
	free(execution->waiting);
}

static bool all_tried(const struct execution *execution)
{
	const struct tare_pipeline *pipeline = execution->pipeline;

	if (execution->graph)
		return execution->graph->tried;
	for (uint32_t i = 0; i < execution->queue_count; i++)
		if (pipeline->queues[execution->set].at[i].tried != pipeline->scalars_set)
			return false;
	return true;
}

static void mark_tried(const struct execution *execution)
{
	struct tare_pipeline *pipeline = execution->pipeline;

	if (execution->graph) {
		execution->graph->tried = true;
		return;
	}
	for (uint32_t i = 0; i < execution->queue_count; i++)
		pipeline->queues[execution->set].at[i].tried = pipeline->scalars_set;
}

// The first run in these queues with these scalars: with a limit on every wait, and not counted.
static int try_once(struct execution *execution, struct tare_error *error)
{
	struct tare_pipeline *pipeline = execution->pipeline;
	enum tare_break how = execution->how;
	int64_t ns, issue_ns;
	int status;

	// An API's blocking call has no limit either.
	execution->how = how == TARE_BREAK_BLOCKING ? TARE_BREAK_NONE : how;
	status = execute(execution, &ns, &issue_ns, error);
	execution->how = how;
	pipeline_drop_events(pipeline);
	if (status == 0)
		mark_tried(execution);
	return status;
}

int tare_pipeline_run(struct tare_pipeline *pipeline, const struct tare_schedule *schedule,
                      enum tare_break how, int64_t *ns, int64_t *issue_ns, struct tare_error *error)
{
	struct execution execution = { .pipeline = pipeline, .how = how };
	int64_t issued;
	int status = prepare(&execution, schedule, false, error);

	status = status ?: need_graph(&execution, schedule, error);
	if (status == 0 && !all_tried(&execution))
		status = try_once(&execution, error);
	status = status ?: need_kernel(&execution, error);
	execution.native = true;
	if (status == 0)
		status = execute(&execution, ns, issue_ns ? issue_ns : &issued, error);
	clean(&execution);
	return status;
}

int pipeline_run_limited(struct tare_pipeline *pipeline, const struct tare_schedule *schedule,
                         enum tare_break how, struct tare_error *error)
{
	struct execution execution = { .pipeline = pipeline, .how = how };
	int64_t ns, issue_ns;
	int status = prepare(&execution, schedule, false, error);

	status = status ?: need_graph(&execution, schedule, error);
	status = status ?: need_kernel(&execution, error);
	status = status ?: execute(&execution, &ns, &issue_ns, error);
	if (status == 0)
		mark_tried(&execution);
	clean(&execution);
	return status;
}

static int run_with_events(struct tare_pipeline *pipeline, const struct tare_schedule *schedule,
                           bool timed, int64_t *ns, struct tare_error *error)
{
	struct execution execution = { .pipeline = pipeline,
		                       .how = TARE_BREAK_NONE,
		                       .all_events = true };
	int64_t issued;
	int status = prepare(&execution, schedule, timed, error);

	status = status ?: execute(&execution, ns, &issued, error);
	free(execution.waiting);
	return status;
}

int pipeline_run_timed(struct tare_pipeline *pipeline, const struct tare_schedule *schedule,
                       int64_t *ns, struct tare_error *error)
{
	return run_with_events(pipeline, schedule, true, ns, error);
}

int pipeline_run_traced(struct tare_pipeline *pipeline, const struct tare_schedule *schedule,
                        int64_t *ns, struct tare_error *error)
{
	return run_with_events(pipeline, schedule, false, ns, error);
}
