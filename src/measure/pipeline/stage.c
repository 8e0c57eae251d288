// SPDX-License-Identifier: Apache-2.0
// Stages in sequence: one operation alone, many in a row, and a kernel beside itself.
#include "backend/call.h"
#include "measure/pipeline/internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define SAMPLES_MOST 8

// Host time from before an operation's append until finish returned, in picoseconds.
static int time_by_host(struct tare_pipeline *pipeline, struct tare_queue *queue,
                        struct pipeline_operation *prepared, int64_t *ps, struct tare_error *error)
{
	struct tare_run *run = pipeline->bench->run;
	struct tare_host_time begin = tare_run_now(run);
	int status = tare_append(queue, &prepared->operation, NULL, error);

	// A limited wait for the same operation has succeeded.
	status = status ?: tare_finish(queue, TARE_LIMIT_NATIVE, error);
	*ps = 1000 * tare_host_elapsed_ns(begin, tare_run_now(run));
	return status;
}

static int time_by_device(struct tare_pipeline *pipeline, struct tare_queue *queue,
                          struct pipeline_operation *prepared, int64_t *ps,
                          struct tare_error *error)
{
	struct tare_bench *bench = pipeline->bench;
	struct tare_event *event = NULL;
	struct tare_host_time begin = tare_run_now(bench->run);
	int status = tare_append(queue, &prepared->operation, &event, error);

	status = status ?: tare_finish(queue, TARE_LIMIT_DEFAULT_NS, error);
	if (status == 0)
		status = tare_bench_duration_ps(
		    bench, event, tare_host_elapsed_ns(begin, tare_run_now(bench->run)), ps, error);
	tare_event_free(event);
	return status;
}

int pipeline_time_alone(struct tare_pipeline *pipeline, enum tare_stage stage, uint64_t items,
                        int64_t *ps, bool *device, struct tare_error *error)
{
	struct tare_bench *bench = pipeline->bench;
	struct pipeline_ends ends = pipeline_ends(pipeline);
	struct tare_queue *queue = pipeline_stage_queue(pipeline, stage);
	struct pipeline_operation prepared;
	int64_t sum = 0, one = 0;
	uint32_t samples = 1;
	int status;

	*device = bench->stamped;
	*ps = 0;
	if (!pipeline_has(pipeline, stage))
		return 0;
	pipeline_prepare(pipeline, stage, &ends, &prepared);
	pipeline_aim(pipeline, stage, 0, items, &prepared);
	// The device turns to this queue, and finds out about the operation, outside the time.
	status = tare_bench_run(queue, &prepared.operation, error);
	for (uint32_t i = 0; status == 0 && i < samples; i++) {
		status = bench->stamped ? time_by_device(pipeline, queue, &prepared, &one, error)
		                        : time_by_host(pipeline, queue, &prepared, &one, error);
		sum += one;
		if (i == 0 && bench->stamped)
			samples = tare_batch((double)one, bench->step_ps, SAMPLES_MOST);
	}
	if (status == 0)
		*ps = sum / samples;
	// Who frees the pipeline next must not wait behind what hangs.
	if (tare_device_is_gone(status))
		tare_device_abandon(pipeline->device);
	return status;
}

int tare_pipeline_stage(struct tare_pipeline *pipeline, enum tare_stage stage, int64_t *ps,
                        bool *device, struct tare_error *error)
{
	return pipeline_time_alone(pipeline, stage, pipeline->items, ps, device, error);
}

// ---- many in a row

static bool can_gate(const struct tare_pipeline *pipeline, uint32_t count)
{
	const struct tare_bench *bench = pipeline->bench;

	return bench->gated && pipeline->pinned &&
	       (bench->gate_capacity == 0 || count + 4 <= bench->gate_capacity);
}

// Appends `count` operations, each on the next part of the work; events of the first and the last.
static int append_row(struct tare_pipeline *pipeline, enum tare_stage stage, uint64_t items,
                      uint32_t count, struct tare_event *events[2], struct tare_error *error)
{
	struct tare_queue *queue = pipeline_stage_queue(pipeline, stage);
	struct pipeline_ends ends = pipeline_ends(pipeline);
	struct pipeline_operation prepared;
	uint64_t parts = pipeline->items / items;
	int status = 0;

	pipeline_prepare(pipeline, stage, &ends, &prepared);
	for (uint32_t i = 0; status == 0 && i < count; i++) {
		struct tare_event **event = i == 0           ? &events[0]
		                            : i + 1 == count ? &events[1]
		                                             : NULL;
		pipeline_aim(pipeline, stage, i % parts * items, items, &prepared);
		status = tare_append(queue, &prepared.operation, event, error);
	}
	return status;
}

