// SPDX-License-Identifier: Apache-2.0
// A pipeline's buffers, queues and operations.
#include "measure/pipeline/pipeline.h"

#include "backend/call.h"
#include "base/random.h"
#include "base/units.h"
#include "measure/core/engines.h"
#include "measure/pipeline/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *tare_break_name(enum tare_break what)
{
	static const char *const names[TARE_BREAK_COUNT] = {
		[TARE_BREAK_NONE] = "none",
		[TARE_BREAK_DEFAULT_QUEUE] = "default-queue",
		[TARE_BREAK_BLOCKING] = "blocking",
		[TARE_BREAK_PAGEABLE] = "pageable",
		[TARE_BREAK_ALLOCATION] = "allocation",
		[TARE_BREAK_LAZY_LOADING] = "lazy-loading",
	};
	return names[what];
}

bool tare_pipeline_pinned(const struct tare_pipeline *pipeline)
{
	return pipeline->pinned;
}

struct tare_pipeline_work tare_pipeline_work(const struct tare_pipeline *pipeline)
{
	return (struct tare_pipeline_work){ .items = pipeline->items,
		                            .in_bytes = pipeline->kernel.in_bytes,
		                            .out_bytes = pipeline->kernel.out_bytes,
		                            .align = pipeline->kernel.align };
}

void tare_pipeline_set_backwards(struct tare_pipeline *pipeline, bool backwards)
{
	pipeline->backwards = backwards;
}

void tare_pipeline_set_scalar(struct tare_pipeline *pipeline, uint32_t index, const void *value)
{
	struct tare_argument *scalar = &pipeline->kernel.scalars[index];

	if (scalar->bytes <= sizeof pipeline->scalars[index]) {
		memcpy(pipeline->scalars[index], value, scalar->bytes);
		value = pipeline->scalars[index];
	}
	scalar->value = value;
	pipeline->scalars_set++;
}

// ---- buffers

static uint64_t in_bytes(const struct tare_pipeline *pipeline)
{
	return pipeline->items * pipeline->kernel.in_bytes;
}

static uint64_t out_bytes(const struct tare_pipeline *pipeline)
{
	return pipeline->items * pipeline->kernel.out_bytes;
}

static void fill(void *at, uint64_t bytes, uint64_t seed)
{
	struct tare_random random = { .state = seed ^ UINT64_C(0x706970656c696e65) };
	uint64_t word;

	for (uint64_t i = 0; i + 8 <= bytes; i += 8) {
		word = tare_random_next(&random);
		memcpy((char *)at + i, &word, 8);
	}
	word = tare_random_next(&random);
	memcpy((char *)at + bytes / 8 * 8, &word, bytes % 8);
}

// Pinned if the device has that; there is nothing else on the host that every device can copy.
static int create_host(struct tare_pipeline *pipeline, uint64_t bytes, struct tare_memory **memory,
                       struct tare_error *error)
{
	int status = -ENOTSUP;

	if (bytes == 0)
		return 0;
	if (pipeline->pinned) {
		status =
		    tare_memory_create(pipeline->device, TARE_MEMORY_PINNED, bytes, memory, error);
		if (status == 0 && (*memory)->host)
			return 0;
		tare_memory_free(*memory);
		*memory = NULL;
		if (tare_device_is_gone(status) || status == -ENOMEM)
			return status;
	}
	pipeline->pinned = false;
	return tare_memory_create(pipeline->device, TARE_MEMORY_PAGEABLE, bytes, memory, error);
}

// A kernel takes both buffers even where one has nothing in it.
static int create_device(struct tare_pipeline *pipeline, uint64_t bytes,
                         struct tare_memory **memory, struct tare_error *error)
{
	return tare_memory_create(pipeline->device, TARE_MEMORY_DEVICE, bytes ? bytes : 64, memory,
	                          error);
}

