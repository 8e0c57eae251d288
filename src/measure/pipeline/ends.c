// SPDX-License-Identifier: Apache-2.0
// The parts of a pipeline that a run or a graph takes: queues, chunks and both their ends.
#include "backend/call.h"
#include "base/units.h"
#include "measure/core/engines.h"
#include "measure/pipeline/internal.h"
#include "measure/pipeline/pipeline.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint32_t tare_pipeline_stages(const struct tare_pipeline *pipeline)
{
	return (pipeline->kernel.in_bytes ? 1u << TARE_STAGE_TO_DEVICE : 0) |
	       1u << TARE_STAGE_KERNEL |
	       (pipeline->kernel.out_bytes ? 1u << TARE_STAGE_TO_HOST : 0);
}

struct pipeline_ends pipeline_ends(const struct tare_pipeline *pipeline)
{
	return (struct pipeline_ends){ pipeline->host_in, pipeline->device_in, pipeline->device_out,
		                       pipeline->host_out };
}

int pipeline_need_heap(struct tare_pipeline *pipeline, struct tare_error *error)
{
	struct tare_memory **twins[] = { &pipeline->heap_in, &pipeline->heap_out };
	const struct tare_memory *like[] = { pipeline->host_in, pipeline->host_out };

	for (int i = 0; i < 2; i++) {
		int status;
		if (*twins[i] || !like[i])
			continue;
		status = tare_memory_create(pipeline->device, TARE_MEMORY_PAGEABLE, like[i]->bytes,
		                            twins[i], error);
		if (status < 0)
			return status;
		memcpy((*twins[i])->host, like[i]->host, like[i]->bytes);
	}
	return 0;
}

static struct tare_span part(struct tare_memory *memory, uint64_t item_bytes, uint64_t start,
                             uint64_t count)
{
	// A memory that stands in for a larger one may be smaller.
	uint64_t bytes = item_bytes * count, room = memory->bytes - bytes;
	uint64_t offset = item_bytes * start;

	return (struct tare_span){ memory, offset <= room ? offset : 0, bytes };
}

void pipeline_prepare(const struct tare_pipeline *pipeline, enum tare_stage stage,
                      const struct pipeline_ends *ends, struct pipeline_operation *prepared)
{
	const struct tare_chunk_kernel *kernel = &pipeline->kernel;
	struct tare_operation *operation = &prepared->operation;
	struct tare_argument *arguments = prepared->arguments;

	*operation = (struct tare_operation){ .type = TARE_OPERATION_COPY };
	if (stage == TARE_STAGE_TO_DEVICE) {
		operation->source.memory = ends->from;
		operation->destination.memory = ends->input;
		return;
	}
	if (stage == TARE_STAGE_TO_HOST) {
		operation->source.memory = ends->output;
		operation->destination.memory = ends->to;
		return;
	}
	operation->type = TARE_OPERATION_LAUNCH;
	arguments[0] = (struct tare_argument){ .type = TARE_ARGUMENT_MEMORY,
		                               .span = { ends->input, 0, ends->input->bytes } };
	arguments[1] = (struct tare_argument){ .type = TARE_ARGUMENT_MEMORY,
		                               .span = { ends->output, 0, ends->output->bytes } };
	arguments[2] = (struct tare_argument){ .type = TARE_ARGUMENT_VALUE,
		                               .value = &prepared->first,
		                               .bytes = sizeof prepared->first };
	arguments[3] = (struct tare_argument){ .type = TARE_ARGUMENT_VALUE,
		                               .value = &prepared->count,
		                               .bytes = sizeof prepared->count };
	for (uint32_t i = 0; i < kernel->scalar_count; i++)
		arguments[4 + i] = kernel->scalars[i];
	operation->launch = (struct tare_launch){ .kernel = kernel->kernel,
		                                  .groups = { 1, 1, 1 },
		                                  .group_size = { kernel->group_size, 1, 1 },
		                                  .arguments = arguments,
		                                  .argument_count = 4 + kernel->scalar_count };
}

