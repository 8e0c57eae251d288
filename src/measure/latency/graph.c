// SPDX-License-Identifier: Apache-2.0
// What launching a graph of empty kernels costs, by the host's clock and by its nodes' stamps.
#include "backend/call.h"
#include "measure/core/traced.h"
#include "measure/latency/internal.h"

#include <errno.h>

// Leaves a graph of task->batch empty kernels in task->graph.
static int record(struct latency_task *task, struct tare_queue *queue, struct tare_error *error)
{
	struct tare_operation launch = latency_launch(task->latency);
	int status = tare_graph_begin(queue, error);

	if (status < 0)
		return status;
	for (uint32_t i = 0; status == 0 && i < task->batch; i++)
		status = tare_append(queue, &launch, NULL, error);
	if (status < 0) {
		tare_graph_end(queue, &task->graph, NULL);
		return status;
	}
	return tare_graph_end(queue, &task->graph, error);
}

static int run_once(struct latency_task *task, struct tare_queue *queue, struct tare_error *error)
{
	int status = tare_graph_launch(task->graph, queue, NULL, error);

	return status < 0 ? status : tare_finish(queue, TARE_LIMIT_DEFAULT_NS, error);
}

int latency_begin_graph(struct latency_task *task, struct tare_error *error)
{
	struct tare_bench *bench = &task->latency->bench;
	int status = record(task, bench->plain, error);

	return status < 0 ? status : run_once(task, bench->plain, error);
}

int latency_sample_graph(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	struct tare_bench *bench = &task->latency->bench;
	struct tare_host_time begin = tare_device_now(bench->device);
	int status = tare_graph_launch(task->graph, bench->plain, NULL, error);

	status = status ?: tare_finish(bench->plain, TARE_LIMIT_NATIVE, error);
	values[0] = latency_ps(begin, tare_device_now(bench->device), task->batch);
	return status;
}

// ---- making one

int latency_begin_make(struct latency_task *task, struct tare_error *error)
{
	return latency_begin_graph(task, error);
}

int latency_sample_make(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	struct tare_bench *bench = &task->latency->bench;
	struct tare_host_time begin;

	tare_graph_free(task->graph);
	task->graph = NULL;
	begin = tare_device_now(bench->device);
	int status = record(task, bench->plain, error);
	values[0] = latency_ps(begin, tare_device_now(bench->device), task->batch);
	return status;
}

// ---- by the nodes' stamps

// How the nodes' stamps came about goes into the labels.
static void say_how(struct latency_task *task)
{

	for (size_t i = 0; task->traced && i < 2; i++)
		tare_traced_name(&task->figures[i]);
}

static int end_trace(struct latency_task *task, int status, struct tare_error *error)
{
	struct tare_error why = { 0 };
	int ended = task->traced ? tare_engine_stamps_end(task->latency->bench.device, &why) : 0;

	return status < 0 || ended == 0 ? status : tare_error_pass(error, &why, ended);
}

// Stamps belong to a launch, and a launch is known by its event.
static int launch_nodes(struct latency_task *task, struct tare_error *error)
{
	struct tare_queue *queue = task->latency->bench.timed;
	int status;

	tare_event_free(task->event);
	task->event = NULL;
	status = tare_graph_launch(task->graph, queue, &task->event, error);
	status = status < 0 ? status : tare_finish(queue, TARE_LIMIT_DEFAULT_NS, error);
	return end_trace(task, status, error);
}

int latency_begin_nodes(struct latency_task *task, struct tare_error *error)
{
	struct tare_bench *bench = &task->latency->bench;
	int status =
	    task->latency->traceable ? tare_engine_stamps_begin(bench->device, NULL) : -ENOSYS;

	if (tare_device_is_gone(status))
		return tare_fail(error, -status, "the device was lost");
	task->traced = status == 0;
	status = record(task, bench->timed, error);
	status = status < 0 ? end_trace(task, status, error) : launch_nodes(task, error);
	if (status == 0)
		say_how(task);
	return status;
}

// From the stamps of all nodes: what lies between two starts, and how long one lasts.
static int read_nodes(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	const struct tare_clock_rate *rate = &task->latency->bench.rate;
	struct tare_stamps first = { 0 }, node = { 0 };
	int64_t lasted = 0, between;

	for (uint32_t i = 0; i < task->batch; i++) {
		int status = tare_graph_stamps(task->graph, i, &node, error);
		int64_t ticks;
		if (status < 0)
			return status;
		if (!tare_stamps_have(&node, TARE_STAMP_START) ||
		    !tare_stamps_have(&node, TARE_STAMP_END))
			return tare_fail(error, ENODATA, "the driver gives no stamps of the nodes");
		if (i == 0)
			first = node;
		if (node.epoch != first.epoch)
			return tare_fail(error, EAGAIN,
			                 "the stamps of two nodes are not comparable");
		ticks = tare_ticks_elapsed_signed(rate, node.at[TARE_STAMP_START],
		                                  node.at[TARE_STAMP_END]);
		lasted += ticks;
		if (ticks < 0)
			return tare_fail(error, EIO, "a node ends before it starts, by its stamps");
	}
	between =
	    tare_ticks_elapsed_signed(rate, first.at[TARE_STAMP_START], node.at[TARE_STAMP_START]);
	if (between < 0)
		return tare_fail(error, EIO,
		                 "the last node starts before the first, by its stamps");
	values[0] = tare_ticks_to_ps(rate, (uint64_t)between) / (task->batch - 1);
	values[1] = tare_ticks_to_ps(rate, (uint64_t)lasted) / task->batch;
	return 0;
}

int latency_sample_nodes(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	struct tare_bench *bench = &task->latency->bench;
	struct tare_host_time begin = tare_device_now(bench->device);
	int status = task->traced ? tare_engine_stamps_begin(bench->device, error) : 0;

	if (status < 0)
		return status;
	status = launch_nodes(task, error);
	if (status == 0)
		status = tare_bench_can_tell(
		    bench, tare_host_elapsed_ns(begin, tare_device_now(bench->device)), error);
	return status < 0 ? status : read_nodes(task, values, error);
}
