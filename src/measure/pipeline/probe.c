// SPDX-License-Identifier: Apache-2.0
// Whether stages run at one moment, seen from the host: a short operation of one is done while long
// ones of the others, which were at work before it was submitted, are not. Where engines are shared
// it has to wait for them.
#include "backend/call.h"
#include "measure/pipeline/internal.h"

#include <errno.h>
#include <math.h>

#define ATTEMPTS 3
// A short operation lasts at most this share of a long one, and the host notices its end within
// this share.
#define SHORT_SHARE (1.0 / 16)
#define NOTICE_SHARE 0.25
// Between what precedes a long operation and the short one: the long one is surely at work.
#define PAUSE_SHARE (1.0 / 20)
#define PAUSE_MOST_NS INT64_C(100000)

struct probe {
	struct tare_pipeline *pipeline;
	struct tare_queue *queues[TARE_STAGE_COUNT];
	uint64_t short_items[TARE_STAGE_COUNT];
	uint32_t mode;
	enum tare_stage brief;
	double long_ps; // the shortest of the long operations
};

static int append(struct probe *probe, enum tare_stage stage, uint64_t items,
                  struct tare_event **event, struct tare_error *error)
{
	struct pipeline_ends ends = pipeline_ends(probe->pipeline);
	struct pipeline_operation prepared;
	int status;

	if (stage != TARE_STAGE_KERNEL && probe->pipeline->aside_in)
		ends.input = probe->pipeline->aside_in;
	if (stage != TARE_STAGE_KERNEL && probe->pipeline->aside_out)
		ends.output = probe->pipeline->aside_out;
	pipeline_prepare(probe->pipeline, stage, &ends, &prepared);
	pipeline_aim(probe->pipeline, stage, 0, items, &prepared);
	status = tare_append(probe->queues[stage], &prepared.operation, event, error);
	return status < 0 ? status : tare_submit(probe->queues[stage], error);
}

// Host time of the short operation with nothing beside it.
static int time_brief(struct probe *probe, int64_t *ns, struct tare_error *error)
{
	struct tare_run *run = probe->pipeline->bench->run;
	int status = 0;

	for (int i = 0; status == 0 && i < 2; i++) {
		struct tare_event *event = NULL;
		struct tare_host_time begin = tare_run_now(run);
		status =
		    append(probe, probe->brief, probe->short_items[probe->brief], &event, error);
		status = status ?: tare_event_wait(event, TARE_LIMIT_DEFAULT_NS, error);
		*ns = tare_host_elapsed_ns(begin, tare_run_now(run));
		tare_event_free(event);
	}
	return status;
}

static bool is_long(const struct probe *probe, int stage)
{
	return probe->mode >> stage & 1 && stage != (int)probe->brief;
}

// Puts the others to work and returns once they are.
static int begin_long(struct probe *probe, struct tare_event *events[TARE_STAGE_COUNT],
                      struct tare_error *error)
{
	struct tare_event *before[TARE_STAGE_COUNT] = { NULL };
	int64_t pause_ns = (int64_t)(probe->long_ps * PAUSE_SHARE / 1000);
	int status = 0;

	for (int stage = 0; status == 0 && stage < TARE_STAGE_COUNT; stage++) {
		if (!is_long(probe, stage))
			continue;
		status = append(probe, (enum tare_stage)stage, probe->short_items[stage],
		                &before[stage], error);
		if (status == 0)
			status = append(probe, (enum tare_stage)stage, probe->pipeline->items,
			                &events[stage], error);
	}
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		if (status == 0 && before[stage])
			status = tare_event_wait(before[stage], TARE_LIMIT_DEFAULT_NS, error);
		tare_event_free(before[stage]);
	}
	if (status == 0)
		tare_device_pause(probe->pipeline->device,
		                  pause_ns < PAUSE_MOST_NS ? pause_ns : PAUSE_MOST_NS);
	return status;
}

