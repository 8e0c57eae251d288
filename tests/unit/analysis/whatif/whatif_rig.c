// SPDX-License-Identifier: Apache-2.0
#include "whatif_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
	OPERATIONS = 400,
	QUEUES = 5,
	FIRST_PROBE = 3,
	CALL_NS = 1500,
	SUBMISSION_NS = 900,
	WAKE_NS = 4000,
	ALLOCATE_NS = 30000,
	START_NS = 100000,
	PROBES = 6,
	PROBE_NS = 300000,
};

struct rig {
	const struct rig_pipeline *pipeline;
	struct tare_script script;
	struct tare_model *model;
	struct tare_model_queue *queues[QUEUES];
	struct tare_model_operation operations[OPERATIONS];
	size_t count, first_of_pipeline;
	int64_t now_ns, cpu_ns;
	struct made *made;
};

static void make_engines(struct rig *rig)
{
	const uint64_t in = 1 << TARE_FLOW_TO_DEVICE, out = 1 << TARE_FLOW_TO_HOST;
	struct tare_script *script = &rig->script;
	bool one = rig->pipeline->one_copy_engine;
	script->engine_count = one ? 2 : 3;
	script->engines[0] =
	    (struct tare_script_engine){ .compute = true, .flows = 1 << TARE_FLOW_KERNEL };
	script->engines[1] = (struct tare_script_engine){ .flows = one ? in | out : in };
	script->engines[2] = (struct tare_script_engine){ .flows = out };
	script->queue.gap_ps = 1000000;
	script->queue.switch_ps = 1000000;
	if (rig->pipeline->duplex > 0) {
		uint64_t speed = (uint64_t)(rig->pipeline->duplex * 1e6);
		script->concurrency_count = 2;
		script->concurrencies[0] =
		    (struct tare_script_concurrency){ TARE_FLOW_TO_DEVICE, out, speed };
		script->concurrencies[1] =
		    (struct tare_script_concurrency){ TARE_FLOW_TO_HOST, in, speed };
	}
	rig->model = tare_model_new(script, NULL, NULL);
	assert_non_null(rig->model);
	for (int i = 0; i < QUEUES; i++) {
		rig->queues[i] = tare_model_queue_new(rig->model, TARE_MODEL_IN_ORDER, -1);
		assert_non_null(rig->queues[i]);
	}
}

static void host_works(struct rig *rig, int64_t ns)
{
	made_sample(rig->made, rig->now_ns, rig->cpu_ns);
	rig->now_ns += ns;
	rig->cpu_ns += ns;
	made_sample(rig->made, rig->now_ns, rig->cpu_ns);
}

static void calls(struct rig *rig, uint8_t role, int64_t ns)
{
	int64_t enter_ns = rig->now_ns;
	host_works(rig, ns);
	made_call(rig->made, made_plain_call(0, role, enter_ns, rig->now_ns));
}

// Lets the host go on when the operation is done.
static void wait_for(struct rig *rig, const struct tare_model_operation *operation)
{
	assert_true(tare_model_run_until(rig->model, operation, TARE_MODEL_NEVER));
	int64_t done_ns = operation->end_ps / 1000 + WAKE_NS;
	if (done_ns > rig->now_ns)
		rig->now_ns = done_ns;
}

static void enqueue(struct rig *rig, int queue, uint8_t kind, int64_t ns, bool blocking,
                    bool stages)
{
	static const enum tare_flow flows[TARE_KIND_KINDS] = {
		[TARE_KIND_KERNEL] = TARE_FLOW_KERNEL,
		[TARE_KIND_WRITE] = TARE_FLOW_TO_DEVICE,
		[TARE_KIND_READ] = TARE_FLOW_TO_HOST,
	};
	assert_true(rig->count < OPERATIONS);
	struct tare_model_operation *operation = &rig->operations[rig->count++];
	int64_t enter_ns = rig->now_ns, submitted_ns = enter_ns + SUBMISSION_NS;
	tare_model_run(rig->model, enter_ns * 1000);
	*operation = (struct tare_model_operation){ .flow = flows[kind],
		                                    .work_ps = ns * 1000,
		                                    .submitted_ps = submitted_ns * 1000 };
	tare_model_append(rig->model, rig->queues[queue], operation);
	host_works(rig, CALL_NS);
	if (blocking || stages)
		wait_for(rig, operation);
	struct tare_recorded_command command =
	    made_plain_command(0, (uint32_t)queue, kind, enter_ns, rig->now_ns, submitted_ns, 0, 0);
	command.direction = kind == TARE_KIND_WRITE  ? TARE_DIRECTION_TO_DEVICE
	                    : kind == TARE_KIND_READ ? TARE_DIRECTION_FROM_DEVICE
	                                             : TARE_DIRECTION_NONE;
	command.flags = blocking ? TARE_COMMAND_BLOCKING : 0;
	command.memory = kind == TARE_KIND_KERNEL ? TARE_TRACE_MEMORY_UNKNOWN
	                 : stages                 ? TARE_TRACE_MEMORY_PAGEABLE
	                                          : TARE_TRACE_MEMORY_MAPPED;
	command.amount = kind == TARE_KIND_KERNEL ? TARE_NO_INDEX : (uint64_t)ns * 10;
	command.object = kind == TARE_KIND_KERNEL ? 0 : TARE_NO_INDEX;
	command.alignment = kind == TARE_KIND_KERNEL ? 255 : 12;
	made_command(rig->made, command);
}

