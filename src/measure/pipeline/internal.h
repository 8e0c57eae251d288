// SPDX-License-Identifier: Apache-2.0
// What the files of the pipeline share: buffers, queues, operations of a part of the work, stamps
// on one axis.
#pragma once
#include "measure/pipeline/pipeline.h"

#include <errno.h>

#define PIPELINE_SCALARS 12
#define PIPELINE_ARGUMENTS (4 + PIPELINE_SCALARS)
#define PIPELINE_LANE_OPERATIONS 512

// A queue, and with which scalars (tare_pipeline.scalars_set) a limited wait on it has succeeded:
// only then may the API's own wait, which has no limit, be timed.
struct pipeline_queue {
	struct tare_queue *queue;
	uint64_t tried;
};

enum pipeline_queue_set {
	PIPELINE_PLAIN,  // in-order, without stamps; as many as schedules ask for
	PIPELINE_TIMED,  // in-order, with stamps
	PIPELINE_STAGES, // as PLAIN, one a stage, each on the engine for it
	                 // (measure/core/engines.h), where the API binds queues to engines
	PIPELINE_STAGES_TIMED,
	PIPELINE_OUT_OF_ORDER, // one
	PIPELINE_OUT_OF_ORDER_TIMED,
	PIPELINE_DEFAULT, // the API's default queue, or one in-order queue where it has none
	PIPELINE_SETS
};

struct pipeline_queues {
	struct pipeline_queue *at;
	uint32_t count;
};

// What a run needs besides the device: made before the clock starts.
struct pipeline_plan {
	uint32_t capacity; // chunks
	uint64_t *starts, *sizes;
	struct tare_step *steps;
	struct tare_event **events; // [chunk * TARE_STAGE_COUNT + stage]
	bool *wanted;               // the same: somebody waits for it
	size_t step_count;
};

// A schedule that was recorded; kept, because recording is no part of a run.
struct pipeline_graph {
	struct tare_graph *graph; // NULL: free
	struct tare_schedule schedule;
	uint64_t scalars_set; // what it was recorded with
	bool backwards;
	bool tried;    // has run once, with a limit
	uint64_t used; // the higher, the later
};
#define PIPELINE_GRAPHS 6

// For runs that the device's clock times; see clock.c.
struct pipeline_clock {
	struct tare_memory *written; // by the device; NULL: the host's clock times runs
	struct tare_clock_rate rate;
	struct tare_gate *gate;    // of the run in progress
	struct tare_event *opened; // for its other queues
};

// How the stages are cut for running beside each other; see modes.c.
struct pipeline_lane_size {
	uint64_t items; // of one operation; 0: there is no such stage
	double ps;      // that it takes alone
};

struct tare_pipeline {
	struct tare_bench *bench;
	struct tare_device *device;
	struct tare_chunk_kernel kernel;
	uint64_t items;
	bool pinned;
	bool backwards;                         // chunks change places: the last one comes first
	struct tare_memory *host_in, *host_out; // pinned where the device has that
	struct tare_memory *heap_in, *heap_out; // pageable twins, made when first asked for
	struct tare_memory *device_in, *device_out;
	struct tare_memory *aside_in, *aside_out; // what copies use while a kernel runs beside them
	bool aside_tried;
	unsigned char scalars[PIPELINE_SCALARS][16];
	uint64_t scalars_set; // from 1; another number with each change of a scalar
	struct pipeline_queues queues[PIPELINE_SETS];
	struct pipeline_plan plan;
	struct tare_drawn drawn;
	struct pipeline_clock clock;
	struct pipeline_graph graphs[PIPELINE_GRAPHS];
	uint64_t graphs_used;
	void *reference; // output of an unchunked run with the scalars of that number
	uint64_t reference_of;
	struct pipeline_lane_size lanes[TARE_STAGE_COUNT];
	uint64_t lanes_of;
	struct tare_event *lane_events[TARE_STAGE_COUNT][PIPELINE_LANE_OPERATIONS];
	int64_t lane_start[TARE_STAGE_COUNT][PIPELINE_LANE_OPERATIONS];
	int64_t lane_end[TARE_STAGE_COUNT][PIPELINE_LANE_OPERATIONS];
};

// Which memories an operation uses.
struct pipeline_ends {
	struct tare_memory *from, *input, *output, *to; // host, device, device, host
};

static inline bool pipeline_has(const struct tare_pipeline *pipeline, enum tare_stage stage)
{
	return tare_pipeline_stages(pipeline) >> stage & 1;
}

// Pinned host memory (or what stands for it) and the device's.
struct pipeline_ends pipeline_ends(const struct tare_pipeline *pipeline);
// The pageable twins, made and filled at the first call.
int pipeline_need_heap(struct tare_pipeline *pipeline, struct tare_error *error);

// Makes and touches device memory that copies use while a kernel runs beside them, so that no
// runtime orders the two by the buffer that they share. Where that is too much, there is none.
int pipeline_set_aside(struct tare_pipeline *pipeline, struct tare_error *error);

// An operation together with what it points to; must stay where it is until it is appended.
struct pipeline_operation {
	struct tare_operation operation;
	uint32_t first, count;
	struct tare_argument arguments[PIPELINE_ARGUMENTS];
};
// What does not change from one operation of a stage to the next.
void pipeline_prepare(const struct tare_pipeline *pipeline, enum tare_stage stage,
                      const struct pipeline_ends *ends, struct pipeline_operation *prepared);
