// SPDX-License-Identifier: Apache-2.0
// Shared by the files of `latency`; nobody else's business.
#pragma once
#include "measure/core/bench.h"
#include "measure/latency/latency.h"

#define LATENCY_QUEUES 8
#define LATENCY_CALLS 16 // of the API that are timed in a row

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

// Of each figure "issue only": they all end behind tare_submit.
#define LATENCY_ISSUED                                                                             \
	"the same ones: host time until the last has been issued and handed to the device"

// Causality is surer than the clock fit: nothing starts before its call nor ends after what follows
// it. Puts a mapped interval within 0 and `around_ps`, and counts what lay outside.
int64_t latency_bounded(int64_t mapped_ps, int64_t around_ps, size_t *outside);
// Where most samples had to be put within their bounds, the median is a bound and no figure: it is
// refused with the reason (true).
bool latency_refuse_bounded(struct latency_task *task, struct tare_figure *figure, size_t outside);

// One row of the table in latency.c: one measurement.
struct latency_row {
	const char *group;
	const char *title; // for progress
	// Adds the figures to the measurement.
	void (*plan)(struct latency_task *task, struct tare_measurement *measurement);
	int (*begin)(struct tare_measurement *measurement, struct tare_error *error);
	int (*sample)(struct tare_measurement *measurement, int64_t values[TARE_FIGURES],
	              struct tare_error *error);
	bool needs_kernel, needs_stamps, needs_gate, needs_second;
	bool extra;        // left out of a quick look
	bool bound;        // only where the API binds queues to engines, and so has lists
	bool traced;       // by the vendor's tracer where there may be one: measured last,
	bool stamped_else; // and by the stamps of the driver where there is none
	// Of a copy; of a graph its nodes; of launches their queues, or the order of their one.
	enum tare_memory_kind kind;
	bool to_device;
	uint32_t nodes; // 0: the batch
	enum tare_queue_order order;
};

// Adds a figure with its labels. quantum_ns: the timer's step, undivided; batch as in `divided by`.
struct tare_figure *latency_figure(struct latency_task *task, struct tare_measurement *measurement,
                                   const char *what, const char *source, uint32_t batch,
                                   const char *method);
struct tare_operation latency_launch(const struct latency *latency);
// (b - a) in picoseconds, divided by batch.
int64_t latency_ps(struct tare_host_time a, struct tare_host_time b, uint32_t batch);

#define LATENCY_ROW_FUNCTIONS(name)                                                                \
	void latency_plan_##name(struct latency_task *, struct tare_measurement *);                \
	int latency_begin_##name(struct tare_measurement *, struct tare_error *);                  \
	int latency_sample_##name(struct tare_measurement *, int64_t *, struct tare_error *);
LATENCY_ROW_FUNCTIONS(host_clock)
LATENCY_ROW_FUNCTIONS(device_clock)
LATENCY_ROW_FUNCTIONS(pair)
LATENCY_ROW_FUNCTIONS(written)
LATENCY_ROW_FUNCTIONS(isolated)
LATENCY_ROW_FUNCTIONS(batched)
LATENCY_ROW_FUNCTIONS(gated)
LATENCY_ROW_FUNCTIONS(to_start)
LATENCY_ROW_FUNCTIONS(spread)
LATENCY_ROW_FUNCTIONS(default)
LATENCY_ROW_FUNCTIONS(create)
LATENCY_ROW_FUNCTIONS(list)
LATENCY_ROW_FUNCTIONS(signal)
LATENCY_ROW_FUNCTIONS(call)
LATENCY_ROW_FUNCTIONS(call_kernel)
LATENCY_ROW_FUNCTIONS(graph)
LATENCY_ROW_FUNCTIONS(nodes)
LATENCY_ROW_FUNCTIONS(traced)
LATENCY_ROW_FUNCTIONS(finish)
LATENCY_ROW_FUNCTIONS(wait)
LATENCY_ROW_FUNCTIONS(copy)
LATENCY_ROW_FUNCTIONS(copies)
LATENCY_ROW_FUNCTIONS(record)
LATENCY_ROW_FUNCTIONS(query)
LATENCY_ROW_FUNCTIONS(across)
LATENCY_ROW_FUNCTIONS(callback)

// Residual and drift as cells of source "model"; add before measuring, fill after
// (clock.c).
void latency_add_mapping(struct latency *latency, size_t *first_cell);
void latency_fill_mapping(struct latency *latency, size_t first_cell);
// Cells that were measured last go beside the others of their group (traced.c).
void latency_gather(struct tare_result *result);
// Bars of the medians and one distribution chart a group (plots.c).
void latency_add_plots(struct tare_result *result);
