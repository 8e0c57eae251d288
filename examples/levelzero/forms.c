// SPDX-License-Identifier: Apache-2.0
// The chunks of opencl/pipeline.c (copy in, compute, copy out) in immediate command lists.
//   sequential     one chunk after the other, waiting for each step
//   concurrent     copies on copy engines, kernels on the compute engine, events between the steps,
//                  memory from zeMemAllocHost, nothing waits until the end
// and what breaks the concurrency of the second:
//   default-queue  all chunks in one list, which is one engine
//   blocking       the copies are appended to synchronous lists
//   pageable       the host memory is plain
//   allocation     memory is allocated for every chunk
//   build          the module is built again for every chunk
// Without sizes the chunks are run again and again, for half a second on whatever device this is:
// shorter ones say little. With sizes they are run once, or RUNS times. Record two of them and
// compare the reports:
//   tare record -o concurrent.tare -- ./levelzero-forms concurrent
#include "example.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CHUNKS 64
#define GROUP_ITEMS 64
// Of the runs, where nobody says how many: so that half a second of work is recorded, though the
// host sees each end late.
#define WORK_NS 6e8
#define MOST_RUNS 100000
#define LIMIT_NS (60 * UINT64_C(1000000000))

enum step { IN, KERNEL, OUT, STEPS };

struct form {
	const char *name;
	bool one_list, wait_each, blocking, pageable, allocate, build;
};
static const struct form forms[] = {
	{ "sequential", .one_list = true, .wait_each = true },
	{ "concurrent", .one_list = false },
	{ "default-queue", .one_list = true },
	{ "blocking", .blocking = true },
	{ "pageable", .pageable = true },
	{ "allocation", .allocate = true },
	{ "build", .build = true },
};

struct pipeline {
	const struct form *form;
	struct device device;
	ze_command_list_handle_t lists[STEPS]; // where each step runs
	ze_module_handle_t module;
	ze_kernel_handle_t kernel;
	ze_event_pool_handle_t pool;
	ze_event_handle_t done[MOST_CHUNKS][STEPS];
	uint32_t *host[2]; // what goes in, what comes out
	void *chunk[MOST_CHUNKS];
	size_t chunks, chunk_bytes, runs; // 0: not said
	uint32_t cycles;
};

// The first group of engines that only copy; without one the group that computes.
static uint32_t copy_group(const struct device *device)
{
	for (uint32_t i = 0; i < device->group_count; i++)
		if ((device->groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY) &&
		    !(device->groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE))
			return i;
	return device->compute;
}

static ze_command_list_handle_t immediate(const struct device *device, uint32_t ordinal,
                                          uint32_t index, bool synchronous)
{
	ze_command_queue_desc_t wanted = {
		.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		.ordinal = ordinal,
		.index = index % device->groups[ordinal].numQueues,
		.mode = synchronous ? ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS
		                    : ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
	};
	ze_command_list_handle_t list;

	check(zeCommandListCreateImmediate(device->context, device->id, &wanted, &list),
	      "zeCommandListCreateImmediate");
	return list;
}

static void open_lists(struct pipeline *pipeline)
{
	const struct device *device = &pipeline->device;
	const struct form *form = pipeline->form;
	uint32_t copies = copy_group(device);

	pipeline->lists[KERNEL] = immediate(device, device->compute, 0, false);
	pipeline->lists[IN] =
	    form->one_list ? pipeline->lists[KERNEL] : immediate(device, copies, 0, form->blocking);
	pipeline->lists[OUT] =
	    form->one_list ? pipeline->lists[KERNEL] : immediate(device, copies, 1, form->blocking);
}

static void build(struct pipeline *pipeline)
{
	pipeline->module = module_of(&pipeline->device, NULL);
	pipeline->kernel = kernel_of(pipeline->module, "steps");
	check(zeKernelSetGroupSize(pipeline->kernel, GROUP_ITEMS, 1, 1), "zeKernelSetGroupSize");
}

