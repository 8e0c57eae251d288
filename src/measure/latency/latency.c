// SPDX-License-Identifier: Apache-2.0
#include "measure/latency/latency.h"

#include "backend/call.h"
#include "backend/kernels.h"
#include "measure/core/traced.h"
#include "measure/latency/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_DEFAULT 256
#define FIT_NS INT64_C(200000000)

// Refuses what the device lacks with the reason found at the start, then hands on.
static int begin_row(struct tare_measurement *measurement, struct tare_error *error)
{
	struct latency_task *task = measurement->context;
	const struct latency *latency = task->latency;
	const struct tare_bench *bench = &latency->bench;

	if (task->row->needs_kernel && !latency->kernel)
		return tare_fail(error, ENOTSUP, "%s", latency->no_kernel);
	if (task->row->needs_stamps && !bench->stamped)
		return tare_fail(error, ENOTSUP, "%s", bench->unstamped);
	if (task->row->needs_gate && !bench->gated)
		return tare_fail(error, ENOTSUP, "%s", bench->ungated);
	if (task->row->needs_second && !bench->second)
		return tare_fail(error, ENOTSUP, "the device gives no second queue");
	for (size_t i = 0; !bench->stamped && i < measurement->figure_count; i++)
		if (task->row->figures[i].device)
			snprintf(measurement->figures[i].absent,
			         sizeof measurement->figures[i].absent, "%s", bench->unstamped);
	return task->row->begin ? task->row->begin(task, error) : 0;
}

static int sample_row(struct tare_measurement *measurement, int64_t *values,
                      struct tare_error *error)
{
	struct latency_task *task = measurement->context;

	return task->row->sample(task, values, error);
}

static int end_row(struct tare_measurement *measurement, enum tare_verified *verified,
                   struct tare_error *error)
{
	struct latency_task *task = measurement->context;

	(void)verified;
	(void)error;
	tare_graph_free(task->graph);
	tare_event_free(task->event);
	for (size_t i = 0; i < LATENCY_CALLS; i++)
		tare_event_free(task->events[i]);
	for (size_t i = 0; i < LATENCY_QUEUES; i++)
		tare_queue_free(task->queues[i]);
	free(task->calls);
	tare_memory_free(task->host);
	tare_memory_free(task->device);
	task->graph = NULL;
	task->event = NULL;
	task->host = task->device = NULL;
	task->calls = NULL;
	memset(task->events, 0, sizeof task->events);
	memset(task->queues, 0, sizeof task->queues);
	return 0;
}

// A tracer that is there may cost what is timed after it: its rows are measured when all others
// are.
static bool is_of_pass(const struct latency *latency, const struct latency_row *row, bool traced)
{
	if ((latency->coarse && row->extra) ||
	    (row->bound && !latency->run->device->backend->binds_queues))
		return false;
	if (!row->traced || (row->stamped_else && !latency->traceable))
		return !traced;
	return traced && latency->traceable;
}

// *count: how many there are to measure, of all passes so far.
static void plan(struct latency *latency, bool traced, struct latency_task *tasks,
                 struct tare_measurement *measurements, size_t *count)
{
	for (size_t i = 0; i < latency_row_count; i++) {
		struct latency_task *task = &tasks[*count];
		struct tare_measurement *measurement = &measurements[*count];
		if (!is_of_pass(latency, &latency_rows[i], traced))
			continue;
		++*count;
		*task = (struct latency_task){ .latency = latency, .row = &latency_rows[i] };
		snprintf(measurement->title, sizeof measurement->title, "%s", task->row->title);
		measurement->begin = begin_row;
		measurement->sample = sample_row;
		measurement->end = end_row;
		measurement->context = task;
		latency_plan(task, measurement);
	}
}

static uint32_t choose_batch(const struct latency *latency,
                             const struct tare_latency_options *options)
{
	uint32_t batch = options && options->batch ? options->batch : BATCH_DEFAULT;
	uint32_t capacity = latency->bench.gate_capacity;

	return capacity > 8 && batch > capacity - 4 ? capacity - 4 : batch;
}

static int measure(struct latency *latency, struct tare_error *error)
{
	struct tare_measurement *measurements = calloc(latency_row_count, sizeof *measurements);
	struct latency_task *tasks = calloc(latency_row_count, sizeof *tasks);
	struct tare_run *run = latency->run;
	size_t mapping = 0, count = 0, first;
	int status;

	if (!measurements || !tasks) {
		free(measurements);
		free(tasks);
		return tare_fail(error, ENOMEM, "out of memory");
	}
	latency_add_mapping(latency, &mapping);
	plan(latency, false, tasks, measurements, &count);
	first = count;
	plan(latency, true, tasks, measurements, &count);
	run->cells_total = run->cells_done + count;
	status = tare_run_measure(run, measurements, first, error);
	if (count > first && (status == 0 || status == -EINTR)) {
		int traced = tare_run_measure(run, measurements + first, count - first, error);
		status = status < 0 ? status : traced;
		latency_gather(run->result);
	}
	if (latency->floor_ps > 0)
		run->result->clock.floor_ns = (int64_t)(latency->floor_ps / 1000 + 0.999);
	if (tare_result_status(run->result) == 0)
		latency_fill_mapping(latency, mapping);
	for (size_t i = 0; i < latency_row_count; i++)
		tare_measurement_clear(&measurements[i]);
	free(measurements);
	free(tasks);
	return status;
}

int tare_measure_latency(struct tare_run *run, const struct tare_latency_options *options,
                         struct tare_error *error)
{
	struct latency latency = { .run = run, .coarse = options && options->coarse };
	int status = tare_run_begin(run, TARE_LATENCY_BUDGET_NS, error);

	status = status ?: tare_bench_open(run, FIT_NS, &latency.bench, error);
	if (status == 0)
		status = tare_bench_try_kernel(run->device, "empty", "empty", "no empty kernel",
		                               &latency.module, &latency.kernel, latency.no_kernel,
		                               sizeof latency.no_kernel, error);
	latency.traceable = status == 0 && tare_traced_possible(&latency.bench);
	if (status == 0) {
		latency.batch = choose_batch(&latency, options);
		tare_labels_set_number(&run->result->parameters, "batch", latency.batch);
	}
	// Building the kernel and fitting the clock are not part of the budget.
	tare_run_restart(run);
	status = status ?: measure(&latency, error);
	if (tare_device_is_gone(status))
		tare_device_abandon(run->device);
	tare_kernel_free(latency.kernel);
	tare_module_free(latency.module);
	tare_bench_close(&latency.bench);
	if (status < 0 && !tare_run_is_partial(run, status))
		return status;
	latency_add_plots(run->result);
	return tare_run_end(run, status, error);
}