static void finish(struct rig *rig)
{
	int64_t enter_ns = rig->now_ns;
	made_sample(rig->made, rig->now_ns, rig->cpu_ns);
	for (size_t i = 0; i < rig->count; i++)
		wait_for(rig, &rig->operations[i]);
	made_sample(rig->made, rig->now_ns, rig->cpu_ns);
	made_call(rig->made, made_plain_call(0, TARE_ROLE_WAIT, enter_ns, rig->now_ns));
}

static void probe(struct rig *rig)
{
	for (int i = 0; i < PROBES; i++) {
		enqueue(rig, FIRST_PROBE, TARE_KIND_WRITE, PROBE_NS, false, false);
		enqueue(rig, FIRST_PROBE + 1, TARE_KIND_READ, PROBE_NS, false, false);
	}
	finish(rig);
	for (int i = 0; i < PROBES; i++)
		enqueue(rig, FIRST_PROBE, TARE_KIND_WRITE, PROBE_NS, false, false);
	finish(rig);
	for (int i = 0; i < PROBES; i++)
		enqueue(rig, FIRST_PROBE + 1, TARE_KIND_READ, PROBE_NS, false, false);
	finish(rig);
	rig->now_ns += 100000000; // long ago, for whoever looks for repetitions
}

static void chunk(struct rig *rig, uint32_t number)
{
	const struct rig_pipeline *p = rig->pipeline;
	bool wait_each = p->form == RIG_SEQUENTIAL;
	bool blocking = wait_each || p->form == RIG_BLOCKING, stages = p->form == RIG_PAGEABLE;
	int queue = wait_each || p->form == RIG_DEFAULT_QUEUE ? 0 : (int)(number % 3);
	if (p->pause_ns > 0)
		host_works(rig, p->pause_ns);
	if (p->form == RIG_BUILD)
		calls(rig, TARE_ROLE_BUILD, p->build_ns ? p->build_ns : 3000000);
	for (int i = 0; i < 2 && p->form == RIG_ALLOCATION; i++)
		calls(rig, TARE_ROLE_ALLOCATE, p->allocate_ns ? p->allocate_ns : ALLOCATE_NS);
	enqueue(rig, queue, TARE_KIND_WRITE, p->in_ns, blocking, stages);
	enqueue(rig, queue, TARE_KIND_KERNEL, p->work_ns, false, false);
	if (wait_each)
		finish(rig);
	enqueue(rig, queue, TARE_KIND_READ, p->out_ns, blocking, stages);
	if (p->form == RIG_WAITING)
		finish(rig);
}

// Fills in what the model knows at the end.
static int64_t record(struct rig *rig)
{
	int64_t from_ns = INT64_MAX, to_ns = 0;
	for (size_t i = 0; i < rig->count; i++) {
		const struct tare_model_operation *operation = &rig->operations[i];
		struct tare_recorded_command *command = &rig->made->commands[i];
		assert_int_equal(operation->phase, TARE_PHASE_DONE);
		command->start_ns = operation->start_ps / 1000;
		command->end_ns = operation->end_ps / 1000;
		if (i < rig->first_of_pipeline)
			continue;
		from_ns = command->start_ns < from_ns ? command->start_ns : from_ns;
		to_ns = command->end_ns > to_ns ? command->end_ns : to_ns;
	}
	return to_ns - from_ns;
}

struct made *rig_run(const struct rig_pipeline *pipeline, int64_t *span_ns)
{
	struct rig *rig = calloc(1, sizeof *rig);
	assert_non_null(rig);
	rig->pipeline = pipeline;
	rig->made = made_new(0);
	make_engines(rig);
	made_process(rig->made, INT64_MAX);
	made_thread(rig->made, 0);
	uint32_t device = made_device(rig->made, 0, TARE_NO_INDEX, 0);
	rig->made->devices[device].type = 4; // a GPU
	for (int i = 0; i < QUEUES; i++)
		made_queue(rig->made, 0, device, false);
	calls(rig, TARE_ROLE_START, START_NS);
	if (pipeline->probe)
		probe(rig);
	rig->first_of_pipeline = rig->count;
	for (uint32_t i = 0; i < pipeline->chunks; i++)
		chunk(rig, i);
	finish(rig);
	*span_ns = record(rig);
	made_sort(rig->made);
	rig->made->processes[0].end_ns = rig->made->recording.end_ns = rig->now_ns;
	struct made *made = rig->made;
	tare_model_free(rig->model);
	free(rig);
	return made;
}
