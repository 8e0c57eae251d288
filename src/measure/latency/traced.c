// SPDX-License-Identifier: Apache-2.0
// How long an empty kernel's engine works, by the vendor's tracer.
#include "measure/core/traced.h"
#include "measure/latency/internal.h"

#include "backend/call.h"

#include <stdlib.h>
#include <string.h>

static int append(void *context, struct tare_event **event, struct tare_error *error)
{
	struct latency_task *task = context;
	struct tare_operation launch = latency_launch(task->latency);

	return tare_append(task->latency->bench.timed, &launch, event, error);
}

int latency_begin_traced(struct latency_task *task, struct tare_error *error)
{
	return tare_traced_try(&task->latency->bench, error);
}

int latency_sample_traced(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	return tare_traced_mean_ps(&task->latency->bench, task->batch, append, task, &values[0],
	                           error);
}

void latency_gather(struct tare_result *result)
{
	struct tare_cell *sorted = calloc(result->cell_count + 1, sizeof *sorted);
	bool *taken = calloc(result->cell_count + 1, sizeof *taken);
	size_t count = 0;

	for (size_t i = 0; sorted && taken && i < result->cell_count; i++) {
		const char *group = tare_cell_text(&result->cells[i], "group");
		for (size_t k = i; k < result->cell_count; k++) {
			if (taken[k] ||
			    strcmp(tare_cell_text(&result->cells[k], "group"), group) != 0)
				continue;
			taken[k] = true;
			sorted[count++] = result->cells[k];
		}
	}
	if (count == result->cell_count)
		memcpy(result->cells, sorted, count * sizeof *sorted);
	else
		tare_result_fail(result);
	free(sorted);
	free(taken);
}
