// SPDX-License-Identifier: Apache-2.0
// What queues cost: launches spread over several, the default ones of the API, making one.
#include "backend/call.h"
#include "measure/latency/internal.h"

#include <errno.h>
#include <stdio.h>

static int make_queues(struct latency_task *task, uint32_t count, enum tare_queue_order order,
                       struct tare_error *error)
{
	const struct tare_queue_options options = { .order = order };
	struct tare_operation launch = latency_launch(task->latency);
	int status = 0;

	for (uint32_t i = 0; status == 0 && i < count; i++) {
		status = tare_queue_create(task->latency->bench.device, &options, &task->queues[i],
		                           error);
		if (status == 0)
			status = tare_bench_run(task->queues[i], &launch, error);
	}
	return status;
}

// The batch, round robin over so many queues. issued_ps and whole_ps: per launch.
static int launch_over(struct latency_task *task, uint32_t count, int64_t *whole_ps,
                       int64_t *issued_ps, struct tare_error *error)
{
	struct tare_device *device = task->latency->bench.device;
	struct tare_operation launch = latency_launch(task->latency);
	struct tare_host_time begin = tare_device_now(device), issued;
	int status = 0;

	for (uint32_t i = 0; status == 0 && i < task->batch; i++)
		status = tare_append(task->queues[i % count], &launch, NULL, error);
	for (uint32_t i = 0; status == 0 && i < count; i++)
		status = tare_submit(task->queues[i], error);
	issued = tare_device_now(device);
	for (uint32_t i = 0; status == 0 && i < count; i++)
		status = tare_finish(task->queues[i], TARE_LIMIT_NATIVE, error);
	*whole_ps = latency_ps(begin, tare_device_now(device), task->batch);
	*issued_ps = latency_ps(begin, issued, task->batch);
	return status;
}

// ---- several queues

void latency_plan_spread(struct latency_task *task, struct tare_measurement *measurement)
{
	char whole[64], issue[64];
	const char *plural = task->row->nodes == 1 ? "" : "s";

	snprintf(whole, sizeof whole, "launch over %u queue%s, then wait", task->row->nodes,
	         plural);
	snprintf(issue, sizeof issue, "launch over %u queue%s, issue only", task->row->nodes,
	         plural);
	task->batch = task->latency->batch;
	latency_figure(task, measurement, whole, "host", task->batch,
	               "launches in turn on queues of their own without profiling, then "
	               "finish of each: host time of the whole, per launch");
	latency_figure(task, measurement, issue, "host", task->batch,
	               LATENCY_ISSUED ", per launch");
}

int latency_begin_spread(struct tare_measurement *measurement, struct tare_error *error)
{
	struct latency_task *task = measurement->context;
	return make_queues(task, task->row->nodes, TARE_QUEUE_IN_ORDER, error);
}

int latency_sample_spread(struct tare_measurement *measurement, int64_t *values,
                          struct tare_error *error)
{
	struct latency_task *task = measurement->context;
	return launch_over(task, task->row->nodes, &values[0], &values[1], error);
}

// ---- the default queues

void latency_plan_default(struct latency_task *task, struct tare_measurement *measurement)
{
	bool legacy = task->row->order == TARE_QUEUE_LEGACY_DEFAULT;

	task->batch = task->latency->batch;
	latency_figure(task, measurement,
	               legacy ? "legacy default, launch and wait"
	                      : "thread's default, launch and wait",
	               "host", 1, "one launch of an empty kernel, then finish; one went before");
	latency_figure(task, measurement,
	               legacy ? "legacy default, many then wait"
	                      : "thread's default, many then wait",
	               "host", task->batch,
	               "launches in a row, then finish: host time of the whole, "
	               "per launch");
	latency_figure(task, measurement,
	               legacy ? "legacy default, issue only" : "thread's default, issue only",
	               "host", task->batch, LATENCY_ISSUED ", per launch");
}

int latency_begin_default(struct tare_measurement *measurement, struct tare_error *error)
{
	struct latency_task *task = measurement->context;
	return make_queues(task, 1, task->row->order, error);
}

int latency_sample_default(struct tare_measurement *measurement, int64_t *values,
                           struct tare_error *error)
{
	struct latency_task *task = measurement->context;
	struct tare_device *device = task->latency->bench.device;
	struct tare_operation launch = latency_launch(task->latency);
	struct tare_host_time begin;
	int status = tare_bench_turn_to(task->queues[0], &launch, error);

	begin = tare_device_now(device);
	if (status == 0)
		status = tare_append(task->queues[0], &launch, NULL, error);
	if (status == 0)
		status = tare_finish(task->queues[0], TARE_LIMIT_NATIVE, error);
	values[0] = latency_ps(begin, tare_device_now(device), 1);
	return status < 0 ? status : launch_over(task, 1, &values[1], &values[2], error);
}

// ---- making one

void latency_plan_create(struct latency_task *task, struct tare_measurement *measurement)
{
	latency_figure(task, measurement, "create a queue", "host", 1,
	               "one call that creates an in-order queue without profiling");
	latency_figure(task, measurement, "free a queue", "host", 1,
	               "one call that frees a queue in which nothing ever ran");
}

int latency_begin_create(struct tare_measurement *measurement, struct tare_error *error)
{
	const struct latency_task *task = measurement->context;

	return task->latency->run->simulated
	           ? tare_fail(error, ENOTSUP, "the simulated device makes queues in no time")
	           : 0;
}

int latency_sample_create(struct tare_measurement *measurement, int64_t *values,
                          struct tare_error *error)
{
	struct latency_task *task = measurement->context;
	struct tare_device *device = task->latency->bench.device;
	const struct tare_queue_options options = { .order = TARE_QUEUE_IN_ORDER };
	struct tare_queue *queue = NULL;
	struct tare_host_time begin = tare_device_now(device), made, freed;
	int status = tare_queue_create(device, &options, &queue, error);

	made = tare_device_now(device);
	tare_queue_free(queue);
	freed = tare_device_now(device);
	values[0] = latency_ps(begin, made, 1);
	values[1] = latency_ps(made, freed, 1);
	return status;
}