static int copy_whole(struct tare_pipeline *pipeline, struct tare_memory *from,
                      struct tare_memory *to, struct tare_error *error)
{
	struct tare_operation copy = { .type = TARE_OPERATION_COPY };

	if (!from || !to)
		return 0;
	copy.source = (struct tare_span){ from, 0, from->bytes };
	copy.destination = (struct tare_span){ to, 0, from->bytes };
	return tare_bench_run(pipeline->bench->plain, &copy, error);
}

static int create_buffers(struct tare_pipeline *pipeline, struct tare_error *error)
{
	uint64_t input = in_bytes(pipeline), output = out_bytes(pipeline);
	int status = create_host(pipeline, input, &pipeline->host_in, error);

	status = status ?: create_host(pipeline, output, &pipeline->host_out, error);
	status = status ?: create_device(pipeline, input, &pipeline->device_in, error);
	status = status ?: create_device(pipeline, output, &pipeline->device_out, error);
	if (status < 0)
		return status;
	if (pipeline->host_in)
		fill(pipeline->host_in->host, input, pipeline->bench->run->seed);
	if (pipeline->host_out)
		memset(pipeline->host_out->host, 0, output);
	status = copy_whole(pipeline, pipeline->host_in, pipeline->device_in, error);
	return status < 0 ? status
	                  : copy_whole(pipeline, pipeline->host_out, pipeline->device_out, error);
}

static int create_aside(struct tare_pipeline *pipeline, struct tare_memory *like,
                        struct tare_memory *contents, struct tare_memory **memory,
                        struct tare_error *error)
{
	int status =
	    tare_memory_create(pipeline->device, TARE_MEMORY_DEVICE, like->bytes, memory, error);

	if (status == 0)
		return copy_whole(pipeline, contents, *memory, error);
	*memory = NULL;
	return tare_device_is_gone(status) ? status : 0;
}

int pipeline_set_aside(struct tare_pipeline *pipeline, struct tare_error *error)
{
	const struct tare_facts *facts = pipeline->bench->run->facts;
	const struct tare_fact *memory = facts ? &facts->fact[TARE_FACT_MEMORY] : NULL;
	uint64_t bytes = pipeline->device_in->bytes + pipeline->device_out->bytes;
	int status;

	if (pipeline->aside_tried)
		return 0;
	pipeline->aside_tried = true;
	if (!memory || !memory->present || bytes > memory->count / 8)
		return 0;
	status = create_aside(pipeline, pipeline->device_in, pipeline->host_in, &pipeline->aside_in,
	                      error);
	return status < 0 ? status
	                  : create_aside(pipeline, pipeline->device_out, pipeline->host_out,
	                                 &pipeline->aside_out, error);
}

// ---- operations

// ---- queues

struct tare_queue *pipeline_stage_queue(struct tare_pipeline *pipeline, enum tare_stage stage)
{
	enum pipeline_queue_set set = pipeline_stage_set(pipeline, pipeline->bench->stamped);
	struct pipeline_queue *queue;

	if (!pipeline->device->backend->binds_queues ||
	    pipeline_queue(pipeline, set, (uint32_t)stage, &queue, NULL) < 0)
		return pipeline->bench->timed;
	return queue->queue;
}

uint32_t tare_pipeline_mechanisms(struct tare_pipeline *pipeline, char *why, size_t size)
{
	const enum pipeline_queue_set sets[] = { PIPELINE_PLAIN,
		                                 pipeline_stage_set(pipeline, false),
		                                 PIPELINE_OUT_OF_ORDER, PIPELINE_PLAIN };
	static const uint32_t last[] = { 0, TARE_STAGE_COUNT - 1, 0, 0 };
	uint32_t mechanisms = 0;
	size_t used = 0;

	if (why && size)
		why[0] = '\0';
	for (int i = 0; i < TARE_MECHANISM_COUNT; i++) {
		struct tare_error error = { 0 };
		struct pipeline_queue *queue;
		int status = pipeline_queue(pipeline, sets[i], last[i], &queue, &error);
		if (status == 0 && i == TARE_MECHANISM_GRAPH)
			status = pipeline_can_graph(pipeline, &error);
		if (status == 0)
			mechanisms |= 1u << i;
		else if (why && used < size)
			used += (size_t)snprintf(
			    why + used, size - used, "%s%s (%s)", used ? ", " : "",
			    tare_mechanism_name((enum tare_mechanism)i), error.message);
	}
	return mechanisms;
}

