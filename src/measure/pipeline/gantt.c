// SPDX-License-Identifier: Apache-2.0
// A run's operations on one axis of the device's time; where stamps are positions in the stream,
// by those of the vendor's tracer.
#include "backend/call.h"
#include "measure/pipeline/internal.h"

#include <errno.h>

static int64_t ps_between(const struct tare_clock_rate *rate, struct tare_ticks from,
                          struct tare_ticks to)
{
	int64_t ticks = tare_ticks_elapsed_signed(rate, from, to);

	return ticks < 0 ? -tare_ticks_to_ps(rate, (uint64_t)-ticks)
	                 : tare_ticks_to_ps(rate, (uint64_t)ticks);
}

int pipeline_place(const struct tare_bench *bench, struct pipeline_axis *axis,
                   struct tare_event *event, int64_t *start_ps, int64_t *end_ps,
                   struct tare_error *error)
{
	struct tare_stamps stamps;
	int status = tare_event_stamps(event, &stamps, error);

	if (status < 0)
		return status;
	if (!tare_stamps_have(&stamps, TARE_STAMP_START) ||
	    !tare_stamps_have(&stamps, TARE_STAMP_END))
		return tare_fail(error, ENODATA,
		                 "the driver gives no start or no end of an operation");
	if (!axis->begun)
		axis->origin = stamps;
	axis->begun = true;
	if (stamps.epoch != axis->origin.epoch)
		return tare_fail(error, ENODATA,
		                 "the stamps of different queues are not comparable");
	*start_ps = ps_between(&bench->rate, axis->origin.at[TARE_STAMP_START],
	                       stamps.at[TARE_STAMP_START]);
	*end_ps =
	    ps_between(&bench->rate, axis->origin.at[TARE_STAMP_START], stamps.at[TARE_STAMP_END]);
	if (*end_ps < *start_ps)
		return tare_fail(error, EIO,
		                 "the device's end stamp of an operation lies before its start");
	return 0;
}

static int read_bars(struct tare_pipeline *pipeline, struct tare_bar *bars,
                     struct tare_error *error)
{
	const struct pipeline_plan *plan = &pipeline->plan;
	struct pipeline_axis axis = { 0 };
	int64_t first_ps = 0;

	for (size_t i = 0; i < plan->step_count; i++) {
		const struct tare_step *step = &plan->steps[i];
		size_t at = (size_t)step->chunk * TARE_STAGE_COUNT + step->stage;
		int status;
		bars[i] = (struct tare_bar){ .stage = step->stage,
			                     .chunk = step->chunk,
			                     .queue = step->queue };
		status = pipeline_place(pipeline->bench, &axis, plan->events[at], &bars[i].start_ps,
		                        &bars[i].end_ps, error);
		if (status < 0)
			return status;
		if (bars[i].start_ps < first_ps)
			first_ps = bars[i].start_ps;
	}
	for (size_t i = 0; i < plan->step_count; i++) {
		bars[i].start_ps -= first_ps;
		bars[i].end_ps -= first_ps;
	}
	return (int)plan->step_count;
}

// The first one pays for what the tracer sets up.
#define TRACED_RUNS 2

// Runs the schedule with the engines traced and leaves the events of the last run.
static int run_traced(struct tare_pipeline *pipeline, const struct tare_schedule *schedule,
                      int64_t *ns, struct tare_error *error)
{
	struct tare_error why = { 0 };
	int status = tare_engine_stamps_begin(pipeline->device, &why), ended;

	if (status == -ENOSYS)
		return tare_fail(error, ENODATA,
		                 "this device's stamps are positions in the stream: they do not "
		                 "tell when an engine began");
	if (status < 0 && !tare_device_is_gone(status))
		return tare_fail(error, ENODATA,
		                 "this device's stamps do not tell when an engine began: %s",
		                 why.message);
	if (status < 0)
		return tare_fail(error, -status, "%s", why.message);
	for (int i = 0; status == 0 && i < TRACED_RUNS; i++) {
		pipeline_drop_events(pipeline);
		status = pipeline_run_traced(pipeline, schedule, ns, error);
	}
	if (tare_device_is_gone(status))
		return status; // the device is about to be given up
	ended = tare_engine_stamps_end(pipeline->device, &why);
	if (status == 0 && ended < 0)
		status = tare_fail(error, -ended, "%s", why.message);
	return status;
}

int tare_pipeline_gantt(struct tare_pipeline *pipeline, const struct tare_schedule *schedule,
                        struct tare_bar *bars, struct tare_error *error)
{
	const struct tare_bench *bench = pipeline->bench;
	int64_t ns = 0;
	int status;

	if (!bench->stamped)
		return tare_fail(error, ENODATA, "%s", bench->unstamped);
	status = bench->brackets ? pipeline_run_timed(pipeline, schedule, &ns, error)
	                         : run_traced(pipeline, schedule, &ns, error);
	pipeline->drawn = (struct tare_drawn){ .ns = ns, .traced = !bench->brackets };
	if (status == 0 && tare_bench_can_tell(bench, ns, error) < 0) {
		status = -ENODATA;
		if (error)
			error->code = -ENODATA;
	}
	status = status ?: read_bars(pipeline, bars, error);
	pipeline_drop_events(pipeline);
	return status;
}

struct tare_drawn tare_pipeline_drawn(const struct tare_pipeline *pipeline)
{
	return pipeline->drawn;
}