// 1: the short operation was done before any of the long ones.
static int attempt(struct probe *probe, struct tare_error *error)
{
	struct tare_event *events[TARE_STAGE_COUNT] = { NULL }, *brief = NULL;
	int status = begin_long(probe, events, error), first = 1;

	if (status == 0)
		status =
		    append(probe, probe->brief, probe->short_items[probe->brief], &brief, error);
	status = status ?: tare_event_wait(brief, TARE_LIMIT_DEFAULT_NS, error);
	for (int stage = 0; status == 0 && stage < TARE_STAGE_COUNT; stage++) {
		if (!events[stage])
			continue;
		status = tare_event_done(events[stage], error);
		first = first && status == 0;
		status = status > 0 ? 0 : status;
	}
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		if (probe->mode >> stage & 1 && !tare_device_is_gone(status)) {
			int finished = tare_finish(probe->queues[stage], TARE_LIMIT_DEFAULT_NS,
			                           status < 0 ? NULL : error);
			status = status < 0 && !tare_device_is_gone(finished) ? status : finished;
		}
		tare_event_free(events[stage]);
	}
	tare_event_free(brief);
	return status < 0 ? status : first;
}

static void choose_sizes(struct probe *probe)
{
	struct tare_pipeline *pipeline = probe->pipeline;

	probe->long_ps = INFINITY;
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		const struct pipeline_lane_size *lane = &pipeline->lanes[stage];
		double whole = (double)pipeline->items / (double)lane->items * lane->ps;
		if (is_long(probe, stage))
			probe->long_ps = fmin(probe->long_ps, whole);
	}
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		const struct pipeline_lane_size *lane = &pipeline->lanes[stage];
		double most = probe->long_ps * SHORT_SHARE, align = (double)pipeline->kernel.align;
		double items = (double)lane->items;
		if (!(probe->mode >> stage & 1))
			continue;
		if (lane->ps > most)
			items = floor(items * most / lane->ps / align) * align;
		probe->short_items[stage] = items >= align ? (uint64_t)items
		                            : pipeline->kernel.align < pipeline->items
		                                ? pipeline->kernel.align
		                                : pipeline->items;
	}
}

static int probe_with(struct probe *probe, struct tare_error *error)
{
	int64_t alone_ns;
	int status;

	choose_sizes(probe);
	status = time_brief(probe, &alone_ns, error);
	if (status < 0)
		return status;
	if ((double)alone_ns * 1000 > NOTICE_SHARE * probe->long_ps)
		return -EAGAIN;
	for (int i = 0; status == 0 && i < ATTEMPTS; i++)
		status = attempt(probe, error);
	// A copy of pageable memory may hold the host until it is done.
	return status == 0 && !probe->pipeline->pinned ? -EAGAIN : status;
}

int pipeline_probe_together(struct tare_pipeline *pipeline, uint32_t mode, struct tare_error *error)
{
	enum pipeline_queue_set set = pipeline_stage_set(pipeline, pipeline->bench->stamped);
	struct probe probe = { .pipeline = pipeline, .mode = mode };
	bool unsure = false;

	for (uint32_t stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		struct pipeline_queue *queue;
		int status = pipeline_queue(pipeline, set, stage, &queue, error);
		if (status < 0)
			return status;
		probe.queues[stage] = queue->queue;
	}
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		uint32_t others = mode & ~(1u << stage);
		int status = 1;
		if (!(mode >> stage & 1))
			continue;
		// That two long ones are not done does not mean that both are at work.
		if (__builtin_popcount(others) > 1)
			status = pipeline_probe_together(pipeline, others, error);
		probe.brief = (enum tare_stage)stage;
		if (status == 1)
			status = probe_with(&probe, error);
		if (status == 1 || (status < 0 && status != -EAGAIN))
			return status;
		unsure = unsure || status == -EAGAIN;
	}
	return unsure ? -EAGAIN : 0;
}
