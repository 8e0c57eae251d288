// SPDX-License-Identifier: Apache-2.0
// What queues cost: launches spread over several, the default ones of the API, making one.
#include "backend/call.h"
#include "measure/latency/internal.h"

#include <errno.h>

// The row's queues, each of which ran one launch.
int latency_begin_queues(struct latency_task *task, struct tare_error *error)
{
	const struct tare_queue_options options = { .order = task->row->order };
	struct tare_operation launch = latency_launch(task->latency);
	int status = 0;

	for (uint32_t i = 0; status == 0 && i < task->row->queues; i++) {
		status = tare_queue_create(task->latency->bench.device, &options, &task->queues[i],
		                           error);
		status = status ?: tare_bench_run(task->queues[i], &launch, error);
	}
	return status;
}

int latency_sample_spread(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	struct tare_operation launch = latency_launch(task->latency);

	return latency_issue(task, task->queues, task->row->queues, &launch, values, error);
}

int latency_sample_default(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	struct tare_operation launch = latency_launch(task->latency);
	int status = latency_launch_and_wait(task->queues[0], &launch, &values[0], error);

	return status < 0 ? status
	                  : latency_issue(task, task->queues, 1, &launch, &values[1], error);
}

// ---- making one

int latency_begin_create(struct latency_task *task, struct tare_error *error)
{
	return task->latency->run->simulated
	           ? tare_fail(error, ENOTSUP, "the simulated device makes queues in no time")
	           : 0;
}

int latency_sample_create(struct latency_task *task, int64_t *values, struct tare_error *error)
{
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
