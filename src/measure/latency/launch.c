// SPDX-License-Identifier: Apache-2.0
// What launching an empty kernel costs: alone, in a row, behind a gate.
#include "backend/call.h"
#include "base/units.h"
#include "measure/latency/internal.h"

#include <stdio.h>

// One launch on each queue with a limit, so that the native waits in the samples cannot be the
// first to find a device that hangs.
int latency_begin_launch(struct latency_task *task, struct tare_error *error)
{
	struct tare_bench *bench = &task->latency->bench;
	struct tare_operation launch = latency_launch(task->latency);
	int status = tare_bench_run(bench->plain, &launch, error);

	return status < 0 ? status : tare_bench_run(bench->timed, &launch, error);
}

int latency_sample_isolated(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	struct tare_bench *bench = &task->latency->bench;
	struct tare_operation launch = latency_launch(task->latency);
	struct tare_event *event = NULL;
	struct tare_host_time begin;
	int64_t host_ns;
	int status = latency_launch_and_wait(bench->plain, &launch, &values[0], error);

	if (status < 0 || !bench->stamped)
		return status;
	status = tare_bench_turn_to(bench->timed, &launch, error);
	begin = tare_device_now(bench->device);
	status = status ?: tare_append(bench->timed, &launch, &event, error);
	status = status ?: tare_finish(bench->timed, TARE_LIMIT_NATIVE, error);
	host_ns = tare_host_elapsed_ns(begin, tare_device_now(bench->device));
	if (status == 0) {
		tare_raw_stamps_keep(&bench->raw, event, host_ns, "empty kernel");
		status = tare_bench_duration_ps(bench, event, host_ns, &values[1], error);
	}
	tare_event_free(event);
	return status;
}

int latency_sample_batched(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	struct tare_operation launch = latency_launch(task->latency);

	return latency_issue(task, &task->latency->bench.plain, 1, &launch, values, error);
}

int latency_sample_gated(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	struct tare_bench *bench = &task->latency->bench;
	struct tare_operation launch = latency_launch(task->latency);
	struct tare_event *first = NULL, *last = NULL;
	struct tare_gate *gate = NULL;
	struct tare_host_time begin = tare_device_now(bench->device);
	int64_t span, host_ns;
	int status = tare_gate_shut(bench->timed, &gate, error);

	for (uint32_t i = 0; status == 0 && i < task->batch; i++) {
		struct tare_event **event = i == 0 ? &first : i + 1 == task->batch ? &last : NULL;
		status = tare_append(bench->timed, &launch, event, error);
	}
	status = status ?: tare_gate_open(gate, error);
	status = status ?: tare_finish(bench->timed, TARE_LIMIT_DEFAULT_NS, error);
	host_ns = tare_host_elapsed_ns(begin, tare_device_now(bench->device));
	if (status == 0)
		status =
		    tare_bench_span_ps(bench, first, last ? last : first, host_ns, &span, error);
	if (status == 0)
		values[0] = span / task->batch;
	tare_event_free(first);
	tare_event_free(last);
	tare_gate_free(gate);
	return status;
}

int latency_begin_to_start(struct latency_task *task, struct tare_error *error)
{
	const char *why = tare_clock_track_unmapped(&task->latency->bench.track);

	for (size_t i = 0; i < 2; i++) {
		struct tare_figure *figure = &task->figures[i];
		figure->floor = 0;
		if (why)
			snprintf(figure->absent, sizeof figure->absent,
			         "%.200s; bounded by 'around the kernel'", why);
	}
	return latency_begin_launch(task, error);
}

int64_t latency_bounded(int64_t mapped_ps, int64_t around_ps, size_t *outside)
{
	*outside += mapped_ps < 0 || mapped_ps > around_ps;
	return mapped_ps < 0 ? 0 : mapped_ps > around_ps ? around_ps : mapped_ps;
}

bool latency_refuse_bounded(struct latency_task *task, struct tare_figure *figure, size_t outside)
{
	char text[TARE_UNIT_TEXT];

	figure->refused = 2 * outside > task->samples;
	if (figure->refused)
		snprintf(figure->absent, sizeof figure->absent,
		         "lost in the clock fit's error of %s",
		         tare_format_ns((double)task->latency->bench.track.fit.residual_ns, text));
	else
		figure->absent[0] = '\0';
	return figure->refused;
}

static void refuse_bounds(struct latency_task *task)
{
	for (size_t i = 0; i < 3; i++) {
		if (i < 2 && tare_clock_track_unmapped(&task->latency->bench.track))
			continue;
		if (latency_refuse_bounded(task, &task->figures[i], task->outside[i]) && i == 2)
			snprintf(task->figures[i].absent, sizeof task->figures[i].absent,
			         "by the device's clock the kernel alone lasts longer than launch "
			         "and finish together by the host's");
	}
}

int latency_sample_to_start(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	struct tare_bench *bench = &task->latency->bench;
	struct tare_operation launch = latency_launch(task->latency);
	struct tare_event *event = NULL;
	struct tare_host_time begin, returned;
	struct tare_stamps stamps;
	int64_t kernel_ps;
	bool mapped;
	int status;

	tare_clock_track_update(&bench->track);
	mapped = !tare_clock_track_unmapped(&bench->track);
	begin = tare_device_now(bench->device);
	status = tare_append(bench->timed, &launch, &event, error);
	status = status ?: tare_finish(bench->timed, TARE_LIMIT_NATIVE, error);
	returned = tare_device_now(bench->device);
	if (status == 0)
		status = tare_bench_duration_ps(bench, event, tare_host_elapsed_ns(begin, returned),
		                                &kernel_ps, error);
	// The fit's counter may be narrower than the one that stamps.
	if (status == 0 && mapped)
		status = tare_clock_can_tell(&bench->track.fit.rate,
		                             tare_host_elapsed_ns(begin, returned), error);
	status = status ?: tare_event_stamps(event, &stamps, error);
	if (status == 0) {
		values[2] = latency_ps(begin, returned, 1) - kernel_ps;
		if (mapped) {
			const struct tare_clock_fit *fit = &bench->track.fit;
			struct tare_host_time start =
			    tare_clock_map(fit, stamps.at[TARE_STAMP_START], begin);
			struct tare_host_time end =
			    tare_clock_map(fit, stamps.at[TARE_STAMP_END], returned);
			values[0] = latency_bounded(latency_ps(begin, start, 1), values[2],
			                            &task->outside[0]);
			values[1] = latency_bounded(latency_ps(end, returned, 1), values[2],
			                            &task->outside[1]);
			for (int i = 0; i < 2; i++)
				task->figures[i].systematic = 1000.0 * (double)fit->residual_ns;
		}
		task->samples++;
		task->outside[2] += values[2] < 0;
		refuse_bounds(task);
	}
	tare_event_free(event);
	return status;
}
