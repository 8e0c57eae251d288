// SPDX-License-Identifier: Apache-2.0
// What regular command lists cost, and events between host and device: only where the API binds
// queues to engines (Level Zero). A deferred queue is a regular list: append, then submit, which
// closes and executes it, then finish, which synchronises the command queue.
#include "backend/call.h"
#include "measure/latency/internal.h"

#include <errno.h>
#include <stdio.h>

// In the order of the row.
enum list_figure { LAUNCH_AND_WAIT, FENCE_AND_WAIT, APPEND, EXECUTE, THEN_WAIT };

// One went before with a limit; where there are no fences, the reason is the row's.
static int try_fence(struct latency_task *task, struct tare_error *error)
{
	struct tare_operation launch = latency_launch(task->latency);
	int status = tare_append(task->queues[0], &launch, NULL, error);

	status = status ?: tare_finish_fenced(task->queues[0], TARE_LIMIT_DEFAULT_NS, error);
	if (status != -ENOTSUP && status != -ENOSYS)
		return status;
	char *absent = task->figures[FENCE_AND_WAIT].absent;
	snprintf(absent, sizeof task->figures->absent, "%.300s", error->message);
	return tare_finish(task->queues[0], TARE_LIMIT_DEFAULT_NS, error);
}

int latency_begin_list(struct latency_task *task, struct tare_error *error)
{
	const struct tare_queue_options options = {
		.order = TARE_QUEUE_DEFERRED,
		.engine = task->latency->run->engine,
	};
	struct tare_operation launch = latency_launch(task->latency);
	int status =
	    tare_queue_create(task->latency->bench.device, &options, &task->queues[0], error);

	status = status ?: tare_append(task->queues[0], &launch, NULL, error);
	status = status ?: tare_submit(task->queues[0], error);
	status = status ?: tare_finish(task->queues[0], TARE_LIMIT_DEFAULT_NS, error);
	return status < 0 ? status : try_fence(task, error);
}

static int sample_fence(struct tare_queue *list, const struct tare_operation *launch,
                        int64_t *value, struct tare_error *error)
{
	struct tare_host_time begin = tare_device_now(list->device);
	int status = tare_append(list, launch, NULL, error);

	status = status ?: tare_finish_fenced(list, TARE_LIMIT_NATIVE, error);
	*value = latency_ps(begin, tare_device_now(list->device), 1);
	return status;
}

int latency_sample_list(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	struct tare_device *device = task->latency->bench.device;
	struct tare_operation launch = latency_launch(task->latency);
	struct tare_queue *list = task->queues[0];
	struct tare_host_time begin = tare_device_now(device), appended, executed;
	int status = tare_append(list, &launch, NULL, error);

	status = status ?: tare_submit(list, error);
	status = status ?: tare_finish(list, TARE_LIMIT_NATIVE, error);
	values[LAUNCH_AND_WAIT] = latency_ps(begin, tare_device_now(device), 1);
	values[FENCE_AND_WAIT] = TARE_NO_SAMPLE;
	if (status == 0 && !task->figures[FENCE_AND_WAIT].absent[0])
		status = sample_fence(list, &launch, &values[FENCE_AND_WAIT], error);
	begin = tare_device_now(device);
	for (uint32_t i = 0; status == 0 && i < task->batch; i++)
		status = tare_append(list, &launch, NULL, error);
	appended = tare_device_now(device);
	status = status ?: tare_submit(list, error);
	executed = tare_device_now(device);
	status = status ?: tare_finish(list, TARE_LIMIT_NATIVE, error);
	values[APPEND] = latency_ps(begin, appended, task->batch);
	values[EXECUTE] = latency_ps(appended, executed, 1);
	values[THEN_WAIT] = latency_ps(begin, tare_device_now(device), task->batch);
	return status;
}

// ---- events between host and device

int latency_begin_signal(struct latency_task *task, struct tare_error *error)
{
	const char *why = tare_clock_track_unmapped(&task->latency->bench.track);
	struct tare_operation launch = latency_launch(task->latency);

	for (size_t i = 0; i < 2; i++) {
		task->figures[i].floor = 0;
		if (why)
			snprintf(task->figures[i].absent, sizeof task->figures[i].absent, "%.300s",
			         why);
	}
	return tare_bench_run(task->latency->bench.timed, &launch, error);
}

static int64_t at_least_0(int64_t ps)
{
	return ps > 0 ? ps : 0;
}

int latency_sample_signal(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	struct tare_bench *bench = &task->latency->bench;
	struct tare_operation launch = latency_launch(task->latency);
	struct tare_host_time signalled = { 0 }, seen = { 0 };
	struct tare_event *event = NULL;
	struct tare_gate *gate = NULL;
	struct tare_stamps stamps;
	bool mapped;
	int status;

	values[0] = values[1] = TARE_NO_SAMPLE;
	tare_clock_track_update(&bench->track);
	mapped = !tare_clock_track_unmapped(&bench->track);
	status = tare_gate_shut(bench->timed, &gate, error);
	status = status ?: tare_append(bench->timed, &launch, &event, error);
	status = status ?: tare_submit(bench->timed, error);
	signalled = tare_device_now(bench->device);
	status = status ?: tare_gate_open(gate, error);
	status = status ?: tare_event_wait(event, TARE_LIMIT_DEFAULT_NS, error);
	seen = tare_device_now(bench->device);
	if (status == 0 && mapped)
		status = tare_clock_can_tell(&bench->track.fit.rate,
		                             tare_host_elapsed_ns(signalled, seen), error);
	status = status ?: tare_event_stamps(event, &stamps, error);
	if (status == 0 && mapped) {
		const struct tare_clock_fit *fit = &bench->track.fit;
		values[0] = at_least_0(latency_ps(
		    signalled, tare_clock_map(fit, stamps.at[TARE_STAMP_START], signalled), 1));
		values[1] = at_least_0(
		    latency_ps(tare_clock_map(fit, stamps.at[TARE_STAMP_END], seen), seen, 1));
		for (int i = 0; i < 2; i++)
			task->figures[i].systematic = 1000.0 * (double)fit->residual_ns;
	}
	tare_event_free(event);
	tare_gate_free(gate);
	return tare_bench_settle(bench->timed, status, error);
}
