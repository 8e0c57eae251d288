// SPDX-License-Identifier: Apache-2.0
// The modelled layer: every run is an operation of one engine model, held until it is the head of
// its queue and its events are modelled. What a run does to events and fences happens in the
// model's own time, from within the model, so that stamps do not depend on the machine.
#include "scripted/scripted.h"

#include "base/random.h"

#include <stdlib.h>

struct scripted_queue {
	uint64_t number; // from 1
};

static struct tare_model *model;
static struct tare_random jitter;
static uint64_t queue_count, operation_count;

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

int64_t scripted_now_ps(void)
{
	int64_t passed_ns = tare_host_elapsed_ns(cpu_device.started, tare_host_now());

	if (!model)
		return 0;
	if (passed_ns >= TARE_PS_MAX / 1000)
		return TARE_PS_MAX;
	// Never before the model, whatever the host's clock does.
	return later(passed_ns * 1000, tare_model_now_ps(model));
}

// ---- what may begin

static bool reads_grid(const struct command *command)
{
	return command && command->type == COMMAND_LAUNCH && launch_indirect(command->launch);
}

// The cost of a run; what no engine that its queue may use serves takes its time on none.
static void find_cost(struct run *run)
{
	struct tare_model_operation *operation = &run->operation;

	scripted_cost(run->command, operation);
	tare_model_jitter(&cpu_device.script, &jitter, operation);
	if (!tare_model_can_run(model, run->queue->model_queue, operation->flow))
		operation->flow = TARE_FLOW_NONE;
}

// What a prefetch moves is its work; to others it is a delay before theirs.
static void move_pages(struct run *run)
{
	int64_t *cost_ps = run->command->type == COMMAND_PREFETCH ? &run->operation.work_ps
	                                                          : &run->operation.fixed_ps;

	*cost_ps = tare_model_add_ps(*cost_ps, scripted_pages_use_ps(run->command));
}

// Lets the head of a queue go once its events are modelled.
static void look(struct cpu_queue *queue)
{
	struct run *head = queue->first_modelled;

	if (!head || !head->scripted || head->scripted->let_go || head->scripted->hangs)
		return;
	const struct command *command = head->command;
	int64_t at_ps = tare_model_now_ps(model);
	for (uint32_t i = 0; command && i < command->wait_count; i++) {
		const struct cpu_point *point = cpu_run_wait(head, i);
		if (!point->modelled)
			return;
		bool other = point->stamp.queue && point->stamp.queue != queue->scripted->number;
		at_ps = later(at_ps,
		              tare_model_add_ps(point->stamp.end_ps,
		                                other ? cpu_device.script.queue.event_gap_ps : 0));
	}
	if (reads_grid(command)) {
		// What the real layer ran is what it cost.
		if (!head->real)
			return;
		find_cost(head);
	}
	if (command)
		move_pages(head);
	head->scripted->let_go = true;
	tare_model_release(&head->operation, at_ps);
}

static void look_at_all(void)
{
	for (struct cpu_queue *queue = cpu_queues; queue; queue = queue->next)
		look(queue);
}

// ---- when the model has it done

static void lose_device(void)
{
	cpu_device.lost = true;
	cpu_changed_for_all();
}

static void done(void *context, struct tare_model_operation *operation)
{
	struct run *run = (struct run *)((char *)operation - offsetof(struct run, operation));
	struct cpu_queue *queue = run->queue;
	bool active = cpu_device.script.stamps & TARE_STAMPS_ACTIVE;

	(void)context;
	if (run->scripted->loses)
		lose_device();
	if (cpu_device.lost)
		return;
	run->stamp.start_ps = operation->start_ps;
	run->stamp.end_ps = operation->end_ps;
	run->stamp.leave_ps = active ? operation->leave_ps : operation->end_ps;
	run->stamp.queue = queue->scripted->number;
	run->stamp.parts = queue->parts;
	run->stamp.known = true;
	cpu_run_modelled(run);
	if (run->command && run->command->signal)
		look_at_all();
	else
		look(queue);
}

// ---- the interface