void pipeline_aim(const struct tare_pipeline *pipeline, enum tare_stage stage, uint64_t start,
                  uint64_t count, struct pipeline_operation *prepared)
{
	const struct tare_chunk_kernel *kernel = &pipeline->kernel;
	struct tare_operation *operation = &prepared->operation;
	uint64_t bytes = stage == TARE_STAGE_TO_DEVICE ? kernel->in_bytes : kernel->out_bytes;

	if (stage == TARE_STAGE_KERNEL) {
		prepared->first = (uint32_t)start;
		prepared->count = (uint32_t)count;
		uint64_t groups = (count + kernel->group_size - 1) / kernel->group_size;
		if (kernel->groups_most && groups > kernel->groups_most)
			groups = kernel->groups_most;
		operation->launch.groups[0] = (uint32_t)groups;
		return;
	}
	operation->source = part(operation->source.memory, bytes, start, count);
	operation->destination = part(operation->destination.memory, bytes, start, count);
}

static uint32_t engine_of(const struct tare_pipeline *pipeline, enum pipeline_queue_set set,
                          uint32_t index)
{
	static const enum tare_engine_use uses[] = {
		[TARE_STAGE_TO_DEVICE] = TARE_USE_TO_DEVICE,
		[TARE_STAGE_KERNEL] = TARE_USE_KERNELS,
		[TARE_STAGE_TO_HOST] = TARE_USE_TO_HOST,
	};
	bool stages = set == PIPELINE_STAGES || set == PIPELINE_STAGES_TIMED;

	return tare_engine_for(pipeline->device,
	                       stages && index < TARE_STAGE_COUNT ? uses[index] : TARE_USE_KERNELS);
}

static int create_queue(struct tare_pipeline *pipeline, enum pipeline_queue_set set, uint32_t index,
                        struct tare_queue **queue, struct tare_error *error)
{
	struct tare_queue_options options = { .order = TARE_QUEUE_IN_ORDER };
	struct tare_error why;
	int status;

	options.engine = engine_of(pipeline, set, index);
	options.timed = set == PIPELINE_TIMED || set == PIPELINE_STAGES_TIMED ||
	                set == PIPELINE_OUT_OF_ORDER_TIMED;
	if (set == PIPELINE_OUT_OF_ORDER || set == PIPELINE_OUT_OF_ORDER_TIMED)
		options.order = TARE_QUEUE_OUT_OF_ORDER;
	if (set != PIPELINE_DEFAULT)
		return tare_queue_create(pipeline->device, &options, queue, error);
	options.order = TARE_QUEUE_LEGACY_DEFAULT;
	status = tare_queue_create(pipeline->device, &options, queue, &why);
	if (status == 0 || tare_device_is_gone(status)) {
		if (status < 0 && error)
			*error = why;
		return status;
	}
	options.order = TARE_QUEUE_IN_ORDER;
	return tare_queue_create(pipeline->device, &options, queue, error);
}

int pipeline_queue(struct tare_pipeline *pipeline, enum pipeline_queue_set set, uint32_t index,
                   struct pipeline_queue **queue, struct tare_error *error)
{
	struct pipeline_queues *queues = &pipeline->queues[set];

	if (index >= queues->count) {
		struct pipeline_queue *grown =
		    realloc(queues->at, (index + 1) * sizeof *queues->at);
		if (!grown)
			return tare_fail(error, ENOMEM, "out of memory");
		queues->at = grown;
	}
	while (queues->count <= index) {
		struct pipeline_queue *made = &queues->at[queues->count];
		int status;
		*made = (struct pipeline_queue){ 0 };
		status = create_queue(pipeline, set, queues->count, &made->queue, error);
		if (status < 0)
			return status;
		queues->count++;
	}
	*queue = &queues->at[index];
	return 0;
}