// From the end of the first of a row to that of the last, per operation between.
static int row_by_device(struct tare_pipeline *pipeline, enum tare_stage stage, uint64_t items,
                         uint32_t count, double *ps, struct tare_error *error)
{
	struct tare_bench *bench = pipeline->bench;
	struct tare_queue *queue = pipeline_stage_queue(pipeline, stage);
	struct tare_event *events[2] = { NULL, NULL };
	struct tare_gate *gate = NULL;
	struct pipeline_axis axis = { 0 };
	struct tare_host_time begin = tare_run_now(bench->run);
	int64_t start, ends[2] = { 0, 0 };
	int status = can_gate(pipeline, count) ? tare_gate_shut(queue, &gate, error) : 0;

	status = status ?: append_row(pipeline, stage, items, count, events, error);
	if (status == 0 && gate)
		status = tare_gate_open(gate, error);
	status = status ?: tare_finish(queue, TARE_LIMIT_DEFAULT_NS, error);
	if (status == 0)
		status = tare_bench_can_tell(
		    bench, tare_host_elapsed_ns(begin, tare_run_now(bench->run)), error);
	for (int i = 0; status == 0 && i < 2; i++)
		status = pipeline_place(bench, &axis, events[i], &start, &ends[i], error);
	*ps = (double)(ends[1] - ends[0]) / (count - 1);
	tare_gate_free(gate);
	status = tare_bench_settle(queue, status, error);
	tare_event_free(events[0]);
	tare_event_free(events[1]);
	return status;
}

// Without stamps: what each further operation adds to the host's time.
static int row_by_host(struct tare_pipeline *pipeline, enum tare_stage stage, uint64_t items,
                       uint32_t count, double alone_ps, double *ps, struct tare_error *error)
{
	struct tare_queue *queue = pipeline_stage_queue(pipeline, stage);
	struct tare_run *run = pipeline->bench->run;
	struct tare_event *events[2] = { NULL, NULL };
	struct tare_host_time begin = tare_run_now(run);
	int status = append_row(pipeline, stage, items, count, events, error);

	status = status ?: tare_finish(queue, TARE_LIMIT_NATIVE, error);
	*ps = (1000.0 * (double)tare_host_elapsed_ns(begin, tare_run_now(run)) - alone_ps) /
	      (count - 1);
	status = tare_bench_settle(queue, status, error);
	tare_event_free(events[0]);
	tare_event_free(events[1]);
	return status;
}

int tare_pipeline_stage_point(struct tare_pipeline *pipeline, enum tare_stage stage, uint64_t items,
                              uint32_t count, struct tare_stage_point *point,
                              struct tare_error *error)
{
	uint64_t item = stage == TARE_STAGE_TO_DEVICE ? pipeline->kernel.in_bytes
	                : stage == TARE_STAGE_TO_HOST ? pipeline->kernel.out_bytes
	                                              : 1;
	int64_t alone_ps;
	double row_ps = 0;
	bool device;
	int status;

	if (items == 0 || items > pipeline->items)
		return tare_fail(error, EINVAL, "%llu items are no part of %llu",
		                 (unsigned long long)items, (unsigned long long)pipeline->items);
	status = pipeline_time_alone(pipeline, stage, items, &alone_ps, &device, error);
	if (status < 0)
		return status;
	*point = (struct tare_stage_point){ .amount = items * item,
		                            .isolated_ns = (double)alone_ps / 1000,
		                            .back_to_back_ns = (double)alone_ps / 1000 };
	if (count < 2 || !pipeline_has(pipeline, stage))
		return 0;
	status = device
	             ? row_by_device(pipeline, stage, items, count, &row_ps, error)
	             : row_by_host(pipeline, stage, items, count, (double)alone_ps, &row_ps, error);
	if (status == 0 && row_ps > 0)
		point->back_to_back_ns = row_ps / 1000;
	return status;
}

// ---- kernels beside each other

#define ACROSS 16

struct launches {
	struct tare_queue *queue[ACROSS];
	struct tare_gate *gate[ACROSS];
	struct tare_event *event[2 * ACROSS];  // of the first round, then of the second
	uint64_t start[ACROSS], count[ACROSS]; // items
	int launches, rounds;                  // in each queue as many as there are rounds
};

static int issue_launches(struct tare_pipeline *pipeline, struct launches *them,
                          struct tare_error *error)
{
	struct pipeline_ends ends = pipeline_ends(pipeline);
	struct pipeline_operation prepared;
	bool gated = can_gate(pipeline, (uint32_t)them->rounds);
	int status = 0;

	pipeline_prepare(pipeline, TARE_STAGE_KERNEL, &ends, &prepared);
	for (int i = 0; status == 0 && gated && i < them->launches; i++)
		status = tare_gate_shut(them->queue[i], &them->gate[i], error);
	for (int k = 0; status == 0 && k < them->launches * them->rounds; k++) {
		int i = k % them->launches;
		pipeline_aim(pipeline, TARE_STAGE_KERNEL, them->start[i], them->count[i],
		             &prepared);
		status = tare_append(them->queue[i], &prepared.operation, &them->event[k], error);
		status = status ?: tare_submit(them->queue[i], error);
	}
	for (int i = 0; status == 0 && gated && i < them->launches; i++)
		status = tare_gate_open(them->gate[i], error);
	for (int i = 0; status == 0 && i < them->launches; i++)
		status = tare_finish(them->queue[i], TARE_LIMIT_DEFAULT_NS, error);
	return status;
}