static void open_pipeline(struct pipeline *pipeline)
{
	size_t bytes = pipeline->chunks * pipeline->chunk_bytes;

	pipeline->device = open_device();
	open_lists(pipeline);
	build(pipeline);
	for (int i = 0; i < 2; i++) {
		pipeline->host[i] =
		    memory_of(&pipeline->device, pipeline->form->pageable ? HEAP : HOST, bytes);
		memset(pipeline->host[i], 0, bytes);
	}
	for (size_t i = 0; i < bytes / sizeof(uint32_t); i++)
		pipeline->host[0][i] = (uint32_t)i;
	pipeline->pool = pool_of(&pipeline->device, (uint32_t)pipeline->chunks * STEPS);
	for (size_t i = 0; i < pipeline->chunks; i++) {
		if (!pipeline->form->allocate)
			pipeline->chunk[i] =
			    memory_of(&pipeline->device, DEVICE, pipeline->chunk_bytes);
		for (uint32_t step = 0; step < STEPS; step++)
			pipeline->done[i][step] =
			    event_of(pipeline->pool, (uint32_t)i * STEPS + step);
	}
}

static void close_pipeline(struct pipeline *pipeline)
{
	for (size_t i = 0; i < pipeline->chunks; i++) {
		for (int step = 0; step < STEPS; step++)
			check(zeEventDestroy(pipeline->done[i][step]), "zeEventDestroy");
		free_memory(&pipeline->device, DEVICE, pipeline->chunk[i]);
	}
	check(zeEventPoolDestroy(pipeline->pool), "zeEventPoolDestroy");
	check(zeKernelDestroy(pipeline->kernel), "zeKernelDestroy");
	check(zeModuleDestroy(pipeline->module), "zeModuleDestroy");
	for (int i = 0; i < (pipeline->form->one_list ? 1 : STEPS); i++)
		check(zeCommandListDestroy(pipeline->lists[i]), "zeCommandListDestroy");
	for (int i = 0; i < 2; i++)
		free_memory(&pipeline->device, pipeline->form->pageable ? HEAP : HOST,
		            pipeline->host[i]);
	close_device(&pipeline->device);
}

static void wait_for(ze_event_handle_t event)
{
	check(zeEventHostSynchronize(event, LIMIT_NS), "zeEventHostSynchronize");
}

// What a break does to the program in the middle of its work.
static void prepare_chunk(struct pipeline *pipeline, size_t chunk)
{
	if (pipeline->form->build && chunk > 0) {
		// A kernel is kept until it has run.
		wait_for(pipeline->done[chunk - 1][KERNEL]);
		check(zeKernelDestroy(pipeline->kernel), "zeKernelDestroy");
		check(zeModuleDestroy(pipeline->module), "zeModuleDestroy");
		build(pipeline);
	}
	if (pipeline->form->allocate)
		pipeline->chunk[chunk] =
		    memory_of(&pipeline->device, DEVICE, pipeline->chunk_bytes);
}

static void copy(const struct pipeline *pipeline, size_t chunk, enum step step, void *to,
                 const void *from)
{
	ze_event_handle_t after = step == OUT ? pipeline->done[chunk][KERNEL] : NULL;

	check(zeCommandListAppendMemoryCopy(pipeline->lists[step], to, from, pipeline->chunk_bytes,
	                                    pipeline->done[chunk][step], after != NULL,
	                                    after ? &after : NULL),
	      "zeCommandListAppendMemoryCopy");
	if (pipeline->form->wait_each)
		wait_for(pipeline->done[chunk][step]);
}

