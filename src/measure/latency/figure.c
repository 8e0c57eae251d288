// SPDX-License-Identifier: Apache-2.0
// What every row of latency needs: its figure, a launch, a time divided.
#include "backend/call.h"
#include "backend/kernels.h"
#include "measure/core/traced.h"
#include "measure/latency/internal.h"
#include "measure/latency/latency.h"
#include <string.h>

struct tare_figure *latency_figure(struct latency_task *task, struct tare_measurement *measurement,
                                   const char *what, const char *source, uint32_t batch,
                                   const char *method)
{
	bool device = strcmp(source, "device") == 0;
	struct tare_figure *figure =
	    tare_measurement_add(measurement, "time", "ps", source, "%s%s", method,
	                         device ? tare_bench_stamp_note(&task->latency->bench) : "");

	tare_labels_set_text(&figure->labels, "group", task->row->group);
	tare_labels_set_text(&figure->labels, "what", what);
	if (batch > 1)
		tare_labels_set_number(&figure->labels, "batch", batch);
	figure->stamp_note_at = strlen(method);
	figure->quantum = (device ? task->latency->bench.step_ps
	                          : 1000 * (double)task->latency->run->host_step_ns) /
	                  batch;
	// A median of 0 is no figure.
	figure->floor = 1;
	return figure;
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
