// SPDX-License-Identifier: Apache-2.0
// What regular command lists cost, and events between host and device: only where the API binds
// queues to engines (Level Zero). A deferred queue is a regular list: append, then submit, which
// closes and executes it, then finish, which synchronises the command queue.
#include "backend/call.h"
#include "measure/latency/internal.h"

#include <errno.h>
#include <stdio.h>

// In the order of latency_plan_list.
enum list_figure { LAUNCH_AND_WAIT, FENCE_AND_WAIT, APPEND, EXECUTE, THEN_WAIT };

void latency_plan_list(struct latency_task *task, struct tare_measurement *measurement)
{
	task->batch = task->latency->batch;
	latency_figure(task, measurement, "regular list, launch and wait", "host", 1,
	               "one launch of an empty kernel appended to a regular list, closed, "
	               "executed and synchronised; one went before");
	latency_figure(task, measurement, "regular list, fence and wait", "host", 1,
	               "the same launch, with a fence that is signalled behind it and "
	               "waited for");
	latency_figure(task, measurement, "regular list, append", "host", task->batch,
	               "launches appended to one list, nothing executed: host time "
	               "per launch");
	latency_figure(task, measurement, "regular list, close and execute", "host", 1,
	               "host time of closing that list and handing it to the "
	               "command queue");
	latency_figure(task, measurement, "regular list, then wait", "host", task->batch,
	               "the same launches: host time from the first "
	               "append until all are done, per launch");
}

// One went before with a limit; where there are no fences, the reason is the row's.
static int try_fence(struct tare_measurement *measurement, struct tare_error *error)
{
	struct latency_task *task = measurement->context;
	struct tare_operation launch = latency_launch(task->latency);
	int status = tare_append(task->queues[0], &launch, NULL, error);

	if (status == 0)
		status = tare_finish_fenced(task->queues[0], TARE_LIMIT_DEFAULT_NS, error);
	if (status != -ENOTSUP && status != -ENOSYS)
		return status;
	char *absent = measurement->figures[FENCE_AND_WAIT].absent;
	snprintf(absent, sizeof measurement->figures->absent, "%.300s", error->message);
	return tare_finish(task->queues[0], TARE_LIMIT_DEFAULT_NS, error);
}

int latency_begin_list(struct tare_measurement *measurement, struct tare_error *error)
{
	struct latency_task *task = measurement->context;
	const struct tare_queue_options options = {
		.order = TARE_QUEUE_DEFERRED,
		.engine = task->latency->run->engine,
	};
	struct tare_operation launch = latency_launch(task->latency);
	int status =
	    tare_queue_create(task->latency->bench.device, &options, &task->queues[0], error);

	if (status == 0)
		status = tare_append(task->queues[0], &launch, NULL, error);
	if (status == 0)
		status = tare_submit(task->queues[0], error);
	if (status == 0)
		status = tare_finish(task->queues[0], TARE_LIMIT_DEFAULT_NS, error);
	return status < 0 ? status : try_fence(measurement, error);
}

static int sample_fence(struct tare_queue *list, const struct tare_operation *launch,
                        int64_t *value, struct tare_error *error)
{
	struct tare_host_time begin = tare_device_now(list->device);
	int status = tare_append(list, launch, NULL, error);

	if (status == 0)
		status = tare_finish_fenced(list, TARE_LIMIT_NATIVE, error);
	*value = latency_ps(begin, tare_device_now(list->device), 1);
	return status;
}

int latency_sample_list(struct tare_measurement *measurement, int64_t *values,
                        struct tare_error *error)
{
	struct latency_task *task = measurement->context;
	struct tare_device *device = task->latency->bench.device;
	struct tare_operation launch = latency_launch(task->latency);
	struct tare_queue *list = task->queues[0];
	struct tare_host_time begin = tare_device_now(device), appended, executed;
	int status = tare_append(list, &launch, NULL, error);

