// SPDX-License-Identifier: Apache-2.0
// Stages beside each other. Each stage of a mode gets a queue and enough operations that all stages
// are at work for a while; what counts are the operations of each that end in the time in which all
// were. Operations are the same in every mode, so that modes can be compared.
#include "backend/call.h"
#include "measure/pipeline/internal.h"

#include <errno.h>
#include <math.h>

// An operation is the whole work or, if that lasts longer, a part that lasts about so long.
#define OPERATION_PS 2.5e9
// The time in which all are at work is at least so long, and so many of the longest operations.
#define WINDOW_PS 20e9
#define WINDOW_OPERATIONS 8
#define LONG_OPERATION_PS 50e9
#define WINDOW_STEPS 1000
#define TRIALS_MOST 5
// Operations of each stage that must end in it; that is one more than intervals.
#define ENDS_LEAST 4
// Of the shorter one of two operations, to call them concurrent.
#define OVERLAP_LEAST 0.05
// Times its speed alone that a stage beside others may seem to have by the host's clock.
#define SPEED_MOST 1.5

struct lane {
	enum tare_stage stage;
	struct tare_queue *queue;
	struct tare_gate *gate;
	struct pipeline_operation prepared;
	uint64_t items; // of one operation
	double alone_ps;
	uint32_t count;
	struct tare_event **events;
	int64_t *start, *end;  // on one axis
	uint32_t from, inside; // those that end while all are at work
};

struct race {
	struct tare_pipeline *pipeline;
	struct lane lanes[TARE_STAGE_COUNT];
	int count;
	uint32_t most; // operations of a lane
};

// A model has no noise to outlast, and what it is asked for costs this machine real time: each
// operation moves its bytes.
static bool is_modelled(const struct tare_pipeline *pipeline)
{
	return pipeline->bench->run->simulated || pipeline->device->scripted;
}

static uint32_t most_operations(const struct tare_pipeline *pipeline)
{
	uint32_t capacity = pipeline->bench->gate_capacity;
	uint32_t most = is_modelled(pipeline) ? 96 : PIPELINE_LANE_OPERATIONS - 4;

	if (pipeline->bench->gated && capacity > 8 && capacity - 4 < most)
		most = capacity - 4;
	return most;
}

// ---- how long operations are

static uint64_t aligned(const struct tare_pipeline *pipeline, double items)
{
	uint64_t align = pipeline->kernel.align;
	uint64_t rounded = items < 1 ? align : ((uint64_t)items + align - 1) / align * align;

	return rounded < pipeline->items ? rounded : pipeline->items;
}

static int size_lane(struct tare_pipeline *pipeline, enum tare_stage stage, uint64_t items,
                     struct tare_error *error)
{
	struct pipeline_lane_size *lane = &pipeline->lanes[stage];
	int64_t ps;
	bool device;
	int status = pipeline_time_alone(pipeline, stage, items, &ps, &device, error);

	*lane = (struct pipeline_lane_size){ .items = items, .ps = ps > 0 ? (double)ps : 1 };
	return status;
}

// The same sizes for every mode with these scalars.
static int size_lanes(struct tare_pipeline *pipeline, struct tare_error *error)
{
	double shortest = INFINITY, longest;
	int status = 0;

	if (pipeline->lanes_of == pipeline->scalars_set)
		return 0;
	for (int stage = 0; status == 0 && stage < TARE_STAGE_COUNT; stage++) {
		struct pipeline_lane_size *lane = &pipeline->lanes[stage];
		*lane = (struct pipeline_lane_size){ 0 };
		if (!pipeline_has(pipeline, (enum tare_stage)stage))
			continue;
		status = size_lane(pipeline, (enum tare_stage)stage, pipeline->items, error);
		if (status == 0 && lane->ps > 2 * OPERATION_PS)
			status = size_lane(
			    pipeline, (enum tare_stage)stage,
			    aligned(pipeline, (double)pipeline->items * OPERATION_PS / lane->ps),
			    error);
		if (lane->ps < shortest)
			shortest = lane->ps;
	}
	// No more of the shortest than a queue may hold beside enough of the longest.
	longest = shortest * most_operations(pipeline) / (2 * WINDOW_OPERATIONS);
	for (int stage = 0; status == 0 && stage < TARE_STAGE_COUNT; stage++) {
		const struct pipeline_lane_size *lane = &pipeline->lanes[stage];
		if (lane->items && lane->ps > longest)
			status = size_lane(
			    pipeline, (enum tare_stage)stage,
			    aligned(pipeline, (double)lane->items * longest / lane->ps), error);
	}
	if (status == 0)
		pipeline->lanes_of = pipeline->scalars_set;
	return status;
}

