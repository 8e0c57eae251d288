// SPDX-License-Identifier: Apache-2.0
// What every row of latency needs: its figure, a launch, a time divided.
#include "backend/call.h"
#include "backend/kernels.h"
#include "measure/core/traced.h"
#include "measure/latency/internal.h"
#include "measure/latency/latency.h"

#include <stdio.h>
#include <string.h>

static uint32_t divisor_of(const struct latency_task *task, const struct latency_figure *row)
{
	return row->divided == LATENCY_BATCH   ? task->batch
	       : row->divided == LATENCY_STEPS ? task->batch - 1
	       : row->divided                  ? row->divided
	                                       : 1;
}

static void add_figure(struct latency_task *task, struct tare_measurement *measurement,
                       const struct latency_figure *row)
{
	const struct tare_bench *bench = &task->latency->bench;
	bool ungated = !bench->gated && row->method_ungated;
	const char *method = ungated ? row->method_ungated : row->method;
	const char *note = row->batch_note ? tare_bench_batch_note(bench) : "";
	uint32_t batch = divisor_of(task, row);
	struct tare_figure *figure = tare_measurement_add(
	    measurement, "time", "ps", row->device ? "device" : "host", "%s%s%s", method, note,
	    row->device ? tare_bench_stamp_note(bench) : "");

	tare_labels_set_text(&figure->labels, "group", task->row->group);
	tare_labels_set_text(&figure->labels, "what",
	                     ungated && row->what_ungated ? row->what_ungated : row->what);
	if (batch > 1)
		tare_labels_set_number(&figure->labels, "batch", batch);
	figure->stamp_note_at = strlen(method) + strlen(note);
	figure->quantum =
	    (row->device ? bench->step_ps : 1000 * (double)task->latency->run->host_step_ns) /
	    batch;
	if (row->is_step)
		figure->quantum = 0;
	// A median of 0 is no figure.
	figure->floor = 1;
	if (row->absent)
		snprintf(figure->absent, sizeof figure->absent, "%s", row->absent);
	if (row->by_tracer)
		tare_traced_name(figure);
}

void latency_plan(struct latency_task *task, struct tare_measurement *measurement)
{
	const struct latency_row *row = task->row;
	uint32_t batch = task->latency->batch;

	batch = batch < row->batch_least ? row->batch_least : batch;
	task->batch = !row->batch_most ? 1 : batch > row->batch_most ? row->batch_most : batch;
	task->figures = measurement->figures;
	for (size_t i = 0; i < LATENCY_FIGURES && row->figures[i].what; i++)
		add_figure(task, measurement, &row->figures[i]);
}

struct tare_operation latency_launch(const struct latency *latency)
{
	return (struct tare_operation){
		.type = TARE_OPERATION_LAUNCH,
		.launch = { .kernel = latency->kernel,
		            .groups = { 1, 1, 1 },
		            .group_size = { 1, 1, 1 } },
	};
}

int64_t latency_ps(struct tare_host_time a, struct tare_host_time b, uint32_t batch)
{
	return tare_host_elapsed_ns(a, b) * 1000 / batch;
}

int latency_launch_and_wait(struct tare_queue *queue, const struct tare_operation *launch,
                            int64_t *ps, struct tare_error *error)
{
	struct tare_host_time begin;
	int status = tare_bench_turn_to(queue, launch, error);

	begin = tare_device_now(queue->device);
	status = status ?: tare_append(queue, launch, NULL, error);
	status = status ?: tare_finish(queue, TARE_LIMIT_NATIVE, error);
	*ps = latency_ps(begin, tare_device_now(queue->device), 1);
	return status;
}

int latency_issue(const struct latency_task *task, struct tare_queue *const *queues, uint32_t count,
                  const struct tare_operation *operation, int64_t values[2],
                  struct tare_error *error)
{
	struct tare_device *device = task->latency->bench.device;
	struct tare_host_time begin = tare_device_now(device), issued;
	int status = 0;

	for (uint32_t i = 0; status == 0 && i < task->batch; i++)
		status = tare_append(queues[i % count], operation, NULL, error);
	for (uint32_t i = 0; status == 0 && i < count; i++)
		status = tare_submit(queues[i], error);
	issued = tare_device_now(device);
	for (uint32_t i = 0; status == 0 && i < count; i++)
		status = tare_finish(queues[i], TARE_LIMIT_NATIVE, error);
	values[0] = latency_ps(begin, tare_device_now(device), task->batch);
	values[1] = latency_ps(begin, issued, task->batch);
	return status;
}