static void run_chunk(struct pipeline *pipeline, size_t chunk)
{
	size_t items = pipeline->chunk_bytes / sizeof(uint32_t), at = chunk * items;
	ze_group_count_t groups = { (uint32_t)(items / GROUP_ITEMS), 1, 1 };

	prepare_chunk(pipeline, chunk);
	copy(pipeline, chunk, IN, pipeline->chunk[chunk], pipeline->host[0] + at);
	set_argument(pipeline->kernel, 0, sizeof(void *), &pipeline->chunk[chunk]);
	set_argument(pipeline->kernel, 1, sizeof pipeline->cycles, &pipeline->cycles);
	check(zeCommandListAppendLaunchKernel(pipeline->lists[KERNEL], pipeline->kernel, &groups,
	                                      pipeline->done[chunk][KERNEL], 1,
	                                      &pipeline->done[chunk][IN]),
	      "zeCommandListAppendLaunchKernel");
	if (pipeline->form->wait_each)
		wait_for(pipeline->done[chunk][KERNEL]);
	copy(pipeline, chunk, OUT, pipeline->host[1] + at, pipeline->chunk[chunk]);
}

static double run_once(struct pipeline *pipeline)
{
	// Signalled by the run before.
	for (size_t i = 0; i < pipeline->chunks; i++)
		for (int step = 0; step < STEPS; step++)
			check(zeEventHostReset(pipeline->done[i][step]), "zeEventHostReset");
	double begin = now_ns();
	for (size_t chunk = 0; chunk < pipeline->chunks; chunk++)
		run_chunk(pipeline, chunk);
	for (size_t chunk = 0; chunk < pipeline->chunks; chunk++)
		wait_for(pipeline->done[chunk][OUT]);
	return now_ns() - begin;
}

static bool right(const struct pipeline *pipeline)
{
	size_t items = pipeline->chunks * pipeline->chunk_bytes / sizeof(uint32_t);
	uint32_t factor = 1, sum = 0; // all steps at once: value * factor + sum

	for (uint32_t k = 0; k < pipeline->cycles; k++) {
		factor *= 1664525u;
		sum = sum * 1664525u + 1013904223u;
	}
	for (size_t i = 0; i < items; i++)
		if (pipeline->host[1][i] != (uint32_t)i * factor + sum)
			return false;
	return true;
}

static void read_arguments(struct pipeline *pipeline, int count, char **arguments)
{
	const char *name = count > 1 ? arguments[1] : "concurrent";

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (strcmp(forms[i].name, name) == 0)
			pipeline->form = &forms[i];
	if (count > 2)
		pipeline->chunks = strtoul(arguments[2], NULL, 10);
	if (count > 3)
		pipeline->chunk_bytes = strtoul(arguments[3], NULL, 10) << 10;
	if (count > 4)
		pipeline->cycles = (uint32_t)strtoul(arguments[4], NULL, 10);
	if (count > 2)
		pipeline->runs = count > 5 ? strtoul(arguments[5], NULL, 10) : 1;
	if (pipeline->form && pipeline->chunks >= 1 && pipeline->chunks <= MOST_CHUNKS &&
	    pipeline->chunk_bytes >= 1024 && pipeline->chunk_bytes <= 1 << 28 &&
	    pipeline->runs <= MOST_RUNS)
		return;
	fprintf(stderr,
	        "usage: levelzero-forms FORM [CHUNKS [KILOBYTES [CYCLES [RUNS]]]]\n  FORM:");
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		fprintf(stderr, " %s", forms[i].name);
	fprintf(stderr, "\n  CHUNKS: to %d; RUNS: 0 for as many as take half a second\n",
	        MOST_CHUNKS);
	exit(2);
}

int main(int count, char **arguments)
{
	static struct pipeline pipeline = { .chunk_bytes = 1 << 20, .chunks = 16, .cycles = 4 };

	read_arguments(&pipeline, count, arguments);
	open_pipeline(&pipeline);
	double took = 0;
	size_t runs = 0;
	for (; pipeline.runs ? runs < pipeline.runs : took < WORK_NS; runs++)
		took += run_once(&pipeline);
	bool verified = right(&pipeline);
	printf("%s, %zu chunks of %zu KB, %zu run%s: %.3f ms each\nresult: %s\n",
	       pipeline.form->name, pipeline.chunks, pipeline.chunk_bytes >> 10, runs,
	       runs == 1 ? "" : "s", took / (double)runs * 1e-6, verified ? "right" : "WRONG");
	close_pipeline(&pipeline);
	return verified ? 0 : 1;
}
