// SPDX-License-Identifier: Apache-2.0
// What waiting, events, dependencies across queues and callbacks cost.
#include "backend/call.h"
#include "measure/latency/internal.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define CALLBACK_LIMIT_NS INT64_C(1000000000)

static const struct tare_operation marker = { .type = TARE_OPERATION_MARKER };

// One call of the API that is timed LATENCY_CALLS times in a row; 0 or positive on success.
typedef int timed_call(struct latency_task *task, struct tare_error *error);

static int time_calls(struct latency_task *task, timed_call *call, int64_t *values,
                      struct tare_error *error)
{
	struct tare_device *device = task->latency->bench.device;
	struct tare_host_time begin = tare_device_now(device);
	int status = 0;

	for (int i = 0; status >= 0 && i < LATENCY_CALLS; i++)
		status = call(task, error);
	values[0] = latency_ps(begin, tare_device_now(device), LATENCY_CALLS);
	return status < 0 ? status : 0;
}

static int finish_once(struct latency_task *task, struct tare_error *error)
{
	return tare_finish(task->latency->bench.plain, TARE_LIMIT_NATIVE, error);
}

static int wait_once(struct latency_task *task, struct tare_error *error)
{
	return tare_event_wait(task->event, TARE_LIMIT_NATIVE, error);
}

static int query_once(struct latency_task *task, struct tare_error *error)
{
	return tare_event_done(task->event, error);
}

int latency_begin_finish(struct latency_task *task, struct tare_error *error)
{
	return tare_bench_run(task->latency->bench.plain, &marker, error);
}

int latency_sample_finish(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	return time_calls(task, finish_once, values, error);
}

// Leaves an event that is done in task->event.
int latency_begin_wait(struct latency_task *task, struct tare_error *error)
{
	struct tare_bench *bench = &task->latency->bench;
	int status = tare_append(bench->plain, &marker, &task->event, error);

	status = status ?: tare_finish(bench->plain, TARE_LIMIT_DEFAULT_NS, error);
	return status < 0 ? status : tare_event_wait(task->event, TARE_LIMIT_DEFAULT_NS, error);
}

int latency_sample_wait(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	struct tare_bench *bench = &task->latency->bench;
	struct tare_host_time begin;
	int status = time_calls(task, wait_once, values, error);

	for (size_t i = 0; status == 0 && i < LATENCY_CALLS; i++)
		status = tare_append(bench->plain, &marker, &task->events[i], error);
	status = status ?: tare_finish(bench->plain, TARE_LIMIT_NATIVE, error);
	begin = tare_device_now(bench->device);
	for (size_t i = 0; status == 0 && i < LATENCY_CALLS; i++)
		status = tare_event_wait(task->events[i], TARE_LIMIT_NATIVE, error);
	values[1] = latency_ps(begin, tare_device_now(bench->device), LATENCY_CALLS);
	for (size_t i = 0; i < LATENCY_CALLS; i++) {
		tare_event_free(task->events[i]);
		task->events[i] = NULL;
	}
	return status;
}

int latency_sample_query(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	return time_calls(task, query_once, values, error);
}

int latency_sample_record(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	struct tare_bench *bench = &task->latency->bench;
	struct tare_event *events[LATENCY_RECORDS] = { NULL };
	struct tare_host_time begin = tare_device_now(bench->device);
	int status = 0;

	for (uint32_t i = 0; status == 0 && i < task->batch; i++)
		status = tare_append(bench->plain, &marker, &events[i], error);
	values[0] = latency_ps(begin, tare_device_now(bench->device), task->batch);
	status = status ?: tare_finish(bench->plain, TARE_LIMIT_NATIVE, error);
	begin = tare_device_now(bench->device);
	for (uint32_t i = 0; status == 0 && i < task->batch; i++)
		status = tare_append(bench->plain, &marker, NULL, error);
	values[1] = latency_ps(begin, tare_device_now(bench->device), task->batch);
	status = status ?: tare_finish(bench->plain, TARE_LIMIT_NATIVE, error);
	for (uint32_t i = 0; i < task->batch; i++)
		tare_event_free(events[i]);
	return status;
}

int latency_sample_across(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	struct tare_bench *bench = &task->latency->bench;
	struct tare_event *first = NULL, *second = NULL;
	struct tare_operation waiting = marker;
	struct tare_stamps before, after;
	struct tare_host_time begin = tare_device_now(bench->device);
	struct tare_gate *gate = NULL;
	int status = bench->gated ? tare_gate_shut(bench->timed, &gate, error) : 0;

	status = status ?: tare_append(bench->timed, &marker, &first, error);
	waiting.waits = &first;
	waiting.wait_count = 1;
	status = status ?: tare_append(bench->second, &waiting, &second, error);
	status = status ?: tare_submit(bench->timed, error);
	status = status ?: tare_submit(bench->second, error);
	if (status == 0 && gate)
		status = tare_gate_open(gate, error);
	status = status ?: tare_finish(bench->timed, TARE_LIMIT_DEFAULT_NS, error);
	status = status ?: tare_finish(bench->second, TARE_LIMIT_DEFAULT_NS, error);
	if (status == 0)
		status = tare_bench_can_tell(
		    bench, tare_host_elapsed_ns(begin, tare_device_now(bench->device)), error);
	status = status ?: tare_event_stamps(first, &before, error);
	status = status ?: tare_event_stamps(second, &after, error);
	if (status == 0 && (!tare_stamps_have(&before, TARE_STAMP_END) ||
	                    !tare_stamps_have(&after, TARE_STAMP_START)))
		status =
		    tare_fail(error, ENODATA,
		              "the driver gives no end of the first or no start of the second");
	if (status == 0 && before.epoch == after.epoch) {
		int64_t ticks = tare_ticks_elapsed_signed(&bench->rate, before.at[TARE_STAMP_END],
		                                          after.at[TARE_STAMP_START]);
		if (ticks >= 0)
			values[0] = tare_ticks_to_ps(&bench->rate, (uint64_t)ticks);
	}
	tare_event_free(second);
	tare_event_free(first);
	tare_gate_free(gate);
	return status;
}