static double window_of(const struct race *race)
{
	const struct tare_bench *bench = race->pipeline->bench;
	double longest = 0, window;

	for (int i = 0; i < race->count; i++)
		if (race->lanes[i].alone_ps > longest)
			longest = race->lanes[i].alone_ps;
	window = (longest > LONG_OPERATION_PS ? ENDS_LEAST : WINDOW_OPERATIONS) * longest;
	if (!is_modelled(race->pipeline) && window < WINDOW_PS)
		window = WINDOW_PS;
	return window < WINDOW_STEPS * bench->step_ps ? WINDOW_STEPS * bench->step_ps : window;
}

static uint32_t bounded(const struct race *race, double count)
{
	if (count < ENDS_LEAST + 2)
		return ENDS_LEAST + 2;
	return count < race->most ? (uint32_t)ceil(count) : race->most;
}

// ---- one race

static int open_race(struct race *race, uint32_t mode, struct tare_error *error)
{
	struct tare_pipeline *pipeline = race->pipeline;
	enum pipeline_queue_set set = pipeline_stage_set(pipeline, pipeline->bench->stamped);
	struct pipeline_ends ends = pipeline_ends(pipeline), aside = ends;
	struct pipeline_queue *queue;
	int status = pipeline_set_aside(pipeline, error);

	aside.input = pipeline->aside_in ? pipeline->aside_in : ends.input;
	aside.output = pipeline->aside_out ? pipeline->aside_out : ends.output;
	race->most = most_operations(pipeline);
	for (int stage = 0; status == 0 && stage < TARE_STAGE_COUNT; stage++) {
		struct lane *lane = &race->lanes[race->count];
		if (!(mode >> stage & 1))
			continue;
		status = pipeline_queue(pipeline, set, (uint32_t)stage, &queue, error);
		if (status < 0)
			break;
		*lane = (struct lane){ .stage = (enum tare_stage)stage,
			               .queue = queue->queue,
			               .items = pipeline->lanes[stage].items,
			               .alone_ps = pipeline->lanes[stage].ps,
			               .events = pipeline->lane_events[stage],
			               .start = pipeline->lane_start[stage],
			               .end = pipeline->lane_end[stage] };
		race->count++;
	}
	for (int i = 0; i < race->count; i++) {
		struct lane *lane = &race->lanes[i];
		pipeline_prepare(pipeline, lane->stage,
		                 lane->stage == TARE_STAGE_KERNEL ? &ends : &aside,
		                 &lane->prepared);
		lane->count = bounded(race, window_of(race) / lane->alone_ps + ENDS_LEAST);
	}
	return status;
}

// The lane whose operations so far are done first, if nothing slows anything down.
static struct lane *next_lane(struct race *race, const uint32_t issued[TARE_STAGE_COUNT])
{
	struct lane *next = NULL;
	double soonest = INFINITY;

	for (int i = 0; i < race->count; i++) {
		struct lane *lane = &race->lanes[i];
		double done_ps = issued[i] * lane->alone_ps;
		if (issued[i] < lane->count && done_ps < soonest) {
			soonest = done_ps;
			next = lane;
		}
	}
	return next;
}