// ---- opening and freeing

static int check_kernel(const struct tare_chunk_kernel *kernel, uint64_t items,
                        struct tare_error *error)
{
	uint64_t bytes;

	if (items == 0 || items > UINT32_MAX - kernel->group_size)
		return tare_fail(error, EINVAL,
		                 "a pipeline of %llu items: there must be 1 to 2^32, for a "
		                 "kernel counts them in 32 bits",
		                 (unsigned long long)items);
	if (kernel->group_size == 0 || kernel->align == 0 ||
	    kernel->scalar_count > PIPELINE_SCALARS)
		return tare_fail(error, EINVAL,
		                 "a chunked kernel needs a group size, an alignment of 1 or more "
		                 "and at most %d scalars",
		                 PIPELINE_SCALARS);
	if (__builtin_mul_overflow(items, kernel->in_bytes, &bytes) ||
	    __builtin_mul_overflow(items, kernel->out_bytes, &bytes))
		return tare_fail(error, ENOMEM, "%llu items are more than any memory holds",
		                 (unsigned long long)items);
	return 0;
}

int tare_pipeline_open(struct tare_bench *bench, uint64_t items, struct tare_pipeline **pipeline,
                       const struct tare_chunk_kernel *kernel, struct tare_error *error)
{
	int status = check_kernel(kernel, items, error);
	struct tare_pipeline *opened;

	if (status < 0)
		return status;
	opened = calloc(1, sizeof *opened);
	if (!opened)
		return tare_fail(error, ENOMEM, "out of memory");
	opened->bench = bench;
	opened->device = bench->device;
	opened->kernel = *kernel;
	opened->items = items;
	opened->pinned = true;
	for (uint32_t i = 0; i < kernel->scalar_count; i++)
		if (kernel->scalars[i].type == TARE_ARGUMENT_VALUE)
			tare_pipeline_set_scalar(opened, i, kernel->scalars[i].value);
	opened->scalars_set = 1;
	status = create_buffers(opened, error);
	status = status ?: pipeline_clock_open(opened, error);
	if (status < 0) {
		if (tare_device_is_gone(status))
			tare_device_abandon(opened->device);
		tare_pipeline_free(opened);
		return status;
	}
	*pipeline = opened;
	return 0;
}

void tare_pipeline_free(struct tare_pipeline *pipeline)
{
	struct pipeline_plan *plan;

	if (!pipeline)
		return;
	plan = &pipeline->plan;
	pipeline_graphs_free(pipeline);
	for (int set = 0; set < PIPELINE_SETS; set++) {
		for (uint32_t i = 0; i < pipeline->queues[set].count; i++)
			tare_queue_free(pipeline->queues[set].at[i].queue);
		free(pipeline->queues[set].at);
	}
	struct tare_memory *const memories[] = {
		pipeline->host_in,  pipeline->host_out,  pipeline->heap_in,
		pipeline->heap_out, pipeline->device_in, pipeline->device_out,
		pipeline->aside_in, pipeline->aside_out, pipeline->clock.written,
	};
	for (size_t i = 0; i < sizeof memories / sizeof *memories; i++)
		tare_memory_free(memories[i]);
	free(plan->starts);
	free(plan->sizes);
	free(plan->steps);
	free(plan->events);
	free(plan->wanted);
	free(pipeline->reference);
	free(pipeline);
}
