// SPDX-License-Identifier: Apache-2.0
// What a copy of one byte costs, alone and in a row: a transfer's fixed part.
#include "backend/call.h"
#include "measure/latency/internal.h"

#include <string.h>

#define BYTES 4096

static struct tare_operation copy_of(const struct latency_task *task)
{
	struct tare_span host = { task->host, 0, 1 }, device = { task->device, 0, 1 };

	return (struct tare_operation){
		.type = TARE_OPERATION_COPY,
		.source = task->row->to_device ? host : device,
		.destination = task->row->to_device ? device : host,
		.blocking = true,
	};
}

static int calibrate(struct latency_task *task, struct tare_error *error)
{
	struct tare_bench *bench = &task->latency->bench;
	struct tare_figure *figure = &task->figures[1];
	struct tare_operation copy = copy_of(task);
	int64_t ps;
	int status;

	copy.blocking = false;
	status = tare_bench_run(bench->timed, &copy, error);
	status = status ?: tare_bench_batch_ps(bench, &copy, 1, &ps, error);
	if (status < 0)
		return status;
	task->batch = tare_bench_batch(bench, &copy, ps);
	figure->quantum = tare_bench_batch_step_ps(bench, task->batch);
	if (task->batch > 1)
		tare_labels_set_number(&figure->labels, "batch", task->batch);
	return 0;
}

static int make_memories(struct latency_task *task, struct tare_error *error)
{
	struct tare_device *device = task->latency->bench.device;
	int status = tare_memory_create(device, task->row->kind, BYTES, &task->host, error);

	if (status == 0)
		status =
		    tare_memory_create(device, TARE_MEMORY_DEVICE, BYTES, &task->device, error);
	if (status == 0 && task->host->host)
		memset(task->host->host, 0x5a, BYTES);
	return status;
}

int latency_begin_copies(struct latency_task *task, struct tare_error *error)
{
	struct tare_operation copy;
	int status = make_memories(task, error);

	if (status < 0)
		return status;
	copy = copy_of(task);
	copy.blocking = false;
	return tare_bench_run(task->latency->bench.plain, &copy, error);
}

int latency_begin_copy(struct latency_task *task, struct tare_error *error)
{
	int status = latency_begin_copies(task, error);

	return status < 0 || !task->latency->bench.stamped ? status : calibrate(task, error);
}

int latency_sample_copy(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	struct tare_bench *bench = &task->latency->bench;
	struct tare_operation copy = copy_of(task);
	struct tare_host_time begin;
	int status = tare_bench_turn_to(bench->plain, &copy, error);

	begin = tare_device_now(bench->device);
	status = status ?: tare_append(bench->plain, &copy, NULL, error);
	values[0] = latency_ps(begin, tare_device_now(bench->device), 1);
	if (status < 0 || !bench->stamped)
		return status;
	return tare_bench_batch_ps(bench, &copy, task->batch, &values[1], error);
}

// ---- in a row, not waited for

int latency_sample_copies(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	struct tare_operation copy = copy_of(task);

	copy.blocking = false;
	return latency_issue(task, &task->latency->bench.plain, 1, &copy, values, error);
}