static int issue(struct race *race, bool gated, struct tare_error *error)
{
	uint32_t issued[TARE_STAGE_COUNT] = { 0 };
	struct lane *lane;
	int status = 0;

	while (status == 0 && (lane = next_lane(race, issued))) {
		uint32_t at = issued[lane - race->lanes]++;
		uint64_t parts = race->pipeline->items / lane->items;
		pipeline_aim(race->pipeline, lane->stage, at % parts * lane->items, lane->items,
		             &lane->prepared);
		status =
		    tare_append(lane->queue, &lane->prepared.operation, &lane->events[at], error);
		if (status == 0 && !gated)
			status = tare_submit(lane->queue, error);
	}
	for (int i = 0; status == 0 && i < race->count; i++)
		status = tare_submit(race->lanes[i].queue, error);
	return status;
}

// Without stamps: notes which further operations of a lane are seen to be done now.
static int look(struct tare_run *run, struct tare_host_time begin, struct lane *lane,
                uint32_t *seen, struct tare_error *error)
{
	while (*seen < lane->count) {
		int done = tare_event_done(lane->events[*seen], error);
		if (done <= 0)
			return done;
		lane->end[*seen] = 1000 * tare_host_elapsed_ns(begin, tare_run_now(run));
		lane->start[*seen] = *seen ? lane->end[*seen - 1] : 0;
		++*seen;
	}
	return 1;
}

// Looks at all lanes until all of them are done.
static int watch(struct race *race, struct tare_error *error)
{
	struct tare_run *run = race->pipeline->bench->run;
	struct tare_host_time begin = tare_run_now(run);
	uint32_t seen[TARE_STAGE_COUNT] = { 0 };
	double shortest = INFINITY;
	int busy = 1;

	for (int i = 0; i < race->count; i++)
		shortest = fmin(shortest, race->lanes[i].alone_ps);
	for (;;) {
		busy = 0;
		for (int i = 0; i < race->count; i++) {
			int done = look(run, begin, &race->lanes[i], &seen[i], error);
			if (done < 0)
				return done;
			busy += !done;
		}
		if (!busy)
			return 0;
		if (tare_host_elapsed_ns(begin, tare_run_now(run)) > TARE_LIMIT_DEFAULT_NS)
			return tare_fail(error, ETIMEDOUT, "operations were not done after %d s",
			                 (int)(TARE_LIMIT_DEFAULT_NS / 1000000000));
		tare_device_pause(race->pipeline->device, (int64_t)(shortest / 50e3) + 1);
	}
}

static int read_lanes(struct race *race, struct tare_error *error)
{
	struct pipeline_axis axis = { 0 };
	int status = 0;

	for (int i = 0; i < race->count; i++) {
		struct lane *lane = &race->lanes[i];
		for (uint32_t k = 0; status == 0 && k < lane->count; k++)
			status = pipeline_place(race->pipeline->bench, &axis, lane->events[k],
			                        &lane->start[k], &lane->end[k], error);
	}
	return status;
}

static int settle(struct race *race, int status, struct tare_error *error)
{
	for (int i = 0; i < race->count; i++) {
		struct lane *lane = &race->lanes[i];
		tare_gate_free(lane->gate);
		lane->gate = NULL;
	}
	for (int i = 0; i < race->count; i++)
		status = tare_bench_settle(race->lanes[i].queue, status, error);
	for (int i = 0; i < race->count; i++)
		for (uint32_t k = 0; k < race->lanes[i].count; k++) {
			tare_event_free(race->lanes[i].events[k]);
			race->lanes[i].events[k] = NULL;
		}
	return status;
}

static int run_race(struct race *race, struct tare_error *error)
{
	struct tare_bench *bench = race->pipeline->bench;
	struct tare_host_time begin = tare_run_now(bench->run);
	bool gated = bench->gated && race->pipeline->pinned;
	int status = 0;

	for (int i = 0; status == 0 && gated && i < race->count; i++)
		status = tare_gate_shut(race->lanes[i].queue, &race->lanes[i].gate, error);
	status = status ?: issue(race, gated, error);
	for (int i = 0; status == 0 && gated && i < race->count; i++)
		status = tare_gate_open(race->lanes[i].gate, error);
	if (status == 0 && !bench->stamped)
		status = watch(race, error);
	for (int i = 0; status == 0 && i < race->count; i++)
		status = tare_finish(race->lanes[i].queue, TARE_LIMIT_DEFAULT_NS, error);
	if (status == 0 && bench->stamped)
		status = tare_bench_can_tell(
		    bench, tare_host_elapsed_ns(begin, tare_run_now(bench->run)), error);
	if (status == 0 && bench->stamped)
		status = read_lanes(race, error);
	return settle(race, status, error);
}