// From the first start to the last end; by the host's clock where there are no stamps.
static int time_launches(struct tare_pipeline *pipeline, struct launches *them, int64_t *ps,
                         struct tare_error *error)
{
	struct tare_bench *bench = pipeline->bench;
	struct tare_host_time begin = tare_run_now(bench->run);
	struct pipeline_axis axis = { 0 };
	int64_t first = INT64_MAX, last = INT64_MIN, start, end, host_ns;
	int status = issue_launches(pipeline, them, error);

	host_ns = tare_host_elapsed_ns(begin, tare_run_now(bench->run));
	*ps = 1000 * host_ns;
	if (status == 0 && bench->stamped)
		status = tare_bench_can_tell(bench, host_ns, error);
	for (int i = 0; status == 0 && bench->stamped && i < them->launches * them->rounds; i++) {
		status = pipeline_place(bench, &axis, them->event[i], &start, &end, error);
		first = start < first ? start : first;
		last = end > last ? end : last;
		*ps = last - first;
	}
	for (int i = 0; i < them->launches; i++) {
		tare_gate_free(them->gate[i]);
		them->gate[i] = NULL;
	}
	for (int i = 0; i < them->launches * them->rounds; i++) {
		tare_event_free(them->event[i]);
		them->event[i] = NULL;
	}
	for (int i = 0; i < them->launches; i++)
		status = tare_bench_settle(them->queue[i], status, error);
	return status;
}

int tare_pipeline_kernel_beside(struct tare_pipeline *pipeline, int64_t *together_ps,
                                int64_t *one_ps, struct tare_error *error)
{
	enum pipeline_queue_set set = pipeline->bench->stamped ? PIPELINE_TIMED : PIPELINE_PLAIN;
	uint64_t align = pipeline->kernel.align, half = (pipeline->items / 2 + align - 1) / align;
	struct launches pair = { .launches = 2, .rounds = 1 }, one = { .launches = 1, .rounds = 1 };
	struct pipeline_queue *queue;
	int status = 0;

	half *= align;
	if (half == 0 || half >= pipeline->items)
		return tare_fail(error, ENOTSUP, "the work cannot be cut into two halves");
	for (uint32_t i = 2; status == 0 && i-- > 0;) {
		status = pipeline_queue(pipeline, set, i, &queue, error);
		if (status == 0)
			pair.queue[i] = queue->queue;
	}
	one.queue[0] = pair.queue[0];
	one.count[0] = pipeline->items;
	pair.count[0] = half;
	pair.start[1] = half;
	pair.count[1] = pipeline->items - half;
	// Each of them once before it is timed.
	for (int i = 0; status == 0 && i < 2; i++) {
		status = time_launches(pipeline, &pair, together_ps, error);
		status = status ?: time_launches(pipeline, &one, one_ps, error);
	}
	return status;
}

int tare_pipeline_kernels_across(struct tare_pipeline *pipeline, uint64_t items, uint32_t count,
                                 struct tare_stage_point *point, struct tare_error *error)
{
	enum pipeline_queue_set set = pipeline->bench->stamped ? PIPELINE_TIMED : PIPELINE_PLAIN;
	uint64_t parts = items ? pipeline->items / items : 0;
	uint64_t most = parts == 1 ? 2 : 2 * parts < ACROSS ? 2 * parts : ACROSS;
	struct launches all = { .launches = count < most ? (int)count : (int)most, .rounds = 1 };
	struct pipeline_queue *queue;
	int64_t ps = 0, twice_ps = 0;
	int status = 0;

	point->across_ns = 0;
	if (parts == 0 || all.launches < 2)
		return 0;
	for (int i = all.launches; status == 0 && i-- > 0;) {
		status = pipeline_queue(pipeline, set, (uint32_t)i, &queue, error);
		if (status < 0)
			break;
		all.queue[i] = queue->queue;
		all.start[i] = (uint64_t)i % parts * items;
		all.count[i] = items;
	}
	status = status ?: time_launches(pipeline, &all, &ps, error);
	if (status == 0)
		point->across_ns = (double)ps / 1000 / all.launches;
	// Where there is room, what a second launch in each queue adds: the first ones had to
	// begin, and the last ones had the device to themselves.
	if (status == 0 && tare_stage_leaves_room(point)) {
		all.rounds = 2;
		status = time_launches(pipeline, &all, &twice_ps, error);
		point->across_ns =
		    fmin(point->across_ns,
		         fmax(point->across_ns / 2, (double)(twice_ps - ps) / 1000 / all.launches));
	}
	return status;
}
