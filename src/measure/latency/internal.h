// SPDX-License-Identifier: Apache-2.0
// Shared by the files of `latency`; nobody else's business.
#pragma once
#include "measure/core/bench.h"
#include "measure/latency/latency.h"

#define LATENCY_QUEUES 8
#define LATENCY_CALLS 16 // of the API that are timed in a row
#define LATENCY_READS 64 // of the host's clock
#define LATENCY_MARKERS 16
#define LATENCY_WRITES 16 // global timestamps
#define LATENCY_RECORDS 64
#define LATENCY_FIGURES 5
#define LATENCY_MANY UINT32_MAX        // no bound of a batch
#define LATENCY_BATCH UINT32_MAX       // divided by the task's batch
#define LATENCY_STEPS (UINT32_MAX - 1) // by the steps between

struct latency {
	struct tare_run *run;
	struct tare_bench bench;
	struct tare_module *module;
	struct tare_kernel *kernel; // the empty one; NULL: no_kernel says why
	char no_kernel[320];
	uint32_t batch; // launches in a row
	bool coarse;
	bool traceable;  // the vendor may have a tracer
	double floor_ps; // smallest step between device stamps that was seen; 0: none yet
};

// What one row needs while it is measured.
struct latency_task {
	struct latency *latency;
	const struct latency_row *row;
	struct tare_figure *figures; // the measurement's
	uint32_t batch;
	struct tare_memory *host, *device;
	struct tare_event *event;
	struct tare_graph *graph;
	bool traced; // the nodes' stamps are the vendor's tracer's
	struct tare_queue *queues[LATENCY_QUEUES];
	struct tare_event *events[LATENCY_CALLS];
	struct latency_call *calls; // see call.c
	size_t samples;             // of a figure that lies on two clocks: taken,
	size_t outside[3];          // and those of each figure that cannot be
};

// Causality is surer than the clock fit: nothing starts before its call nor ends after what follows
// it. Puts a mapped interval within 0 and `around_ps`, and counts what lay outside.
int64_t latency_bounded(int64_t mapped_ps, int64_t around_ps, size_t *outside);
// Where most samples had to be put within their bounds, the median is a bound and no figure: it is
// refused with the reason (true).
bool latency_refuse_bounded(struct latency_task *task, struct tare_figure *figure, size_t outside);

// One figure of a row.
struct latency_figure {
	const char *what, *method;                 // what NULL: there are no more
	const char *what_ungated, *method_ungated; // where there is no gate; NULL: the same
	const char *absent;                        // why there is none as long as no sample is
	uint32_t
	    divided; // the time is that of so many: a number, LATENCY_BATCH or LATENCY_STEPS; 0: 1
	bool device; // by the device's clock; else by the host's
	bool batch_note; // the method ends with how short operations were timed
	bool is_step;    // the timer's own step
	bool by_tracer;  // the stamps are the vendor's tracer's
};

// One measurement.
struct latency_row {
	const char *group;
	const char *title; // for progress
	// Prepares what the samples need; NULL: nothing.
	int (*begin)(struct latency_task *task, struct tare_error *error);
	int (*sample)(struct latency_task *task, int64_t values[TARE_FIGURES],
	              struct tare_error *error);
	bool needs_kernel, needs_stamps, needs_gate, needs_second;
	bool extra;        // left out of a quick look
	bool bound;        // only where the API binds queues to engines, and so has lists
	bool traced;       // by the vendor's tracer where there may be one: measured last,
	bool stamped_else; // and by the stamps of the driver where there is none
	// Of a copy; of launches how many queues, and their order.
	enum tare_memory_kind kind;
	bool to_device;
	uint32_t queues;
	enum tare_queue_order order;
	// So many in a row: the run's batch within these bounds; most 0: one.
	uint32_t batch_least, batch_most;
	struct latency_figure figures[LATENCY_FIGURES];
};
extern const struct latency_row latency_rows[];
extern const size_t latency_row_count;

// Sets the task's batch and adds the row's figures with their labels.
void latency_plan(struct latency_task *task, struct tare_measurement *measurement);
// Time of one launch that is waited for, on a queue that was used just before.
int latency_launch_and_wait(struct tare_queue *queue, const struct tare_operation *launch,
                            int64_t *ps, struct tare_error *error);
// The task's batch of an operation, in turn on `count` queues, then finish of each. values: the
// host time of the whole, and until the last was issued and handed to the device, each per
// operation.
int latency_issue(const struct latency_task *task, struct tare_queue *const *queues, uint32_t count,
                  const struct tare_operation *operation, int64_t values[2],
                  struct tare_error *error);
struct tare_operation latency_launch(const struct latency *latency);
// (b - a) in picoseconds, divided by batch.
int64_t latency_ps(struct tare_host_time a, struct tare_host_time b, uint32_t batch);

// Each prepares what the samples of a row need.
#define BEGIN(name) int latency_begin_##name(struct latency_task *task, struct tare_error *error);
// One launch on each queue with a limit, so that the native waits in the samples cannot be the
// first to find a device that hangs.
BEGIN(launch)
BEGIN(to_start)
BEGIN(traced)
BEGIN(queues)
BEGIN(create)
BEGIN(list)
BEGIN(signal)
BEGIN(graph)
BEGIN(make)
BEGIN(nodes)
BEGIN(finish)
BEGIN(wait)
BEGIN(copy)
BEGIN(copies)
BEGIN(callback)
BEGIN(call)
BEGIN(call_kernel)
BEGIN(written)
#undef BEGIN
#define SAMPLE(name)                                                                               \
	int latency_sample_##name(struct latency_task *task, int64_t *values,                      \
	                          struct tare_error *error);
SAMPLE(host_clock)
SAMPLE(device_clock)
SAMPLE(pair)
SAMPLE(written)
SAMPLE(isolated)
SAMPLE(batched)
SAMPLE(gated)
SAMPLE(to_start)
SAMPLE(traced)
SAMPLE(spread)
SAMPLE(default)
SAMPLE(create)
SAMPLE(list)
SAMPLE(signal)
SAMPLE(graph)
SAMPLE(make)
SAMPLE(nodes)
SAMPLE(finish)
SAMPLE(wait)
SAMPLE(copy)
SAMPLE(copies)
SAMPLE(record)
SAMPLE(query)
SAMPLE(across)
SAMPLE(callback)
SAMPLE(call)
SAMPLE(call_kernel)
#undef SAMPLE

// Residual and drift as cells of source "model"; add before measuring, fill after
// (clock.c).
void latency_add_mapping(struct latency *latency, size_t *first_cell);
void latency_fill_mapping(struct latency *latency, size_t first_cell);
// Cells that were measured last go beside the others of their group (traced.c).
void latency_gather(struct tare_result *result);
// Bars of the medians and one distribution chart a group (plots.c).
void latency_add_plots(struct tare_result *result);