enum callback_state { AWAITED, ENTERED, DONE, GIVEN_UP };

// Lives on the heap: a callback that comes after we gave up on it must still find it. Then it
// belongs to the callback, which touches nothing else: the device may be closed by now.
struct callback {
	struct tare_device *device;
	struct tare_host_time entered;
	atomic_int state;
};

static void on_event(void *context)
{
	struct callback *callback = context;
	int state = AWAITED;

	if (!atomic_compare_exchange_strong(&callback->state, &state, ENTERED)) {
		free(callback);
		return;
	}
	callback->entered = tare_device_now(callback->device);
	atomic_store(&callback->state, DONE);
}

// One that is running is awaited: it only reads the clock.
static void release(struct callback *callback, bool registered)
{
	int state = AWAITED;

	if (registered && atomic_compare_exchange_strong(&callback->state, &state, GIVEN_UP))
		return;
	while (atomic_load(&callback->state) == ENTERED)
		sched_yield();
	free(callback);
}

int latency_begin_callback(struct latency_task *task, struct tare_error *error)
{
	const struct tare_bench *bench = &task->latency->bench;
	struct tare_figure *mapped = &task->figures[1];
	const char *why = bench->stamped ? tare_clock_track_unmapped(&bench->track) : NULL;

	mapped->floor = 0;
	if (why)
		snprintf(mapped->absent, sizeof mapped->absent, "%s", why);
	return latency_begin_finish(task, error);
}

static int wait_for(struct callback *callback, struct tare_error *error)
{
	struct tare_host_time begin = tare_device_now(callback->device);

	while (atomic_load(&callback->state) != DONE) {
		if (tare_host_elapsed_ns(begin, tare_device_now(callback->device)) >
		    CALLBACK_LIMIT_NS)
			return tare_fail(error, EIO, "the callback was not called within a second");
		tare_device_pause(callback->device, 20000);
	}
	return 0;
}

static int run_callback(struct tare_bench *bench, struct callback *callback,
                        struct tare_event **event, struct tare_host_time *begin, bool *registered,
                        struct tare_error *error)
{
	struct tare_gate *gate = NULL;
	int status = bench->gated ? tare_gate_shut(bench->timed, &gate, error) : 0;

	*begin = tare_device_now(bench->device);
	status = status ?: tare_append(bench->timed, &marker, event, error);
	status = status ?: tare_event_callback(*event, on_event, callback, error);
	*registered = status == 0;
	status = status ?: tare_submit(bench->timed, error);
	if (gate) {
		struct tare_error later;
		int opened;
		*begin = tare_device_now(bench->device);
		opened = tare_gate_open(gate, status == 0 ? error : &later);
		if (status == 0)
			status = opened;
	}
	if (status == 0 || gate) {
		struct tare_error later;
		int finished =
		    tare_finish(bench->timed, TARE_LIMIT_DEFAULT_NS, status == 0 ? error : &later);
		if (status == 0)
			status = finished;
	}
	tare_gate_free(gate);
	return status;
}

int latency_sample_callback(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	struct tare_bench *bench = &task->latency->bench;
	struct callback *callback = calloc(1, sizeof *callback);
	struct tare_event *event = NULL;
	struct tare_host_time begin;
	struct tare_stamps stamps;
	bool registered = false;
	int status;

	if (!callback)
		return tare_fail(error, ENOMEM, "out of memory");
	callback->device = bench->device;
	tare_clock_track_update(&bench->track);
	status = run_callback(bench, callback, &event, &begin, &registered, error);
	status = status ?: wait_for(callback, error);
	if (status == 0) {
		values[0] = latency_ps(begin, callback->entered, 1);
		if (!tare_clock_track_unmapped(&bench->track) &&
		    tare_clock_can_tell(&bench->track.fit.rate, values[0] / 1000, NULL) == 0 &&
		    tare_event_stamps(event, &stamps, NULL) == 0 &&
		    tare_stamps_have(&stamps, TARE_STAMP_END)) {
			struct tare_host_time end = tare_clock_map(
			    &bench->track.fit, stamps.at[TARE_STAMP_END], callback->entered);
			values[1] = latency_bounded(latency_ps(end, callback->entered, 1),
			                            values[0], &task->outside[1]);
			task->figures[1].systematic = 1000.0 * (double)bench->track.fit.residual_ns;
			task->samples++;
			latency_refuse_bounded(task, &task->figures[1], task->outside[1]);
		}
	}
	tare_event_free(event);
	release(callback, registered);
	return status;
}