	if (status == 0)
		status = tare_submit(list, error);
	if (status == 0)
		status = tare_finish(list, TARE_LIMIT_NATIVE, error);
	values[LAUNCH_AND_WAIT] = latency_ps(begin, tare_device_now(device), 1);
	values[FENCE_AND_WAIT] = TARE_NO_SAMPLE;
	if (status == 0 && !measurement->figures[FENCE_AND_WAIT].absent[0])
		status = sample_fence(list, &launch, &values[FENCE_AND_WAIT], error);
	begin = tare_device_now(device);
	for (uint32_t i = 0; status == 0 && i < task->batch; i++)
		status = tare_append(list, &launch, NULL, error);
	appended = tare_device_now(device);
	if (status == 0)
		status = tare_submit(list, error);
	executed = tare_device_now(device);
	if (status == 0)
		status = tare_finish(list, TARE_LIMIT_NATIVE, error);
	values[APPEND] = latency_ps(begin, appended, task->batch);
	values[EXECUTE] = latency_ps(appended, executed, 1);
	values[THEN_WAIT] = latency_ps(begin, tare_device_now(device), task->batch);
	return status;
}

// ---- events between host and device

void latency_plan_signal(struct latency_task *task, struct tare_measurement *measurement)
{
	latency_figure(task, measurement, "host signal to start", "device", 1,
	               "host time before it signals the event that a kernel waits for, to the "
	               "kernel's start stamp, mapped onto the host's clock by the fit, whose "
	               "largest error is in the interval; never below 0");
	latency_figure(task, measurement, "end to event seen", "device", 1,
	               "that kernel's end stamp, mapped in the same way, to the return "
	               "of the host's wait for its event; never below 0");
}

int latency_begin_signal(struct tare_measurement *measurement, struct tare_error *error)
{
	struct latency_task *task = measurement->context;
	const char *why = tare_clock_track_unmapped(&task->latency->bench.track);
	struct tare_operation launch = latency_launch(task->latency);

	for (size_t i = 0; i < 2; i++) {
		measurement->figures[i].floor = 0;
		if (why)
			snprintf(measurement->figures[i].absent,
			         sizeof measurement->figures[i].absent, "%.300s", why);
	}
	return tare_bench_run(task->latency->bench.timed, &launch, error);
}

static int64_t at_least_0(int64_t ps)
{
	return ps > 0 ? ps : 0;
}

int latency_sample_signal(struct tare_measurement *measurement, int64_t *values,
                          struct tare_error *error)
{
	struct latency_task *task = measurement->context;
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
	if (status == 0)
		status = tare_append(bench->timed, &launch, &event, error);
	if (status == 0)
		status = tare_submit(bench->timed, error);
	signalled = tare_device_now(bench->device);
	if (status == 0)
		status = tare_gate_open(gate, error);
	if (status == 0)
		status = tare_event_wait(event, TARE_LIMIT_DEFAULT_NS, error);
	seen = tare_device_now(bench->device);
	if (status == 0 && mapped)
		status = tare_clock_can_tell(&bench->track.fit.rate,
		                             tare_host_elapsed_ns(signalled, seen), error);
	if (status == 0)
		status = tare_event_stamps(event, &stamps, error);
	if (status == 0 && mapped) {
		const struct tare_clock_fit *fit = &bench->track.fit;
		values[0] = at_least_0(latency_ps(
		    signalled, tare_clock_map(fit, stamps.at[TARE_STAMP_START], signalled), 1));
		values[1] = at_least_0(
		    latency_ps(tare_clock_map(fit, stamps.at[TARE_STAMP_END], seen), seen, 1));
		for (int i = 0; i < 2; i++)
			measurement->figures[i].systematic = 1000.0 * (double)fit->residual_ns;
	}
	tare_event_free(event);
	tare_gate_free(gate);
	return tare_bench_settle(bench->timed, status, error);
}