// ---- what it tells

static int64_t last_end(const struct lane *lane)
{
	return lane->end[lane->count - 1];
}

// The operations of each lane that end after every lane has ended one, and before any has ended
// its last.
static void find_inside(struct race *race)
{
	int64_t from = INT64_MIN, to = INT64_MAX;

	for (int i = 0; i < race->count; i++) {
		const struct lane *lane = &race->lanes[i];
		from = lane->end[0] > from ? lane->end[0] : from;
		to = last_end(lane) < to ? last_end(lane) : to;
	}
	for (int i = 0; i < race->count; i++) {
		struct lane *lane = &race->lanes[i];
		lane->inside = 0;
		for (uint32_t k = 0; k < lane->count; k++)
			if (lane->end[k] >= from && lane->end[k] <= to && lane->inside++ == 0)
				lane->from = k;
	}
}

static bool has_enough(const struct race *race)
{
	for (int i = 0; i < race->count; i++) {
		const struct lane *lane = &race->lanes[i];
		if (lane->inside < ENDS_LEAST)
			return false;
		if ((double)(lane->end[lane->from + lane->inside - 1] - lane->end[lane->from]) <
		    window_of(race) / 3)
			return false;
	}
	return true;
}

// Gives the lanes that were done early more to do. False: nothing can be changed.
static bool top_up(struct race *race)
{
	int64_t begin = INT64_MAX, end = INT64_MIN;
	bool changed = false;

	for (int i = 0; i < race->count; i++) {
		const struct lane *lane = &race->lanes[i];
		begin = lane->start[0] < begin ? lane->start[0] : begin;
		end = last_end(lane) > end ? last_end(lane) : end;
	}
	for (int i = 0; i < race->count; i++) {
		struct lane *lane = &race->lanes[i];
		double busy = (double)(last_end(lane) - lane->start[0]) + 1;
		uint32_t count = bounded(race, lane->count * (double)(end - begin) / busy);
		changed = changed || count > lane->count;
		lane->count = count > lane->count ? count : lane->count;
	}
	return changed;
}

// A time in which operations of all lanes were in progress, by stamps that bracket them.
static bool were_together(const struct race *race)
{
	const struct tare_bench *bench = race->pipeline->bench;
	uint32_t at[TARE_STAGE_COUNT] = { 0 };

	for (;;) {
		int64_t from = INT64_MIN, to = INT64_MAX;
		double shortest = INFINITY;
		int first = 0;
		for (int i = 0; i < race->count; i++) {
			const struct lane *lane = &race->lanes[i];
			int64_t start, end;
			if (at[i] == lane->count)
				return false;
			start = lane->start[at[i]];
			end = lane->end[at[i]];
			from = start > from ? start : from;
			if (end < to) {
				to = end;
				first = i;
			}
			shortest = fmin(shortest, (double)(end - start));
		}
		if ((double)(to - from) > fmax(2 * bench->step_ps, OVERLAP_LEAST * shortest))
			return true;
		at[first]++;
	}
}

// When the first operation of a lane began; stamps that are positions in the stream do not say.
static int64_t begin_of(const struct race *race, const struct lane *lane)
{
	return race->pipeline->bench->stamped && race->pipeline->bench->brackets
	           ? lane->start[0]
	           : lane->end[0] - (int64_t)lane->alone_ps;
}

struct turns {
	int64_t begin, end; // of all
	bool in_turn;       // some stage was done before another had begun
};

static struct turns find_turns(const struct race *race)
{
	struct turns turns = { .begin = INT64_MAX, .end = INT64_MIN };
	int64_t from = INT64_MIN, to = INT64_MAX, shortest = INT64_MAX;