ze_result_t scripted_start(void)
{
	if (!cpu_device.scripted)
		return ZE_RESULT_SUCCESS;
	model = tare_model_new(&cpu_device.script, done, NULL);
	jitter.state = cpu_device.script.jitter.seed;
	return model ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

ze_result_t scripted_queue_start(struct cpu_queue *queue)
{
	if (!model)
		return ZE_RESULT_SUCCESS;
	queue->scripted = calloc(1, sizeof *queue->scripted);
	queue->model_queue =
	    tare_model_queue_new(model, TARE_MODEL_IN_ORDER, (int)queue->engine_index);
	if (!queue->scripted || !queue->model_queue) {
		scripted_queue_end(queue);
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	}
	if (cpu_device.script.queue.route == TARE_ROUTE_OPERATION)
		tare_model_queue_stray(queue->model_queue);
	queue->scripted->number = ++queue_count;
	return ZE_RESULT_SUCCESS;
}

void scripted_queue_end(struct cpu_queue *queue)
{
	if (!model)
		return;
	for (struct run *run = queue->first_modelled, *next; run; run = next) {
		next = run->next_modelled;
		if (run->scripted)
			tare_model_forget(model, &run->operation);
		// It never will be; so that whoever frees it need not wait for it.
		run->modelled = true;
	}
	queue->first_modelled = queue->last_modelled = NULL;
	tare_model_queue_free(model, queue->model_queue);
	free(queue->scripted);
	queue->model_queue = NULL;
	queue->scripted = NULL;
}

// The faults of the script that hit this run. Runs without a command are not counted.
static void find_faults(struct run *run)
{
	const struct tare_script_faults *faults = &cpu_device.script.faults;

	if (!run->command)
		return;
	operation_count++;
	run->scripted->hangs = faults->hang_at == operation_count;
	run->scripted->fails = faults->fail_at == operation_count;
	run->scripted->loses = faults->lost_at == operation_count;
	run->scripted->wrong = faults->wrong_at == operation_count;
}

// A grid that is not known yet is a launch of no group for now.
static void prepare(struct run *run)
{
	run->operation = (struct tare_model_operation){ .flow = TARE_FLOW_NONE, .held = true };
	if (!run->command)
		return;
	if (reads_grid(run->command))
		run->operation.flow = TARE_FLOW_KERNEL;
	else
		find_cost(run);
	scripted_pages_see(run->command);
}

void scripted_submit(struct run *run)
{
	if (!model)
		return;
	run->scripted = calloc(1, sizeof *run->scripted);
	if (!run->scripted) {
		// The run cannot be modelled, nor what waits for it.
		lose_device();
		return;
	}
	find_faults(run);
	prepare(run);
	run->operation.submitted_ps =
	    tare_model_add_ps(later(run->submitted_ps, tare_model_now_ps(model)),
	                      cpu_device.script.queue.submission_ps);
	tare_model_append(model, run->queue->model_queue, &run->operation);
	look(run->queue);
}

void scripted_host_signal(struct cpu_point *point)
{
	if (!model)
		return;
	scripted_pump();
	point->stamp.start_ps = point->stamp.end_ps = point->stamp.leave_ps =
	    tare_model_now_ps(model);
	point->stamp.queue = 0;
	point->stamp.known = false;
	point->modelled = true;
	look_at_all();
}

void scripted_host_reset(struct cpu_point *point)
{
	if (!model)
		return;
	scripted_pump();
	point->modelled = false;
}

void scripted_pump(void)
{
	if (!model || cpu_device.lost)
		return;
	int64_t now_ps = scripted_now_ps();
	tare_model_run(model, now_ps);
	// A head may have waited for the real layer.
	look_at_all();
	tare_model_run(model, now_ps);
}

int64_t scripted_next_ns(void)
{
	int64_t next_ps;

	if (!model || cpu_device.lost)
		return INT64_MAX;
	// What takes no time is done in passing.
	next_ps = tare_model_next_ps(model);
	if (next_ps == TARE_MODEL_NEVER)
		return INT64_MAX;
	return cpu_device.started.ns + next_ps / 1000 + (next_ps % 1000 != 0);
}