// Aims it at `count` items from `start` on.
void pipeline_aim(const struct tare_pipeline *pipeline, enum tare_stage stage, uint64_t start,
                  uint64_t count, struct pipeline_operation *prepared);

// Queue `index` of a set, made (with those before it) if it is not there yet.
int pipeline_queue(struct tare_pipeline *pipeline, enum pipeline_queue_set set, uint32_t index,
                   struct pipeline_queue **queue, struct tare_error *error);

// The set of in-order queues for stages, one each.
static inline enum pipeline_queue_set pipeline_stage_set(const struct tare_pipeline *pipeline,
                                                         bool timed)
{
	if (!pipeline->device->backend->binds_queues)
		return timed ? PIPELINE_TIMED : PIPELINE_PLAIN;
	return timed ? PIPELINE_STAGES_TIMED : PIPELINE_STAGES;
}

// The timed queue in which operations of one stage are timed alone: where the API binds queues to
// engines, that of the stage's engine.
struct tare_queue *pipeline_stage_queue(struct tare_pipeline *pipeline, enum tare_stage stage);

static inline size_t pipeline_slot(uint32_t chunk, enum tare_stage stage)
{
	return (size_t)chunk * TARE_STAGE_COUNT + stage;
}
// The slot of what a step waits for: the stage before it of the same chunk.
static inline size_t pipeline_awaited(const struct tare_step *step)
{
	return pipeline_slot(step->chunk, (enum tare_stage)(step->stage - 1));
}
// What a schedule consists of, in pipeline->plan.
int pipeline_plan(struct tare_pipeline *pipeline, const struct tare_schedule *schedule,
                  enum tare_break how, struct tare_error *error);
// The graph of the schedule that pipeline->plan holds; recorded if it is not there yet.
int pipeline_graph(struct tare_pipeline *pipeline, const struct tare_schedule *schedule,
                   struct pipeline_graph **graph, struct tare_error *error);
void pipeline_graphs_free(struct tare_pipeline *pipeline);
// Tries with the least graph whether this device records and launches them.
int pipeline_can_graph(struct tare_pipeline *pipeline, struct tare_error *error);

// Start and end of finished operations in picoseconds on one axis. The axis begins at the first
// operation that is read; -ENODATA when another belongs to another epoch of the device's clock.
struct pipeline_axis {
	bool begun;
	struct tare_stamps origin;
};
int pipeline_place(const struct tare_bench *bench, struct pipeline_axis *axis,
                   struct tare_event *event, int64_t *start_ps, int64_t *end_ps,
                   struct tare_error *error);

// Runs a schedule once, with a limit on every wait: its only run, so that what it leaves in the
// output is its own. Blocking copies have no limit: tare_pipeline_run comes first.
int pipeline_run_limited(struct tare_pipeline *pipeline, const struct tare_schedule *schedule,
                         enum tare_break how, struct tare_error *error);
// Runs a schedule with an event for every operation in timed queues, and leaves the events in
// pipeline->plan for the caller to free with pipeline_drop_events.
int pipeline_run_timed(struct tare_pipeline *pipeline, const struct tare_schedule *schedule,
                       int64_t *ns, struct tare_error *error);
// The same in queues without stamps, while the device's engines are traced.
int pipeline_run_traced(struct tare_pipeline *pipeline, const struct tare_schedule *schedule,
                        int64_t *ns, struct tare_error *error);
void pipeline_drop_events(struct tare_pipeline *pipeline);

// Time of one operation of `items` items from the work's start on, alone; by the device's clock if
// *device.
int pipeline_time_alone(struct tare_pipeline *pipeline, enum tare_stage stage, uint64_t items,
                        int64_t *ps, bool *device, struct tare_error *error);

// Prepares timing by the device's clock, where the device asks for it and has one.
int pipeline_clock_open(struct tare_pipeline *pipeline, struct tare_error *error);
// Before the first operation, which is in queue `first` of `count`: holds all of them back, and has
// the clock written when they go. pipeline_clock_clear follows, also after a failure.
int pipeline_clock_begin(struct tare_pipeline *pipeline, const struct pipeline_queue *queues,
                         uint32_t count, uint32_t first, struct tare_error *error);
// Behind the last operation of each queue. `ordered`: the queues are in-order ones.
int pipeline_clock_end(struct tare_pipeline *pipeline, const struct pipeline_queue *queues,
                       uint32_t count, bool ordered, struct tare_error *error);
// Lets the queues go, at the first call.
int pipeline_clock_go(struct tare_pipeline *pipeline, struct tare_error *error);
// Once all queues are done: the time from the first operation until the last queue was. -EOVERFLOW:
// it took the host so long that the clock may have wrapped.
int pipeline_clock_read(const struct tare_pipeline *pipeline, uint32_t count, int64_t host_ns,
                        int64_t *ns, struct tare_error *error);
void pipeline_clock_clear(struct tare_pipeline *pipeline);

// Whether an operation of one stage of `mode` is done while single, longer ones of all the others
// are still at work: 1 yes, 0 no, -EAGAIN when operations are too short to tell.
int pipeline_probe_together(struct tare_pipeline *pipeline, uint32_t mode,
                            struct tare_error *error);