	for (int i = 0; i < race->count; i++) {
		const struct lane *lane = &race->lanes[i];
		int64_t begin = begin_of(race, lane), end = last_end(lane);
		turns.begin = begin < turns.begin ? begin : turns.begin;
		turns.end = end > turns.end ? end : turns.end;
		from = begin > from ? begin : from;
		to = end < to ? end : to;
		shortest = end - begin < shortest ? end - begin : shortest;
	}
	turns.in_turn = to - from < shortest / 2;
	return turns;
}

// By the operations that count; where there are too few of them, by all of a lane's own, and where
// stages took turns, each had the time of all.
static void take_speeds(const struct race *race, int64_t ps[TARE_STAGE_COUNT])
{
	struct turns turns = find_turns(race);
	bool enough = true;

	for (int i = 0; i < race->count; i++)
		enough = enough && race->lanes[i].inside >= 2;
	for (int i = 0; i < race->count; i++) {
		const struct lane *lane = &race->lanes[i];
		double whole = (double)race->pipeline->items / (double)lane->items;
		double each = (double)(turns.end - turns.begin) / lane->count;
		if (enough)
			each = (double)(lane->end[lane->from + lane->inside - 1] -
			                lane->end[lane->from]) /
			       (lane->inside - 1);
		else if (!turns.in_turn)
			each = (double)(last_end(lane) - begin_of(race, lane)) / lane->count;
		ps[lane->stage] = (int64_t)(each * whole + 0.5);
	}
}

// More work a second than the engines of all but one stage could do.
static bool speeds_exceed(const struct race *race, const int64_t ps[TARE_STAGE_COUNT])
{
	double sum = 0;

	for (int i = 0; i < race->count; i++) {
		const struct lane *lane = &race->lanes[i];
		double whole = (double)race->pipeline->items / (double)lane->items;
		sum += lane->alone_ps * whole / (double)ps[lane->stage];
	}
	return sum > race->count - 1 + 0.2;
}

// By the host's clock a stage may seem many times as fast as it is alone: the host slept, and saw
// the ends of several operations at one moment.
static bool ends_seen_late(const struct race *race, const int64_t ps[TARE_STAGE_COUNT])
{
	bool late = false;

	for (int i = 0; i < race->count && !race->pipeline->bench->stamped; i++) {
		const struct lane *lane = &race->lanes[i];
		double whole = (double)race->pipeline->items / (double)lane->items;
		late = late || SPEED_MOST * (double)ps[lane->stage] < lane->alone_ps * whole;
	}
	return late;
}

static int decide_together(struct race *race, uint32_t mode, const int64_t *ps, bool *together,
                           struct tare_error *error)
{
	const struct tare_bench *bench = race->pipeline->bench;
	int status;

	*together = true;
	if (race->count == 1)
		return 0;
	if (bench->stamped && bench->brackets) {
		*together = were_together(race);
		return 0;
	}
	status = pipeline_probe_together(race->pipeline, mode, error);
	if (status < 0 && status != -EAGAIN)
		return status;
	*together = status == -EAGAIN ? speeds_exceed(race, ps) : status;
	return 0;
}

int tare_pipeline_mode(struct tare_pipeline *pipeline, uint32_t mode, int64_t ps[TARE_STAGE_COUNT],
                       bool *together, struct tare_error *error)
{
	struct race race = { .pipeline = pipeline };
	bool enough = false;
	int status;

	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		ps[stage] = 0;
	if (mode == 0 || mode & ~tare_pipeline_stages(pipeline))
		return tare_fail(error, EINVAL, "this kernel has no stages %s",
		                 tare_mode_name(mode % TARE_MODE_COUNT));
	status = size_lanes(pipeline, error);
	status = status ?: open_race(&race, mode, error);
	for (int trial = 0; status == 0 && !enough && trial < TRIALS_MOST; trial++) {
		if (trial && !top_up(&race))
			break;
		status = run_race(&race, error);
		if (status < 0)
			break;
		find_inside(&race);
		enough = has_enough(&race);
	}
	if (status < 0)
		return status;
	take_speeds(&race, ps);
	if (ends_seen_late(&race, ps))
		return tare_fail(
		    error, EAGAIN,
		    "no speed: without device stamps the host sees when operations end, "
		    "and here it saw several ends at one moment; more --bytes may do");
	return decide_together(&race, mode, ps, together, error);
}
